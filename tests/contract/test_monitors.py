"""Monitors from outside: only what was measured whole is healthy, and what no approval covers says what to write."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from tests.contract.place import Place
from tests.patience import join

MONITORS = ".aiter/memory/monitors.md"
BIG = 5 << 20
"""Bytes of an answer that is longer than what is read."""


def entry(name: str, *lines: str) -> str:
    """Return the source of a monitor."""
    return "".join([f"### {name}\n", *(f"- {line}\n" for line in lines), "\n"])


def write(place: Place, *entries: str) -> None:
    """Write the monitors of a workspace."""
    place.write(MONITORS, "## Monitors\n\n" + "".join(entries))


def approve(place: Place, *ids: str) -> str:
    """Approve what is named, or everything that waits, at a terminal with one yes; return what was shown."""
    answer = place.at_terminal("trust", "approve", *(ids or ("--all",)), keys="yes\n", after="Write yes")
    assert answer.code == 0, answer
    return answer.out


def checked(place: Place, now: str = "2026-03-02T09:00:00Z") -> dict[str, dict[str, Any]]:
    """Check all monitors; return them by name."""
    answer = place("monitors", "check", "--all", "-o", "json", now=now)
    return {one["name"]: one for one in answer.data["monitors"]}


@contextmanager
def server(*answers: tuple[bytes, dict[str, str]], status: int = 200) -> Iterator[int]:
    """Answer `/0`, `/1` … with these bodies and headers; return the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body, headers = answers[int(self.path[1:])]
            self.send_response(302 if "Location" in headers else status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    try:
        yield httpd.server_port
    finally:
        httpd.shutdown()
        httpd.server_close()
        join(thread)


def http(name: str, port: int, path: int, *lines: str, host: str = "127.0.0.1") -> str:
    """Return the source of an http monitor of the server."""
    return entry(name, "type: http", f"url: http://{host}:{port}/{path}", "timeout: 60s", *lines)


def test_an_answer_that_was_cut_is_not_whole(workspace: Place) -> None:
    """What the part that was read shows counts; what it leaves open is an error that says where it was cut."""
    body = b"state: up\n" + b"x" * BIG
    with server((body, {"Content-Length": str(len(body))})) as port:
        write(
            workspace,
            http("Found", port, 0, "threshold: not body contains 'state: up'"),
            http("Open", port, 0, "threshold: not body contains 'state: down'"),
            http("Missing", port, 0, "threshold: not body contains 'down'"),
            http("Json", port, 0, "threshold: json.state != up"),
            http("Size", port, 0, "threshold: size > 4.9MB"),
        )
        approve(workspace)
        found = checked(workspace)
    said = {name: (one["state"], one["summary"]) for name, one in found.items()}
    cut = ("error", "cut at 4.2 MB")
    assert said["Found"][0] == "healthy"
    assert [said["Open"], said["Missing"], said["Json"]] == [cut, cut, cut]
    assert said["Size"] == ("failing", "size 5.2 MB")


def test_an_output_that_was_cut_is_no_value(workspace: Place) -> None:
    """Neither the note about what is missing nor the end that was cut away is read as output."""
    flood = "head -c 3000000 /dev/zero | tr '\\0' x"
    write(
        workspace,
        entry("Value", "type: command", f"command: {flood}; echo 5", "threshold: value > 3"),
        entry("First", "type: command", f"command: echo 7; {flood}", "threshold: value > 3"),
        entry("Text", "type: command", f"command: {flood}; echo late", "threshold: stdout contains late"),
    )
    approve(workspace)
    found = checked(workspace)
    cut = ("error", "cut at 1 MB")
    assert [(found[name]["state"], found[name]["summary"]) for name in ("Value", "Text")] == [cut, cut]
    assert (found["First"]["state"], found["First"]["values"]["value"]) == ("failing", 7)


@pytest.mark.parametrize(
    ("packed", "body"),
    [
        ("gzip", gzip.compress(b'{"state": "up"}')),
        ("deflate", zlib.compress(b'{"state": "up"}')),
        ("deflate", zlib.compress(b'{"state": "up"}')[2:-4]),
        ("", '\ufeff{"state": "up"}'.encode()),
    ],
    ids=["gzip", "deflate", "raw deflate", "byte order mark"],
)
def test_json_is_read_as_servers_send_it(workspace: Place, packed: str, body: bytes) -> None:
    """Packed answers are unpacked, and a byte order mark is no part of the JSON."""
    with server((body, {"Content-Encoding": packed} if packed else {})) as port:
        write(workspace, http("Shop", port, 0, 'threshold: json.state != "up"'))
        approve(workspace)
        assert checked(workspace)["Shop"]["state"] == "healthy"


def test_a_packed_answer_has_bounds(workspace: Place) -> None:
    """A small answer that unpacks to more than is read is cut; another packing, or half of one, is never healthy."""
    bomb = gzip.compress(b"x" * (64 << 20))
    answers = [(bomb, {"Content-Encoding": "gzip"}), (b"x", {"Content-Encoding": "br"})]
    answers.append((gzip.compress(b"x" * 1000)[:-9], {"Content-Encoding": "gzip"}))
    with server(*answers) as port:
        expect = "threshold: body contains y"
        write(workspace, *(http(f"M{number}", port, number, expect) for number in range(3)))
        approve(workspace)
        found = checked(workspace)
    assert [(found[name]["state"], found[name]["summary"]) for name in ("M0", "M1", "M2")] == [
        ("error", "cut at 4.2 MB"),
        ("error", "the answer is compressed as br, not gzip or deflate"),
        ("failing", "the compressed answer is incomplete"),
    ]


def test_a_host_may_name_its_port(workspace: Place) -> None:
    """`host: name:port` of a tcp monitor is read as written, by the question and by the check."""
    with server((b"", {})) as port:
        write(workspace, entry("Port", "type: tcp", f"host: localhost:{port}"))
        [row] = workspace.json("trust", "list")["trust"]
        assert (row["state"], row["text"]) == ("pending", f"localhost:{port}")
        approve(workspace)
        assert checked(workspace)["Port"]["state"] == "healthy"


def test_an_approval_says_where_redirects_may_lead(workspace: Place) -> None:
    """It covers redirects to the same host; to others only if the monitor asks for that, else its field is named."""
    with server((b"", {})) as port:
        other = {"Location": f"http://127.0.0.1:{port}/0"}
        with server((b"", {}), (b"", {"Location": "/0"}), (b"", other)) as start:
            write(
                workspace,
                http("Same", start, 1, "follow: yes", host="localhost"),
                http("Other", start, 2, "follow: yes", host="localhost"),
                http("Anywhere", start, 2, "follow: anywhere", host="localhost"),
                http("None", start, 0),
            )
            rows = {row["name"]: row["redirects"] for row in workspace.json("trust", "list")["trust"]}
            assert rows == {"Same": "the same host", "Other": "the same host", "Anywhere": "any address", "None": None}
            assert "(redirects to any address)" in workspace("trust", "list").out
            assert "followed to public addresses and any address" in approve(workspace)
            found = checked(workspace)
    assert {name: one["state"] for name, one in found.items() if one["state"] != "healthy"} == {"Other": "error"}
    assert found["Other"]["summary"].endswith("write follow: anywhere"), found["Other"]


def test_what_cannot_be_approved_is_an_error_that_names_the_setting(workspace: Place) -> None:
    """A monitor that no approval could let run does not wait for one."""
    write(
        workspace,
        entry("Twice", "type: command", "command: true", "command: false"),
        entry("Hidden", "type: command", "command: true", "threshold: exit code != 0 \u202e"),
        entry("Bold", "type: command", "**Timeout**: 3s", "command: true"),
        entry("Link", "type: file", "path: link"),
    )
    (workspace.work / "link").symlink_to(workspace.home)
    lines = {one["line"] for one in workspace("check", "-o", "json").data["problems"] if one["level"] == "error"}
    assert 15 in lines
    answer = workspace("monitors", "check", "--all", "-o", "json")
    found = {one["name"]: (one["state"], one["summary"]) for one in answer.data["monitors"]}
    assert {state for state, _ in found.values()} == {"error"}
    for name, word in (("Twice", "command"), ("Hidden", "\\u202e"), ("Bold", "line 15: "), ("Link", "path")):
        assert word in found[name][1], found
    assert {one["state"] for one in answer.data["blocked"]} == {"refused"}


def test_several_are_approved_with_one_yes(workspace: Place) -> None:
    """Each whole command is on the screen before the question; what is not named still waits."""
    commands = {name: f"echo {name} | grep -c {name}" for name in ("one", "two", "three")}
    write(workspace, *(entry(name, "type: command", f"command: {text}") for name, text in commands.items()))
    ids = {row["name"]: row["id"] for row in workspace.json("trust", "list")["trust"]}
    shown = approve(workspace, ids["one"], ids["two"])
    before = shown.partition("Write yes to approve all 2")[0]
    assert all(f"| {commands[name]}\n" in before for name in ("one", "two"))
    states = {row["name"]: row["state"] for row in workspace.json("trust", "list")["trust"]}
    assert states == {"one": "approved", "two": "approved", "three": "pending"}
    assert workspace.at_terminal("trust", "approve", "--all", keys="no\n", after="Write yes").code == 0
    assert workspace.json("trust", "list")["waiting"] == 1
    approve(workspace)
    assert workspace.json("trust", "list")["waiting"] == 0
