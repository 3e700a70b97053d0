"""Checks of monitors: one command against the bare shell, and hundreds at once against the same without memdeck."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bench.measure import Case
from bench.places import NOW, Places
from memory.document import parse
from memory.files.monitors import Monitor
from memory.files.snapshot import Snapshot
from memory.monitoring.checks import LIMIT, run_checks
from memory.monitoring.command import run_command
from memory.monitoring.result import Around
from memory.storage.own_folders import StateFolder

_PAUSE = 0.2
_COMMANDS = 20


class _Approved:
    """The decision that lets everything run."""

    allowed = single = True
    why = ""

    def __init__(self, text: str) -> None:
        self.text: str | None = text


class _Texts:
    """A source of one file."""

    def __init__(self, text: str) -> None:
        self.read = parse(text.encode())

    def document(self, name: str) -> object:
        """Return the file of monitors."""
        return self.read if name == "monitors.md" else None

    def archives(self) -> list[str]:
        """There are none."""
        return []


def monitor_cases(places: Places, size: str) -> Iterator[Case]:
    """Yield a run of commands one after another, and `size` monitors that are due at once."""
    count = int(size)
    kept = {"PATH": os.environ["PATH"]}

    def bare() -> None:
        for _ in range(_COMMANDS):
            subprocess.run(
                ["/bin/sh", "-c", "true"], env=kept, stdin=subprocess.DEVNULL, capture_output=True, check=True
            )

    def supervised() -> None:
        for _ in range(_COMMANDS):
            run_command("true", folder=places.folder, environment=kept)

    name = f"{_COMMANDS} bare commands, one by one"
    yield Case(name, bare)
    yield Case(
        f"{_COMMANDS} supervised commands", supervised, lambda: run_command("true", folder="/", environment={}), name
    )

    @cache
    def server() -> int:
        return _slow_server().server_port

    def due(source: str) -> tuple[list[tuple[Monitor, _Approved]], Around]:
        text = "## Monitors\n\n" + "\n".join(f"### M{number}\n{source}" for number in range(count))
        snapshot = Snapshot(_Texts(text), lambda: NOW.tzinfo)  # type: ignore[arg-type, return-value]
        state = StateFolder(places.folder.with_name("state"), places.folder)
        around = Around(places.folder, NOW, environ=kept, state=state)
        return [(one, _Approved(_text(one))) for one in snapshot.monitors.items], around

    def all_at_once(source: str, folder: Path = places.folder) -> None:
        planned, around = due(source)
        states = {result.state for _, result in run_checks(planned, around)}
        if states != {"healthy"}:
            raise RuntimeError(f"in {folder} checks are {states}")

    slowest = f"{count} waits of {_PAUSE} s in {LIMIT} threads"

    def floor() -> None:
        with ThreadPoolExecutor(LIMIT) as pool:
            list(pool.map(time.sleep, [_PAUSE] * count))

    yield Case(slowest, floor)
    yield Case(
        f"{count} http monitors at once",
        lambda: all_at_once(f"- type: http\n- url: http://127.0.0.1:{server()}/\n"),
        server,
        slowest,
    )
    together = f"{count} bare commands in {LIMIT} threads"

    def bare_together() -> None:
        def one(_: int) -> None:
            subprocess.run(
                ["/bin/sh", "-c", "true"], env=kept, stdin=subprocess.DEVNULL, capture_output=True, check=True
            )

        with ThreadPoolExecutor(LIMIT) as pool:
            list(pool.map(one, range(count)))

    yield Case(together, bare_together)
    yield Case(
        f"{count} command monitors at once",
        lambda: all_at_once("- type: command\n- command: true\n"),
        None,
        together,
    )


def _text(monitor: Monitor) -> str:
    return monitor.command or monitor.url or ""


def _slow_server() -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            time.sleep(_PAUSE)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 512

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
