"""Monitors from texts, decisions, and real servers on loopback for the tests of checks."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from memory.files.monitors import Monitor
from memory.monitoring.checks import check
from memory.monitoring.result import Around, Result
from memory.storage.own_folders import StateFolder
from tests.memory_files import snapshot_of
from tests.patience import PATIENCE, join

NOW = datetime(2024, 1, 15, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Decided:
    """A decision as a person would have made it."""

    allowed: bool
    text: str | None = None
    single: bool = True
    why: str = ""


def monitors_of(*entries: str) -> tuple[Monitor, ...]:
    """Return the monitors of sources that each begin with their name."""
    text = "---\ntype: monitor-config\n---\n\n## Monitors\n\n" + "\n".join(
        f"### {entry.strip()}\n" for entry in entries
    )
    return snapshot_of({"monitors.md": text}).monitors.items


def approved(monitor: Monitor) -> Decided:
    """Return the approval of exactly what a monitor asks for."""
    fields = monitor.entry.fields
    text = monitor.command or monitor.url or fields.get("path") or f"{fields.get('host')}:{fields.get('port') or ''}"
    return Decided(True, text)


def checked(
    root: Path,
    source: str,
    *,
    decision: Decided | Callable[[Monitor], Decided] | None = approved,
    now: datetime = NOW,
    reach: Callable[[str, str], bool] = lambda _url, _address: False,
    tls: ssl.SSLContext | None = None,
    environ: Mapping[str, str] | None = None,
) -> Result:
    """Check the one monitor of a source in a folder."""
    (monitor,) = monitors_of(source)
    around = Around(
        root,
        now,
        reach=reach,
        tls=tls,
        environ=os.environ if environ is None else environ,
        state=state_of(root),
    )
    return check(monitor, decision(monitor) if callable(decision) else decision, around)


def state_of(root: Path) -> StateFolder:
    """Return the state folder of a workspace, beside it."""
    return StateFolder(root.with_name(f"{root.name}-state"), root)


Answering = Callable[[BaseHTTPRequestHandler], None]


@contextlib.contextmanager
def http_server(
    answering: Answering, *, context: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> Iterator[tuple[int, list[str]]]:
    """Serve HTTP on loopback; yield the port and the list of what was asked, with its headers."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def _any(self) -> None:
            asked.append(f"{self.command} {self.path}\n{self.headers}")
            with contextlib.suppress(OSError):
                answering(self)

        do_GET = do_HEAD = _any

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        daemon_threads = True
        # Connections that a busy machine cannot accept at once would be dropped, and tried again only after seconds.
        request_queue_size = 512

        def handle_error(self, *_: object) -> None:
            """A client that goes away is part of the tests."""

    server = Server((host, 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server.server_port, asked
    finally:
        server.shutdown()
        server.server_close()
        join(thread)


def reply(status: int = 200, body: bytes = b"", **headers: str) -> Answering:
    """Return what answers every request the same way; `_` in a header's name is a hyphen."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


@contextlib.contextmanager
def raw_server(talk: Callable[[socket.socket], None]) -> Iterator[int]:
    """Accept connections on loopback and hand each to `talk` in a thread; yield the port."""
    listening = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def one(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            talk(connection)

    def accept() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=one, args=(connection,), daemon=True))
            threads[-1].start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        with contextlib.suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        join(thread)


def free_port() -> int:
    """Return a port of loopback on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def certificate(folder: Path, name: str, days: int) -> Path:
    """Make a certificate for `localhost` that is its own authority; return the file with it and its key."""
    openssl = shutil.which("openssl")
    assert openssl is not None
    key, pem = folder / f"{name}.key", folder / f"{name}.pem"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-keyout", key, "-out", pem, "-days", str(days), "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True, timeout=PATIENCE
    )  # fmt: skip
    pem.write_bytes(pem.read_bytes() + key.read_bytes())
    return pem
