"""The session of one page: its process, which ends with the page."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from textual_serve.app_service import AppService

LEAVING_SECONDS = 2.0
"""Seconds that a session may take to leave; less than a reloaded page waits for it."""
MOST_WIDTH, MOST_HEIGHT = 500, 200
"""Cells of the largest screen that is drawn; a page that asks for more gets this."""


class PageSession(AppService):
    """The process of one page."""

    def __init__(self, words: Sequence[str], **more: Any) -> None:
        """`words` are the command; the other arguments are those of `AppService`."""
        super().__init__("", **more)
        self._words = tuple(words)

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        """Start the process without a shell, detached from the server's terminal."""
        environment = self._build_environment(width=width, height=height)
        self._process = process = await asyncio.create_subprocess_exec(
            *self._words, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, start_new_session=True
        )
        self._stdin = process.stdin
        return process

    async def start(self, width: int, height: int) -> None:
        """Start the process, with a screen within limits; the page's connection ends with it."""
        await super().start(*_within(width, height))
        assert self._task is not None
        self._task.add_done_callback(lambda _: asyncio.ensure_future(self.remote_close()))

    async def set_terminal_size(self, width: int, height: int) -> None:
        """Tell the process the size of the page, within limits."""
        await super().set_terminal_size(*_within(width, height))

    async def send_bytes(self, data: bytes) -> bool:
        """Send keys, without waiting: a page that leaves is noticed even if the process reads nothing."""
        self.stdin.write(self.encode_packet(b"D", data))
        return True

    async def end(self) -> None:
        """Ask the process to leave; if it does not, kill it with everything that it started."""
        leaving = asyncio.ensure_future(self.stop())
        # Cancelling would not work: the reader of the process ignores it while the process lives.
        await asyncio.wait([leaving], timeout=LEAVING_SECONDS)
        process = self._process
        if process is not None:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            # Its end is reported only when its pipes are closed, and they are closed with the transport.
            process._transport.close()  # type: ignore[attr-defined]
            await process.wait()
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)


def _within(width: int, height: int) -> tuple[int, int]:
    """Return the size of the screen for a page that asks for one."""
    return min(max(int(width), 1), MOST_WIDTH), min(max(int(height), 1), MOST_HEIGHT)
