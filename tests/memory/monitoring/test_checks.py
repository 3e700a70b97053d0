"""Commands, ports, files and signs of life, checked for real and said in the words of the format."""

from __future__ import annotations

import os
import socket
from datetime import timedelta
from pathlib import Path

import pytest

from memory.monitoring.result import one_line, safe_detail
from tests.memory.monitoring.monitoring_places import (
    NOW,
    Decided,
    checked,
    free_port,
    raw_server,
)
from tests.patience import Stopwatch


def command(text: str, *lines: str) -> str:
    """Return the source of a command monitor."""
    return "\n".join(["Work", "- type: command", f"- command: {text}", *(f"- {line}" for line in lines)])


@pytest.mark.parametrize(
    ("text", "lines", "state", "summary"),
    [
        ("true", (), "healthy", "exit code 0"),
        ("exit 3", (), "failing", "exit code 3"),
        ("kill -TERM $$", (), "failing", "exit code 143"),
        ("no-such-thing", ("threshold: exit code != 0",), "failing", "exit code 127"),
        ("echo 72", ("threshold: value > 90",), "healthy", "72"),
        ("echo 95", ("threshold: value > 90",), "failing", "95"),
        ("echo 95%", ("threshold: value > 90",), "failing", "95%"),
        ("echo 17", ("threshold: value > 90", "lastStatus: failing (timed out after 10 s)"), "healthy", "17"),
        ("echo 17", ("threshold: value > 90", "lastStatus: failing (exit code 1)"), "healthy", "17"),
        ("echo 1 2 30", ("threshold: value[2] > 20 or value > 5",), "failing", "value[2] 30"),
        ("echo 1 2 30", ("threshold: value[3] > 20",), "error", "no value for value[3]"),
        ("echo none; exit 2", ("threshold: value > 20",), "error", "no value for value (exit code 2)"),
        ("echo running", ("threshold: stdout not contains running",), "healthy", 'stdout contains "running"'),
        ("echo oops >&2", ("threshold: stderr contains oops",), "failing", 'stderr contains "oops"'),
        ("echo '{\"lag\": 5}'", ("threshold: json.lag > 3",), "failing", "json.lag 5"),
        ("sleep 30", ("timeout: 0.2s",), "failing", "timed out after 200 ms"),
        ("echo $SECRET", ("threshold: stdout contains hunter2",), "healthy", 'stdout does not contain "hunter2"'),
        ("echo $SECRET", ("threshold: stdout contains hunter2", "environment: SECRET"), "failing", "stdout contains"),
        ("true", ("environment: A=b",), "error", "environment holds more than names"),
        ("true", ("threshold: value >",), "error", "value is a number (column 8)"),
        ("true", ("timeout: 2h",), "error", "timeout is '2h'"),
    ],
)
def test_commands(tmp_path: Path, text: str, lines: tuple[str, ...], state: str, summary: str) -> None:
    """A command is judged by its exit code, its numbers and its words, and said with the words that belong to it."""
    result = checked(tmp_path, command(text, *lines), environ=os.environ | {"SECRET": "hunter2"})
    assert (result.state, result.summary[: len(summary)]) == (state, summary)
    assert result.summary == summary or "stdout" in summary


def test_ports(tmp_path: Path) -> None:
    """A port that listens is open, one that does not is not, one that nobody approved is not tried."""
    with raw_server(lambda connection: connection.recv(1)) as port:
        opened = checked(tmp_path, f"Port\n- type: tcp\n- host: localhost\n- port: {port}\n")
        joined = checked(tmp_path, f"Port\n- type: tcp\n- host: 127.0.0.1:{port}\n- threshold: open\n")
        whole = Decided(True, f"127.0.0.1:{port}", single=False)
        outside = checked(tmp_path, f"Port\n- type: tcp\n- host: 127.0.0.1:{port}\n", decision=whole)
        before = Decided(True, f"tcp://[::ffff:127.0.0.1]:{port}")
        other = checked(tmp_path, "Port\n- type: tcp\n- host: 127.0.0.1:1\n", decision=before)
    closed = checked(tmp_path, f"Port\n- type: tcp\n- host: 127.0.0.1:{free_port()}\n")
    timed = checked(tmp_path, f"Port\n- type: tcp\n- host: 127.0.0.1:{free_port()}\n- threshold: latency > 1s\n")
    unknown = checked(tmp_path, "Port\n- type: tcp\n- host: no-such-host.invalid\n- port: 80\n")
    assert (opened.state, opened.values["open"]) == ("healthy", 1)
    assert opened.summary.startswith("open, ")
    assert other.state == "healthy"  # what was approved is asked, not what stands in the file by now
    assert (joined.state, joined.summary[:4]) == ("failing", "open")
    assert (outside.state, outside.summary) == ("blocked", "127.0.0.1 is not a public address")
    assert (closed.state, closed.summary, closed.values) == ("failing", "not open: connection refused", {"open": 0})
    assert (timed.state, timed.summary) == ("failing", "not open: connection refused")
    assert (unknown.state, unknown.summary[:36]) == ("failing", "not open: no-such-host.invalid is un")


