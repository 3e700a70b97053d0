"""Keys that reach the application together, as over a slow line: each acts where the one before leads."""

from __future__ import annotations

import os
import random
from datetime import UTC
from pathlib import Path

import pytest

from app.demo.siblings import add_beside
from app.demo.workspace import demo_files
from tests.app.tui.tui_helpers import (
    NAMED,
    NAMES,
    NOW,
    make_app,
    make_workspace,
    running,
    send,
)

WHOLE = os.environ.get("MEMDECK_BURSTS") == "all"
SEEDS, BURSTS = (range(40), 400) if WHOLE else (range(4), 80)
KEYS = (
    *"abcdefghijklmnoprstuvwxyzABCDGHJKMNOPRSTUVWXYZ0123456789",
    *(sign for sign in NAMES if sign != "!"),
    *(*NAMED, "tab", "shift+tab", "up", "left", "right", "backspace", "home", "end", "pagedown", "f1"),
    *("ctrl+d", "ctrl+u", "ctrl+r", "ctrl+n"),
)
"""Every key but those that leave, or hand the terminal to an editor."""

SIZES = ((120, 36), (80, 24), (40, 10), (20, 5), (1, 1), (200, 60))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.thorough(but=("3",))
async def test_no_keys_end_it(tmp_path: Path, seed: int) -> None:
    """Whatever keys come together, in whatever terminal: it runs until it is left, and dialogs do not pile up."""
    chance = random.Random(seed)
    workspace = make_workspace(tmp_path, demo_files(NOW, UTC))
    add_beside(workspace, NOW, actor="test")
    panes = ["tasks", "journal", "brief", "monitors", "facts", "typed"]
    app = make_app(workspace, pane=chance.choice(panes))
    async with running(app, chance.choice(SIZES[:3])) as pilot:
        for _ in range(BURSTS):
            keys = [chance.choice(KEYS) for _ in range(chance.choice((1, 2, 2, 3, 4, 6)))]
            for key in keys:
                send(pilot, key)
            await pilot.pause(chance.choice((0, 0, 0.02)))
            if chance.random() < 0.03:
                await pilot.resize_terminal(*chance.choice(SIZES))
            assert app.is_running
            assert len(app.screen_stack) < 5
        app.exit()
