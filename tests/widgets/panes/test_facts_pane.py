"""The facts pane: what it lists, filters, adds and deletes, and what a message would inject."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from memory.facts.inject import inject
from memory.facts.model import FactLimits
from memory.facts.reading import read_facts
from memory.history.changes import list_changes
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, make_workspace, press, running, settle, type_text
from tests.memory.facts.conftest import line as fact_line
from tests.patience import within
from tests.widgets.harness import HOSTILE, assert_safe, screen_text
from widgets.input.editors import SafeText
from widgets.panes.facts import FactsPane, injection_lines
from widgets.text.styled_text import line_text

TEXTS = (
    ("Prefers Python over JavaScript", ("preference",), "user"),
    ("PostgreSQL 16 on port 5432", ("infra", "db"), "workspace"),
    ("Deploy target is us-east-1", ("infra", "deploy"), "workspace"),
)


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    """Return a workspace with tasks and three facts."""
    workspace = make_workspace(tmp_path, {"tasks.md": "## Pending\n\n### [HIGH] A task\n- due: null\n"})
    store = workspace.system("facts").store
    for number, (text, tags, scope) in enumerate(TEXTS):
        store.store(text, tags=tags, scope=scope, actor="agent:x", now=NOW - timedelta(hours=9 - number))
    return workspace


def ids(pane: FactsPane) -> list[str]:
    """Return the ids of the facts in the list."""
    return [row.item.id for row in pane.line_list.rows if hasattr(row, "item")]


async def test_g_and_f_open_the_facts(place: Workspace) -> None:
    """The pane is reached by g and its letter, stands in the sidebar with its count, and lists the newest first."""
    app = make_app(place)
    async with running(app) as pilot:
        await press(pilot, "g", "f")
        pane = app.navigation.pane
        assert isinstance(pane, FactsPane)
        assert ids(pane) == ["m-3", "m-2", "m-1"]
        text = screen_text(app)
        for words in ("Facts", "3 of 500", "Deploy target is us-east-1", "infra, deploy", "i inject"):
            assert words in text


async def test_a_fact_stands_in_its_detail_once(place: Workspace) -> None:
    """The frame has the id and the text stands below it; its day is told in the list as in other lists."""
    app = make_app(place, pane="facts")
    async with running(app):
        pane = app.navigation.pane
        assert screen_text(app).count("Deploy target is") == 2, "in its row and in the detail"
        row = line_text(pane.draw_row(pane.current(), 90))
        assert row.rstrip().endswith(" 03:30")
        assert "2024-" not in row


async def test_facts_are_there_with_their_file_only(tmp_path: Path) -> None:
    """Without the system the sidebar names no facts, their pane says what they are; alone it opens first."""
    workspace = make_workspace(tmp_path, {"tasks.md": ""})
    app = make_app(workspace)
    async with running(app) as pilot:
        assert "Facts" not in screen_text(app)
        await press(pilot, "g", "f")
        assert app.navigation.pane.pane_id == "facts"
        assert "facts" in app.navigation.pane.query_one(".pane--empty", SafeText).words
    app = make_app(workspace, pane="facts")
    async with running(app):
        assert app.navigation.pane.pane_id == "facts", "who asks for a pane gets it"
        assert "Press a to store the first fact" in screen_text(app)
    root = tmp_path / "alone"
    (root / ".aegis/memory").mkdir(parents=True)
    (root / ".aegis/memory/memories.jsonl").write_bytes(fact_line("m-1", "only me"))
    app = make_app(Workspace.open(root))
    async with running(app) as pilot:
        assert app.navigation.pane.pane_id == "facts"
        assert "only me" in screen_text(app)


async def test_the_filter_knows_tags_and_scope(place: Workspace) -> None:
    """tag: and scope: narrow the list, words are looked for in id, tags and text."""
    app = make_app(place)
    async with running(app) as pilot:
        await press(pilot, "g", "f")
        pane = app.navigation.pane
        for text, left in (("tag:infra", ["m-3", "m-2"]), ("scope:user", ["m-1"]), ("port", ["m-2"]), ("m-3", ["m-3"])):
            pane.set_filter(text)
            await settle(pilot)
            assert ids(pane) == left


async def test_a_fact_is_added_and_deleted_and_comes_back(place: Workspace) -> None:
    """a asks for text, tags and scope; x removes; u brings it back; all of it stands in Changes."""
    app = make_app(place)
    async with running(app) as pilot:
        await press(pilot, "g", "f", "a")
        await type_text(pilot, "Uses tabs")
        await pilot.press("ctrl+s")
        await settle(pilot)
        pane = app.navigation.pane
        assert ids(pane)[0] == "m-4"
        assert pane.current().text == "Uses tabs"
        await press(pilot, "x", "y")
        assert ids(pane) == ["m-3", "m-2", "m-1"]
        await press(pilot, "u")
        assert ids(pane)[0] == "m-4"
        await press(pilot, "0")
        assert "deleted m-4" in screen_text(app)


async def test_a_secret_stays_in_the_form(place: Workspace) -> None:
    """The form says why it is not stored, and nothing is written."""
    app = make_app(place)
    async with running(app) as pilot:
        await press(pilot, "g", "f", "a")
        await type_text(pilot, "password: " + "hunter2")
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert "appears to contain a secret" in screen_text(app)
        assert len(place.system("facts").store.read().facts) == 3


async def test_what_a_message_would_inject(place: Workspace) -> None:
    """i asks for a message and draws the budget, the facts with their scores, and what fell off."""
    app = make_app(place)
    async with running(app) as pilot:
        await press(pilot, "g", "f", "i")
        await type_text(pilot, "which port")
        await press(pilot, "enter")
        text = screen_text(app)
        for words in ("Words that count: port", "characters", "26 of 2,000", "1 of 10", "INJECTED", "m-2", "1 + 0.0"):
            assert words in text


async def test_another_programs_fact_appears(place: Workspace) -> None:
    """A line that an agent wrote is shown, flashes, and stands in Changes as from outside."""
    app = make_app(place)
    async with running(app) as pilot:
        await press(pilot, "g", "f")
        file = place.root / ".aegis/memory/memories.jsonl"
        with open(file, "ab") as other:
            other.write(fact_line("m-9", "From outside", "2024-01-15T10:00:00Z"))
        app.refresher.files_changed(frozenset({".aegis/memory/memories.jsonl"}))
        await settle(pilot)
        pane = app.navigation.pane
        assert ids(pane)[0] == "m-9"
        assert [row.item.id for row in pane.line_list.flashing] == ["m-9"]
        (change,) = list_changes(place, actor="outside")
        assert [one.title for one in change.touched] == ["From outside"]
        await press(pilot, "0")
        assert "From outside" in screen_text(app)


async def test_the_watcher_sees_the_file_of_facts(place: Workspace) -> None:
    """A real change on disk reaches the screen through the watcher's thread."""
    app = make_app(place, watches=True)
    async with running(app) as pilot:
        await press(pilot, "g", "f")
        with open(place.root / ".aegis/memory/memories.jsonl", "ab") as other:
            other.write(fact_line("m-9", "Seen by the watcher", "2024-01-15T10:00:00Z"))
        async with within(lambda: screen_text(app)):
            while "Seen by the watcher" not in screen_text(app):
                await pilot.pause(0.02)


