"""Typing in the filter of very many rows: what is in view comes first, the rest follows, and none is missing."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from typing import Any

import pytest
from textual.events import Click, MouseUp
from textual.pilot import Pilot

from tests.widgets.harness import Harness
from tests.widgets.panes.looking import NOW, Files, settled, showing
from widgets.list.rows import Heading, Note
from widgets.pane import visible_rows
from widgets.pane.base import Pane
from widgets.pane.rows import RowKey
from widgets.pane.visible_rows import STRIDE
from widgets.panes.journal.pane import JournalPane
from widgets.panes.tasks import days as task_days
from widgets.panes.tasks.pane import TasksPane

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
            minute = ENTRIES - number
            parts.append(f"### {minute // 60:02}:{minute % 60:02} — {words} entry {day}-{number}{last}\n\n")
    return Files({"journal.md": "".join(parts)})


def titles(pane: Pane) -> list[str]:
    """The items in the list."""
    return [row.item.title for row in pane.line_list.rows if isinstance(row, RowKey)]


TASKS = 3 * STRIDE


def tasks(count: int = TASKS) -> Files:
    """Tasks that are odd or even, those of the second half `last`, over the days of a month."""
    entries = (
        f"### [LOW] {('even', 'odd')[number % 2]}{' last' * (number >= count // 2)} task {number}\n"
        f"- due: 2024-01-{number % 28 + 1:02}\n\n"
        for number in range(count)
    )
    return Files({"tasks.md": "## Pending\n\n" + "".join(entries)})


async def rest(pane: Pane, pilot: Pilot[None], app: Harness) -> None:
    """Wait until all rows were looked at."""
    for _ in range(1000):
        if pane.arrangement.is_whole:
            break
        await pilot.pause()
    assert pane.arrangement.is_whole
    await settled(pilot, app)


def looks(pane: Pane, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows were found after each look that follows."""
    found: list[int] = []
    sift = pane.arrangement.sift

    def sifting(*given: Any) -> None:
        sift(*given)
        found.append(pane.arrangement.found)

    monkeypatch.setattr(pane.arrangement, "sift", sifting)
    return found


