"""What is too much, too long, or no HTTP has a clear error; nothing is written by it."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from app.servers import http_server
from app.servers.http_server import LARGEST_BODY
from tests.desks import make_workspace
from tests.patience import PATIENCE

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
    """It is an error, and the connection is closed."""
    assert raw(api, data, close=True).split(b"\r\n")[0].split()[1] in (b"400", b"403")


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
            late.sendall(f"GET /api/v1/status HTTP/1.1\r\nHost: {api.host}\r\nConnection: close\r\n\r\n".encode())
            assert b" 503 " in file.readline()
    finally:
        for one in opened:
            one.close()
    assert api.look("status").status == 200


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
