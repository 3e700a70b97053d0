"""The server of `memdeck api`: a port of this machine behind a token, a socket for this user, or both."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import uvicorn

from app.servers.heap import collect_garbage
from app.servers.http_bounds import Bounds, Rate
from app.servers.http_connections import HttpConnection
from app.servers.http_server import HttpServer
from app.servers.loopback import HOST, App, LoopbackGuard, Receive, Scope, Send, open_port, refuse, values_of

from .application import Api
from .events import ChangeEvents
from .unix_socket import UnixSocket

if TYPE_CHECKING:
    from app.servers.life import Life
    from app.servers.mcp.calls import Calls

    from .runs import Runs

_LEAVING = 3
"""Seconds that open requests get to end."""


class Where(NamedTuple):
    """Where the server is found: an address with its token, and the path of a socket."""

    address: str | None
    token: str | None
    socket: str | None


def serve(
    runs: Runs,
    calls: Calls,
    life: Life,
    *,
    port: int | None,
    path: str | None,
    actor: str | None,
    say: Callable[[Where], None],
) -> None:
    """Serve until a signal ends it or the process that started it is gone; `say` gets where it is."""
    file = UnixSocket(path) if path is not None else None
    sockets: list[socket.socket] = [] if file is None else [file.listening]
    address = token = None
    events = ChangeEvents(runs.workspace, runs.clock, runs.busy)
    inner: App = Api(runs, calls, events, actor=actor).application
    bounded: App = Bounds(inner, Rate())
    guard: App | None = None
    try:
        if port is not None:
            listening = open_port(port, "api.port")
            sockets.append(listening)
            host = f"{HOST}:{listening.getsockname()[1]}"
            address, token = f"http://{host}", secrets.token_urlsafe(32)
            guard = LoopbackGuard(bounded, host, token, "memdeck api")
        config = uvicorn.Config(
            _by_way(guard, bounded), http=HttpConnection, ws="none", lifespan="off", log_config=None, access_log=False,
            server_header=False, timeout_graceful_shutdown=_LEAVING, proxy_headers=False,
        )  # fmt: skip
        running = HttpServer(config)
        logging.disable(logging.CRITICAL)  # What a stranger sends is no news for the terminal.
        collect_garbage()
        ended = threading.Event()

        def leave() -> None:
            events.close()
            running.leave()
            ended.wait(_LEAVING + 1)
            if file is not None:
                file.close()

        life.before.append(leave)
        life.busy.at_rest(calls.rest)
        _read_nothing()
        # Whoever reads where it is may be gone the moment after.
        life.watch(parent=True)
        say(Where(address, token, None if file is None else file.path))
        try:
            running.run(sockets=sockets)
        finally:
            ended.set()
    finally:
        for one in sockets:
            one.close()
        if file is not None:
            file.close()
    life.end()


def _by_way(guard: App | None, plain: App) -> App:
    """Return what asks for the token on the port, and for nothing on the socket: the kernel said who is there."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        server = scope.get("server")
        if server is None or server[1] is not None:
            if guard is not None:
                await guard(scope, receive, send)
        elif scope["type"] == "http" and values_of(scope["headers"], b"origin"):
            await refuse(send, 403, "http.origin", "pages get nothing")
        else:
            await plain(scope, receive, send)

    return application


def _read_nothing() -> None:
    """Let nothing in this process wait for somebody at its terminal."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
