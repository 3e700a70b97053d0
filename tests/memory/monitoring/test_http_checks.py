"""HTTP checks against real servers: what is judged, what is never sent, where it never goes, and when it gives up."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import time
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from memory.monitoring import http as web
from memory.monitoring.result import Down, resolve
from tests.memory.monitoring.monitoring_places import (
    Answering,
    Decided,
    certificate,
    checked,
    free_port,
    http_server,
    raw_server,
    reply,
)
from tests.patience import Stopwatch

JSON = b'{"state": "up", "queue": [{"depth": 12}], "ok": true}'


def source(port: int, *lines: str, path: str = "/health", scheme: str = "http", host: str = "127.0.0.1") -> str:
    """Return the source of an http monitor."""
    fields = ("type: http", f"url: {scheme}://{host}:{port}{path}", *lines)
    return "Shop\n" + "".join(f"- {field}\n" for field in fields)


@pytest.mark.parametrize(
    ("answer", "lines", "state", "summary"),
    [
        (reply(200), (), "healthy", "status 200, "),
        (reply(404), (), "failing", "status 404"),
        (reply(302, Location="/x"), (), "healthy", "status 302, "),
        (reply(503), ("threshold: status != 200",), "failing", "status 503"),
        (reply(200, b"all fine"), ("threshold: not body contains 'all fine'",), "healthy", "status 200, "),
        (
            reply(200, b"all fine"),
            ("threshold: not body contains 'all well'",),
            "failing",
            'body does not contain "all well"',
        ),
        (reply(200, JSON), ('threshold: json.state != "up"',), "healthy", "status 200, "),
        (reply(200, JSON), ("threshold: json.queue[0].depth >= 10",), "failing", "json.queue[0].depth 12"),
        (reply(200, b"no json"), ("threshold: json.state != up",), "error", "no value for json.state"),
        (reply(200, JSON), ("threshold: json.queue[0].depth > 10",), "failing", "json.queue[0].depth 12"),
        (reply(200, JSON), ("threshold: json.none > 10",), "error", "no value for json.none"),
        (reply(200, b"x" * 10), ("threshold: size < 1KB",), "failing", "size 10 B"),
        (reply(200), ("threshold: latency > 20s or status != 200",), "healthy", "status 200, "),
        (reply(200), ("threshold: certificate < 14d",), "error", "no value for certificate"),
        (reply(200), ("threshold: value > 3",), "error", "'value' is not measured by http checks (column 1)"),
        (reply(200), ("timeout: soon",), "error", "timeout is 'soon'"),
    ],
)
def test_an_answer_is_judged(
    tmp_path: Path, answer: Answering, lines: tuple[str, ...], state: str, summary: str
) -> None:
    """Status, body, JSON and size decide as the fields say; what cannot be told is an error, never healthy."""
    with http_server(answer) as (port, _):
        result = checked(tmp_path, source(port, *lines))
    assert (result.state, result.summary[: len(summary)]) == (state, summary)
    if result.state != "error" or "no value" in summary:
        assert 0 < float(result.values["latency"]) < 5
        assert result.values["status"] in (200, 302, 404, 503)


def test_nothing_of_the_user_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy, netrc, cookie or name of the library goes out; a second check knows nothing of the first."""
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password hunter2\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    with http_server(reply(200, Set_Cookie="id=1")) as (port, asked):
        for _ in range(2):
            assert checked(tmp_path, source(port)).state == "healthy"
    assert asked[0] == asked[1]
    assert sorted(line for line in asked[0].splitlines() if line) == [
        "Accept-Encoding: identity",
        "Accept: */*",
        "Connection: close",
        "GET /health",
        f"Host: 127.0.0.1:{port}",
        "User-Agent: memdeck",
    ]


def test_no_secret_of_an_address_is_shown(tmp_path: Path) -> None:
    """Credentials go to the server and nowhere else, and neither they nor the query stand in the result."""
    with http_server(reply(200)) as (port, asked):
        url = f"http://ann:hunter2@127.0.0.1:{port}/health?token=abc123"
        result = checked(tmp_path, f"Shop\n- type: http\n- url: {url}\n")
    assert result.state == "healthy"
    assert "Authorization: Basic YW5uOmh1bnRlcjI=" in asked[0]
    assert "hunter2" not in repr(result)
    assert "abc123" not in repr(result)


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_addresses_of_both_families(tmp_path: Path) -> None:
    """An address of IPv6 is asked under its own name."""
    with http_server(reply(200), host="::1") as (port, asked):
        assert checked(tmp_path, source(port, host="[::1]")).state == "healthy"
    assert f"Host: [::1]:{port}\n" in asked[0]


