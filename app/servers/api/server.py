"""The server of `memdeck api`: a port of this machine behind a token, a socket for this user, or both."""

from __future__ import annotations

import errno
import logging
import os
import secrets
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from app.servers.http_server import Bounds, server_of
from app.servers.loopback import App, LoopbackGuard, Receive, Scope, Send, open_port, refuse, values_of
from memory.errors import MemdeckError
from memory.storage import fsio

from .application import Api

if TYPE_CHECKING:
    from app.servers.life import Life

    from .runs import Runs


class Where(NamedTuple):
    """The places of the server: an address with its token, and the path of a socket."""

    address: str | None
    token: str | None
    socket: str | None


def serve(
    runs: Runs,
    life: Life,
    *,
    port: int | None,
    path: str | None,
    actor: str | None,
    say: Callable[[Where], None],
) -> None:
    """Serve until a signal arrives or the parent process is gone; `say` gets the places of the server."""
    bounded: App = Bounds(Api(runs, actor=actor).application)
    guard: App | None = None
    address = token = None
    sockets: list[socket.socket] = []
    with ExitStack() as places:
        if path is not None:
            path = os.path.abspath(path)
            sockets.append(places.enter_context(socket_at(path)))
        if port is not None:
            listening, host = open_port(port, "api.port")
            sockets.append(places.enter_context(closing(listening)))
            address, token = f"http://{host}", secrets.token_urlsafe(32)
            guard = LoopbackGuard(bounded, host, token, "memdeck api")
        server = server_of(_by_way(guard, bounded))
        logging.disable(logging.CRITICAL)  # Errors in requests of strangers are not reported on the terminal.
        # The program that reads where the server is may be gone a moment later.
        life.watch(lambda: setattr(server, "should_exit", True), parent=True)
        say(Where(address, token, path))
        server.run(sockets=sockets)
    life.end()


def _by_way(guard: App | None, plain: App) -> App:
    """Return an application that checks the token on the port, and nothing on the socket: only this user opens it."""

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


# -- the socket in the file system: only this user can open it, and it is removed when the server ends ----------------


@contextmanager
def socket_at(path: str) -> Iterator[socket.socket]:
    """Give a listening socket at an absolute path, and remove its file at the end; MemdeckError `api.socket`.

    A socket that a crashed server left is replaced, anything else is not touched.
    """
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as listening:
        # `bind` creates the file, and no other user may open it even for a moment.
        before = os.umask(0o177)
        try:
            if _is_left(path):
                _remove(path)
            listening.bind(path)
            listening.listen(64)
            made = os.lstat(path)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise MemdeckError(
                "api.socket", f"{path} cannot be a socket: {why}", "name another one with --socket"
            ) from error
        finally:
            os.umask(before)
        try:
            yield listening
        finally:
            with suppress(OSError):
                if os.path.samestat(os.lstat(path), made):
                    _remove(path)


def _is_left(path: str) -> bool:
    """Return whether a socket of this user exists on which no server listens; one that is only busy is not left."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
        return False
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as trial:
        trial.settimeout(2)
        return trial.connect_ex(path) == errno.ECONNREFUSED


def _remove(path: str) -> None:
    folder, name = os.path.split(path)
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fsio.remove(name, opened)
    finally:
        os.close(opened)
