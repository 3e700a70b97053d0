"""The process of one page: started in a process group of its own, and gone when the page is."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from textual_serve.app_service import AppService

LEAVING_SECONDS = 2.0
"""How long a session may take to leave; less than a page that is loaded again waits for it."""


class PageSession(AppService):
    """The process of one page."""

    def __init__(
        self,
        words: Sequence[str],
        *,
        write_bytes: Callable[[bytes], Awaitable[None]],
        write_str: Callable[[str], Awaitable[None]],
        close: Callable[[], Awaitable[Any]],
        downloads: Any,
    ) -> None:
        """`words` are the command; the others send to the page and close it."""
        super().__init__("", write_bytes=write_bytes, write_str=write_str, close=close, download_manager=downloads)
        self._words = tuple(words)

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        """Start it without a shell, apart from the terminal of the server."""
        self._process = process = await asyncio.create_subprocess_exec(
            *self._words,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=self._build_environment(width=width, height=height),
            start_new_session=True,
        )
        self._stdin = process.stdin
        return process

    async def ended(self) -> None:
        """Wait until the process says nothing any more."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def end(self) -> None:
        """Ask it to leave; one that does not, whatever it is doing, is killed with all that it started."""
        leaving = asyncio.create_task(self._leave())
        try:
            # Calling it off would not do: what reads from the process takes no notice while that lives.
            await asyncio.wait([leaving], timeout=LEAVING_SECONDS)
        finally:
            await self._kill()
            leaving.cancel()
            await asyncio.gather(leaving, return_exceptions=True)

    async def _leave(self) -> None:
        await self.stop()
        if self._process is not None:
            await self._process.wait()

    async def _kill(self) -> None:
        process = self._process
        if process is None:
            return
        if process.returncode is None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        # What the process wrote last may be left in its pipe, where nobody reads on: its end is told only
        # when its pipes are closed, and they close with the transport.
        process._transport.close()  # type: ignore[attr-defined]
        await process.wait()
