"""What a page may say to its session, and how much of it: keys, pasted text, its size, its focus."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from aiohttp import WSMsgType, web

from .page_session import PageSession

LARGEST = 256 * 1024
"""Bytes of one message: what somebody pastes."""
MOST_WIDTH, MOST_HEIGHT = 500, 200
"""Cells of the largest screen that is drawn; a page that asks for more gets this."""
RATE, BURST = 500.0, 2000.0
"""Messages in a second and at once; a page that says more is listened to more slowly."""
RESIZE_COST = 25.0
"""A new size costs a whole new picture, and counts as so many messages."""
WAITING = 4000
"""Messages that may wait for a session that takes none; it is stuck when there are more."""

Act = Callable[[PageSession], Coroutine[Any, Any, object]]


class Wrong(Exception):
    """A message that no page of ours sends."""


def cells(width: str, height: str) -> tuple[int, int]:
    """Return the size that a page asks for in its address, within reason; 80 by 24 for what is none."""
    return _cells(width, 80, MOST_WIDTH), _cells(height, 24, MOST_HEIGHT)


def _cells(text: str, default: int, most: int) -> int:
    usable = text.isascii() and text.isdecimal() and len(text) < 10
    return min(max(1, int(text)), most) if usable else default


async def relay(websocket: web.WebSocketResponse, session: PageSession) -> None:
    """Hand on what the page says until it is gone or the session is; raises Wrong.

    Listening never waits for the session, so that a page that leaves is noticed while the session takes nothing.
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
    """Return the kind of a message and what it says; Wrong for what is none."""
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
    """Return what a message has the session do; Wrong for what it cannot mean."""
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
