"""uvicorn's server without its clock: it does nothing at all while nobody asks."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractContextManager, nullcontext
from email.utils import formatdate

import uvicorn
from uvicorn.server import ServerState


class HttpServer(uvicorn.Server):
    """Serves until `leave`; signals are for others.

    uvicorn looks ten times a second whether it shall end, and once whether its `Date` is still true.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        """Nothing is served yet."""
        super().__init__(config)
        self.server_state = _State()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._left = asyncio.Event()

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        """Leave signals to `Life`: they end the process after the call at work, also while a stream is open."""
        return nullcontext()

    async def main_loop(self) -> None:
        """Wait until it shall end."""
        self._loop = asyncio.get_running_loop()
        if not self.should_exit:
            await self._left.wait()

    def leave(self) -> None:
        """End after the requests at work; from any thread."""
        self.should_exit = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._left.set)


class _State(ServerState):
    """What connections share; each answer tells the time at which it begins."""

    @property
    def default_headers(self) -> list[tuple[bytes, bytes]]:
        """The headers of every answer."""
        return [(b"date", formatdate(time.time(), usegmt=True).encode())]

    @default_headers.setter
    def default_headers(self, _headers: list[tuple[bytes, bytes]]) -> None:
        """Keep nothing."""
