"""The server of `memdeck fleet serve`: the fleet for programs of this machine, behind a token, and its pane."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import uvicorn

from app.servers import http_server
from app.servers.http_server import Bounds, HttpServer
from app.servers.loopback import LoopbackGuard, Receive, Scope, Send, error_body, open_port, respond
from app.servers.nesting import strict_json
from memory.base.counts import whole
from memory.errors import BusyError, MemdeckError, NotFoundError, UsageError
from memory.fleet.catalogue.central import CentralFleet
from memory.fleet.metrics import fleet_metrics
from memory.fleet.model import Fleet

if TYPE_CHECKING:
    from app.servers.life import Life
    from app.servers.web.server import FleetPage

MOST_BODY = 64_000
LEAVING_SECONDS = 5.0
"""Seconds that a browser session may take to end with the server."""
_STATUS = ((BusyError, 503), (UsageError, 400), (NotFoundError, 404))
Answer = Mapping[str, Any]
_Verb = Callable[[Fleet, Mapping[str, str]], Answer]


class FleetApi:
    """Answers `GET /api/v1/fleet/list|status|search|hosts|approvals` and `POST /api/v1/fleet/check|maintain` like
    the verbs, and `GET /metrics` with the metrics. Approving needs a person at a terminal.
    """

    def __init__(
        self, make: Callable[[], Fleet], clock: Callable[[], datetime], *, actor: str, read_only: bool
    ) -> None:
        """`make` returns a fleet for one request, which is closed after it."""
        self._make = make
        self._clock = clock
        self._actor = actor
        self._looks: dict[str, _Verb] = {
            "list": self._list,
            "status": self._overview,
            "search": self._search,
            "hosts": lambda fleet, _: {"hosts": [one.json() for one in fleet.hosts()]},
            "approvals": lambda fleet, _: {"approvals": list(_central(fleet).approvals())},
        }
        jobs: dict[str, _Verb] = {"check": self._check, "maintain": self._maintain}
        self._jobs = {} if read_only else jobs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        try:
            given = await _given(scope, receive)
            if (scope["method"], scope["path"]) == ("GET", "/metrics"):
                text = await asyncio.to_thread(self._metrics)
                await respond(send, 200, text.encode(), kind=b"text/plain; version=0.0.4")
                return
            answer = await asyncio.to_thread(self._answer, scope["method"], scope["path"], given)
            await respond(send, 200, json.dumps(answer).encode() + b"\n")
        except MemdeckError as error:
            status = next((number for kind, number in _STATUS if isinstance(error, kind)), 500)
            await respond(send, status, error_body(error.code, error.message))
        except Exception as error:
            await respond(send, 500, error_body("internal", f"{type(error).__name__}: {error}"[:300]))

    def _answer(self, method: str, path: str, given: Mapping[str, str]) -> Answer:
        verbs = {"GET": self._looks, "POST": self._jobs}.get(method, {})
        work = verbs.get(path.removeprefix("/api/v1/fleet/")) if path.startswith("/api/v1/fleet/") else None
        if work is None:
            raise NotFoundError("api.path", f"{method} {path[:80]} is not served", "see docs/fleet.md")
        with closing(self._make()) as fleet:
            return work(fleet, given)

    def _metrics(self) -> str:
        with closing(self._make()) as fleet:
            return fleet_metrics(fleet.hosts(), fleet.overview(self._clock()))

    def _list(self, fleet: Fleet, _: Mapping[str, str]) -> Answer:
        return {"workspaces": [one.json() for one in fleet.listed()]}

    def _overview(self, fleet: Fleet, _: Mapping[str, str]) -> Answer:
        return {"workspaces": [one.json() for one in fleet.overview(self._clock())]}

    def _search(self, fleet: Fleet, given: Mapping[str, str]) -> Answer:
        limit = whole(given.get("limit", "20"), 0, 1000, name="limit", code="usage.arguments")
        kinds = tuple(one for one in given.get("in", "").split(",") if one)
        deep = given.get("deep", "") in ("1", "true")
        hits, failed = fleet.search(given.get("query", ""), self._clock(), limit, kinds, deep=deep)
        return {"results": [one.json() for one in hits], "failed": [one.json() for one in failed]}

    def _check(self, fleet: Fleet, _: Mapping[str, str]) -> Answer:
        return {"workspaces": [one.json() for one in fleet.check(self._clock())]}

    def _maintain(self, fleet: Fleet, given: Mapping[str, str]) -> Answer:
        dry_run = given.get("dry_run", "") in ("1", "true")
        kept = fleet.maintain(self._clock(), actor=self._actor, dry_run=dry_run)
        return {"workspaces": [one.json() for one in kept]}


def _central(fleet: Fleet) -> CentralFleet:
    if not isinstance(fleet, CentralFleet):
        raise UsageError("fleet.no_database", "only a fleet with a database has approvals", "see docs/fleet.md")
    return fleet


async def _given(scope: Scope, receive: Receive) -> dict[str, str]:
    """Return the arguments: of the query, and of the JSON object in the body of a POST, which `Bounds` passes whole."""
    query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    given = {name: values[-1] for name, values in query.items()}
    body: bytes = (await receive()).get("body", b"")
    if body.strip():
        try:
            found = strict_json(body)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise UsageError("api.body", "the body is no JSON object", "send an object of arguments")
        given |= {
            str(name): str(value).lower() if isinstance(value, bool) else str(value) for name, value in found.items()
        }
    return given


def config_of(api: FleetApi, host: str, token: str) -> uvicorn.Config:
    """Return the configuration for requests to the fleet: they need the token, and are limited."""
    guard = LoopbackGuard(Bounds(api, MOST_BODY), host, token, "memdeck fleet serve")
    return http_server.config_of(guard, leaving=3)


def serve(
    api: FleetApi, page: FleetPage | None, life: Life, port: int, say: Callable[[str, str], None], token: str
) -> None:
    """Serve on a port of this machine until a signal ends it; `say` gets the address and the token.

    `page` is what browsers get, at its own address; None: nothing.
    """
    listening, host = open_port(port, "api.port")
    try:
        config = config_of(api, host, token)
        # The program that reads where the server is may be gone a moment later.
        life.watch(parent=True)
        asyncio.run(_run(HttpServer(config), listening, page, life, lambda: say(f"http://{host}", token)))
    finally:
        listening.close()
    life.end()


async def _run(
    running: HttpServer, listening: socket.socket, page: FleetPage | None, life: Life, begun: Callable[[], None]
) -> None:
    """Serve programs and browsers in one loop until `life` ends; a browser session ends with it."""
    if page is not None:
        await page.begin()
        loop = asyncio.get_running_loop()
        life.before.append(lambda: asyncio.run_coroutine_threadsafe(page.end(), loop).result(LEAVING_SECONDS))
    begun()
    await running.serve(sockets=[listening])