@pytest.mark.parametrize("size", [(120, 36), (40, 10)], ids=str)
async def test_hostile_facts_are_safe(tmp_path: Path, size: tuple[int, int]) -> None:
    """Whatever stands in the file, lines that are no facts and ids that stand twice included, is only text."""
    root = tmp_path / "shop"
    (root / ".aegis/memory").mkdir(parents=True)
    lines = [
        fact_line(f"m-{number % 3}", text, tags=[text])
        for number, text in enumerate(HOSTILE.values())
        if text.isascii() or "\udcff" not in text
    ]
    (root / ".aegis/memory/memories.jsonl").write_bytes(b"torn\n" + b"".join(lines))
    app = make_app(Workspace.open(root))
    async with running(app, size) as pilot:
        for key in ("j", "enter", "escape", "x", "escape", "G"):
            await press(pilot, key)
            assert_safe(screen_text(app))


def test_the_picture_of_an_injection() -> None:
    """The bar is as long as the budget is used; what fell off is listed with why it was near."""
    data = b"".join(fact_line(f"m-{number}", "port " + "x" * 95) for number in range(1, 5))
    found = inject(read_facts(data), "port", NOW, FactLimits(max_inject_chars=200))
    drawn = [line_text(line) for line in injection_lines(found)]
    assert drawn[2] == "characters " + "█" * 30 + "  200 of 200"
    assert drawn[3] == "facts      " + "█" * 6 + "░" * 24 + "  2 of 10"
    assert drawn[6].split() == ["fact", "score", "chars", "text"]
    assert [line.split()[0] for line in drawn[7:9]] == ["m-4", "m-3"]
    assert "FELL OFF  over 200 characters" in drawn


def test_without_a_match_the_picture_shows_the_smaller_limit() -> None:
    """At most five stand in where nothing matches: the bar and what fell off say so, and no column is empty."""
    data = b"".join(fact_line(f"m-{number}", f"port {number}") for number in range(1, 9))
    drawn = [line_text(line) for line in injection_lines(inject(read_facts(data), "nothing", NOW, FactLimits()))]
    assert drawn[0] == "Nothing matches, so at most the 5 newest facts stand in."
    assert drawn[3] == "facts      " + "█" * 30 + "  5 of 5"
    assert drawn[4].strip() == "without a match; with one up to 10"
    assert "FELL OFF  over 5 facts without a match" in drawn
    assert not any("score" in text for text in drawn)
