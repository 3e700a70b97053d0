"""The server of `memdeck fleet serve`: the fleet for programs of this machine, behind a token."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request
from fastapi.responses import Response

from app.servers.api.application import answer_errors, body_of_request, response_of
from app.servers.api.requests import query_of
from app.servers.api.runs import Caller, Runs
from app.servers.http_server import Bounds, server_of
from app.servers.loopback import LoopbackGuard, open_port
from memory.errors import UsageError
from memory.fleet.operations import fleet
from memory.operations import Operation

if TYPE_CHECKING:
    from app.servers.life import Life

LOOKS, JOBS = ("list", "status", "search", "hosts", "approvals", "metrics"), ("check", "maintain")


def application(runs: Runs, database: str | None, actor: str) -> FastAPI:
    """Return what answers `GET /api/v1/fleet/list` and other looks, `GET /metrics`, and `POST /api/v1/fleet/check` and
    `maintain`, as the verbs do. Approving needs a person at a terminal.
    """
    made = FastAPI(title="memdeck fleet", openapi_url=None, docs_url=None, redoc_url=None)
    caller = Caller(actor, "http")

    def looking() -> Runs:
        """Return what runs one look: it changes nothing, so it does not wait for a job that hosts are doing."""
        return Runs(None, runs.clock, threading.Lock(), read_only=runs.read_only)

    async def answer(operation: Operation, request: Request) -> Response:
        given = query_of(request.query_params.multi_items()) | await body_of_request(request)
        if "database" in given:
            raise UsageError("api.argument", "the catalogue is named when the server starts", "leave it out")
        run = looking() if operation.name in LOOKS else runs
        work = partial(run.call, operation, {**given, "database": database}, caller)
        return response_of(await asyncio.to_thread(work))

    for name in (*LOOKS, *(() if runs.read_only else JOBS)):
        operation = fleet.operations[name]
        assert isinstance(operation, Operation)
        methods = ["GET" if name in LOOKS else "POST"]
        path = "/metrics" if name == "metrics" else f"/api/v1/fleet/{name}"
        made.add_api_route(path, partial(answer, operation), methods=methods, response_model=None)
    answer_errors(made)
    return made


def serve(made: FastAPI, life: Life, port: int, say: Callable[[str, str], None], token: str) -> None:
    """Serve on a port of this machine until a signal ends it; `say` gets the address and the token."""
    listening, host = open_port(port, "api.port")
    server = server_of(LoopbackGuard(Bounds(made), host, token, "memdeck fleet serve"))
    logging.disable(logging.CRITICAL)  # Errors in requests of strangers are not reported on the terminal.
    with closing(listening):
        # The program that reads where the server is may be gone a moment later.
        life.watch(lambda: setattr(server, "should_exit", True), parent=True)
        say(f"http://{host}", token)
        server.run(sockets=[listening])
    life.end()
