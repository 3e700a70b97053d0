"""Dialogs that come late: not under the hands of a person who went on, nor answered by keys for something else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from textual.events import Key
from textual.pilot import Pilot

from app.tui.app import MemdeckApp
from app.tui.keys import type_ahead as typing_ahead
from memory.files.tasks.edits import edit_task
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running, send, settle, type_text
from tests.patience import PATIENCE, within
from tests.reviewing import let_agents
from widgets.dialogs.dialogs import Prompt
from widgets.dialogs.entry_history import EntryHistory
from widgets.dialogs.three_way import ThreeWay
from widgets.input.form import Form


@contextmanager
def asking(app: MemdeckApp, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let nothing that is found out for a dialog be found before the end of the block."""
    goes_on, ask = threading.Event(), app.edits.ask

    def held(work: Callable[[], object], *arguments: object, **options: object) -> None:
        def waits() -> object:
            assert goes_on.wait(PATIENCE)
            return work()

        ask(waits, *arguments, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(app.edits, "ask", held)
        try:
            yield
        finally:
            goes_on.set()


async def released(pilot: Pilot[int]) -> None:
    """Wait until keys wait for nothing any more."""
    app = pilot.app
    assert isinstance(app, MemdeckApp)
    async with within():
        while app.type_ahead._waits or not app.type_ahead.idle:
            await pilot.pause(0.001)


async def test_who_waits_gets_what_was_found_late(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """No key is pressed meanwhile: it opens, however long it takes."""
    monkeypatch.setattr(typing_ahead, "_LONGEST", 0.01)
    app = make_app(workspace)
    async with running(app) as pilot:
        with asking(app, monkeypatch):
            send(pilot, "H")
            await pilot.pause()
            await released(pilot)
        await settle(pilot)
        assert isinstance(app.screen, EntryHistory)


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


async def test_keys_for_the_list_do_not_answer_a_conflict(workspace: Workspace) -> None:
    """What was pressed before the question behind a save could be seen answers nothing; what is pressed then does."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await conflict(pilot)
        assert isinstance(app.screen, ThreeWay)
        for name in ("m", "enter"):
            early = Key(name, name if len(name) == 1 else None)
            early.time = app.screen.deaf_until - 0.001
            app.post_message(early)
        await settle(pilot)
        assert isinstance(app.screen, ThreeWay)
        assert app.screen.view.open_questions == 1
        await press(pilot, "m", "enter")
        assert app.screen is app.main_screen
        assert workspace.snapshot().tasks.tasks[0].assigned == "heartbeatMine"


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
