"""HTTP connections as the servers take them: few, of known peers, and none that says or takes nothing for long."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from app.servers.loopback import error_body

MOST = 64
"""Connections at one time."""
FIRST_SECONDS = 10.0
"""How long a request's line and headers may take."""
TAKEN_SECONDS = 30.0
"""After so long without taking anything of an answer that waits for it, a client is left."""


class HttpConnection(H11Protocol):
    """uvicorn's protocol with a bound on connections, a limit for slow requests, and a look at who is at a socket."""

    _slow: asyncio.TimerHandle | None = None
    _untaken: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection in, or refuse it."""
        super().connection_made(transport)
        if not is_own(transport.get_extra_info("socket")):
            self._refuse(403, "Forbidden", "http.peer", "this socket belongs to another user")
        elif len(self.connections) > MOST:
            self._refuse(503, "Service Unavailable", "http.busy", "too many connections are open")
        else:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._come()
        self._take()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait until the client takes what is written; for as long as it takes anything."""
        super().pause_writing()
        self._take()
        self._untaken = self.loop.call_later(TAKEN_SECONDS, self._look, self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """Write on."""
        self._take()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Take bytes in; the time for a request counts until its headers are there."""
        if self.transport.is_closing():
            return
        requests = self.scope
        super().data_received(data)
        if self.scope is not requests:
            self._come()
        elif self._slow is None and (self.cycle is None or self.cycle.response_complete):
            self._wait()

    def on_response_complete(self) -> None:
        """Take up the next request."""
        super().on_response_complete()
        if not self.transport.is_closing() and self.conn.trailing_data[0]:
            self._wait()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        """Answer what is no HTTP with an error as all others are."""
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
            self._untaken = None

    def _look(self, before: int) -> None:
        """Leave a client that took nothing since the last look: it holds a connection and what it asked for."""
        left = self.transport.get_write_buffer_size()
        if left < before:
            self._untaken = self.loop.call_later(TAKEN_SECONDS, self._look, left)
        else:
            self._untaken = None
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
    """Tell whether a connection is one of this user, or of root: of a socket in the file system the kernel says so.

    Where it does not (macOS), the mode of the socket lets nobody else in.
    """
    if connected is None or connected.family != socket.AF_UNIX:
        return True
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    size = struct.calcsize("3i")
    _, user, _ = struct.unpack("3i", connected.getsockopt(socket.SOL_SOCKET, option, size))
    return user in (os.getuid(), 0)
