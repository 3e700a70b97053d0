"""The curated pane: what it lists, what hides what, writes through the controller, decisions, search, dreams."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memory.curated.system import CuratedMemory
from memory.systems import system_of
from memory.workspace import Workspace
from tests.app.tui.curated_memories import curated_workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running, settle, type_text
from tests.widgets.harness import screen_text
from widgets.panes.curated.pane import CuratedPane
from widgets.panes.curated.rows import DecisionRow, MemoryRow, ShadowRow


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    """Return a workspace with memories in all scopes."""
    return curated_workspace(tmp_path, NOW)


def _pane(pilot: Any) -> CuratedPane:
    pane = pilot.app.navigation.pane
    assert isinstance(pane, CuratedPane)
    return pane


def _items(pane: CuratedPane, kind: type) -> list[Any]:
    return [row.item for row in pane.line_list.rows if isinstance(getattr(row, "item", None), kind)]


def _said(pilot: Any) -> str:
    return " ".join(" ".join(str(one.message).split()) for one in pilot.app._notifications)


async def test_g_and_u_open_the_memories_by_scope(place: Workspace) -> None:
    """The deepest scope is first, in each the types in their order; what is hidden stands below what hides it."""
    app = make_app(place)
    async with running(app) as pilot:
        await press(pilot, "g", "u")
        pane = _pane(pilot)
        found = [(row.memory.root.label, row.memory.header.type, row.title) for row in _items(pane, MemoryRow)]
        assert found == [
            ("agent/workspace", "feedback", "Tests first"),
            ("agent/workspace", "feedback", "Review tone"),
            ("workspace", "feedback", "Commit style"),
            ("workspace", "project", "Deploy window"),
            ("workspace", "project", "部署窗口"),
            ("workspace", "reference", "Grafana boards"),
            ("global", "user", "Coffee"),
            ("global", "feedback", "Tests first"),
        ]
        hidden = [(row.title, row.memory.root.label, row.reader) for row in _items(pane, ShadowRow)]
        assert hidden == [("Tests first", "global", "reviewer"), ("Commit style", "global", None)]
        text = screen_text(app)
        for words in ("AGENT reviewer", "WORKSPACE  4", "GLOBAL  2, 1 hidden", "NOT READ", "project_half.md:1", "6▲"):
            assert words in text, words


async def test_a_decision_shows_its_rules_and_is_taken_back(place: Workspace) -> None:
    """The trace names every rule; _ takes the update back after a question, as a decision of its own."""
    app = make_app(place)
    path = place.root / ".agh/memory/project_deploy-window.md"
    async with running(app) as pilot:
        await press(pilot, "g", "u")
        pane = _pane(pilot)
        update = next(row for row in _items(pane, DecisionRow) if row.decision["op"] == "update")
        assert pane.go_to(update.ref)
        await settle(pilot)
        text = screen_text(app)
        for words in ("RULES", "✓ controller.", "project_deploy-window.md", "_ takes it back"):
            assert words in text, words
        assert "Nobody ships on a Friday" in path.read_text()
        await press(pilot, "underscore", "n")
        assert "Nobody ships on a Friday" in path.read_text()
        await press(pilot, "underscore", "y")
        assert "leave the building" in path.read_text()
        newest = _items(_pane(pilot), DecisionRow)[0].decision
        assert (newest["op"], newest["target_filename"]) == ("update", "project_deploy-window.md")
        noop = next(row for row in _items(_pane(pilot), DecisionRow) if row.decision["op"] == "noop")
        assert _pane(pilot).go_to(noop.ref)
        await settle(pilot)
        assert "_ take back" not in screen_text(app)


async def test_a_memory_is_added_edited_and_forgotten(place: Workspace) -> None:
    """Each goes through the controller: a file, another text, no file; every step is a decision."""
    app = make_app(place)
    path = place.root / ".agh/memory/project_port.md"
    async with running(app) as pilot:
        await press(pilot, "g", "u", "a")
        await type_text(pilot, "Port")
        await press(pilot, "tab", "tab")
        await type_text(pilot, "The service listens on 8042.")
        await press(pilot, "ctrl+s")
        assert "8042" in path.read_text()
        assert _pane(pilot).current().title == "Port"
        await press(pilot, "e")
        await type_text(pilot, "Since May: ")
        await press(pilot, "ctrl+s")
        assert "Since May: The service" in path.read_text()
        await press(pilot, "x", "y")
        assert not path.exists()
        ops = [row.decision["op"] for row in _items(_pane(pilot), DecisionRow)][:3]
        assert ops == ["delete", "update", "add"]


async def test_an_edit_of_another_program_meanwhile_is_kept(place: Workspace) -> None:
    """A form that began with other bytes is refused, and the file stays as the other program left it."""
    app = make_app(place)
    path = place.root / ".agh/memory/project_deploy-window.md"
    async with running(app) as pilot:
        await press(pilot, "g", "u")
        assert _pane(pilot).go_to("curated#workspace:workspace/project_deploy-window.md")
        await press(pilot, "e")
        await type_text(pilot, "mine ")
        theirs = path.read_text().replace("Nobody ships", "Nobody at all ships")
        path.write_text(theirs)
        await press(pilot, "ctrl+s")
        assert path.read_text() == theirs
        assert "changed meanwhile" in " ".join(f"{screen_text(app)} {_said(pilot)}".split())


async def test_a_search_draws_every_term(place: Workspace) -> None:
    """The comma asks for a question and draws what it finds with bars; nothing is counted as a recall."""
    app = make_app(place)
    records = system_of(place, "curated", CuratedMemory).curated.sides["workspace"].records
    before = records.signals(["workspace/project_deploy-window.md"])
    async with running(app) as pilot:
        await press(pilot, "g", "u", "comma")
        await type_text(pilot, "which days may relaeses go out")
        await press(pilot, "enter")
        text = screen_text(app)
        for words in ("1  Deploy window", "words    ━", "letters  ━", "age", "recalls", "score    ━"):
            assert words in text, words
    assert records.signals(["workspace/project_deploy-window.md"]) == before
