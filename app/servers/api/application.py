"""The application: FastAPI with a route for each verb and each operation on curated memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from app.version import __version__
from memory.curated.system import CuratedMemory
from memory.errors import BusyError, MemdeckError, NotFoundError, UsageError
from memory.operations import Operation, allow

from .openapi import described, route_of
from .requests import Json, actor_of, body_of, query_of
from .routes import WORKSPACE, Route, operations, path_of, routes
from .runs import Caller, CallResult, Runs, failed

WAITING = 32
"""The most requests that may wait for their turn."""
Endpoint = Callable[[Request], Awaitable[Response]]
_NOTES_HEADER, _CODE_HEADER = "memdeck-notes", "memdeck-exit-code"


class Api:
    """Answers requests. `actor` is the actor of all changes; None: the one that each request names."""

    def __init__(self, runs: Runs, *, actor: str | None = None) -> None:
        """Create the routes from the verbs and the operations."""
        self._runs = runs
        self._actor = actor
        # One thread for all calls: databases that are open in the workspace belong to it.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="memdeck-api")
        self._waiting = 0
        self.application = self._make()

    def _make(self) -> FastAPI:
        made = FastAPI(title="memdeck", version=__version__, openapi_url=None, docs_url=None, redoc_url=None)
        made.router.redirect_slashes = False

        def add(method: str, path: str, endpoint: Endpoint, described_as: Mapping[str, Any] | None) -> None:
            name = f"{method.lower()}{path.replace('/', '_').replace('{', '').replace('}', '')}"
            made.add_api_route(
                path,
                endpoint,
                methods=[method],
                response_class=Response,
                response_model=None,
                openapi_extra=dict(described_as or {}),
                include_in_schema=described_as is not None,
                operation_id=name,
                summary=(described_as or {}).get("summary"),
            )

        add("GET", "/api/openapi.json", self._openapi, None)
        for route in routes():
            add(route.method, route.path, partial(self._call, route), route_of(route))
        for one in operations():
            for method in ("GET", "POST") if not one.offered else ():
                add(method, path_of(one), partial(self._refuse, one), None)
        answer_errors(made)
        return made

    # -- routes -------------------------------------------------------------------------------------------------

    async def _openapi(self, _request: Request) -> Response:
        return _json(json.dumps(described(self.application)).encode())

    async def _refuse(self, operation: Operation, request: Request) -> Response:
        allow(operation, self._runs.caller(self._caller(request)), {})
        raise AssertionError("an operation that is not offered is refused")

    async def _call(self, route: Route, request: Request) -> Response:
        caller = self._caller(request)
        allow(route.operation, self._runs.caller(caller), {})
        given = query_of(request.query_params.multi_items()) if route.in_query else await _body_alone(request)
        values = route.values(request.path_params, given)

        def run() -> CallResult:
            self._take_workspace(values, route)
            return self._runs.call(route.operation, values, caller, route.read)

        return await self._run(run)

    def _take_workspace(self, values: Json, route: Route) -> None:
        """Remove the workspace, which must be the one that is served, from the inputs; NotFoundError."""
        if not route.keys and not route.path.startswith("/api/memory"):
            return
        for name in WORKSPACE:
            asked = values.pop(name, None) if name not in route.inputs else None
            if asked not in (None, str(self._runs.workspace.root), self._workspace_id()):
                words = f"{str(asked)[:80]!r} is not the workspace that is served here"
                raise NotFoundError("workspace.not_found", words, "leave it out")

    def _workspace_id(self) -> str:
        system = self._runs.workspace.system("curated")
        return system.curated.workspace_id() if isinstance(system, CuratedMemory) else ""

    # -- calls --------------------------------------------------------------------------------------------------

    def _caller(self, request: Request) -> Caller:
        server = request.scope.get("server")
        origin = "uds" if server is not None and server[1] is None else "http"
        return Caller(actor_of(request.headers, self._actor, f"agent:{origin}"), origin)

    async def _run(self, work: Callable[[], CallResult]) -> Response:
        if self._waiting >= WAITING:
            raise BusyError("http.busy", "too many requests wait", "try again")
        self._waiting += 1
        try:
            # A call that has begun is finished, even if the client has left.
            running = asyncio.get_running_loop().run_in_executor(self._worker, work)
            return response_of(await asyncio.shield(running))
        finally:
            self._waiting -= 1


def answer_errors(application: FastAPI) -> None:
    """Make an application answer every error in the form of the command line."""
    application.add_exception_handler(HTTPException, _http_error)
    application.add_exception_handler(MemdeckError, _any_error)
    application.add_exception_handler(Exception, _any_error)


async def body_of_request(request: Request) -> Json:
    """Return the arguments in the body of a request; errors as `body_of`."""
    return body_of(await request.body(), request.headers.get("content-type", ""))


async def _body_alone(request: Request) -> Json:
    """Return the arguments in the body of a request that must not have a query."""
    if request.url.query:
        raise UsageError("api.argument", "the arguments of a change belong in the body", "send them as JSON")
    return await body_of_request(request)


def _json(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(
        body, status, {"cache-control": "no-store", "x-content-type-options": "nosniff", **(headers or {})},
        "application/json",
    )  # fmt: skip


def response_of(answer: CallResult) -> Response:
    """Return an answer with its exit code and notes as headers; a body that is not JSON is plain text."""
    headers = {_CODE_HEADER: str(answer.code)}
    if answer.notes:
        headers[_NOTES_HEADER] = json.dumps(answer.notes)[:4000]
    if answer.status == 503:
        headers["retry-after"] = "1"
    found = _json(answer.body, answer.status, headers)
    if not _is_json(answer.body):
        found.headers["content-type"] = "text/plain; charset=utf-8"
    return found


def _is_json(body: bytes) -> bool:
    if body[:1] not in (b"{", b"["):
        return False
    try:
        json.loads(body)
    except ValueError:
        return False
    return True


async def _http_error(_request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    if status == 405:
        found = response_of(
            failed(UsageError("http.method", "this is not called with that method", "see /api/openapi.json"))
        )
    else:
        found = response_of(failed(NotFoundError("http.not_found", "nothing is here", "see /api/openapi.json")))
    found.headers.update(getattr(error, "headers", None) or {})
    return found


async def _any_error(_request: Request, error: Exception) -> Response:
    if not isinstance(error, MemdeckError):
        error = MemdeckError("internal", type(error).__name__, "please report it")
    return response_of(failed(error))
