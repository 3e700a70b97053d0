"""What `memdeck fleet serve` bears over real connections: sizes, rates, many connections, clients that read nothing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app.servers import http_server
from app.servers.fleet import MOST_BODY, FleetApi, config_of
from app.servers.http_server import HttpServer, Rate
from app.servers.loopback import open_port
from memory.fleet import EmbeddedFleet
from memory.fleet.model import FleetWorkspace
from tests.patience import PATIENCE, join, until

TOKEN = "a-token-of-a-test"


class _Many:
    """A fleet whose list is larger than what sockets hold."""

    def listed(self) -> tuple[FleetWorkspace, ...]:
        return (FleetWorkspace(Path("/") / ("w" * 1_000), "here"),) * 30_000

    def close(self) -> None:
        """Nothing is open."""


class Served:
    """A running server: where it is, and itself."""

    def __init__(self, place: tuple[str, int], running: HttpServer) -> None:
        """Keep both."""
        self.place = place
        self.running = running

    def head(self, line: str, *more: str) -> bytes:
        """Return the first lines of a request."""
        host = f"{self.place[0]}:{self.place[1]}"
        lines = (f"{line} HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {TOKEN}", *more)
        return "\r\n".join((*lines, "", "")).encode()

    def connect(self) -> socket.socket:
        """Open a connection."""
        return socket.create_connection(self.place, PATIENCE)

    def ask(self, data: bytes, *, close: bool = False) -> bytes:
        """Send bytes and return all that comes until the server closes the connection; `close` says that it was all."""
        with self.connect() as connection:
            connection.sendall(data)
            if close:
                connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as file:
                return file.read()

    def list(self) -> bytes:
        """Ask for the list, and return the answer."""
        return self.ask(self.head("GET /api/v1/fleet/list", "Connection: close"))


@contextmanager
def serving(make: Any) -> Iterator[Served]:
    """Serve a fleet on a port of this machine, as the command does."""
    listening, host = open_port(0, "test.port")
    place = listening.getsockname()[:2]
    api = FleetApi(make, lambda: datetime(2024, 1, 15, tzinfo=UTC), actor="agent:a", read_only=False)
    running = HttpServer(config_of(api, host, TOKEN))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield Served(place, running)
    finally:
        running.leave()
        join(thread)
        listening.close()


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Served]:
    """Serve the fleet of a person without workspaces."""
    with serving(lambda: EmbeddedFleet(tmp_path / "state", host="here")) as made:
        yield made


def test_a_large_body_is_refused(empty: Served) -> None:
    """Over the bound, whether its length is told or not; at the bound it is read."""
    head = ("POST /api/v1/fleet/check", "Content-Type: application/json", "Connection: close")
    assert b"http.large" in empty.ask(empty.head(*head, f"Content-Length: {MOST_BODY + 1}"))
    part = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
    assert b"http.large" in empty.ask(empty.head(*head, "Transfer-Encoding: chunked") + part * 4 + b"0\r\n\r\n")
    body = b"{" + b" " * (MOST_BODY - 2) + b"}"
    answer = empty.ask(empty.head(*head, f"Content-Length: {MOST_BODY}") + body)
    assert b" 200 " in answer.split(b"\r\n")[0]


def test_what_is_too_long_before_the_body_is_refused(empty: Served) -> None:
    """A line or a header without end is an error, and the server goes on."""
    assert b" 4" in empty.ask(b"GET /" + b"a" * 70_000, close=True).split(b"\r\n")[0]
    assert b" 4" in empty.ask(b"GET / HTTP/1.1\r\nHost: " + b"a" * 70_000, close=True).split(b"\r\n")[0]
    assert b" 200 " in empty.list().split(b"\r\n")[0]


def test_requests_in_a_second_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All clients together have a burst; without the token nobody uses it up."""
    monkeypatch.setattr(http_server, "Rate", lambda: Rate(per_second=0.0, at_once=3))
    with serving(lambda: EmbeddedFleet(tmp_path / "state", host="here")) as made:
        foreign = made.head("GET /api/v1/fleet/list", "Connection: close").replace(TOKEN.encode(), b"another")
        assert {made.ask(foreign).split()[1] for _ in range(5)} == {b"401"}
        assert [made.list().split()[1] for _ in range(5)] == [b"200"] * 3 + [b"429"] * 2


def test_many_connections_are_refused(empty: Served) -> None:
    """Above the bound a connection gets an error; below it the server answers again."""
    opened = [empty.connect() for _ in range(http_server.MOST)]
    try:
        with empty.connect() as late, late.makefile("rb") as file:
            assert b"http.busy" in file.read()
    finally:
        for one in opened:
            one.close()
    until(lambda: not empty.running.server_state.connections)
    assert b" 200 " in empty.list().split(b"\r\n")[0]


@pytest.mark.parametrize(
    "sent", [b"", b"GET /api/v1/fleet/list HTTP/1.1\r\nHo", b"POST /api/v1/fleet/check HTTP/1.1\r\n"]
)
def test_a_request_that_does_not_come_is_ended(empty: Served, monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    """Whoever begins a request and says no more is told so, and loses the connection."""
    monkeypatch.setattr(http_server, "FIRST_SECONDS", 0.05)
    assert b"http.slow" in empty.ask(sent)


def test_a_body_that_does_not_come_is_ended(empty: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest of a body is waited for only so long."""
    monkeypatch.setattr(http_server, "BODY_SECONDS", 0.05)
    assert b"http.slow" in empty.ask(empty.head("POST /api/v1/fleet/check", "Content-Length: 10", "Connection: close"))


def test_a_client_that_reads_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that nobody reads is not held for ever, and others are answered meanwhile."""
    with serving(_Many) as made:
        monkeypatch.setattr(http_server, "TAKEN_SECONDS", PATIENCE)
        with made.connect() as silent:
            silent.sendall(made.head("GET /api/v1/fleet/list"))
            until(lambda: made.running.server_state.total_requests == 1)
            assert b" 404 " in made.ask(made.head("GET /api/v1/fleet/none", "Connection: close")).split(b"\r\n")[0]
        until(lambda: not made.running.server_state.connections)
        monkeypatch.setattr(http_server, "TAKEN_SECONDS", 0.05)
        with made.connect() as silent:
            silent.sendall(made.head("GET /api/v1/fleet/list"))
            until(lambda: made.running.server_state.total_requests == 3)
            until(lambda: not made.running.server_state.connections)
        # This client reads, however late a busy machine lets it.
        monkeypatch.setattr(http_server, "TAKEN_SECONDS", PATIENCE)
        assert len(made.list()) > 30_000_000
