"""The server over streamable HTTP on this machine only, behind a token; importing this loads the SDK and uvicorn."""

from __future__ import annotations

import hmac
import logging
import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from memory.errors import MemdeckError

from .sdk_stream import collect_garbage
from .server import make_server

if TYPE_CHECKING:
    from .calls import Calls
    from .life import Life
    from .watched import Watched

HOST = "127.0.0.1"
PATH = "/mcp"
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """Lets in requests that name this host and carry the token; pages of other origins get nothing."""

    def __init__(self, app: App, host: str, token: str) -> None:
        """`host` is the address with its port, as clients write it."""
        self._app = app
        self._hosts = {host.encode(), host.replace(HOST, "localhost").encode()}
        self._origins = {b"http://" + one for one in self._hosts}
        self._token = f"Bearer {token}".encode()

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
            return
        status, words = refusal
        headers = [(b"content-type", b"text/plain"), (b"cache-control", b"no-store")]
        if status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": words.encode() + b"\n"})

    def _refusal(self, headers: list[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        def values(name: bytes) -> list[bytes]:
            return [value for key, value in headers if key.lower() == name]

        host = values(b"host")
        if len(host) != 1 or host[0] not in self._hosts:
            return 403, "this address is not served here"
        if any(origin not in self._origins for origin in values(b"origin")):
            return 403, "pages of other origins get nothing"
        given = values(b"authorization")
        if len(given) != 1 or not hmac.compare_digest(given[0], self._token):
            return 401, "send the token that memdeck mcp --http printed"
        return None


def open_port(port: int) -> socket.socket:
    """Listen on a port of this machine (0: any that is free); MemdeckError `mcp.port` where that cannot be."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(64)
    except OSError as error:
        listening.close()
        hint = "name another one with --port, or none"
        raise MemdeckError("mcp.port", f"port {port} cannot be used: {error.strerror}", hint) from error
    return listening


def serve_http(
    calls: Calls, watched: Watched, life: Life, port: int, say: Callable[[str, str], None], *, read_only: bool
) -> None:
    """Serve clients until a signal ends it; `say` gets the address and the token."""
    listening = open_port(port)
    host = f"{HOST}:{listening.getsockname()[1]}"
    token = secrets.token_urlsafe(32)
    server = make_server(calls, watched, read_only=read_only)
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[host, host.replace(HOST, "localhost")],
        allowed_origins=[f"http://{host}", f"http://{host.replace(HOST, 'localhost')}"],
    )
    app = server.streamable_http_app(streamable_http_path=PATH, transport_security=security)
    collect_garbage()
    logging.disable(logging.CRITICAL)  # What a stranger sends is no news for the terminal.
    config = uvicorn.Config(Guard(app, host, token), log_config=None, access_log=False, server_header=False)
    running = uvicorn.Server(config)
    # Signals end the process after the call at work, also while a client keeps its stream open.
    running.capture_signals = nullcontext  # type: ignore[assignment, method-assign]
    say(f"http://{host}{PATH}", token)
    life.watch(parent=False)
    running.run(sockets=[listening])
    life.end()
