"""Every key does in the files and on the screen what it says."""

from __future__ import annotations

from typing import Any

import pytest

from app.tui.app import MemdeckApp
from app.tui.commands import conditions
from app.tui.commands.table import BY_ID, COMMANDS, function_of
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NAMES, make_app, press, running, settle, type_text
from tests.widgets.harness import screen_text
from widgets.detail import Link
from widgets.dialogs.pick import Confirm
from widgets.panes import panes_for

FIRST = "Deploy v2.1 to staging"
RUNNING = "Monitor API latency"


def section_of(workspace: Workspace, title: str) -> str:
    """Where the task of a title stands in the files."""
    return next(task.section for task in workspace.snapshot().tasks.items if task.title == title)


async def go_to(app: MemdeckApp, title: str) -> None:
    """Put the cursor on a task."""
    pane = app.pane
    assert pane is not None
    assert app.workspace is not None
    ref = next(task.ref for task in app.workspace.snapshot().tasks.items if task.title == title)
    assert pane.go_to(ref)


def current_title(app: MemdeckApp) -> str:
    """The title under the cursor."""
    assert app.pane is not None
    return str(getattr(app.pane.current(), "title", ""))


async def test_digits_open_the_panes_and_their_tabs(workspace: Workspace) -> None:
    """Each digit opens its pane, and pressed again the next that shares it; so every pane of the sidebar is reached."""
    app = make_app(workspace, pane="brief")
    async with running(app) as pilot:
        reached = {"brief"}
        for key in "22346777890~":
            await press(pilot, NAMES.get(key, key))
            assert app.pane is not None
            assert app.pane.contents is not None
            assert app.main_screen.sidebar.current == app.pane.pane_id
            reached.add(app.pane.pane_id)
        assert reached == {pane.id for pane in panes_for(())}


async def test_brackets_walk_the_way(workspace: Workspace) -> None:
    """[ and ] walk the way that was taken, and stay at its ends."""
    app = make_app(workspace)
    async with running(app) as pilot:
        seen = []
        for key in "43[[[]]]":
            await press(pilot, NAMES.get(key, key))
            seen.append(app.pane.pane_id)
        assert seen == ["knowledge", "journal", "knowledge", "tasks", "tasks", "knowledge", "journal", "journal"]


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 10)], ids=str)
async def test_tab_goes_from_the_list_through_the_links_and_back(workspace: Workspace, size: tuple[int, int]) -> None:
    """Tab goes to the entry, from link to link and back to the list, Shift+Tab the other way; the pane stays."""
    app = make_app(workspace)
    async with running(app, size) as pilot:
        pane = app.pane
        detail = pane.detail_view
        pane.find_links()
        await settle(pilot)
        links = [Link("task", title, ("tasks.md", title)) for title in ("One", "Two", "Three")]
        pane.post_message(pane.Linked(pane, pane.line_list.cursor, links))
        await settle(pilot)

        def place() -> str:
            return detail.links[detail._current].text if detail.has_focus else "list"

        for key, way in (("tab", ["One", "Two", "Three", "list"]), ("shift+tab", ["Three", "Two", "One", "list"])):
            seen = []
            for _ in way:
                await press(pilot, key)
                seen.append(place())
            assert seen == way
        seen = []
        for key in ("right", "l", "h", "l", "left"):
            await press(pilot, key)
            seen.append(place())
        assert seen == ["One", "Two", "list", "One", "list"]
        assert app.pane is pane


async def test_remove_asks_first_and_one_undo_brings_all_back(workspace: Workspace) -> None:
    """x asks with No as the default; selected tasks go in one change."""
    app = make_app(workspace)
    before = (workspace.memory / "tasks.md").read_bytes()
    async with running(app) as pilot:
        await press(pilot, "space", "space", "x")
        assert isinstance(app.screen, Confirm)
        await press(pilot, "enter")
        assert (workspace.memory / "tasks.md").read_bytes() == before
        await press(pilot, "x", "y")
        assert len(workspace.snapshot().tasks.in_section("pending")) == 1
        await press(pilot, "u")
        assert (workspace.memory / "tasks.md").read_bytes() == before


async def test_filter_narrows_as_you_type_and_escape_clears(workspace: Workspace) -> None:
    """/ filters by words, Enter keeps the filter, Escape shows everything again."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "slash")
        await type_text(pilot, "weekly")
        text = screen_text(app)
        assert "Generate weekly report" in text
        assert "1 of 5" in text
        assert "Update README" not in text
        await press(pilot, "enter")
        assert app.focused is app.pane.line_list
        await press(pilot, "escape")
        assert "Update README" in screen_text(app)


async def test_keys_without_a_meaning_say_why(workspace: Workspace) -> None:
    """In the calendar nothing is sorted, where nothing runs nothing is stopped, and every such key has its words."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:

        async def answer(key: str) -> str:
            app.clear_notifications()
            await press(pilot, key)
            return " ".join(note.message for note in app._notifications)

        assert await answer("K") == "Nothing is running."
        await press(pilot, "c")
        for key in "zS":
            assert await answer(key) == "This list cannot be sorted."
    always = {
        conditions.ALWAYS,
        conditions.LEAVE,
        conditions.WORKSPACE,
        conditions.APPROVAL,
        conditions.PANE,
    }
    assert {action.needs for action in COMMANDS if not action.needs.why and not action.needs.panes} <= always


async def test_quit_remembers_where_you_were(workspace: Workspace) -> None:
    """q leaves with code 0; pane, position, filter and sort are there at the next start."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "S", "j", "enter", "j", "3", "2")
        title = current_title(app)
        await press(pilot, "q")
    assert app.return_value == 0
    app = make_app(workspace)
    async with running(app):
        assert app.pane.pane_id == "tasks"
        assert app.pane.sort == "due"
        assert current_title(app) == title


def test_command_ids_are_unique_and_functions_exist() -> None:
    """Every action has a target with its method, one id, and keys that no other action has where it means something."""
    assert len(BY_ID) == len(COMMANDS)
    owners: dict[str, list[Any]] = {}
    for action in COMMANDS:
        for key in action.keys:
            owners.setdefault(key, []).append(action)
    for key, (first, *others) in owners.items():
        for other in others:
            assert first.needs.panes or other.needs.panes, key
            assert not set(first.needs.panes) & set(other.needs.panes), key
    for action in COMMANDS:
        assert callable(function_of(action.does)), action.id
        assert action.description, action.id
