"""The picture of a pane without a terminal waits for what the pane reads, however often it begins anew."""

from __future__ import annotations

import asyncio
from threading import Event

from textual.worker import WorkerState

from app.tui.pane_text import _settle
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, running
from tests.patience import PATIENCE


async def test_work_that_newer_work_took_the_place_of_ends_nothing(workspace: Workspace) -> None:
    """Of two looks of one kind the first is given up while somebody waits for it; the second is waited for."""
    app = make_app(workspace)
    async with running(app):
        there = Event()

        def begin() -> None:
            workers.append(app.run_worker(lambda: there.wait(PATIENCE), thread=True, exclusive=True, group="looks"))
            if len(workers) > 1:
                there.set()

        workers = []
        begin()
        while workers[0].state is WorkerState.PENDING:
            await asyncio.sleep(0)
        asyncio.get_running_loop().call_soon(begin)
        await _settle(app)
        assert [worker.state for worker in workers] == [WorkerState.CANCELLED, WorkerState.SUCCESS]
