"""What is too much, too long, or no HTTP has a clear error; nothing is written by it."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from uvicorn.protocols.http.flow_control import FlowControl

from app.servers import http_server
from app.servers.api import runs
from app.servers.http_server import LARGEST_BODY, Bounds, Rate
from app.servers.loopback import App, Receive, Scope, Send, open_port
from tests.desks import make_workspace
from tests.patience import PATIENCE, join, until

from .serving import Api, contents, serving


@pytest.fixture(name="api", scope="module")
def _api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with serving(make_workspace(tmp_path_factory.mktemp("api"))) as api:
        yield api


def raw(api: Api, data: bytes, *, close: bool = False) -> bytes:
    """Send bytes, and return all that comes until the server closes."""
    host, _, port = api.host.partition(":")
    with socket.create_connection((host, int(port)), PATIENCE) as connection:
        connection.sendall(data)
        if close:
            connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as file:
            return file.read()


@pytest.mark.parametrize(
    ("body", "kind", "code"),
    [
        (b'{"title": "one", "title": "two"}', "application/json", "http.json"),
        ('{"title": "x"}'.encode("utf-16-le"), "application/json", "http.json"),
        (b"{", "application/json", "http.json"),
        (b"[]", "application/json", "http.json"),
        (b'"x"', "application/json", "http.json"),
        (b'{"title": NaN}', "application/json", "http.json"),
        (b"[" * 100_000, "application/json", "http.json"),
        (b'{"title": ' + b'{"a":' * 60 + b"1" + b"}" * 61, "application/json", "http.json"),
        (b"\xff\xfe", "application/json", "http.json"),
        (b'{"title": "\\udcff"}', "application/json", "api.text"),
        (b'{"title": "a\\u0000b"}', "application/json", "api.text"),
        (b'{"title": "x"}', "text/plain", "http.type"),
        (b"title=x", "application/x-www-form-urlencoded", "http.type"),
        (b'{"title": "x", "nope": 1}', "application/json", "api.argument"),
        (b"{}", "application/json", "usage.missing"),
    ],
)
def test_a_wrong_body_is_refused(api: Api, body: bytes, kind: str, code: str) -> None:
    """Each wrong body has its code, and nothing is written."""
    before = contents(api.root)
    found = api.ask("POST", "/api/v1/tasks/add", headers={"Content-Type": kind}, body=body)
    assert (400 <= found.status < 500, found.code) == (True, code)
    assert contents(api.root) == before


def test_a_large_body_is_refused(api: Api) -> None:
    """A body over the bound is not taken, whether its length is told or not."""
    head = f"POST /api/v1/tasks/add HTTP/1.1\r\nHost: {api.host}\r\nAuthorization: Bearer {api.token}\r\n"
    told = raw(api, f"{head}Content-Length: {LARGEST_BODY + 1}\r\nConnection: close\r\n\r\n".encode())
    assert b" 413 " in told.split(b"\r\n")[0]
    assert b"http.large" in told
    part = b"ffff\r\n" + b"x" * 0xFFFF + b"\r\n"
    chunked = f"{head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n".encode() + part * 17 + b"0\r\n\r\n"
    assert b"http.large" in raw(api, chunked)


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01",
        b"GET\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
        b"\0" * 70_000,
    ],
)
def test_what_is_no_http_gets_an_error(api: Api, data: bytes) -> None:
    """It is answered as any other error, and the connection is closed."""
    answer = raw(api, data, close=True)
    assert answer.split(b"\r\n")[0].split()[1] in (b"400", b"403")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"].startswith("http.")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404), ("GET", "/api/v2/tasks/list", 404), ("GET", "/api/v1/tasks/list/", 404),
        ("POST", "/api/v1/tasks/list", 405), ("GET", "/api/v1/tasks/add", 405), ("PUT", "/api/memory", 405),
        ("GET", "/api/v1/../../etc/passwd", 404), ("GET", "/docs", 404), ("GET", "/api/memory/%2e%2e%2fx", 404),
    ],
)  # fmt: skip
def test_what_is_not_there_says_so(api: Api, method: str, path: str, status: int) -> None:
    """Unknown paths and wrong methods have the same form of error."""
    found = api.ask(method, path)
    assert found.status == status
    assert "." in found.code


def test_many_connections_are_refused(api: Api) -> None:
    """Above the bound a connection gets an error; below it the server answers again."""
    host, _, port = api.host.partition(":")
    opened = [socket.create_connection((host, int(port)), PATIENCE) for _ in range(http_server.MOST)]
    try:
        with socket.create_connection((host, int(port)), PATIENCE) as late, late.makefile("rb") as file:
            assert b"http.busy" in file.read()
    finally:
        for one in opened:
            one.close()
    assert api.look("status").status == 200


async def _nothing(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def _much(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": bytes(64 << 20)})


@contextmanager
def _quick(app: App = _nothing) -> Iterator[tuple[tuple[str, int], uvicorn.Server]]:
    """Run a server with the API's connections and bounds, but nothing behind them, in this process."""
    listening, _ = open_port(0, "test.port")
    config = uvicorn.Config(Bounds(app), http=http_server.HttpConnection, lifespan="off", log_config=None)
    running = uvicorn.Server(config)
    running.capture_signals = nullcontext  # type: ignore[method-assign, assignment]
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield listening.getsockname()[:2], running
    finally:
        running.should_exit = True
        join(thread)
        listening.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHo",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{",
    ],
)
def test_a_request_that_does_not_come_is_ended(monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    """Whoever begins a request, a second one or a body and says no more is told so, and loses the connection."""
    monkeypatch.setattr(http_server, "FIRST_SECONDS", 0.05)
    monkeypatch.setattr(http_server, "BODY_SECONDS", 0.05)
    with _quick() as (place, _), socket.create_connection(place, PATIENCE) as connection:
        connection.sendall(sent)
        with connection.makefile("rb") as file:
            found = b""
            while b"http.slow" not in found:
                part = file.readline()
                assert part, found
                found += part
    assert b" 408 " in found


def test_a_client_that_takes_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that nobody reads is not held for ever, nor is its connection."""
    monkeypatch.setattr(http_server, "TAKEN_SECONDS", 0.05)
    with _quick(_much) as (place, running), socket.create_connection(place, PATIENCE) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        until(lambda: running.server_state.total_requests == 1)
        until(lambda: not running.server_state.connections)


def test_a_client_that_takes_something_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as less waits for it than before, however long all of it takes."""
    monkeypatch.setattr(http_server, "TAKEN_SECONDS", 0.0)
    aborted: list[bool] = []
    sizes = iter([300, 200, 100, 100])
    loop = asyncio.new_event_loop()
    made = http_server.HttpConnection.__new__(http_server.HttpConnection)
    made.loop, made._untaken = loop, None
    made.transport = SimpleNamespace(  # type: ignore[assignment]
        get_write_buffer_size=lambda: next(sizes), abort=lambda: (aborted.append(True), loop.stop())
    )
    made.flow = FlowControl(made.transport)
    made.pause_writing()
    assert not aborted
    loop.run_forever()
    loop.close()
    assert (aborted, next(sizes, None)) == ([True], None)


def test_requests_in_a_second_are_bounded() -> None:
    """After a burst each further request needs its share of a second."""
    rate = Rate(per_second=0.0, at_once=3)
    assert [rate.take() for _ in range(5)] == [True, True, True, False, False]


def test_many_at_once_lose_nothing(api: Api) -> None:
    """Writers at the same time each get an answer, and every task is there."""
    statuses: list[int] = []

    def write(number: int) -> None:
        for part in range(3):
            statuses.append(api.change("tasks/add", title=f"Writer {number} part {part}").status)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    join(*threads)
    assert statuses == [200] * 24
    titles = {task["title"] for task in api.look("tasks/list").data["tasks"]}
    assert {f"Writer {number} part {part}" for number in range(8) for part in range(3)} <= titles


def test_long_lists_come_in_pages(api: Api) -> None:
    """With rows a list is cut, and the cursors lead through all of it."""
    whole = api.look("tasks/list", section="all").data["tasks"]
    found, cursor = [], "0"
    while cursor is not None:
        page = api.look("tasks/list", section="all", rows=2, cursor=cursor).data
        assert 1 <= len(page["tasks"]) <= 2
        found += page["tasks"]
        cursor = page["cursor"]
    assert [one["ref"] for one in found] == [one["ref"] for one in whole]
    assert api.look("tasks/list", rows=0).code == "api.argument"
    assert api.look("config/get", key="timezone", rows=5).code in ("api.argument", "config.not_found")


def test_an_answer_is_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What would be larger than an answer may be is an error that says what to do."""
    from datetime import UTC, datetime

    from app.servers.api.routes import operations
    from memory.workspace import Workspace

    monkeypatch.setattr(runs, "LARGEST", 300)
    root = make_workspace(tmp_path)
    listing = next(one for one in operations() if one.does == "tasks list")
    with Workspace.open(root, state_home=tmp_path / "records") as workspace:
        made = runs.Runs(workspace, lambda: datetime(2024, 1, 15, tzinfo=UTC), threading.Lock())
        found = made.verb(listing, {"section": "all"}, runs.Caller("agent:x", "http"))
    assert found.status == 413
    assert json.loads(found.body)["error"]["code"] == "api.large"
