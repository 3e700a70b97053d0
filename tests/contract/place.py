"""A folder in which memdeck is used from outside, and what it answers there."""

from __future__ import annotations

import http.client
import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests import commands, forking
from tests.patience import PATIENCE, line_of

HOUSE = Path(__file__).parents[2]
NOW = "2026-03-02T09:00:00Z"
"""The moment of every call that names no other: a Monday."""

LONG_AGO = 60 * 10**9
"""Nanoseconds since a memory file that a test wrote was changed."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call of memdeck gave back: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """Return stdout as the one JSON document that it is."""
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """Return the code of the error that was printed, in JSON or as a line on stderr; "" where there was none."""
        if self.out.lstrip().startswith("{"):
            found = json.loads(self.out).get("error")
            if found:
                return str(found["code"])
        told = [line for line in self.err.splitlines() if line.startswith("memdeck: ")]
        return told[-1].split(": ")[1] if told else ""


@dataclass
class Place:
    """A folder `work` with an own home; calling it runs memdeck there."""

    top: Path
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the folders."""
        for folder in (self.work, self.home):
            folder.mkdir(exist_ok=True)

    @property
    def work(self) -> Path:
        """The folder in which memdeck runs."""
        return self.top / "work"

    @property
    def home(self) -> Path:
        """The home folder of the person."""
        return self.top / "home"

    @property
    def environment(self) -> dict[str, str]:
        """The variables of the person's shell: none of a client of agents, none of this machine's locale or zone."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(self.top / "state"),
            "XDG_CONFIG_HOME": str(self.top / "config"),
            "PYTHONPATH": str(HOUSE),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            **self.variables,
        }

    def __call__(
        self,
        *words: str,
        actor: str = "",
        now: str | None = NOW,
        given: str | bytes = b"",
        process: bool = False,
        environ: dict[str, str] | None = None,
        folder: Path | None = None,
    ) -> Answer:
        """Run memdeck with these words at the moment `now`; `process` where a start of its own is what is tested.

        The clock of the machine stands there, because an agent may not say `--now`. A hook reads its own.
        """
        hook = words[:1] == ("hook",)
        options = [*(["--now", now] if now and hook else []), *(["--actor", actor] if actor else [])]
        done = commands.memdeck(
            [*words[:1], *options, *words[1:]] if words and words[0] in ("hook", "mcp", "api") else [*options, *words],
            clock=None if hook else now,
            cwd=folder or self.work,
            environ={**self.environment, **(environ or {})},
            given=given.encode() if isinstance(given, str) else given,
            process=process,
        )
        return Answer(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))

    def json(self, *words: str, **options: Any) -> Any:
        """Run memdeck with `-o json`, which must succeed; return the document that it prints."""
        answer = self(*words, "-o", "json", **options)
        assert answer.code == 0, (words, answer)
        return answer.data

    def at_terminal(
        self,
        *words: str,
        keys: str = "",
        after: str = "",
        now: str | None = NOW,
        environ: dict[str, str] | None = None,
    ) -> Answer:
        """Run memdeck as a person at a terminal; all that the terminal showed is `out`.

        The person types `keys` once nothing more is shown, and `after` was.
        """
        arguments = [sys.executable, "-m", "app.main", *(["--now", now] if now else []), *words]
        terminal, slave = pty.openpty()
        person = subprocess.Popen(
            arguments,
            cwd=self.work,
            env={**self.environment, "TERM": "xterm-256color", **(environ or {})},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        shown, typed, end = b"", keys.encode(), time.monotonic() + PATIENCE
        try:
            while time.monotonic() < end:
                if select.select([terminal], [], [], 0.05)[0]:
                    try:
                        part = os.read(terminal, 65536)
                    except OSError:  # Linux says so when the other end is closed
                        break
                    if not part:
                        break
                    shown += part
                elif typed and shown and after.encode() in shown:
                    # It shows nothing more, so it waits for the person.
                    typed = typed[os.write(terminal, typed) :]
            else:
                person.kill()
        finally:
            os.close(terminal)
        code = person.wait(PATIENCE)
        return Answer(code, shown.decode(errors="replace").replace("\r\n", "\n"), "")

    @contextmanager
    def api(self, *options: str, environ: dict[str, str] | None = None) -> Iterator[Api]:
        """Run `memdeck api` on a free port until the end of the block."""
        process = forking.start(
            ["api", "-o", "json", "--port", "0", *options],
            cwd=self.work,
            env={**self.environment, **(environ or {})},
            loaded=forking.REQUESTS,
        )
        try:
            told = json.loads(line_of(process.stdout))
            assert "address" in told, told
            yield Api(told["address"], told["token"])
        finally:
            process.terminate()
            _close(process)

    def mcp(self, *calls: tuple[str, dict[str, Any]], actor: str = "", now: str = "") -> list[Any]:
        """Call tools of `memdeck mcp` one after another; return the structured content of each answer."""
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        requests: list[dict[str, Any]] = [{"id": 0, "method": "initialize", "params": hello}]
        requests += [{"method": "notifications/initialized"}]
        requests += [
            {"id": number, "method": "tools/call", "params": {"name": name, "arguments": given}}
            for number, (name, given) in enumerate(calls, 1)
        ]
        found = []
        process = forking.start(
            ["mcp", *(["--actor", actor] if actor else []), *(["--now", now] if now else [])],
            cwd=self.work,
            env=self.environment,
            loaded=forking.TOOLS,
        )
        try:
            for request in requests:
                process.stdin.write(json.dumps({"jsonrpc": "2.0", **request}).encode() + b"\n")
                process.stdin.flush()
                if "id" in request:
                    found.append(json.loads(line_of(process.stdout))["result"])
        finally:
            _close(process)
        return [one["structuredContent"] for one in found[1:]]

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file beneath the folder, with the folders above it; return its path.

        A memory file was written some time ago: one that just became shorter might be half written, and a change would
        wait for the rest of it.
        """
        file = self.work / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        if path.startswith(".aiter/"):
            past = time.time_ns() - LONG_AGO
            os.utime(file, ns=(past, past))
        return file

    def read(self, path: str) -> bytes:
        """Return the bytes of a file beneath the folder."""
        return (self.work / path).read_bytes()


def _close(process: forking.Forked) -> None:
    """Close the streams of a process and wait for its end."""
    process.stdin.close()
    process.wait(PATIENCE)
    process.stdout.close()
    process.stderr.close()


class Api:
    """A running `memdeck api` on a port of this machine; `ask` sends a request to it."""

    def __init__(self, address: str, token: str) -> None:
        """Keep where it is, as it said at its start."""
        self.host = address.removeprefix("http://")
        self.token = token

    def ask(self, method: str, path: str, values: dict[str, Any] | None = None, actor: str = "") -> tuple[int, Any]:
        """Return the status and the JSON document of an answer; the values go into the query of GET, else the body."""
        headers = {"Authorization": f"Bearer {self.token}", **({"Memdeck-Actor": actor} if actor else {})}
        body = None
        if method == "GET" and values:
            path += "?" + urlencode(values, doseq=True)
        elif values is not None:
            body, headers["Content-Type"] = json.dumps(values), "application/json"
        end = time.monotonic() + PATIENCE
        while True:
            connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
            try:
                connection.request(method, path, body, headers)
                found = connection.getresponse()
                data = found.read()
            finally:
                connection.close()
            # A quick machine asks more often than the API allows.
            if found.status != 429 or time.monotonic() > end:
                break
        return found.status, json.loads(data) if found.getheader("content-type") == "application/json" else data
