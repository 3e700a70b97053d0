"""Tries a configured server: starts it as a client does, and calls one of its tools."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any

from memory.base.programs import find_program
from memory.base.values import read_object

_SECONDS = 30.0
_OPENING = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "memdeck-connect", "version": "0"},
}
_MESSAGES: tuple[dict[str, Any], ...] = (
    {"id": 1, "method": "initialize", "params": _OPENING},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/call", "params": {"name": "brief", "arguments": {}}},
)


def runnable(name: str, path: str) -> str | None:
    """Return the program of a name, which may have a slash; None if it cannot be run."""
    found = find_program(name, path)
    return found if found is not None and os.access(found, os.X_OK) else None


def try_server(words: Sequence[str], folder: Path, path: str) -> str:
    """Run a server in a folder and call its tool `brief`; return why that failed, empty if it worked."""
    program = runnable(words[0], path)
    if program is None:
        return f"{words[0]} cannot be run"
    pipe = subprocess.PIPE
    with subprocess.Popen([program, *words[1:]], cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        clock = Timer(_SECONDS, process.kill)
        clock.start()
        answer: dict[str, Any] = {}
        with suppress(OSError):
            # Without a buffer, which a server that ended would leave full.
            os.write(process.stdin.fileno(), b"".join(_line(message) for message in _MESSAGES))
            answer = next((one for one in map(read_object, process.stdout) if one.get("id") == 2), {})
        process.stdin.close()
        said = process.stderr.read().decode(errors="replace").strip().splitlines()
        clock.cancel()
    result = answer.get("result")
    if isinstance(result, dict) and not result.get("isError"):
        return ""
    if isinstance(result, dict):
        failed = result.get("structuredContent", {}).get("error", {})
        return f"{failed.get('code', 'internal')}: {failed.get('message', '')}"
    return said[-1] if said else "the server did not answer"


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
