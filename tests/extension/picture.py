"""Prints what a pane of the application shows over the current folder: `python -m tests.extension.picture PANE NOW`."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from datetime import datetime

from textual.worker import WorkerCancelled

from app.tui.app import MemdeckApp
from app.tui.shell import Setup
from memory.storage.own_folders import home, state_home
from memory.workspace import Workspace
from tests.patience import PATIENCE


async def draw(app: MemdeckApp) -> None:
    """Print the screen when nothing is being read or drawn any more."""
    async with app.run_test(size=(120, 36)) as pilot, asyncio.timeout(PATIENCE):
        while True:
            for worker in [one for one in app.workers if not one.is_finished]:
                with suppress(WorkerCancelled):
                    await worker.wait()
            await pilot.pause()
            if app.idle and all(one.is_finished for one in app.workers):
                break
        for strip in app.screen._compositor.render_strips(app.size):
            print(strip.text.rstrip())


def main(pane: str, now: str) -> None:
    """Open the application without a terminal."""
    with Workspace.open(".", state_home=state_home(os.environ), home=home(os.environ)) as workspace:
        setup = Setup(
            clock=lambda: datetime.fromisoformat(now), pane=pane, path=str(workspace.root), environ={}, watches=False,
            remembers=False,
        )  # fmt: skip
        asyncio.run(draw(MemdeckApp(workspace, setup)))


if __name__ == "__main__":
    main(*sys.argv[1:3])