def test_only_the_head_is_asked_for(tmp_path: Path) -> None:
    """`method: HEAD` asks for no body."""
    with http_server(reply(200)) as (port, asked):
        assert checked(tmp_path, source(port, "method: head")).state == "healthy"
    assert asked[0].startswith("HEAD ")


def to(target: str) -> Answering:
    """Answer `/start` with a redirect and everything else with 200."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        (reply(301, Location=target) if handler.path == "/start" else reply(200))(handler)

    return answer


@pytest.mark.parametrize(
    ("host", "lines", "single", "state"),
    [
        ("127.0.0.1", (), True, "failing"),
        ("127.0.0.1", ("follow: yes",), True, "healthy"),
        ("localhost", ("follow: yes",), True, "error"),
        ("localhost", ("follow: anywhere",), True, "healthy"),
    ],
)
def test_redirects_are_followed_as_far_as_the_approval_reaches(
    tmp_path: Path, host: str, lines: tuple[str, ...], single: bool, state: str
) -> None:
    """Without `follow` a redirect is the answer; an approval covers its own host, and others if it says so."""
    with http_server(reply(200)) as (port, _), http_server(to(f"http://{host}:{port}/next")) as (start, _):
        text = source(start, "threshold: status != 200", *lines, path="/start")
        found = checked(tmp_path, text, decision=lambda monitor: Decided(True, monitor.url, single=single))
    assert found.state == state
    if state == "error":
        assert found.summary == "redirect to localhost: write follow: anywhere"


@pytest.mark.parametrize(
    ("target", "state"),
    [
        ("file:///etc/passwd", "error"),
        ("ftp://127.0.0.1/", "error"),
        ("//user:pw@127.0.0.1/", "error"),
        ("/start", "failing"),
        ("http://[broken", "failing"),
    ],
)
def test_redirects_to_odd_places_end_there(tmp_path: Path, target: str, state: str) -> None:
    """Other schemes, credentials, circles and nonsense are never followed, whatever is approved."""
    with http_server(to(target)) as (port, _):
        result = checked(tmp_path, source(port, "follow: 3", path="/start"), reach=lambda _url, _address: True)
    assert result.state == state


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0", "[::1]"])
def test_a_workspace_approval_reaches_no_private_place(tmp_path: Path, host: str) -> None:
    """An address that leads to this machine, however it is written, is not asked without its own approval."""
    with http_server(reply(200)) as (port, asked):
        text = source(port, host=host)
        result = checked(tmp_path, text, decision=lambda monitor: Decided(True, monitor.url, single=False))
    assert (result.state, asked) == ("blocked", [])


def test_the_approved_address_is_what_is_asked(tmp_path: Path) -> None:
    """The text of the record counts, not the one that stands in the file meanwhile."""
    with http_server(reply(200)) as (port, asked):
        checked(tmp_path, source(1), decision=Decided(True, f"http://127.0.0.1:{port}/approved"))
    assert [line.split("\n")[0] for line in asked] == ["GET /approved"]


def drip(connection: socket.socket) -> None:
    """Send one byte every now and then for as long as somebody listens."""
    connection.recv(1000)
    connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        connection.sendall(b"x")
        time.sleep(0.02)


def silent(connection: socket.socket) -> None:
    """Listen and say nothing."""
    while connection.recv(1000):
        pass


def greeting(connection: socket.socket) -> None:
    """Speak another protocol."""
    connection.sendall(b"220 mail.example.com ready\r\n")
    connection.recv(1000)


def cut_off(connection: socket.socket) -> None:
    """Promise more than comes."""
    connection.recv(1000)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")


def endless(connection: socket.socket) -> None:
    """Send a body without end."""
    connection.recv(1000)
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b"x" * 65536)


@pytest.mark.parametrize(
    ("talk", "scheme", "state", "summary"),
    [
        (drip, "http", "failing", "timed out"),
        (drip, "https", "failing", ""),
        (silent, "http", "failing", "timed out"),
        (silent, "https", "failing", "timed out"),
        (greeting, "http", "failing", "not an HTTP answer"),
        (cut_off, "http", "failing", "not an HTTP answer, or an incomplete one"),
        (endless, "http", "healthy", "status 200"),
    ],
)
def test_time_and_size_are_bounded(tmp_path: Path, talk: Answering, scheme: str, state: str, summary: str) -> None:
    """A server that drips, keeps silent, breaks off or never ends costs no more than the timeout and a megabyte."""
    with raw_server(talk) as port:  # type: ignore[arg-type]
        watch = Stopwatch()
        result = checked(tmp_path, source(port, "timeout: 0.4s", scheme=scheme))
        assert watch.seconds() < 3
    assert (result.state, result.summary[: len(summary)]) == (state, summary)
    assert int(result.values.get("size", 0)) <= web.LARGEST


@pytest.mark.parametrize(
    ("url", "state", "summary"),
    [
        (f"http://127.0.0.1:{free_port()}/", "failing", "no connection: connection refused"),
        ("http://no-such-host.invalid/", "failing", "no-such-host.invalid is unknown"),
        ("ftp://127.0.0.1/", "error", "url: ftp is not http or https"),
        ("file:///etc/passwd", "error", "url: file is not http or https"),
        ("http://", "error", "url: the address has no host"),
        ("nonsense", "error", "url: the address has no scheme"),
        ("http://[::1", "error", "url: the address 'http://[::1' cannot be read"),
        ("http://127.0.0.1:99999/", "error", "url: the address 'http://127.0.0.1:99999/' cannot be read"),
        ("http://a\x00b/", "failing", "not an address"),
        ("http://\udcff/", "failing", ""),
    ],
    # Names of their own: a port would have another one in each process.
    ids=["closed", "unknown", "ftp", "file", "empty", "nonsense", "torn", "port", "nul", "surrogate"],
)
def test_addresses_that_lead_nowhere(tmp_path: Path, url: str, state: str, summary: str) -> None:
    """What cannot be reached fails in words, what no check can ask is an error of the file; nothing raises."""
    text = f"Shop\n- type: http\n- url: {url}\n- timeout: 2s\n"
    result = checked(tmp_path, text, decision=Decided(True, url))
    assert (result.state, result.summary[: len(summary)]) == (state, summary)


needs_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None and "MEMDECK_TOOLS" not in os.environ, reason="needs openssl to make a certificate"
)


@needs_openssl
def test_certificates(tmp_path: Path) -> None:
    """The days that a certificate has left are measured; one that nobody vouches for is no answer."""
    pem = certificate(tmp_path, "good", 30)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(pem)
    trusting = ssl.create_default_context(cafile=str(pem))
    now = datetime.now(UTC)
    with http_server(reply(200), context=serving) as (port, _):

        def see(*lines: str, host: str = "localhost", tls: ssl.SSLContext | None = trusting) -> tuple[str, str]:
            result = checked(tmp_path, source(port, *lines, scheme="https", host=host), now=now, tls=tls)
            return result.state, result.summary

        assert see("threshold: status >= 400 or certificate < 14d")[0] == "healthy"
        assert see("threshold: certificate < 31d") == ("failing", "certificate 30 d")
        assert see(tls=None) == ("failing", "certificate: self-signed certificate")
        assert see(host="127.0.0.1")[1].startswith("certificate: IP address mismatch")


def test_a_redirect_to_an_address_of_many_kilobytes_is_none(tmp_path: Path) -> None:
    """Addresses that long are not even read."""
    with http_server(to("/" + "../" * 5_000)) as (port, asked):
        result = checked(tmp_path, source(port, "follow: yes", path="/start"), reach=lambda *_: True)
    assert (result.state, result.summary) == ("failing", "a redirect to an invalid address")
    assert len(asked) == 1


@pytest.mark.parametrize(("host", "seconds"), [("no-such-host.invalid", 5), ("x" * 300, 5), ("a\0b", 5)])
def test_unknown_names_are_told(host: str, seconds: float) -> None:
    """A name that leads nowhere is told in words, and so is no name at all."""
    with pytest.raises(Down, match="is unknown"):
        resolve(host, 80, seconds)
