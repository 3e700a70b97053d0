"""Typing in the filter of very many rows: what is in view comes first, the rest follows, and none is missing."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.widgets.harness import Harness
from tests.widgets.panes.looking import Files, settled, showing
from widgets import pane_narrowing
from widgets.pane import Pane
from widgets.pane_rows import Row
from widgets.pane_sift import STRIDE
from widgets.panes.journal import JournalPane
from widgets.panes.tasks import TasksPane
from widgets.rows import Heading

DAYS, ENTRIES = 12, 400
"""Many more entries than are looked at in one slice."""


def journal(days: int = DAYS) -> Files:
    """Days of entries; each names its number, every hundredth is a rare one, and the last entry is the only `final`."""
    parts = []
    for day in range(days, 0, -1):
        parts.append(f"## 2024-01-{day:02}\n\n")
        for number in range(ENTRIES):
            words = "rare" if number % 100 == 0 else "common"
            last = " final" if day == 1 and number == ENTRIES - 1 else ""
            parts.append(f"### {number // 60:02}:{number % 60:02} — {words} entry {day}-{number}{last}\n\n")
    return Files({"journal.md": "".join(parts)})


def titles(pane: Pane) -> list[str]:
    """The items in the list."""
    return [row.item.title for row in pane.line_list.rows if isinstance(row, Row)]


async def rest(pane: Pane, pilot: Pilot[None], app: Harness) -> None:
    """Wait until all rows were looked at."""
    while not pane.arrangement.is_whole:
        await pilot.pause()
    await settled(pilot, app)


def looks(pane: Pane, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows were found after each look that follows."""
    found: list[int] = []
    look = pane.arrangement.look

    def looking(*given: Any) -> None:
        look(*given)
        found.append(pane.arrangement.found)

    monkeypatch.setattr(pane.arrangement, "look", looking)
    return found


@pytest.fixture
def in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every turn looks at one stride of rows."""
    for name in ("SLICE_SECONDS", "FEW_SECONDS", "FEW"):
        monkeypatch.setattr(pane_narrowing, name, 0)


@pytest.mark.usefixtures("in_slices")
async def test_what_is_in_view_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first screen stands there at once, with a count that says there is more; then all of it, nothing moved."""
    pane = JournalPane()
    async with showing(pane, journal()) as (pilot, app):
        pane.filter_bar.open()
        found = looks(pane, monkeypatch)
        pane.set_filter("common", typed=True)
        first = titles(pane)
        assert pane.line_list.size.height <= len(first) < 2 * STRIDE
        assert not pane.arrangement.is_whole
        assert pane.arrangement.count() == f"{len(first)}+ of {DAYS * ENTRIES}"
        pane.line_list.move_to(5)
        cursor = pane.line_list.cursor
        await rest(pane, pilot, app)
        assert all(more - before < 2 * STRIDE for before, more in pairwise([0, *found]))
        assert titles(pane)[: len(first)] == first
        assert len(titles(pane)) == DAYS * ENTRIES * 99 // 100
        assert pane.arrangement.count() == f"{DAYS * ENTRIES * 99 // 100} of {DAYS * ENTRIES}"
        assert {row.note for row in pane.line_list.rows if isinstance(row, Heading)} == {f"396 of {ENTRIES}"}
        assert pane.line_list.cursor is cursor


@pytest.mark.usefixtures("in_slices")
async def test_nothing_is_shown_before_there_is_something() -> None:
    """Where the first rows have nothing that fits, the list stays as it was until a screen of it is found."""
    pane = JournalPane()
    async with showing(pane, journal()) as (pilot, app):
        pane.filter_bar.open()
        before = titles(pane)
        pane.set_filter("final", typed=True)
        assert titles(pane) == before
        await rest(pane, pilot, app)
        assert titles(pane) == [f"common entry 1-{ENTRIES - 1} final"]
        assert pane.current().title.endswith("final")
        pane.set_filter("final nothing", typed=True)
        await rest(pane, pilot, app)
        assert titles(pane) == []
        assert not pane.has_items