def stop(pane: Pane, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no look go on by itself: whatever is whole from now on, somebody asked for."""
    monkeypatch.setattr(pane.narrowing, "_go_on", lambda: None)


@pytest.fixture
def in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every turn looks at one stride of rows."""
    for name in ("SLICE_SECONDS", "FEW_SECONDS", "FEW"):
        monkeypatch.setattr(visible_rows, name, 0)


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
async def test_the_picture_begins_at_the_top(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the list stood, a letter shows the first hits, and the entry of the cursor with them; the rest moves
    nothing, wherever somebody scrolled meanwhile.
    """
    pane = JournalPane()
    async with showing(pane, journal()) as (pilot, app):
        pane.filter_bar.open()
        pane.line_list.action_last()
        await settled(pilot, app)
        assert pane.line_list.scroll_y > 0
        pane.set_filter("common", typed=True)
        assert (pane.line_list.scroll_y, pane.line_list.position) == (0, 1)
        assert pane.current().title == f"common entry {DAYS}-1"
        assert pane.followed is pane.line_list.cursor
        pane.line_list.action_page(1)
        place = pane.line_list.scroll_y, pane.line_list.position
        assert place[0] > 0
        await rest(pane, pilot, app)
        assert (pane.line_list.scroll_y, pane.line_list.position) == place
        pane.line_list.action_last()
        found = looks(pane, monkeypatch)
        pane.set_filter("common entry", typed=True)
        assert (len(found), pane.line_list.scroll_y) == (1, 0)


@pytest.mark.usefixtures("in_slices")
@pytest.mark.parametrize("what", ["contents", "sort"])
async def test_a_picture_that_is_owed_begins_at_the_top(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """New contents or another order before the first picture of a text: they show the first hits as it would have."""
    pane = TasksPane()
    files = tasks()
    async with showing(pane, files) as (pilot, app):
        stop(pane, monkeypatch)
        pane.line_list.action_last()
        await settled(pilot, app)
        pane.filter_bar.open()
        pane.set_filter("last", typed=True)
        assert len(titles(pane)) == TASKS
        if what == "sort":
            pane.set_sort("urgency")
        else:
            pane.show(files.look(), pane.now)
        assert len(titles(pane)) == TASKS // 2
        assert (pane.line_list.scroll_y, pane.line_list.position) == (0, 1)
        pane.line_list.action_last()
        pane.show(files.look(), pane.now)
        assert pane.line_list.position > 1


@pytest.mark.usefixtures("in_slices")
async def test_who_leaves_the_filter_finds_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list with the focus, a jump to an entry that was not looked at yet, a filter that nobody types."""
    pane = JournalPane()
    files = journal()
    async with showing(pane, files) as (pilot, app):
        pane.filter_bar.open()
        await settled(pilot, app)
        stop(pane, monkeypatch)
        pane.set_filter("common", typed=True)
        assert not pane.arrangement.is_whole
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
        pane.filter_bar.close()
        await settled(pilot, app)
        pane.filter_bar.open("common", focus=False)
        pane.set_filter("common")
        assert pane.arrangement.is_whole
        assert len(titles(pane)) == DAYS * ENTRIES * 99 // 100


@pytest.mark.usefixtures("in_slices")
@pytest.mark.parametrize("view", ["list", "board"])
async def test_a_jump_ends_where_it_leads(view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that fits is found in what was not looked at yet; one that does not takes the filter away."""
    pane = TasksPane()
    async with showing(pane, tasks()) as (pilot, app):
        pane.show_view(view)
        await settled(pilot, app)
        refs = {row.item.title: row.item.ref for row in pane.shown_keys if isinstance(row, RowKey)}
        stop(pane, monkeypatch)
        pane.filter_bar.open()
        for text, number, left in (("odd", TASKS - 1, "odd"), ("od", TASKS - 2, "")):
            title = f"{('even', 'odd')[number % 2]} last task {number}"
            pane.set_filter(text, typed=True)
            assert not pane.arrangement.is_whole
            assert pane.go_to(refs[title])
            await settled(pilot, app)
            assert (pane.current().title, pane.filter) == (title, left)


async def test_a_jump_asks_few_tasks_what_they_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """The refs of those above are not worked out, and a ref of nothing leads nowhere."""
    pane = TasksPane()
    async with showing(pane, tasks()) as (_, _):
        last = next(row.item for row in reversed(pane.shown_keys) if isinstance(row, RowKey))
        wanted = last.ref
        last._names.identities()
        asked: list[str] = []
        monkeypatch.setattr(pane, "ref", lambda item: asked.append(item.ref) or item.ref)
        assert pane.arrangement.row_of(wanted).item is last
        assert asked == [wanted]
        assert pane.arrangement.row_of("tasks#0000000000") is None
        assert asked == [wanted]


@pytest.mark.usefixtures("in_slices")
async def test_what_is_selected_stays_so() -> None:
    """A row that fits keeps its selection also where it is looked at last; one that does not fit loses it."""
    pane = JournalPane()
    async with showing(pane, journal()) as (pilot, app):
        rows = [row for row in pane.line_list.rows if isinstance(row, RowKey)]
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
    pane = TasksPane()
    async with showing(pane, tasks()) as (pilot, app):
        pane.show_view(view)
        await settled(pilot, app)
        pane.filter_bar.open()
        if view != "calendar":
            pane.line_list.action_last()
        before = [*pane.shown_keys]
        pane.set_filter("odd", typed=True)
        assert not pane.arrangement.is_whole
        assert ([*pane.shown_keys] == before) == (view == "board")
        await rest(pane, pilot, app)
        assert pane.arrangement.count() == f"{TASKS // 2} of {TASKS}"
        shown = [row.item.title for row in pane.shown_keys if isinstance(row, RowKey)]
        assert shown
        assert all(title.startswith("odd") for title in shown)
        if view != "calendar":
            assert len(shown) == TASKS // 2
            assert (pane.line_list.scroll_y, pane.current().title) == (0, "odd task 1")


async def test_the_day_of_a_calendar_goes_with_the_cursor() -> None:
    """A letter takes the cursor to what fits first, and the chosen day with it; one that leaves it there does not."""
    pane = TasksPane()
    async with showing(pane, tasks(280)) as (pilot, app):
        pane.show_view("calendar")
        await settled(pilot, app)
        calendar = pane.calendar
        assert calendar is not None
        calendar.go_to(date(2024, 1, 25))
        pane.set_filter("odd")
        assert pane.current().title.startswith("odd")
        assert calendar.list.cursor.occasion.day == calendar.day != date(2024, 1, 25)
        day = calendar.day
        pane.set_filter("odd ")
        assert calendar.day == day


@pytest.mark.usefixtures("in_slices")
async def test_a_full_month_shows_what_is_in_view_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then all of its days, the month with them; nothing that stood there moves, and who jumps gets all at once."""
    monkeypatch.setattr(task_days, "MANY", 100)
    pane = TasksPane()
    async with showing(pane, tasks()) as (pilot, app):
        pane.show_view("calendar")
        await settled(pilot, app)
        calendar = pane.calendar
        assert calendar is not None
        full = dict(calendar.month.loads)
        pane.filter_bar.open()
        for text in ("o", "odd"):
            pane.set_filter(text, typed=True)
            first, cursor = [*calendar.list.rows], calendar.list.cursor
            assert calendar.list.size.height < len(first) < calendar.list.size.height + 100
            assert calendar.month.loads == full
        await rest(pane, pilot, app)
        rows = [*calendar.list.rows]
        assert rows[: len(first)] == first
        assert (calendar.list.cursor, calendar.list.scroll_y) == (cursor, 0)
        assert calendar.month.loads.keys() == {day for day in full if day.day % 2 == 0}
        pane.set_filter("")
        pane.set_filter("odd", typed=True)
        calendar.go_to(date(2024, 1, 28))
        assert [key for key in calendar.list.rows if isinstance(key, RowKey)] == [
            key for key in rows if isinstance(key, RowKey)
        ]
        assert calendar.month.loads.keys() == {day for day in full if day.day % 2 == 0}


async def test_a_letter_taken_back_asks_no_day_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The calendar shows what it chose for the shorter text before, and looks at no task for it."""
    pane = TasksPane()
    async with showing(pane, tasks(280)) as (pilot, app):
        pane.show_view("calendar")
        await settled(pilot, app)
        calendar = pane.calendar
        assert calendar is not None
        pane.filter_bar.open()
        pane.set_filter("od", typed=True)
        await rest(pane, pilot, app)
        before, loads = [key for key in calendar.list.rows if isinstance(key, RowKey)], dict(calendar.month.loads)
        pane.set_filter("odd last", typed=True)
        await rest(pane, pilot, app)
        assert 0 < sum(isinstance(key, RowKey) for key in calendar.list.rows) < len(before)
        asked: list[object] = []
        monkeypatch.setattr(task_days, "fitting", lambda *given: asked.append(given) or [])
        pane.set_filter("od", typed=True)
        after = [key for key in calendar.list.rows if isinstance(key, RowKey)]
        assert (after, calendar.month.loads, asked) == (before, loads, [])


async def test_a_key_during_a_look_works_out_no_dates(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a worker has read the dates anew and nobody showed them yet, a letter chooses from those that are shown."""
    pane = TasksPane()
    async with showing(pane, tasks(280)) as (pilot, app):
        pane.show_view("calendar")
        await settled(pilot, app)
        made: list[object] = []
        make = TasksPane._make_agenda
        monkeypatch.setattr(TasksPane, "_make_agenda", staticmethod(lambda *given: made.append(given) or make(*given)))
        contents = pane.read(tasks(280).look(), NOW)
        assert len(made) == 1
        pane.set_filter("odd", typed=True)
        await rest(pane, pilot, app)
        pane.put(contents)
        assert len(made) == 1


async def test_a_range_ends_where_a_letter_takes_the_cursor_away() -> None:
    """What was selected stays so as far as it fits, and nothing comes in between."""
    pane = JournalPane()
    async with showing(pane, journal(2)) as (pilot, app):
        for _ in range(100):
            pane.line_list.action_move(1)
        pane.line_list.action_range()
        pane.line_list.action_move(1)
        pane.line_list.action_move(1)
        chosen = pane.selected()
        assert len(chosen) == 3
        pane.filter_bar.open()
        pane.set_filter("o", typed=True)
        await rest(pane, pilot, app)
        assert pane.selected() == tuple(item for item in chosen if "o" in item.title)
        assert pane.line_list.position < 3


@pytest.mark.usefixtures("in_slices")
async def test_nothing_hides_in_a_list_without_room() -> None:
    """A list that the entry covers is not empty before something that fits was found."""
    pane = JournalPane()
    app = Harness(lambda: [pane])
    async with app.run_test(size=(50, 20)) as pilot:
        pane.add_class("-open")
        await pilot.pause()
        pane.show(journal().look(), NOW)
        assert pane.is_open
        assert pane.line_list.size.height == 0
        pane.filter_bar.open("final", focus=False)
        assert titles(pane)
        await rest(pane, pilot, app)
        assert titles(pane) == [f"common entry 1-{ENTRIES - 1} final"]


@pytest.mark.usefixtures("in_slices")
async def test_a_long_look_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    """The count grows while rows are looked at, one look at a time whatever was typed."""
    monkeypatch.setattr(visible_rows, "SAY_SECONDS", -1)
    pane = JournalPane()
    async with showing(pane, journal()) as (pilot, app):
        said: list[str] = []
        waiting: list[object] = []
        monkeypatch.setattr(pane.filter_bar, "say", said.append)
        later = pane.call_after_refresh
        monkeypatch.setattr(pane, "call_after_refresh", lambda do: (waiting.append(do), later(do)))
        pane.filter_bar.open()
        for text in ("r", "ra", "rar", "rare"):
            said.clear()
            pane.set_filter(text, typed=True)
        assert len(waiting) == 1
        await rest(pane, pilot, app)
        counts = [int(words.split("+")[0]) for words in said if "+" in words]
        assert counts == sorted(counts)
        assert len({*counts}) >= 2
        assert said[-1] == f"{DAYS * 4} of {DAYS * ENTRIES}"


async def test_what_is_clicked_is_what_stood_there() -> None:
    """Rows that come between pressing and letting go of the button move the click along with its row."""
    pane = JournalPane()
    async with showing(pane, journal(2)) as (pilot, _):
        wanted = pane.line_list.rows[5]
        await pilot.mouse_down(pane.line_list, offset=(4, 5))
        pane.line_list.set_rows([Heading("NEW"), Note(), *pane.line_list.rows])
        await pilot.pause()
        await pilot._post_mouse_events([MouseUp, Click], pane.line_list, offset=(4, 5), button=1)
        assert pane.line_list.cursor is wanted
