"""The server of `memdeck api`: a port of this machine behind a token, a socket for this user, or both."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from app.servers.heap import collect_garbage
from app.servers.http_server import Bounds, HttpServer, config_of
from app.servers.life import point_to_nothing
from app.servers.loopback import App, LoopbackGuard, Receive, Scope, Send, open_port, refuse, values_of

from .application import Api
from .events import ChangeEvents
from .unix_socket import UnixSocket

if TYPE_CHECKING:
    from app.servers.life import Life
    from app.servers.mcp.calls import Calls

    from .runs import Runs

_LEAVING = 3
"""Seconds that open requests have to end."""


class Where(NamedTuple):
    """The places of the server: an address with its token, and the path of a socket."""

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
    """Serve until a signal arrives or the parent process is gone; `say` gets the places of the server."""
    file = UnixSocket(path) if path is not None else None
    sockets: list[socket.socket] = [] if file is None else [file.listening]
    address = token = None
    events = ChangeEvents(runs.workspace, runs.clock, runs.busy)
    inner: App = Api(runs, calls, events, actor=actor).application
    bounded: App = Bounds(inner)
    guard: App | None = None
    try:
        if port is not None:
            listening, host = open_port(port, "api.port")
            sockets.append(listening)
            address, token = f"http://{host}", secrets.token_urlsafe(32)
            guard = LoopbackGuard(bounded, host, token, "memdeck api")
        running = HttpServer(config_of(_by_way(guard, bounded), leaving=_LEAVING))
        logging.disable(logging.CRITICAL)  # Errors in requests of strangers are not reported on the terminal.
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
        point_to_nothing(0, os.O_RDONLY)  # nothing here waits for input from the terminal
        # The program that reads where the server is may be gone a moment later.
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
    """Return an application that checks the token on the port, and nothing on the socket: there the kernel names the
    user.
    """

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
