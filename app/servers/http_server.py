"""What `memdeck api`, `mcp --http` and `fleet serve` share: uvicorn with its own limits, and a bound on bodies."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, Literal

import uvicorn

from app.servers.loopback import App, Receive, Scope, Send, refuse, values_of

MOST = 64
"""The most connections at one time."""
LARGEST_BODY = 1 << 20
"""The most bytes of a request's body."""
LEAVING = 3
"""Seconds that open requests have to end."""


def server_of(app: App, *, lifespan: Literal["auto", "off"] = "off") -> uvicorn.Server:
    """Return the server of an application."""
    config = uvicorn.Config(
        app, ws="none", lifespan=lifespan, log_config=None, access_log=False, server_header=False,
        limit_concurrency=MOST, timeout_graceful_shutdown=LEAVING, proxy_headers=False,
    )  # fmt: skip
    return uvicorn.Server(config)


class Bounds:
    """Reads the whole body of a request before it is answered, and refuses one that is too large."""

    def __init__(self, app: App, largest: int = LARGEST_BODY) -> None:
        """`largest` is the most bytes of a body."""
        self._app = app
        self._largest = largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        lengths = values_of(scope["headers"], b"content-length")
        length = int(lengths[0]) if lengths and lengths[0].isdigit() and len(lengths[0]) < 10 else 0
        body, more = bytearray(), length <= self._largest
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return  # the client has left
            body += message.get("body", b"")
            more = message.get("more_body", False) and len(body) <= self._largest
        if max(length, len(body)) > self._largest:
            await refuse(send, 413, "http.large", f"a body has at most {self._largest:,} bytes", hint="send less")
            return
        waiting = [bytes(body)]

        async def whole() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": waiting.pop()} if waiting else await receive()

        await self._app(scope, whole, send)
