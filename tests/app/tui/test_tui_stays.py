"""Where the person goes while something is written or read, the cursor stays, whatever was asked before."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from textual.pilot import Pilot

from app.tui.app import MemdeckApp
from app.tui.keys.jump import JumpLabel
from tests.app.tui.tui_helpers import send
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
