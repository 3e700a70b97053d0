"""The server over streamable HTTP on this machine only, behind a token; importing it loads the SDK and uvicorn."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

from mcp.server.transport_security import TransportSecuritySettings

from app.servers.http_server import Bounds, server_of
from app.servers.loopback import LoopbackGuard, hosts_of, open_port

from .server import make_server

if TYPE_CHECKING:
    from app.servers.life import Life

    from .calls import Calls

PATH = "/mcp"
LONGEST = 4 * 1024 * 1024
"""The most bytes of one message."""


def serve_http(calls: Calls, life: Life, port: int, say: Callable[[str, str], None]) -> None:
    """Serve clients until a signal ends it; `say` gets the address and the token."""
    listening, host = open_port(port, "mcp.port")
    token = secrets.token_urlsafe(32)
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts_of(host),
        allowed_origins=[f"http://{one}" for one in hosts_of(host)],
    )
    app = make_server(calls).streamable_http_app(streamable_http_path=PATH, transport_security=security)
    logging.disable(logging.CRITICAL)  # Errors in requests of strangers are not reported on the terminal.
    guard = LoopbackGuard(Bounds(app, LONGEST), host, token, "memdeck mcp --http")
    say(f"http://{host}{PATH}", token)
    server = server_of(guard, lifespan="auto")
    life.watch(lambda: setattr(server, "should_exit", True), parent=False)
    server.run(sockets=[listening])
    life.end()
