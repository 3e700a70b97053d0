"""The server of `memdeck serve`: textual-serve on this machine only, behind a `Guard`."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from html import escape
from pathlib import Path

from aiohttp import WSCloseCode, web
from textual_serve.server import Server

from app.servers.loopback import HOST, open_port

from .guard import Guard
from .page_session import PageSession

PAGE = Path(__file__).with_name("page.html")
"""The page that shows the terminal."""

LARGEST = 256 * 1024
"""The most bytes of one message, which is pasted text."""


class GuardedServer(Server):
    """textual-serve with a page of its own, without its logging and its address; it runs one command per page."""

    def __init__(self, folder: str, guard: Guard) -> None:
        """`folder` is the workspace that sessions open."""
        super().__init__("", host=HOST, title="memdeck", public_url=f"http://{guard.host}")
        self._title = f"{Path(folder).name} - memdeck"
        self._session_command = (sys.executable, "-P", "-m", "app.servers.web.session", folder)
        self._guard = guard

    async def make_application(self) -> web.Application:
        """Create textual-serve's application without its list of files, protected by the guard."""
        silent = logging.getLogger("memdeck.serve")
        silent.disabled = True  # Errors in requests of strangers are not reported on the terminal.
        application = web.Application(handler_args={"logger": silent})
        application.add_routes(
            [
                web.get("/", self.handle_index, name="index"),
                web.get("/ws", self.handle_websocket, name="websocket"),
                web.get("/download/{key}", self.handle_download, name="download"),
                web.static("/static", self.statics_path, show_index=False, name="static"),
            ]
        )
        self._guard.install(application)
        return application

    async def handle_index(self, request: web.Request) -> web.Response:
        """Return the page, which loads nothing from elsewhere; `fontsize` in the address is the size of letters."""
        values = {"title": self._title, "host": self._guard.host, "size": _number(request, "fontsize", 16)}
        text = PAGE.read_text(encoding="utf-8")
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", escape(str(value)))
        return web.Response(text=text, content_type="text/html")

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Run a session while the page is open, and make sure the session is gone before this returns."""
        websocket = web.WebSocketResponse(heartbeat=15, max_msg_size=LARGEST, compress=False)
        await websocket.prepare(request)
        session = PageSession(
            self._session_command,
            write_bytes=websocket.send_bytes,
            write_str=websocket.send_str,
            close=websocket.close,
            download_manager=self.download_manager,
        )
        try:
            await session.start(_number(request, "width", 80), _number(request, "height", 24))
            await self._process_messages(websocket, session)
        except Exception:  # our page never sends a message that cannot be read
            await websocket.close(code=WSCloseCode.PROTOCOL_ERROR)
        finally:
            await session.end()
            await websocket.close()
        return websocket


def serve(folder: str, port: int, say: Callable[[str], None]) -> None:
    """Serve a workspace until a signal ends it; `say` gets the address to open."""
    listening, host = open_port(port, "serve.port")
    guard = Guard(host)
    server = GuardedServer(folder, guard)
    say(guard.address)
    # No access log: addresses contain the token.
    web.run_app(server.make_application(), sock=listening, access_log=None, print=None)


def _number(request: web.Request, name: str, usual: int) -> int:
    """Return a number in the address of a page, the usual one where it has none of at most five digits."""
    asked = request.query.get(name, "")
    return int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 6 else usual
