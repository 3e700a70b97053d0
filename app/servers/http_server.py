"""The HTTP server that `memdeck api`, `mcp --http` and `fleet serve` share, on uvicorn.

It accepts few connections, from known peers, and none that is idle or stuck for long; it limits the size of a body, the
time it takes, and the requests per second; and it does nothing at all while there are no requests.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import time
from collections.abc import MutableMapping
from contextlib import AbstractContextManager, nullcontext
from email.utils import formatdate
from typing import Any, Literal

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from app.servers.loopback import App, Receive, Scope, Send, error_body, refuse, values_of

MOST = 64
"""The most connections at one time."""
FIRST_SECONDS = 10.0
"""Seconds for a request's line and headers."""
TAKEN_SECONDS = 30.0
"""Seconds after which a client is dropped that reads nothing of a waiting answer."""
LARGEST_BODY = 1 << 20
"""The most bytes of a request's body."""
BODY_SECONDS = 10.0
"""Seconds for a body to arrive."""
PER_SECOND, AT_ONCE = 100.0, 300.0
"""Requests per second on average, and in a burst."""
_METHODS_WITH_BODY = ("POST", "PATCH", "PUT", "DELETE")


class HttpServer(uvicorn.Server):
    """Serves until `leave`; signals are handled elsewhere.

    uvicorn checks ten times a second whether to end, and once a second whether its `Date` is still correct.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        """Nothing is served yet."""
        super().__init__(config)
        self.server_state = _State()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._left = asyncio.Event()

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        """Leave signals to `Life`: they end the process after the current call, even while a stream is open."""
        return nullcontext()

    async def main_loop(self) -> None:
        """Wait until `leave` is called."""
        self._loop = asyncio.get_running_loop()
        if not self.should_exit:
            await self._left.wait()

    def leave(self) -> None:
        """End after the current requests; from any thread."""
        self.should_exit = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._left.set)


class _State(ServerState):
    """The state that connections share; each answer carries the time at which it begins."""

    @property
    def default_headers(self) -> list[tuple[bytes, bytes]]:
        """The headers of every answer."""
        return [(b"date", formatdate(time.time(), usegmt=True).encode())]

    @default_headers.setter
    def default_headers(self, _headers: list[tuple[bytes, bytes]]) -> None:
        """Ignore the headers that uvicorn stores."""


def config_of(app: App, *, lifespan: Literal["auto", "off"] = "off", leaving: int | None = None) -> uvicorn.Config:
    """Return the configuration that all servers share; `leaving` is how many seconds open requests have to end."""
    return uvicorn.Config(
        app, http=HttpConnection, ws="none", lifespan=lifespan, log_config=None, access_log=False,
        server_header=False, timeout_graceful_shutdown=leaving, proxy_headers=False,
    )  # fmt: skip


class HttpConnection(H11Protocol):
    """uvicorn's protocol with a limit on connections, a limit for slow requests, and a check of who is at a socket."""

    _slow: asyncio.TimerHandle | None = None
    _untaken: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, or refuse it."""
        super().connection_made(transport)
        if not is_own(transport.get_extra_info("socket")):
            self._refuse(403, "Forbidden", "http.peer", "this socket belongs to another user")
        elif len(self.connections) > MOST:
            self._refuse(503, "Service Unavailable", "http.busy", "too many connections are open")
        else:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove a connection."""
        self._come()
        self._take()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait until the client reads what is written, as long as it reads anything."""
        super().pause_writing()
        self._take()
        self._untaken = self.loop.call_later(TAKEN_SECONDS, self._look, self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """Continue writing."""
        self._take()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Receive bytes; the time for a request runs until its headers are complete."""
        if self.transport.is_closing():
            return
        requests = self.scope
        super().data_received(data)
        if self.scope is not requests:
            self._come()
        elif self._slow is None and (self.cycle is None or self.cycle.response_complete):
            self._wait()

    def on_response_complete(self) -> None:
        """Start with the next request."""
        super().on_response_complete()
        if not self.transport.is_closing() and self.conn.trailing_data[0]:
            self._wait()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        """Answer invalid HTTP with an error like all others."""
        self._refuse(400, "Bad Request", "http.request", "this is no HTTP request")

    def _wait(self) -> None:
        self._come()
        self._slow = self.loop.call_later(FIRST_SECONDS, self._too_slow)

    def _come(self) -> None:
        if self._slow is not None:
            self._slow.cancel()
            self._slow = None

    def _take(self) -> None:
        if self._untaken is not None:
            self._untaken.cancel()

    def _look(self, before: int) -> None:
        """Drop a client that read nothing since the last check: it occupies a connection and its answer."""
        left = self.transport.get_write_buffer_size()
        if left < before:
            self._untaken = self.loop.call_later(TAKEN_SECONDS, self._look, left)
        else:
            self.transport.abort()

    def _too_slow(self) -> None:
        self._slow = None
        if not self.transport.is_closing():
            self._refuse(408, "Request Timeout", "http.slow", "the request took too long")

    def _refuse(self, status: int, phrase: str, code: str, message: str) -> None:
        body = error_body(code, message)
        head = (
            f"HTTP/1.1 {status} {phrase}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
            "connection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()


def is_own(connected: Any) -> bool:
    """Return whether a connection belongs to this user or to root; for a socket in the file system the kernel says so.

    Where it does not (macOS), the mode of the socket keeps others out.
    """
    if connected is None or connected.family != socket.AF_UNIX:
        return True
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    size = struct.calcsize("3i")
    _, user, _ = struct.unpack("3i", connected.getsockopt(socket.SOL_SOCKET, option, size))
    return user in (os.getuid(), 0)


class Rate:
    """A token bucket: it fills with time and each request takes from it."""

    def __init__(self, per_second: float = PER_SECOND, at_once: float = AT_ONCE) -> None:
        """A full burst is allowed at first."""
        self._per_second = per_second
        self._at_once = at_once
        self._left = at_once
        self._seen = time.monotonic()

    def take(self) -> bool:
        """Return whether one more request is allowed, and count it."""
        now = time.monotonic()
        self._left = min(self._at_once, self._left + (now - self._seen) * self._per_second)
        self._seen = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Bounds:
    """Reads the whole body of a request before it is answered, and refuses what exceeds the limits."""

    def __init__(self, app: App, largest: int = LARGEST_BODY) -> None:
        """`largest` is the most bytes of a body; the rate applies to all clients together."""
        self._app = app
        self._largest = largest
        self._rate = Rate()

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
