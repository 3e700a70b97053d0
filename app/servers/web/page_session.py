"""The session of one page: its process, which ends with the page, and its messages with their limits: keys, pasted
text, size, focus.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any

from aiohttp import WSMsgType, web
from textual_serve.app_service import AppService

LEAVING_SECONDS = 2.0
"""Seconds that a session may take to leave; less than a reloaded page waits for it."""
LARGEST = 256 * 1024
"""The most bytes of one message, which is pasted text."""
MOST_WIDTH, MOST_HEIGHT = 500, 200
"""Cells of the largest screen that is drawn; a page that asks for more gets this."""
RATE, BURST = 500.0, 2000.0
"""Messages per second and at once; messages beyond that are read more slowly."""
RESIZE_COST = 25.0
"""A new size redraws the whole screen, and counts as so many messages."""
WAITING = 4000
"""Messages that may wait for the session; with more, the session counts as stuck."""


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
        """`words` are the command; the other arguments send to the page and close it."""
        super().__init__("", write_bytes=write_bytes, write_str=write_str, close=close, download_manager=downloads)
        self._words = tuple(words)

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        """Start the process without a shell, detached from the server's terminal."""
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
        """Wait until the process writes no more."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def end(self) -> None:
        """Ask the process to leave; if it does not, kill it with everything that it started."""
        leaving = asyncio.create_task(self._leave())
        try:
            # Cancelling would not work: the reader of the process ignores it while the process lives.
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
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        # The process may have left output in its pipe, which no one reads any more: its end is reported only when its
        # pipes are closed, and they are closed with the transport.
        process._transport.close()  # type: ignore[attr-defined]
        await process.wait()


Act = Callable[[PageSession], Coroutine[Any, Any, object]]


class Wrong(Exception):
    """A message that our page never sends."""


def cells(width: str, height: str) -> tuple[int, int]:
    """Return the size that a page asks for in its address, within limits; 80 by 24 if it is invalid."""
    return _cells(width, 80, MOST_WIDTH), _cells(height, 24, MOST_HEIGHT)


def _cells(text: str, default: int, most: int) -> int:
    usable = text.isascii() and text.isdecimal() and len(text) < 10
    return min(max(1, int(text)), most) if usable else default


async def relay(websocket: web.WebSocketResponse, session: PageSession) -> None:
    """Pass on the page's messages until the page or the session is gone; raises Wrong.

    Reading never waits for the session, so that a page that leaves is noticed even if the session reads nothing.
    """
    waiting: asyncio.Queue[Act] = asyncio.Queue(WAITING)
    tasks = [
        asyncio.create_task(_listen(websocket, waiting)),
        asyncio.create_task(_feed(waiting, session)),
        asyncio.create_task(session.ended()),
    ]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError, Wrong, ConnectionError):
                await task


async def _listen(websocket: web.WebSocketResponse, waiting: asyncio.Queue[Act]) -> None:
    clock = asyncio.get_running_loop().time
    left, last = BURST, clock()
    async for message in websocket:
        if message.type is not WSMsgType.TEXT:
            raise Wrong("no text")
        kind, data = _read(message.data)
        left, last = min(BURST, left + (clock() - last) * RATE), clock()
        left -= RESIZE_COST if kind == "resize" else 1.0
        if left < 0:
            await asyncio.sleep(-left / RATE)
        if kind == "ping":
            await websocket.send_json(["pong", data])
            continue
        act = _act(kind, data)
        try:
            waiting.put_nowait(act)
        except asyncio.QueueFull:
            raise Wrong("the session takes no messages") from None


async def _feed(waiting: asyncio.Queue[Act], session: PageSession) -> None:
    while True:
        await (await waiting.get())(session)


def _read(text: str) -> tuple[str, Any]:
    """Return the kind of a message and its content; Wrong if it is invalid."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        raise Wrong("no JSON") from None
    if not isinstance(said, list) or not said or not isinstance(said[0], str):
        raise Wrong("no message")
    data = said[1] if len(said) > 1 else None
    if said[0] == "ping" and not (data is None or isinstance(data, int | float | str)):
        raise Wrong("no ping")
    return said[0], data


def _act(kind: str, data: Any) -> Act:
    """Return what the session does for a message; Wrong if its content is invalid."""
    match kind, data:
        case "stdin", str():
            try:
                keys = data.encode("utf-8")
            except UnicodeEncodeError:
                raise Wrong("half characters") from None
            return lambda session: session.send_bytes(keys)
        case "resize", {"width": int(width), "height": int(height)} if width > 0 and height > 0:
            size = min(width, MOST_WIDTH), min(height, MOST_HEIGHT)
            return lambda session: session.set_terminal_size(*size)
        case "blur", _:
            return lambda session: session.blur()
        case "focus", _:
            return lambda session: session.focus()
        case _:
            raise Wrong(kind[:40])
