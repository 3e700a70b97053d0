"""Bounds of requests: how large a body is, how long it takes, and how many there are in a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import MutableMapping
from typing import Any

from app.servers.loopback import App, Receive, Scope, Send, refuse, values_of

LARGEST_BODY = 1 << 20
"""Bytes of a request's body."""
BODY_SECONDS = 10.0
"""How long a body may take to come."""
PER_SECOND, AT_ONCE = 100.0, 300.0
"""Requests a second in the long run, and in a burst."""
_METHODS_WITH_BODY = ("POST", "PATCH", "PUT", "DELETE")


class Rate:
    """Counts what is still allowed now: it fills with time and empties with requests."""

    def __init__(self, per_second: float = PER_SECOND, at_once: float = AT_ONCE) -> None:
        """All of a burst is allowed at first."""
        self._per_second = per_second
        self._at_once = at_once
        self._left = at_once
        self._seen = time.monotonic()

    def take(self) -> bool:
        """Tell whether one more is allowed, and count it."""
        now = time.monotonic()
        self._left = min(self._at_once, self._left + (now - self._seen) * self._per_second)
        self._seen = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Bounds:
    """Takes the whole body of a request in before it is answered, and refuses what is too much."""

    def __init__(self, app: App, rate: Rate, largest: int = LARGEST_BODY) -> None:
        """`rate` counts for all clients together; `largest` is how many bytes a body may have."""
        self._app = app
        self._largest = largest
        self._rate = rate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if not self._rate.take():
            await refuse(send, 429, "http.rate", "too many requests", hint="wait a second")
            return
        lengths = values_of(scope["headers"], b"content-length")
        if lengths and (not lengths[0].isdigit() or len(lengths[0]) > 9 or int(lengths[0]) > self._largest):
            await _large(send, self._largest)
            return
        body = bytearray()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while scope["method"] in _METHODS_WITH_BODY:
                    message = await receive()
                    if message["type"] != "http.request":
                        return  # the client has left
                    body += message.get("body", b"")
                    if len(body) > self._largest:
                        await _large(send, self._largest)
                        return
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            await refuse(send, 408, "http.slow", "the body took too long", hint="send it at once")
            return
        given = False

        async def whole() -> MutableMapping[str, Any]:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        await self._app(scope, whole, send)


async def _large(send: Send, largest: int) -> None:
    await refuse(send, 413, "http.large", f"a body has at most {largest:,} bytes", hint="send less")
