"""`memdeck api` as a process: started on a copy of a workspace, asked over its port or its socket, ended."""

from __future__ import annotations

import http.client
import json
import os
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from tests import forking
from tests.patience import PATIENCE, line_of

COMMAND = (sys.executable, "-m", "app.main")
NOW = "2024-01-15T10:30:00Z"
Json = dict[str, Any]


class Answer(NamedTuple):
    """What a request got."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The code of the error."""
        found: str = self.data["error"]["code"]
        return found


def environment(root: Path) -> dict[str, str]:
    """Return an environment whose home and records lie beside a workspace."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMDECK", "XDG_", "AGH_"))}
    return kept | {"HOME": str(root.parent / "home"), "XDG_STATE_HOME": str(root.parent / "records")}


class _SocketConnection(http.client.HTTPConnection):
    """HTTP over a socket in the file system."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=PATIENCE)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self._path)


class Api:
    """One server, and requests to it."""

    def __init__(self, root: Path, process: forking.Forked, told: Json) -> None:
        """`told` is what it said at its start."""
        self.root = root
        self.process = process
        self.address: str | None = told["address"]
        self.token: str | None = told["token"]
        self.socket: str | None = told["socket"]

    @property
    def host(self) -> str:
        """The address and the port."""
        assert self.address is not None
        return self.address.removeprefix("http://")

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection, by the port where there is one."""
        if self.address is None:
            assert self.socket is not None
            return _SocketConnection(self.socket)
        return http.client.HTTPConnection(self.host, timeout=PATIENCE)

    def ask(
        self,
        method: str,
        path: str,
        values: Json | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Answer:
        """Send a request: the values in the query of GET and DELETE, as JSON else."""
        sent = {"Host": self.host, "Authorization": f"Bearer {self.token}"} if self.address else {"Host": "x"}
        if values is not None and method in ("GET", "DELETE"):
            path += "?" + urlencode({key: _word(value) for key, value in values.items()}, doseq=True)
        elif values is not None:
            body = json.dumps(values).encode()
            sent["Content-Type"] = "application/json"
        connection = self.connect()
        try:
            connection.request(method, path, body, {**sent, **(headers or {})})
            found = connection.getresponse()
            return Answer(found.status, dict(found.getheaders()), found.read())
        finally:
            connection.close()

    def look(self, path: str, /, **values: Any) -> Answer:
        """Ask a verb that looks."""
        return self.ask("GET", f"/api/v1/{path}", values)

    def change(self, path: str, /, **values: Any) -> Answer:
        """Ask a verb that changes memory."""
        return self.ask("POST", f"/api/v1/{path}", values)


def _word(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


@contextmanager
def serving(root: Path, *options: str, now: str | None = NOW) -> Iterator[Api]:
    """Run a server until the end of the block; it has said where it is."""
    # An agent may not say `--now`: then the clock of the machine stands.
    clock = now if "--actor" in options else None
    process = forking.start(
        ["api", "-w", str(root), "-o", "json", *(["--now", now] if now and not clock else []), *options],
        env=environment(root),
        loaded=forking.REQUESTS,
        clock=clock,
    )
    try:
        line = line_of(process.stdout)
        assert line, process.stderr.read().decode()
        yield Api(root, process, json.loads(line))
        if process.poll() is None:
            process.terminate()
            assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == b""
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(PATIENCE)
        process.stdin.close()
        process.stdout.close()
        process.stderr.close()


def contents(root: Path) -> dict[str, bytes]:
    """Return all bytes of a workspace and of the home beside it, but those of memdeck's own folders."""
    return {
        path.relative_to(root.parent).as_posix(): path.read_bytes()
        for top in (root, root.parent / "home")
        for path in sorted(top.rglob("*"))
        if path.is_file() and ".memdeck" not in path.parts
    }
