"""The server of `memdeck serve`: textual-serve on this machine only, behind a `Guard`."""

from __future__ import annotations

import asyncio
import shlex
import socket
import sys
from collections.abc import Callable

from aiohttp import WSCloseCode, web
from textual_serve.app_service import AppService
from textual_serve.server import Server

from memory.errors import MemdeckError

from .guard import Guard

HOST = "127.0.0.1"
"""Nothing but this machine can reach it."""

LEAVING_SECONDS = 5.0
"""How long a session may take to leave."""


class PageSession(AppService):
    """The process of one page."""

    async def end(self) -> None:
        """Ask it to leave; one that does not is ended, so that the next page gets in."""
        try:
            async with asyncio.timeout(LEAVING_SECONDS):
                await self.stop()
                if self._process is not None:
                    await self._process.wait()
        except TimeoutError:
            if self._process is not None and self._process.returncode is None:
                self._process.kill()
                await self._process.wait()


def _cells(request: web.Request, name: str, default: int) -> int:
    """A size that the page asks for, within reason."""
    text = request.query.get(name, "")
    return min(max(1, int(text)), 1000) if text.isascii() and text.isdecimal() else default


class GuardedServer(Server):
    """textual-serve without its logo, its logging and its own address; it runs one command for each page."""

    def __init__(self, folder: str, guard: Guard) -> None:
        """`folder`: the workspace that sessions open."""
        command = shlex.join([sys.executable, "-P", "-m", "app.servers.web.session", folder])
        super().__init__(f"exec {command}", host=HOST, title="memdeck", public_url=f"http://{guard.host}")
        self._guard = guard

    async def make_application(self) -> web.Application:
        """textual-serve's application with the guard in front of it."""
        application = await self._make_app()
        self._guard.install(application)
        return application

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Run a session for as long as the page is there, and see that it is gone before this ends."""
        websocket = web.WebSocketResponse(heartbeat=15)
        await websocket.prepare(request)
        session = PageSession(
            self.command,
            write_bytes=websocket.send_bytes,
            write_str=websocket.send_str,
            close=websocket.close,  # type: ignore[arg-type]
            download_manager=self.download_manager,
        )
        try:
            await session.start(_cells(request, "width", 80), _cells(request, "height", 24))
            await self._process_messages(websocket, session)
        except (ValueError, LookupError, TypeError, AttributeError, AssertionError):
            await websocket.close(code=WSCloseCode.PROTOCOL_ERROR)  # no page of ours says such a thing
        finally:
            await session.end()
        return websocket

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
