"""The fleet pane: one row a workspace, another one opened in place, a key that comes back, and a search over all."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.tui.app import MemdeckApp
from memory.storage.private.workspaces import WorkspaceList
from memory.workspace import Workspace
from screenshots.make import WIDE, rest
from tests.patience import within
from tests.postgres import cluster, database
from tests.widgets.harness import screen_text
from widgets.pane.rows import RowKey
from widgets.panes.fleet import FleetPane

from .tui_helpers import NOW, make_app, press, running, settle

TASKS = """## Pending

### [HIGH] Renew {name}
- due: 2024-01-10
- created: 2024-01-01 09:00

### [LOW] Water the plants of {name}
- created: 2024-01-01 09:00
"""

__all__ = ["cluster", "database"]


@pytest.fixture
def shops(tmp_path: Path) -> list[Workspace]:
    """Return three workspaces that are listed, and one that is broken."""
    found = []
    for name in ("atelier", "bakery", "chandler"):
        found.append(
            Workspace.init(
                tmp_path / "src" / name,
                NOW,
                actor="test",
                state_home=tmp_path / "state",
                machine_zone=UTC,
                files={"tasks.md": TASKS.format(name=name)},
            )[0]
        )
    gone = tmp_path / "src/derelict"
    WorkspaceList(tmp_path / "state").add_all([*(one.root for one in found), gone], NOW)
    for one in found:
        one.close()
    return found


@pytest.fixture
def here(shops: list[Workspace]) -> Workspace:
    """Return the workspace that is open."""
    return shops[0]


def names(app: MemdeckApp) -> list[str]:
    """Return the workspaces in the order of the rows."""
    pane = app.pane
    assert isinstance(pane, FleetPane)
    return [row.item.thing.path.name for row in pane.line_list.rows if isinstance(row, RowKey)]


async def found(pilot: Pilot[MemdeckApp], title: str) -> None:
    """Wait until a search over all workspaces shows an entry."""
    async with within(lambda: screen_text(pilot.app)):
        while title not in screen_text(pilot.app):
            await pilot.pause(0.005)


async def test_one_key_switches_workspaces(here: Workspace) -> None:
    """~ shows all workspaces from everywhere, and goes back to where it was pressed."""
    app = make_app(here)
    async with running(app) as pilot:
        await press(pilot, "tilde")
        assert isinstance(app.pane, FleetPane)
        await press(pilot, "tilde")
        assert app.pane is not None
        assert app.pane.pane_id == "tasks"


def test_look(here: Workspace, snap_compare: Callable[..., bool]) -> None:
    """The rows, and one of them in full."""
    environ = {"MEMDECK_HOST": "laptop", "HOME": str(here.root.parents[1]), "LANG": "C.UTF-8"}
    app = make_app(here, pane="fleet", environ=environ)
    app.animation_level = "none"

    async def before(pilot: Pilot[MemdeckApp]) -> None:
        await settle(pilot)
        await press(pilot, "j")
        await rest(pilot.app, pilot)

    assert snap_compare(app, terminal_size=WIDE, run_before=before)


async def test_a_start_without_memory_offers_the_workspaces(shops: list[Workspace], tmp_path: Path) -> None:
    """In a folder without memory a listed workspace is opened from the first question."""
    environ = {"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)}
    app = make_app(None, path=str(tmp_path / "new"), environ=environ)
    async with running(app) as pilot:
        assert "bakery" in screen_text(app)
        await press(pilot, "j", "j", "j", "enter")
        assert app.workspace is not None
        assert app.workspace.root == shops[1].root
        assert "Renew bakery" in screen_text(app)


async def test_the_open_workspace_is_searched_before_it_is_listed(here: Workspace) -> None:
    """A search over all workspaces finds what is in the open one and in those of the list."""
    WorkspaceList(here.state.folder.home).remove(here.root)
    async with running(make_app(here, pane="fleet")) as pilot:
        await press(pilot, "ctrl+f", *"renew")
        await found(pilot, "Renew atelier")
        await found(pilot, "Renew bakery")
