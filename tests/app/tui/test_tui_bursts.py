"""Keys that reach the application together, as over a slow line: each acts where the one before leads."""

from __future__ import annotations

import os
import random
from datetime import UTC
from pathlib import Path

import pytest

from app.demo.siblings import add_beside
from app.demo.workspace import demo_files
from app.tui.search.screen import SearchScreen
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import (
    NAMED,
    NAMES,
    NOW,
    burst,
    make_app,
    make_workspace,
    press,
    running,
    send,
    type_text,
)
from widgets.dialogs.choose import Choose


@pytest.mark.parametrize("details", ["", "What is the matter."])
async def test_a_choice_is_made_once(workspace: Workspace, details: str) -> None:
    """The second of two keys is none of the dialog that the first one left."""
    app = make_app(workspace)
    chosen: list[object] = []
    async with running(app) as pilot:
        before = app.navigation.pane.line_list.position
        app.push_screen(Choose("Gone", [("p", "put", "put it back"), ("k", "keep", "")], details), chosen.append)
        await pilot.pause()
        await burst(pilot, "pj")
        assert chosen == ["put"]
        assert app.screen is app.main_screen
        assert app.navigation.pane.line_list.position == before + 1


async def test_enter_behind_a_query_means_this_query(workspace: Workspace) -> None:
    """What was asked before is not taken for what is typed."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "ctrl+f")
        await type_text(pilot, "weekly")
        await press(pilot, "enter")
        assert app.screen is app.main_screen
        await burst(pilot, "ctrl+f", "redis cach", "enter")
        assert app.screen is app.main_screen
        assert app.navigation.pane.pane_id == "knowledge"
        assert app.navigation.pane.current().text == "Using Redis for caching"
        await burst(pilot, "ctrl+f", "tls")
        assert isinstance(app.screen, SearchScreen)
        assert app.screen.text == "tls"


async def test_g_and_what_follows_it(workspace: Workspace) -> None:
    """`g` takes the next key, whatever else comes with it, and nothing waits behind the last one."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "3")
        await burst(pilot, "gt")
        assert app.navigation.pane.pane_id == "tasks"
        await press(pilot, "3", "j")
        await burst(pilot, "gg")
        assert app.navigation.pane.line_list.position == 1
        await burst(pilot, "gh")
        assert [toast.message for toast in app._notifications] == ["No pane begins with 'h'."]
        await burst(pilot, "ght th")
        assert not app.navigation.pane.line_list._after_go
        await burst(pilot, "gt")
        assert app.navigation.pane.pane_id == "tasks"


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
