"""The server of `memdeck serve`: textual-serve on this machine only, behind a `Guard`."""

from __future__ import annotations

import shlex
import socket
import sys
from collections.abc import Callable

from aiohttp import web
from textual_serve.server import Server

from memory.errors import MemdeckError

from .guard import Guard

HOST = "127.0.0.1"
"""Nothing but this machine can reach it."""


class GuardedServer(Server):
    """textual-serve without its logo, its logging and its own address; it runs one command for each page."""

    def __init__(self, folder: str, guard: Guard) -> None:
        """`folder`: the workspace that sessions open."""
        command = shlex.join([sys.executable, "-P", "-m", "app.web.session", folder])
        super().__init__(command, host=HOST, title="memdeck", public_url=f"http://{guard.host}")
        self._guard = guard

    async def make_application(self) -> web.Application:
        """textual-serve's application with the guard in front of it."""
        application = await self._make_app()
        self._guard.install(application)
        return application

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing: who asked for it said it already."""


def open_port(port: int) -> socket.socket:
    """Listen on a port of this machine (0: any that is free); MemdeckError `serve.port` where that cannot be."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(64)
    except OSError as error:
        listening.close()
        hint = "name another one with --port, or none"
        raise MemdeckError("serve.port", f"port {port} cannot be used: {error.strerror}", hint) from error
    return listening


def serve(folder: str, port: int, say: Callable[[str], None]) -> None:
    """Serve a workspace until a signal ends it; `say` gets the address to open."""
    listening = open_port(port)
    guard = Guard(f"{HOST}:{listening.getsockname()[1]}")
    server = GuardedServer(folder, guard)
    say(guard.address)
    # No access log: the token stands in an address.
    web.run_app(server.make_application(), sock=listening, access_log=None, print=None)
