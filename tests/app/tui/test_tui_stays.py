"""Where the person goes while something is written or read, the cursor stays, whatever was asked before."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from textual.pilot import Pilot

from app.tui import shell
from app.tui.app import MemdeckApp
from app.tui.keys.jump import JumpLabel
from memory.files.tasks.edits import remove_task
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running, send, settle
from tests.patience import PATIENCE, within


@contextmanager
def held(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> Iterator[None]:
    """Let nothing past a function that threads call, until the end of the block."""
    goes_on, known = threading.Event(), getattr(owner, name)

    def waits(*arguments: Any) -> Any:
        assert goes_on.wait(PATIENCE)
        return known(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, waits)
        try:
            yield
        finally:
            goes_on.set()


async def go(pilot: Pilot[int], *keys: str) -> None:
    """Press keys one after the other while something is held; `label` is the one that jumps to the last row."""
    app = pilot.app
    assert isinstance(app, MemdeckApp)
    for key in keys:
        if key == "label":
            key = [label.label for label in app.screen.query(JumpLabel)][-1]
        send(pilot, key)
        await pilot.pause()
        async with within(lambda: app.screen):
            while not app.type_ahead.idle:
                await pilot.pause(0.001)


CHANGES = {
    "a form that edits": ("tasks", (), ("e", "q", "ctrl+s", "escape")),
    "a form that adds": ("tasks", (), ("a", "n", "ctrl+s")),
    "a task that is done": ("tasks", (), ("d", "enter")),
    "a card that is moved": ("tasks", ("b",), ("greater_than_sign",)),
    "a line of the journal": ("journal", (), ("J", "n", "enter")),
    "a line of knowledge that is moved": ("knowledge", ("j", "j"), ("F", "end", "enter")),
    "an undo": ("tasks", (), ("u",)),
}
"""What leads the cursor to an entry once it is written: the pane, the keys before, and those that ask for it."""


@pytest.mark.parametrize("reading", [False, True], ids=["written", "read"])
@pytest.mark.parametrize("change", CHANGES)
async def test_the_cursor_stays_where_the_person_went(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, change: str, reading: bool
) -> None:
    """While a change is written, or read back, another row is chosen: the cursor is not taken back to the change."""
    pane_id, before, keys = CHANGES[change]
    last = workspace.snapshot().tasks.tasks[-1].ref
    workspace.change("test", lambda snapshot: remove_task(snapshot, last, now=NOW), actor="human", now=NOW)
    app = make_app(workspace, pane=pane_id)
    async with running(app) as pilot:
        await press(pilot, *before)
        pane = app.navigation.pane
        changes = len(workspace.store.history.list(100))
        with held(monkeypatch, pane, "read") if reading else app.edits.one:
            await go(pilot, *keys)
            assert app.screen is app.main_screen
            await go(pilot, "j", "j")
            there = pane.line_list.cursor
            assert there is not None
        await settle(pilot)
        assert len(workspace.store.history.list(100)) == changes + 1
        assert pane.line_list.cursor is there


async def test_what_was_asked_first_is_written_first(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two changes right after another, whose threads begin the wrong way round, are written in their order."""
    app = make_app(workspace, pane="tasks")
    late: list[Callable[[], None]] = []
    begin = shell.run_in_thread

    def backwards(*arguments: Any, group: str, **options: Any) -> None:
        if group != "change" or len(late) > 1:
            begin(*arguments, group=group, **options)
            return
        late.append(partial(begin, *arguments, group=group, **options))
        if len(late) == 2:
            # It waits at the lock before the other one begins.
            late[1]()
            late[0]()

    async with running(app) as pilot:
        monkeypatch.setattr(shell, "run_in_thread", backwards)
        await go(pilot, *("a", "x", "ctrl+s"), *("a", "y", "ctrl+s"))
        await settle(pilot)
        assert [record.summary for record in workspace.store.history.list(2)] == ["added 'y'", "added 'x'"]
        assert app.navigation.pane.current().title == "y"


LINKED = "Set up CI pipeline"
"""A task that a journal entry mentions."""


async def test_a_link_that_is_found_late_is_not_followed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """`o` is pressed before the links of an entry are known, and then another row is chosen: nothing is opened."""
    app = make_app(workspace, pane="tasks")
    async with running(app) as pilot:
        pane = app.navigation.pane
        linked = pane.arrangement.row_of(next(task.ref for task in workspace.snapshot().tasks if task.title == LINKED))
        while pane.line_list.cursor is not linked:
            await press(pilot, "j")
        await press(pilot, "k")
        with held(monkeypatch, pane, "links"):
            await go(pilot, "o", "j")
            assert pane.line_list.cursor is linked
        await settle(pilot)
        assert app.navigation.pane is pane
        await press(pilot, "o")
        assert app.navigation.pane is not pane
