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
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, running, send, settle
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
