"""The Model Context Protocol: start, first call, warm search and memory, against an empty server of the same SDK."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.measure import Case, Unavailable
from bench.places import Places, memdeck

EMPTY = """
import anyio, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def tools(ctx, params):
    return types.ListToolsResult(tools=[types.Tool(name="brief", input_schema={"type": "object"})])

async def call(ctx, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text="x")])

async def main():
    server = Server("empty", version="1", on_list_tools=tools, on_call_tool=call)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

anyio.run(main)
"""
_HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
_SETTLE = 1.0
"""Seconds in which a server that is asked nothing comes to rest before its memory is looked at."""


class Client:
    """One server and what is asked of it."""

    def __init__(
        self, places: Places, command: list[str | Path], cwd: Path | None = None, *, own_path: bool = True
    ) -> None:
        """Start it; `own_path` off keeps memdeck's modules from a program of another package."""
        environ = places.environment()
        if not own_path:
            del environ["PYTHONPATH"]
        self.begun = time.perf_counter()
        self._number = 0
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
            cwd=cwd or places.folder,
        )
        self.answer: dict[str, Any] = {}

    def ask(self, method: str, **params: Any) -> float:
        """Ask and return how many seconds the answer took; Unavailable where there is none."""
        self._number += 1
        begun = time.perf_counter()
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            if not line.startswith(b"{"):
                continue
            self.answer = json.loads(line)
            if self.answer.get("id") == self._number:
                break
        took = time.perf_counter() - begun
        if not line or "result" not in self.answer:
            raise Unavailable(f"no answer to {method}: {line[:80]!r}")
        return took

    def hello(self) -> float:
        """Do the handshake; return the seconds from the start of the process on."""
        self.ask("initialize", **_HELLO)
        took = time.perf_counter() - self.begun
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return took

    def call(self, tool: str, **arguments: Any) -> float:
        """Call a tool; return the seconds."""
        return self.ask("tools/call", name=tool, arguments=arguments)

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def resident(self) -> float:
        """Return the resident memory in MiB; Unavailable where the system does not tell."""
        try:
            text = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError as error:
            raise Unavailable("there is no /proc") from error
        return next(int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("VmRSS"))

    def close(self) -> float:
        """Close the input and return the seconds until the process is gone."""
        begun = time.perf_counter()
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(60)
        took = time.perf_counter() - begun
        self.process.stdout.close()
        return took


def mcp_cases(places: Places, size: str) -> Iterator[Case]:
    """Yield the start, calls, and memory, each beside an empty server."""
    root = places.workspace(size)
    empty: list[str | Path] = [sys.executable, "-c", EMPTY]
    ours: list[str | Path] = [memdeck(), "mcp", "-w", root]

    def start(command: list[str | Path]) -> dict[str, float]:
        client = Client(places, command)
        try:
            found = {"initialize": client.hello(), "tools/list": 0.0}
            client.ask("tools/list")
            found["tools/list"] = time.perf_counter() - client.begun
            client.call("brief")
            found["first call"] = time.perf_counter() - client.begun
            found["end"] = client.close()
            return found
        finally:
            client.process.kill()

    def calls(command: list[str | Path], tools: dict[str, dict[str, Any]]) -> dict[str, float]:
        client = Client(places, command)
        try:
            client.hello()
            found: dict[str, float] = {}
            for tool, arguments in tools.items():
                found[f"{tool}, first"] = client.call(tool, **arguments)
                found[f"{tool}, warm"] = min(client.call(tool, **arguments) for _ in range(10))
            time.sleep(_SETTLE)
            found["rss"] = client.resident()
            client.close()
            return found
        finally:
            client.process.kill()

    floor = "an empty server"
    yield Case(floor, lambda: start(empty))
    yield Case("memdeck mcp", lambda: start(ours), None, floor)

    quiet = "an empty server's call"
    yield Case(quiet, lambda: calls(empty, {"brief": {}}))
    asked = {
        "brief": {},
        "search": {"query": "redis cache"},
        "read": {"kind": "tasks"},
    }
    yield Case("memdeck", lambda: calls(ours, asked), None, quiet)
