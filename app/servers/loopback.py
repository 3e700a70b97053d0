"""Shared by the servers that only this machine can reach: the port, the token, and the check of requests."""

from __future__ import annotations

import hmac
import json
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from memory.errors import MemdeckError

HOST = "127.0.0.1"
"""Only this machine can reach it."""
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class LoopbackGuard:
    """Lets in requests that name this host and carry the token; pages of other origins get nothing."""

    def __init__(self, app: App, host: str, token: str, command: str) -> None:
        """`host` is the address with its port, as clients write it; `command` is the command that printed the token."""
        self._app = app
        self._hosts = {one.encode() for one in hosts_of(host)}
        self._origins = {b"http://" + one for one in self._hosts}
        self._token = f"Bearer {token}"
        self._command = command

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        refusal = self._refusal(scope["headers"])
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await refuse(send, *refusal)

    def _refusal(self, headers: list[tuple[bytes, bytes]]) -> tuple[int, str, str] | None:
        host = values_of(headers, b"host")
        if len(host) != 1 or host[0] not in self._hosts:
            return 403, "http.host", "this address is not served here"
        if any(origin not in self._origins for origin in values_of(headers, b"origin")):
            return 403, "http.origin", "pages of other origins get nothing"
        given = values_of(headers, b"authorization")
        if len(given) != 1 or not same(given[0].decode("latin-1"), self._token):
            return 401, "http.token", f"send the token that {self._command} printed"
        return None


def values_of(headers: list[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    """Return all values of a request's header."""
    return [value for key, value in headers if key.lower() == name]


def hosts_of(host: str) -> list[str]:
    """Return the forms in which clients may write an address of this machine."""
    return [host, host.replace(HOST, "localhost")]


def same(given: str, wanted: str) -> bool:
    """Compare in constant time, however many characters match."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


async def respond(send: Send, status: int, body: bytes, *more: tuple[bytes, bytes]) -> None:
    """Answer with JSON; `more` are headers."""
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def refuse(send: Send, status: int, code: str, message: str, **details: Any) -> None:
    """Answer with an error in the form that the command line prints for programs."""
    error = {"error": {"code": code, "message": message, "details": details}}
    more = {401: (b"www-authenticate", b"Bearer"), 429: (b"retry-after", b"1"), 503: (b"retry-after", b"1")}
    headers = [more[status]] if status in more else []
    await respond(send, status, json.dumps(error).encode() + b"\n", *headers)


def open_port(port: int, code: str) -> tuple[socket.socket, str]:
    """Listen on a port of this machine (0: any free one), and return the socket and the address with the port;
    MemdeckError `code` if that fails.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(64)
    except OSError as error:
        listening.close()
        hint = "name another one with --port, or none"
        raise MemdeckError(code, f"port {port} cannot be used: {error.strerror}", hint) from error
    return listening, f"{HOST}:{listening.getsockname()[1]}"
