"""What `memdeck fleet serve` makes of requests that mean nothing: an error, and no question to the fleet."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any, NoReturn

import pytest

from app.servers.fleet import FleetApi

DEEP = b"[" * 50_000 + b"]" * 50_000


def _no_fleet() -> NoReturn:
    raise AssertionError("the fleet is asked")


def ask(api: FleetApi, path: str, query: bytes = b"", body: bytes = b"") -> tuple[int, Any]:
    """Send one request and return the status and the answer."""
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "query_string": query, "headers": []}
    asyncio.run(api(scope, receive, send))
    return sent[0]["status"], json.loads(sent[1]["body"])


@pytest.mark.parametrize("body", [DEEP, b"[1]", b"{", b'{"query": "a", "query": "b"}', b'{"limit": NaN}', b"\xff"])
def test_a_body_that_is_no_object_is_refused(body: bytes) -> None:
    """However deep it is nested, and where it says the same twice."""
    api = FleetApi(_no_fleet, lambda: datetime(2024, 1, 15, tzinfo=UTC), actor="agent:a", read_only=True)
    status, told = ask(api, "/api/v1/fleet/list", body=body)
    assert (status, told["error"]["code"]) == (400, "api.body")


@pytest.mark.parametrize("limit", ["9" * 5000, "-1", "\u0663", "1e3", "1001"])
def test_a_limit_that_is_no_number_is_refused(limit: str) -> None:
    """Longer than Python reads, and in other digits."""
    api = FleetApi(_Closing, lambda: datetime(2024, 1, 15, tzinfo=UTC), actor="agent:a", read_only=True)  # type: ignore[arg-type]
    status, told = ask(api, "/api/v1/fleet/search", query=f"query=a&limit={limit}".encode())
    assert (status, told["error"]["code"]) == (400, "usage.arguments")


def test_what_nobody_thought_of_is_an_error_too() -> None:
    """No traceback, and the form of every other error."""
    api = FleetApi(_no_fleet, lambda: datetime(2024, 1, 15, tzinfo=UTC), actor="agent:a", read_only=True)
    status, told = ask(api, "/api/v1/fleet/list")
    assert (status, told["error"]["code"]) == (500, "internal")


class _Closing:
    """A fleet that is asked nothing, and closed."""

    def close(self) -> None:
        """Do nothing."""
