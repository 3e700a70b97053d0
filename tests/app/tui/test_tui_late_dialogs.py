"""Dialogs that come late: not under the hands of a person who went on, nor answered by keys for something else."""

from __future__ import annotations

from textual.pilot import Pilot

from app.tui.app import MemdeckApp
from memory.files.tasks.edits import edit_task
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running, send, settle, type_text
from tests.patience import within
from tests.reviewing import let_agents
from widgets.dialogs.dialogs import Prompt
from widgets.dialogs.three_way import ThreeWay
from widgets.input.form import Form


async def released(pilot: Pilot[int]) -> None:
    """Wait until keys wait for nothing any more."""
    app = pilot.app
    assert isinstance(app, MemdeckApp)
    async with within():
        while app.type_ahead._waits or not app.type_ahead.idle:
            await pilot.pause(0.001)


def edit(workspace: Workspace) -> None:
    """Let an agent edit the first task."""
    let_agents(workspace.store)
    ref = workspace.snapshot().tasks.tasks[0].ref
    fields = {"assigned": "Theirs"}
    workspace.change("test", lambda snapshot: edit_task(snapshot, ref, set=fields, now=NOW), actor="agent:x", now=NOW)


async def conflict(pilot: Pilot[int], *behind: str) -> None:
    """Save a form over what an agent wrote while another change is written, with keys behind it."""
    app = pilot.app
    assert isinstance(app, MemdeckApp)
    assert app.workspace is not None
    await press(pilot, "e", "down", "down", "down", "down", "end")
    await type_text(pilot, "Mine")
    with app.edits.one:
        send(pilot, "ctrl+s")
        await pilot.pause()
        assert app.screen is app.main_screen
        edit(app.workspace)
        for key in behind:
            send(pilot, key)
            await pilot.pause()
            await released(pilot)
    await settle(pilot)


async def test_a_conflict_waits_for_a_dialog_that_is_typed_in(workspace: Workspace) -> None:
    """Another line is begun when the question comes up: the letters stay in it, and the question comes behind it."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await conflict(pilot, "Q", "m", "e", "t")
        assert isinstance(app.screen, Prompt)
        await type_text(pilot, "tom")
        await press(pilot, "enter")
        assert "mettom" in [task.title for task in workspace.snapshot().tasks.tasks]
        assert isinstance(app.screen, ThreeWay)
        assert len(app.screen_stack) == 2
        assert app.screen.deaf_until
        await press(pilot, "escape")
        assert isinstance(app.screen, Form)
        assert app.screen.values()["assigned"] == "heartbeatMine"
