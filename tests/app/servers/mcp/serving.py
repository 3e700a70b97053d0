"""`memdeck mcp` as a process: started in a workspace, spoken to line by line, ended, looked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests import forking
from tests.commands import memdeck as run_memdeck
from tests.patience import PATIENCE, line_of

COMMAND = (sys.executable, "-m", "app.main", "mcp")
VERSION = "2025-11-25"
Json = dict[str, Any]


def environment(folder: Path) -> dict[str, str]:
    """Return an environment whose home and records lie in a folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMDECK", "XDG_"))}
    return kept | {"HOME": str(folder / "home"), "XDG_STATE_HOME": str(folder / "records")}


class Server:
    """One server and the client's ends of its pipes."""

    process: subprocess.Popen[bytes] | forking.Forked

    def __init__(self, root: Path, *options: str, start: Sequence[str] = ()) -> None:
        """Start it in a workspace, its records lie beside that; by a command, or forked where not all is asked for."""
        environ = environment(root.parent)
        clock = None
        if "--now" in options:
            # An agent may not say it: the clock of the machine stands.
            at = options.index("--now")
            clock, options = options[at + 1], (*options[:at], *options[at + 2 :])
        words = ("-w", str(root), *options)
        if start:
            self.process = subprocess.Popen(
                [*start, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ
            )
        else:
            self.process = forking.start(["mcp", *words], env=environ, loaded=forking.TOOLS, clock=clock)
        self._number = 0

    def write(self, data: bytes) -> None:
        """Write bytes to it."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Json) -> None:
        """Send a message."""
        self.write(json.dumps(message).encode() + b"\n")

    def answer(self) -> Json:
        """Return the next message that it writes."""
        assert self.process.stdout is not None
        line = line_of(self.process.stdout)
        assert line, f"the server ended: {self.ended()}"
        found: Json = json.loads(line)
        return found

    def ask(self, method: str, **params: Any) -> Json:
        """Send a request and return its answer; what comes in between is left out."""
        self._number += 1
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while True:
            found = self.answer()
            if found.get("id") == self._number and "method" not in found:
                return found

    def hello(self) -> Json:
        """Do the handshake and return the server's part of it."""
        client = {"name": "Test Client", "version": "1"}
        found = self.ask("initialize", protocolVersion=VERSION, capabilities={}, clientInfo=client)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        result: Json = found["result"]
        return result

    def call(self, tool: str, **arguments: Any) -> Json:
        """Call a tool and return its structured answer."""
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        found: Json = result["structuredContent"]
        assert result.get("isError", False) == ("error" in found)
        return found

    def close(self) -> None:
        """Close its input."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def ended(self) -> int:
        """Wait for its end and return the exit code."""
        return self.process.wait(PATIENCE)


@contextmanager
def serving(root: Path, *options: str, start: Sequence[str] = ()) -> Iterator[Server]:
    """Run a server until the end of the block."""
    server = Server(root, *options, start=start)
    try:
        yield server
        if server.process.poll() is None:
            server.close()
            assert server.ended() == 0
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait(PATIENCE)
        for stream in (server.process.stdin, server.process.stdout, server.process.stderr):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass


def memdeck(root: Path, *words: str) -> Json:
    """Run a verb as a person and return its JSON; to connect asks a server, which is a process of its own."""
    done = run_memdeck(
        [*words, "-w", str(root), "-o", "json"],
        cwd=root,
        environ=environment(root.parent),
        process=words[0] == "connect",
        person=words[0] == "review",
    )
    assert done.returncode == 0, done.stderr
    found: Json = json.loads(done.stdout)
    return found
