"""Waits that never end: timers of one call on a busy machine, and an application that an error ended."""

from __future__ import annotations

import asyncio
import sys
import time

import pytest
from textual import _time
from textual.events import Resize
from textual.geometry import Size
from textual.timer import Timer

from app.tui.shell import ThreadReport
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import burst, make_app, press, running
from tests.patience import within


@pytest.fixture
def _interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have other programs the processor for 20 ms whenever a timer of one call looks at the clock."""
    lost = 0.0

    def late() -> float:
        nonlocal lost
        timer = sys._getframe(1).f_locals.get("self")
        if isinstance(timer, Timer) and timer._repeat == 0:
            lost += 0.02
        return time.monotonic() + lost

    monkeypatch.setattr(_time, "get_time", late)


@pytest.mark.usefixtures("_interrupted")
@pytest.mark.parametrize("delay", [0.0, 0.005])
async def test_a_timer_that_begins_late_comes_all_the_same(workspace: Workspace, delay: float) -> None:
    """The application, a pane and a list call what they were asked to, however short the time was."""
    app = make_app(workspace)
    async with running(app):
        pane = app.navigation.pane
        assert pane is not None
        for node in (app, pane, pane.line_list):
            came = asyncio.Event()
            node.set_timer(delay, came.set)
            async with within():
                await came.wait()


@pytest.mark.usefixtures("_interrupted")
async def test_keys_that_come_together_wait_for_no_timer_that_never_comes(workspace: Workspace) -> None:
    """A key right behind one that opens a pane does what it means once that is there."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await burst(pilot, "3", "c")
        assert app.screen.is_modal


@pytest.mark.usefixtures("_interrupted")
async def test_another_size_of_the_terminal_is_taken(workspace: Workspace) -> None:
    """The application is as large as the terminal, which is made smaller and larger again."""
    app = make_app(workspace)
    async with running(app):
        header = app.main_screen.header
        for size in (Size(60, 20), Size(100, 30)):
            app.post_message(Resize(size, size))
            async with within(lambda: header.size):
                while header.size.width != size.width:
                    await asyncio.sleep(0.001)


async def test_an_error_that_ends_the_application_is_raised_at_once(workspace: Workspace) -> None:
    """A test that waits until everything is written fails with the error, not with the wait."""
    app = make_app(workspace)

    async def fail() -> None:
        async with running(app) as pilot:
            app.edits.begin()
            app.post_message(ThreadReport(lambda: 1 // 0))
            await press(pilot, "j")

    with pytest.raises(ZeroDivisionError):
        await fail()
