"""Views of the tasks over a real workspace: board, calendar, groups, saved views, and many tasks at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.tui.app import MemdeckApp
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, make_workspace, press, running, settle, type_text
from tests.widgets.harness import screen_text
from widgets.list.rows import Heading
from widgets.pane.rows import RowKey
from widgets.panes.tasks.pane import TasksPane

SIZES = [(120, 36), (80, 24), (40, 10)]


def tasks_pane(app: MemdeckApp) -> TasksPane:
    """The pane of tasks."""
    pane = app.pane
    assert isinstance(pane, TasksPane)
    return pane


def lanes(app: MemdeckApp) -> list[list[str]]:
    """The first words of the cards of each column."""
    board = tasks_pane(app).board
    assert board is not None
    return [[row.item.title.split()[0] for row in cards.rows if isinstance(row, RowKey)] for cards in board.lists]


def headings(app: MemdeckApp) -> list[str]:
    """The headings of the list."""
    return [key.title for key in tasks_pane(app).line_list.rows if isinstance(key, Heading)]


async def test_cards_are_moved_by_key(workspace: Workspace) -> None:
    """shift+right starts and finishes, shift+left reopens; the cursor goes along, and one undo takes each move back."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "b")
        assert lanes(app) == [["Generate", "Deploy", "Update"], ["Monitor"], ["Set"]]
        await press(pilot, "j", "shift+right")
        assert [len(cards) for cards in lanes(app)] == [2, 2, 1]
        assert tasks_pane(app).current().title.startswith("Deploy")
        assert tasks_pane(app).current().section == "in-progress"
        await press(pilot, "shift+right")
        await type_text(pilot, "live")
        await press(pilot, "enter")
        assert "Deploy" in lanes(app)[2]
        assert tasks_pane(app).current().outcome == "live"
        await press(pilot, "shift+left")
        assert tasks_pane(app).current().section == "completed"
        await press(pilot, "u", "u")
        assert lanes(app) == [["Generate", "Deploy", "Update"], ["Monitor"], ["Set"]]


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_every_view_fits_every_size(workspace: Workspace, size: tuple[int, int]) -> None:
    """Nothing breaks from wide to small, and what is in little room says where it is."""
    app = make_app(workspace, pane="tasks")
    async with running(app, size) as pilot:
        await press(pilot, "b")
        assert ("1/3" in screen_text(app)) == (size[0] < 80)
        await press(pilot, "c")
        assert ("January 2024" in screen_text(app)) == (size[0] >= 60)
        assert "MON 15 JAN" in screen_text(app)
        for width, height in ((20, 6), (5, 3), (1, 1), size):
            await pilot.resize_terminal(width, height)
            await settle(pilot)
        assert "Deploy v2.1" in screen_text(app)


async def test_grouping_and_sorting_by_menu(workspace: Workspace) -> None:
    """z groups and sorts by any field; S opens the orders at the one in use."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        await press(pilot, "z", "j", "j", "enter")
        assert headings(app) == ["HIGH", "NORMAL", "LOW"]
        await press(pilot, "z", "G", "enter")
        assert tasks_pane(app).sort == "unsorted"
        await press(pilot, "S", "home", "enter")
        assert tasks_pane(app).sort == "urgency"
        assert "grouped by priority" in screen_text(app)
        await press(pilot, "z", "escape")
        assert headings(app) == ["HIGH", "NORMAL", "LOW"]


def _body(data: bytes) -> bytes:
    """A file without the time of its last change."""
    return b"".join(line for line in data.splitlines(keepends=True) if not line.startswith(b"updated:"))


async def test_the_chosen_colours_are_there_again_in_every_workspace(tmp_path: Path, workspace: Workspace) -> None:
    """What is tried and left with Esc is not kept; a terminal that has no such theme shows its usual one."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        usual = app.theme
        app.action_do("app.theme")
        await press(pilot, "down", "down", "escape")
    app = make_app(workspace, pane="tasks")
    assert app.theme == usual
    async with running(app) as pilot:
        app.action_do("app.theme")
        await press(pilot, "down", "enter")
        chosen = app.theme
    assert chosen != usual
    state = workspace.state
    assert state is not None
    other = make_workspace(tmp_path / "other", {})
    beside = Workspace.open(other.root, state_home=state.folder.home, machine_zone=other.machine_zone)
    assert [make_app(one).theme for one in (workspace, beside, other)] == [chosen, chosen, usual]
    assert make_app(workspace, depth="16").theme == chosen
    assert make_app(workspace, remembers=False).theme == usual
    app = make_app(workspace)
    app.pane_state.keep_theme("nord")
    assert (make_app(workspace).theme, make_app(workspace, depth="256").theme) == ("nord", usual)
    app.pane_state.keep_theme("no such theme")
    assert make_app(workspace).theme == usual
