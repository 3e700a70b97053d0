"""A workspace with monitors, a person who approves them, servers on loopback, and messages that are collected."""

from __future__ import annotations

import os
import socketserver
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from memory.monitoring.ledger import MonitorLedger
from memory.monitoring.messages import Addresses
from memory.monitoring.run import keep_watch
from memory.monitoring.watch import Watch, WatchServices
from memory.trust.asks import asks_of
from memory.trust.consent import Trust
from memory.workspace import Workspace
from tests.patience import join

NOW = datetime(2026, 1, 15, 11, 30, tzinfo=UTC)
CONTACTS = """---
type: contacts
---

## Channels

| Name | ID | Type | Status |
|------|-----|------|--------|
| Dev Team Bot | channel-abc123 | telegram | connected |
| Slack Alerts | channel-def456 | webhook | connected |
"""
CONFIG = """---
type: agent-config
---

## Workspace
- timezone: UTC

## Default Notification
- target: im
- channelId: channel-abc123
- priority: normal

## IM Configuration
- primaryChannel: channel-abc123 (Telegram)
- secondaryChannel: channel-def456 (Slack)
"""


class Post:
    """Collects messages instead of a service; `fail` names addresses that do not take any."""

    def __init__(self, *fail: str) -> None:
        self.fail = set(fail)
        self.sent: list[tuple[str, str, str, str]] = []

    def __call__(self, urls: Sequence[str], title: str, body: str, priority: str, *, good: bool = False) -> str:
        if self.fail & set(urls):
            return "the server cannot be reached"
        self.sent.append((urls[0], title, body, priority))
        return ""

    @property
    def titles(self) -> list[str]:
        return [title for _, title, _, _ in self.sent]


class Place:
    """One workspace with its person."""

    def __init__(self, folder: Path, monitors: str, *, config: str = CONFIG, tasks: str = "") -> None:
        self.root = folder / "shop"
        self.state_home = folder / "state"
        files = {
            "monitors.md": f"---\ntype: monitor-config\n---\n\n## Monitors\n\n{monitors}",
            "journal.md": "---\ntype: activity-journal\n---\n",
            "contacts.md": CONTACTS,
            "config.md": config,
            "tasks.md": tasks or "---\ntype: task-list\n---\n\n## Pending\n",
        }
        self.workspace, _ = Workspace.init(
            self.root, NOW, actor="test", state_home=self.state_home, machine_zone=UTC, files=files
        )
        self.post = Post()
        environ = {"MEMDECK_CHANNEL_CHANNEL_ABC123": "one://", "MEMDECK_CHANNEL_CHANNEL_DEF456": "two://"}
        self.ways = WatchServices(
            {"PATH": os.environ["PATH"], "HOME": str(folder)},
            addresses=Addresses(None, environ),
            send=self.post,
            pause=lambda _seconds: None,
        )

    @property
    def trust(self) -> Trust:
        return Trust(self.state_home, self.root)

    def approve(self, *roles: str) -> None:
        """Approve everything, or what has one of these roles."""
        for ask in asks_of(self.workspace.snapshot()):
            if not roles or ask.role in roles:
                self.trust.approve(ask, who="person", now=NOW)

    def watch(self, minutes: float = 0, **options: object) -> Watch:
        """Keep watch so many minutes after NOW."""
        return keep_watch(self.workspace, self.trust, NOW + timedelta(minutes=minutes), self.ways, **options)  # type: ignore[arg-type]

    def text(self, name: str) -> str:
        """Return a memory file."""
        return (self.root / ".aiter/memory" / name).read_text()

    def ledger(self) -> MonitorLedger:
        """Return the record."""
        assert self.workspace.state is not None
        return MonitorLedger(self.workspace.state.folder)


def command(name: str, text: str, *fields: str, interval: str = "*/5 * * * *") -> str:
    """Return a command monitor."""
    lines = [f"### {name}", "- type: command", f"- command: {text}", f"- interval: {interval}", *fields]
    return "\n".join(lines) + "\n\n"


@contextmanager
def web(answers: dict[str, int]) -> Iterator[str]:
    """Serve paths with the status that the dictionary holds at that moment; 200 for others."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(answers.get(self.path, 200))
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            posted.append(body)
            self.send_response(answers.get(self.path, 200))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    posted: list[bytes] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.posted = posted  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        web.posted = posted  # type: ignore[attr-defined]
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        join(thread)


class _Smtp(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        lines: list[str] = []
        data = False
        self._say("220 test")
        for raw in self.rfile:
            line = raw.decode("utf-8", "replace").rstrip("\r\n")
            if data:
                if line == ".":
                    data = False
                    self.server.mails.append("\n".join(lines))  # type: ignore[attr-defined]
                    self._say("250 taken")
                else:
                    lines.append(line)
                continue
            word = line.split(" ")[0].upper()
            if word == "DATA":
                data, lines = True, []
                self._say("354 go on")
            elif word == "QUIT":
                self._say("221 bye")
                return
            else:
                self._say("250 fine")

    def _say(self, text: str) -> None:
        self.wfile.write(text.encode() + b"\r\n")


@contextmanager
def mail() -> Iterator[tuple[int, list[str]]]:
    """Run a mail server; yield its port and the mails that it took."""
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Smtp)
    server.daemon_threads = True
    server.mails = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1], server.mails  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()
        join(thread)
