"""Dialogs that come late: not under the hands of a person who went on, nor answered by keys for something else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

import pytest
from rich.console import RenderableType
from textual.events import Key
from textual.pilot import Pilot
from textual.screen import Screen

from app.tui.app import MemdeckApp
from app.tui.commands.interface import Find, OpenDialog
from app.tui.keys import type_ahead as typing_ahead
from memory.files.tasks.edits import edit_task
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running, send, settle, type_text
from tests.patience import PATIENCE, within
from tests.reviewing import let_agents
from widgets.dialogs.dialogs import Preview, Prompt
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


@pytest.mark.parametrize("keys", [("escape",), ("j",), ("j", "escape", "k")])
@pytest.mark.parametrize("early", [True, False], ids=["while keys wait", "when they wait no more"])
async def test_what_was_found_too_late_does_not_open(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, keys: tuple[str, ...], early: bool
) -> None:
    """The versions of an entry take longer than keys wait: pressed meanwhile they are the list's, and nothing opens."""
    monkeypatch.setattr(typing_ahead, "_LONGEST", 0.01)
    app = make_app(workspace)
    async with running(app) as pilot:
        before = app.navigation.pane.line_list.position
        with asking(app, monkeypatch):
            send(pilot, "H")
            if not early:
                await pilot.pause()
                await released(pilot)
            for key in keys:
                send(pilot, key)
            await pilot.pause()
            await released(pilot)
            assert app.navigation.pane.line_list.position == before + keys.count("j") - keys.count("k")
        await settle(pilot)
        assert app.screen is app.main_screen
        assert [note.message for note in app._notifications] == ["The history took too long to open; ask for it again."]
        await press(pilot, "H")
        assert isinstance(app.screen, EntryHistory)


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


async def test_keys_behind_an_answer_wait_for_what_it_leads_to(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line is answered and what it asks for is looked for: Esc behind it leaves what is found, `j` is the list's."""
    shown: list[Preview] = []

    def found(_: object) -> OpenDialog:
        shown.append(Preview("Found", ()))
        return OpenDialog(shown[-1], waited="What was found")

    app = make_app(workspace)
    async with running(app) as pilot:
        before = app.navigation.pane.line_list.position
        app.perform(OpenDialog(Prompt("Look for"), lambda _: Find(lambda: None, found)))
        await settle(pilot)
        with asking(app, monkeypatch):
            for key in ("q", "enter", "escape", "j"):
                send(pilot, key)
            await pilot.pause()
            assert not shown
        await settle(pilot)
        assert shown
        assert app.screen is app.main_screen
        assert app.navigation.pane.line_list.position == before + 1


async def test_who_sees_the_question_may_answer_at_once(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that comes with the first picture of a question counts, also where nothing else was done since."""
    key, pressed = Key("m", "m"), []
    app = make_app(workspace)
    display = app._display

    def seen(screen: Screen[object], picture: RenderableType | None) -> None:
        display(screen, picture)
        if isinstance(screen, ThreeWay) and screen.is_mounted and not pressed:
            key.time = monotonic()
            pressed.append(app.post_message(key))

    monkeypatch.setattr(app, "_display", seen)
    async with running(app) as pilot:
        await conflict(pilot)
        assert pressed
        assert isinstance(app.screen, ThreeWay)
        assert app.screen.view.open_questions == 0