def test_a_port_that_does_not_answer(tmp_path: Path) -> None:
    """A full queue of connections costs the timeout, no more."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
        port = server.getsockname()[1]
        waiting = [socket.socket() for _ in range(3)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        watch = Stopwatch()
        result = checked(tmp_path, f"Port\n- type: tcp\n- host: 127.0.0.1\n- port: {port}\n- timeout: 0.3s\n")
        took = watch.seconds()
        for one in waiting:
            one.close()
    assert (result.state, result.summary) == ("failing", "not open: timed out")
    assert took < 3


@pytest.mark.parametrize(
    "lines",
    ["- host: a b\n- port: 1", "- host: x\n- port: 99999", "- host: x", "- port: 80", "- url: x", "- host: ::1"],
)
def test_a_port_must_be_one(tmp_path: Path, lines: str) -> None:
    """Host and port that are none are told before anything is asked."""
    assert checked(tmp_path, f"Port\n- type: tcp\n{lines}\n").state == "error"


def file_monitor(path: str, threshold: str = "") -> str:
    """Return the source of a file monitor."""
    return f"File\n- type: file\n- path: {path}\n" + (f"- threshold: {threshold}\n" if threshold else "")


@pytest.mark.parametrize(
    ("path", "threshold", "state", "summary"),
    [
        ("backup.tar", "", "healthy", "2 KB, 3 h old"),
        ("backup.tar", "missing or age > 2h", "failing", "age 3 h"),
        ("backup.tar", "size < 1MB", "failing", "size 2 KB"),
        ("backup.tar", "exists", "failing", "exists"),
        ("folder", "", "healthy", "3 h old"),
        ("folder", "size > 1MB", "error", "no value for size"),
        ("gone", "", "failing", "missing"),
        ("gone", "age > 2h", "failing", "missing"),
        ("gone", "exists", "healthy", "missing"),
        ("backup.tar/x", "", "failing", "missing"),
        ("inside", "", "healthy", "2 KB, 3 h old"),
        ("outside", "", "error", "path is a link that leads out of the workspace"),
        ("../secret", "", "blocked", "the path leads out of the workspace"),
        ("folder/../../secret", "", "blocked", "the path leads out of the workspace"),
        ("/etc/passwd", "", "blocked", "the path leads out of the workspace"),
        ("loop", "", "failing", "a link that leads in a circle"),
        ("a\0b", "", "failing", "not a path"),
        ("x" * 5000, "", "failing", ""),
    ],
)
def test_files(tmp_path: Path, path: str, threshold: str, state: str, summary: str) -> None:
    """Files of the workspace are looked at; nothing outside of it is, whichever way a path leads there."""
    root = tmp_path / "shop"
    (root / "folder").mkdir(parents=True)
    (root / "backup.tar").write_bytes(bytes(2000))
    (tmp_path / "secret").write_text("x")
    (root / "inside").symlink_to("backup.tar")
    (root / "outside").symlink_to(tmp_path / "secret")
    (root / "loop").symlink_to("loop")
    then = (NOW - timedelta(hours=3)).timestamp()
    for name in ("folder", "backup.tar"):
        os.utime(root / name, (then, then))
    result = checked(root, file_monitor(path, threshold), decision=None)
    assert (result.state, result.summary[: len(summary)]) == (state, summary)


def test_a_file_outside_is_looked_at_when_approved(tmp_path: Path) -> None:
    """An approval of exactly that path lets it be looked at."""
    root = tmp_path / "shop"
    root.mkdir()
    (tmp_path / "out").write_text("x")
    source = file_monitor(str(tmp_path / "out"))
    assert checked(root, source, decision=Decided(False, None)).state == "blocked"
    assert checked(root, source).state == "healthy"


@pytest.mark.parametrize(
    "source", ["Odd\n- type: ping\n", "Odd\n", "Odd\n- command: x\n- url: http://x/\n", "Odd\n- type:"]
)
def test_a_type_that_nobody_knows(tmp_path: Path, source: str) -> None:
    """A monitor that cannot be measured is an error with advice, not healthy."""
    result = checked(tmp_path, source)
    assert result.state == "error"
    assert "write http, command, tcp or file" in result.detail


def test_a_monitor_without_a_type_is_what_it_says(tmp_path: Path) -> None:
    """A command alone makes a command monitor."""
    assert checked(tmp_path, "Odd\n- command: echo 5\n- threshold: value > 4\n").state == "failing"


def test_nothing_that_is_printed_steers_a_terminal(tmp_path: Path) -> None:
    """Summary and detail show control characters, and the summary stays one short line that fits into a remark."""
    result = checked(tmp_path, command("printf '\\033[31m) red\\n'; exit 1", "threshold: stdout contains red"))
    assert result.detail == "\\x1b[31m) red"
    for text in ("a)b(c", "((", "x" * 500, "a\nb\x1b[2Jc", "\u202e"):
        line = one_line(text)
        assert len(line) <= 80
        assert line.isprintable()
        assert line.count("(") == line.count(")")
    assert len(safe_detail("x" * 100_000)) < 5000
