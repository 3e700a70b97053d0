"""The SDK's loop over a relay; importing this module loads the SDK."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import anyio
import mcp_types as types
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage

from app.servers.heap import collect_garbage

from .server import make_server
from .wire import INVALID_REQUEST

if TYPE_CHECKING:
    from .calls import Calls
    from .watched import WatchedResources

_WARM = 0.2
"""Seconds after which the files are read in advance: the handshake comes first."""


class Messages(Protocol):
    """The client as the loop sees it."""

    def next(self) -> bytes | None:
        """Return the next message of the client, None at the end."""

    def send(self, message: Mapping[str, Any], line: bytes) -> None:
        """Send a message to the client, given also as a line."""


def run(calls: Calls, watched: WatchedResources, relay: Messages) -> None:
    """Serve until the relay has no more messages."""
    # Errors in messages of a client are not logged.
    logging.disable(logging.CRITICAL)
    collect_garbage()
    warming = threading.Timer(_WARM, calls.warm)
    warming.daemon = True
    warming.start()
    serve(calls, watched, relay)


def serve(calls: Calls, watched: WatchedResources, relay: Messages) -> None:
    """Serve until there are no more messages, without side work."""
    asyncio.run(_serve(calls, watched, relay))


async def _serve(calls: Calls, watched: WatchedResources, relay: Messages) -> None:
    server = make_server(calls, watched)
    incoming_send, incoming = create_context_streams[SessionMessage | Exception](0)
    outgoing, outgoing_receive = create_context_streams[SessionMessage](0)
    loop = asyncio.get_running_loop()

    def read() -> None:
        while (line := relay.next()) is not None:
            try:
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                identity = json.loads(line).get("id")
                refused = {"code": INVALID_REQUEST, "message": "this is no message of the protocol"}
                answer = {"jsonrpc": "2.0", "id": identity, "error": refused}
                relay.send(answer, json.dumps(answer).encode())
                continue
            asyncio.run_coroutine_threadsafe(incoming_send.send(SessionMessage(message)), loop).result()
        asyncio.run_coroutine_threadsafe(incoming_send.aclose(), loop).result()

    async def write() -> None:
        async for one in outgoing_receive:
            told = one.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
            line = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
            await anyio.to_thread.run_sync(relay.send, told, line)

    threading.Thread(target=read, name="memdeck-mcp-relay", daemon=True).start()
    async with incoming_send, incoming, outgoing, outgoing_receive, anyio.create_task_group() as group:
        group.start_soon(write)
        await server.run(incoming, outgoing, server.create_initialization_options())
        group.cancel_scope.cancel()
