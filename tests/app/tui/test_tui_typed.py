"""The typed pane in the application, over real agents: what it shows, and promote, demote, prune and lock by key."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path

import pytest

from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, press, running
from tests.memory.typed.conftest import NOW, put
from tests.widgets.harness import screen_text
from tests.widgets.panes.looking import detail_words
from widgets.panes.typed import TypedPane, TypedRow
from widgets.text.styled_text import line_text

AIDEFILE = '# mine\n[memory]\ncompact_after = "1k" # small\ncore_files = ["memory/persona.md"]\n'


@pytest.fixture
def ada(tmp_path: Path) -> Path:
    """An agent with files of all types, one of them too old and one locked by somebody."""
    folder = tmp_path / "ada"
    folder.mkdir()
    (folder / "Aidefile").write_text(AIDEFILE)
    put(folder, "memory/persona.md", "# Persona\n\ncalm and brief\n", days=300)
    put(folder, "memory/procedural/skills.md", "use the script\n", days=45)
    put(folder, "memory/episodic/new.md", "x" * 1200, days=1)
    put(folder, "memory/episodic/old.md", "old\n", days=9)
    put(folder, "memory/episodic/held.md", "held\n", days=9)
    put(folder, "memory/episodic/held.md.lock", "")
    return folder


@pytest.fixture
def workspace(ada: Path, tmp_path: Path) -> Workspace:
    """The agent's folder as a workspace."""
    home = tmp_path / "home"
    (home / ".aide").mkdir(parents=True)
    (home / ".aide" / "config.toml").write_text(f'[[agents]]\nname = "ada"\npath = "{ada}"\n')
    return Workspace.open(ada, state_home=tmp_path / "state", machine_zone=UTC, home=home)


def _pane(pilot) -> TypedPane:  # type: ignore[no-untyped-def]
    pane = pilot.app.navigation.pane
    assert isinstance(pane, TypedPane)
    return pane


def _lines(pane: TypedPane, width: int = 70) -> list[str]:
    rows = [row.item for row in pane.line_list.rows if isinstance(getattr(row, "item", None), TypedRow)]
    return [line_text(pane.draw_row(item, width)).rstrip() for item in rows]


def _said(pilot) -> str:  # type: ignore[no-untyped-def]
    """What was said last."""
    return str([*pilot.app._notifications][-1].message)


def _open(workspace: Workspace):  # type: ignore[no-untyped-def]
    return make_app(workspace, clock=lambda: NOW, pane="typed")


async def test_files_stand_under_agent_and_type_with_age_bars(workspace: Workspace) -> None:
    """Each with size, the part of its time that is over, and age; what the next prune takes and locks are marked."""
    async with running(_open(workspace)) as pilot:
        pane = _pane(pilot)
        assert _lines(pane, 60) == [
            "  memory/persona.md                  26 B              300 d",
            "  memory/procedural/skills.md        15 B ━━━━━─────    45 d",
            "L memory/episodic/held.md             5 B ━━━━━━━━━━     9 d",
            "  memory/episodic/new.md           1.2 KB ━─────────     1 d",
            "▲ memory/episodic/old.md              4 B ━━━━━━━━━━     9 d",
        ]
        shown = screen_text(pilot.app)
        for words in ("ada: core", "ada: procedural", "ada: episodic", "next prune: 1"):
            assert words in shown
        assert "calm and brief" in detail_words(pane)
        assert "313 of 1,000" in detail_words(pane)
        assert "pruned never" in detail_words(pane)


async def test_prune_shows_its_plan_and_is_undone(workspace: Workspace, ada: Path) -> None:
    """X lists what would go; Escape leaves all; Enter deletes; u brings it back."""
    async with running(_open(workspace)) as pilot:
        await press(pilot, "C")
        shown = screen_text(pilot.app)
        assert "1 file would go, 4 B" in shown
        assert "locked by an unknown program" in shown
        await press(pilot, "escape")
        assert (ada / "memory/episodic/old.md").exists()
        await press(pilot, "C", "enter")
        assert not (ada / "memory/episodic/old.md").exists()
        assert (ada / "memory/episodic/held.md").exists()
        assert _said(pilot) == "Pruned 1 file of ada"
        assert len(_lines(_pane(pilot))) == 4
        await press(pilot, "u")
        assert (ada / "memory/episodic/old.md").read_text() == "old\n"


FACT = '{"id":"m-%d","scope":"user","text":"fact number %d","tags":["kept"],"ts":"2026-04-01T10:00:%02dZ"}\n'
