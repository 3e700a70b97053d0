"""Sessions of HTTP that are wrong in every way: a clear error each, nothing written, nothing left open."""

from __future__ import annotations

import json
import os
import random
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.servers.api.routes import operations, path_of
from memory.curated.operations.registry import OPERATIONS
from tests.desks import make_workspace
from tests.examples import WHOLE
from tests.patience import PATIENCE, until

from .serving import Api, contents, serving

SESSIONS = 100
STEPS = 6
PATHS = [
    *(path_of(one) for one in operations()),
    *(one.route.partition(" ")[2] for one in OPERATIONS),
    *("/", "/api", "/api/v1/", "/api/v1/tasks/list/../add", "/%00"),
    "/api/" + "a/" * 300,
]  # fmt: skip
WORDS = (
    "", "x", "\0", "../../etc/passwd", "@/etc/passwd", "-", "--help", "=", "tasks#0", "\u202e", "ÿ" * 500, "9" * 400,
    "{}", "NaN",
)  # fmt: skip
NAMES = (
    "ref", "title", "limit", "rows", "cursor", "set", "tag", "content", "type", "filename", "scope", "hash", "kind",
    "nope", "now", "workspace", "output", "actor", "operation", "dry_run",
)  # fmt: skip


@pytest.fixture(name="api", scope="module")
def _api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with serving(make_workspace(tmp_path_factory.mktemp("api"))) as api:
        yield api


def _value(rng: random.Random) -> object:
    return rng.choice(
        (rng.choice(WORDS), None, True, -1, 10**30, 1e308, [], [[]], {}, {"a": {"b": []}}, ["x", 1], "\udcff")
    )


def _body(rng: random.Random) -> bytes:
    """Return a body that no verb takes: each has a name that is none."""
    values = {rng.choice(NAMES): _value(rng) for _ in range(rng.randrange(5))} | {"no-such-name": 1}
    data = json.dumps(values).encode()
    return rng.choice((data, data[: len(data) // 2], b"[" * 5_000, b"\xff\xfe{", rng.randbytes(200), b'"x"'))


def _request(api: Api, rng: random.Random) -> bytes:
    """Return the bytes of a request, some of which are none; it would change nothing if it were understood."""
    method = rng.choice(("GET", "GET", "POST", "PATCH", "DELETE", "PUT", "OPTIONS", "HEAD", "BREW", "get"))
    path = rng.choice(PATHS).replace("{", "").replace("}", "")
    query = "&".join(
        f"{rng.choice(NAMES)}={rng.choice(('', '%00', '%ff', 'x', '1', '..%2f', 'x' * 9_000))}" for _ in range(3)
    )
    path += f"?no-such-name=1&{query}"
    host = rng.choice((api.host, api.host, api.host, "evil.example", ""))
    token = rng.choice((api.token, api.token, api.token, api.token, "x", ""))
    body = _body(rng)
    length = rng.choice((len(body), len(body), len(body), len(body) + 9, -1, 10**12, 3))
    more = rng.choice(
        (
            *(
                "",
                "",
                "Origin: http://evil.example\r\n",
                "Expect: 100-continue\r\n",
                "Memdeck-Actor: a b\r\n",
                ": x\r\n",
            ),
            *(
                "Transfer-Encoding: chunked\r\n",
                "Upgrade: websocket\r\nConnection: upgrade\r\n",
                f"X: {'y' * 70_000}\r\n",
            ),
        )
    )
    kind = rng.choice(("application/json", "application/json", "text/plain", "multipart/form-data"))
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {length}\r\n{more}\r\n"
    )
    data = head.encode("latin-1", "replace") + body
    return rng.choice(
        (data, data, data, data, data[: rng.randrange(1, len(data))], rng.randbytes(300), data.replace(b"\r\n", b"\n"))
    )


def _session(api: Api, rng: random.Random) -> None:
    """Send some requests on one connection, leave in the middle at times, and look at what comes back."""
    host, _, port = api.host.partition(":")
    with socket.create_connection((host, int(port)), PATIENCE) as connection:
        sent = b"".join(_request(api, rng) for _ in range(rng.randrange(1, STEPS)))
        try:
            connection.sendall(sent)
            if not rng.randrange(4):
                return
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as file:
                answer = file.read()
        except OSError:
            return
    for part in answer.split(b"HTTP/1.1 ")[1:]:
        status, body = part[:3], part.partition(b"\r\n\r\n")[2]
        assert status[:1] in (b"4", b"5", b"1") or b"/api" in body or status == b"200", part[:300]
        assert b"Traceback" not in part
        # What is no HTTP is refused by the library, in its words.
        if status[:1] in (b"4", b"5") and body[:1] == b"{":
            error = json.loads(body)["error"]
            assert "." in error["code"], error
            assert error["message"]
        assert status != b"500", part


def _open_files(api: Api) -> int:
    return len(os.listdir(f"/proc/{api.process.pid}/fd"))


@pytest.mark.parametrize("seed", range(SESSIONS) if WHOLE else range(0, SESSIONS, 7))
def test_a_fuzzed_session(api: Api, seed: int) -> None:
    """Each wrong request has a clear error, nothing is written, and the server answers the next one."""
    before = contents(api.root)
    _session(api, random.Random(seed))
    assert contents(api.root) == before
    found = api.look("tasks/list")
    assert found.status == 200


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_nothing_stays_open(api: Api) -> None:
    """After many sessions the server has no more files and connections open than before."""
    api.look("status")
    until(lambda: _open_files(api) <= 60)
    before = _open_files(api)
    for seed in range(1_000, 1_030):
        _session(api, random.Random(seed))
    until(lambda: _open_files(api) <= before + 2, lambda: f"{before} before, {_open_files(api)} after")
    threads = len(os.listdir(f"/proc/{api.process.pid}/task"))
    assert threads <= 12
