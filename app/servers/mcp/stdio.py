"""The server over stdin and stdout, by the SDK's own transport; importing it loads the SDK."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import TYPE_CHECKING

from mcp.server.stdio import stdio_server

from .server import make_server

if TYPE_CHECKING:
    from app.servers.life import Life

    from .calls import Calls
    from .watched import WatchedResources


def serve_stdio(calls: Calls, watched: WatchedResources, life: Life) -> None:
    """Serve one client on stdin and stdout until it leaves; this ends the process."""
    # Errors in messages of a client are answered, not logged.
    logging.disable(logging.CRITICAL)
    life.watch(parent=True)
    threading.Thread(target=calls.warm, name="memdeck-warm", daemon=True).start()
    asyncio.run(_serve(calls, watched, life))


async def _serve(calls: Calls, watched: WatchedResources, life: Life) -> None:
    server = make_server(calls, watched)
    async with stdio_server() as (incoming, outgoing):
        try:
            await server.run(incoming, outgoing, server.create_initialization_options())
        finally:
            # Threads that still wait for the client would keep the loop from ending.
            life.end()
