"""Asks a player process to play cases."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from .case import Case

HOUSE = Path(__file__).parents[2]
PATIENCE = 150.0


@dataclass(frozen=True, slots=True)
class Report:
    """What a player saw: why the case cannot be built here, how each verb ended, and what must not be."""

    skip: str
    seen: list[dict[str, Any]]
    violations: list[str]


class Client:
    """A player process; `with` ends it."""

    def __init__(self) -> None:
        """Start it; it takes a second to import everything."""
        environment = os.environ | {"PYTHONPATH": str(HOUSE), "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.corpus.player"],
            cwd=HOUSE,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __enter__(self) -> Client:
        """Hand it out."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process: it stops when its input does."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(PATIENCE)
        self._process.stdout.close()

    def play(self, case: Case, *, whole: bool, screen: bool) -> Report:
        """Play one case; TimeoutError where the player itself does not answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = json.dumps({"case": case.name, "whole": whole, "screen": screen})
        self._process.stdin.write(request.encode() + b"\n")
        self._process.stdin.flush()
        answer = b""
        until = time.monotonic() + PATIENCE
        while not answer.endswith(b"\n"):
            ready, _, _ = select.select([self._process.stdout], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise TimeoutError(f"the player does not answer to {case.name}")
            data = os.read(self._process.stdout.fileno(), 1 << 20)
            if not data:
                raise EOFError(f"the player ended at {case.name}")
            answer += data
        return Report(**json.loads(answer))