@pytest.mark.usefixtures("in_slices")
async def test_the_next_letter_does_not_wait() -> None:
    """Letters that come before all rows were looked at, and are taken back: the list ends as if they came slowly."""
    pane = JournalPane()
    async with showing(pane, journal()) as (pilot, app):
        pane.filter_bar.open()
        for text in ("r", "ra", "rare", "rar", "rare e", "rare entry 1-", "rare entry"):
            pane.set_filter(text, typed=True)
            if text == "rar":
                await pilot.pause()
        await rest(pane, pilot, app)
        expected = [f"rare entry {day}-{number}" for day in range(DAYS, 0, -1) for number in range(0, ENTRIES, 100)]
        assert titles(pane) == expected
        pane.set_filter("c", typed=True)
        pane.set_filter("")
        await settled(pilot, app)
        assert len(titles(pane)) == DAYS * ENTRIES


@pytest.mark.usefixtures("in_slices")
async def test_who_leaves_the_filter_finds_all_rows() -> None:
    """Enter right behind the last letter, and a jump to an entry that was not looked at yet."""
    pane = JournalPane()
    files = journal()
    async with showing(pane, files) as (pilot, app):
        pane.filter_bar.open()
        await settled(pilot, app)
        pane.set_filter("common", typed=True)
        assert not pane.arrangement.is_whole
        pane.focus_list()
        pane.line_list.focus()
        await pilot.pause()
        assert pane.arrangement.is_whole
        pane.line_list.action_last()
        assert pane.current().title.endswith("final")
        pane.line_list.action_first()
        pane.set_filter("entry", typed=True)
        assert not pane.arrangement.is_whole
        assert pane.go_to(files.look().journal.entries()[-1].ref)
        assert (pane.filter, pane.current().title[-5:]) == ("entry", "final")


@pytest.mark.usefixtures("in_slices")
async def test_what_is_selected_stays_so() -> None:
    """A row that fits keeps its selection also where it is looked at last; one that does not fit loses it."""
    pane = JournalPane()
    async with showing(pane, journal()) as (pilot, app):
        rows = [row for row in pane.line_list.rows if isinstance(row, Row)]
        pane.line_list.select([rows[0], rows[-1]])
        pane.filter_bar.open()
        pane.set_filter("common", typed=True)
        await rest(pane, pilot, app)
        assert pane.selected() == (rows[-1].item,)


@pytest.mark.usefixtures("in_slices")
async def test_files_may_change_while_rows_are_looked_at() -> None:
    """New contents are filtered as a whole, and nothing of the old ones comes after them."""
    pane = JournalPane()
    async with showing(pane, journal()) as (pilot, app):
        pane.filter_bar.open()
        pane.set_filter("rare", typed=True)
        pane.show(journal(2).look(), pane.now)
        assert len(titles(pane)) == 8
        await settled(pilot, app)
        assert len(titles(pane)) == 8
        assert pane.arrangement.count() == f"8 of {2 * ENTRIES}"


@pytest.mark.usefixtures("in_slices")
@pytest.mark.parametrize("view", ["list", "board", "calendar"])
async def test_each_view_of_tasks_ends_with_the_same(view: str) -> None:
    """The board waits for all of its columns, the calendar looks at its month: each shows just what fits."""
    lines = ["## Pending\n\n"]
    lines += [
        f"### [LOW] {'odd' if number % 2 else 'even'} task {number}\n- due: 2024-01-{number % 28 + 1:02}\n\n"
        for number in range(3 * STRIDE)
    ]
    pane = TasksPane()
    async with showing(pane, {"tasks.md": "".join(lines)}) as (pilot, app):
        pane.show_view(view)
        await settled(pilot, app)
        pane.filter_bar.open()
        pane.set_filter("odd", typed=True)
        assert not pane.arrangement.is_whole
        await rest(pane, pilot, app)
        assert pane.arrangement.count() == f"{3 * STRIDE // 2} of {3 * STRIDE}"
        shown = [row.item.title for row in pane.shown_keys if isinstance(row, Row)]
        assert shown
        assert all(title.startswith("odd") for title in shown)
        if view != "calendar":
            assert len(shown) == 3 * STRIDE // 2
