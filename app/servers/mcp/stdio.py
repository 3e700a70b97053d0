"""The server over stdin and stdout, by the SDK's own transport; importing it loads the SDK."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import TYPE_CHECKING

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage

from .server import make_server

if TYPE_CHECKING:
    from app.servers.life import Life

    from .calls import Calls

LAST = 6.0
"""Seconds in which requests that came before the end of the input are still answered."""


def serve_stdio(calls: Calls, life: Life) -> None:
    """Serve one client on stdin and stdout until it leaves; this ends the process."""
    # Errors in messages of a client are answered, not logged.
    logging.disable(logging.CRITICAL)
    life.watch(parent=True)
    threading.Thread(target=calls.warm, name="memdeck-warm", daemon=True).start()
    asyncio.run(_serve(calls, life))
    life.end()


async def _serve(calls: Calls, life: Life) -> None:
    """Run the SDK's server over its own streams, with two things that it leaves out.

    A line that is no message gets an answer, and the end of the input waits for the answers to what came before it.
    """
    server = make_server(calls)
    to_server, incoming = create_context_streams[SessionMessage | Exception](0)
    outgoing, from_server = create_context_streams[SessionMessage](0)
    waiting: set[str | int | None] = set()
    answered = anyio.Event()

    async with stdio_server() as (lines, answers), anyio.create_task_group() as group:

        async def read() -> None:
            async for one in lines:
                if isinstance(one, Exception):
                    fault = types.ErrorData(
                        code=types.PARSE_ERROR, message="this line is not a message of the protocol"
                    )
                    await answers.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=fault)))
                    continue
                if isinstance(one.message, types.JSONRPCRequest):
                    waiting.add(one.message.id)
                await to_server.send(one)
            # A client that takes no answers does not keep the process alive.
            threading.Timer(LAST + 2, life.end).start()
            with anyio.move_on_after(LAST):
                while waiting:
                    await answered.wait()
            await to_server.aclose()

        async def write() -> None:
            nonlocal answered
            async for one in from_server:
                await answers.send(one)
                if isinstance(one.message, (types.JSONRPCResponse, types.JSONRPCError)):
                    waiting.discard(one.message.id)
                    answered.set()
                    answered = anyio.Event()
            await answers.aclose()

        group.start_soon(read)
        group.start_soon(write)
        try:
            async with outgoing:
                await server.run(incoming, outgoing, server.create_initialization_options())
        except asyncio.CancelledError:
            life.end()  # The client takes no more answers, and a thread still waits for its next line.
