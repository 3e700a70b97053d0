"""Asks a player under `strace` to play cases, and has the judge look at its trace."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .case import Case
from .judge import CALLS, HOUSE, Judge, by_verb, read_calls
from .player import PROGRAMS, VERBS

PATIENCE = 240.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a case did: why it cannot be built here, everything that is wrong, and what verbs printed."""

    skip: str
    wrong: list[str]
    printed: dict[str, str]
    exits: dict[str, int]
    calls: int


class Client:
    """A player and the `strace` that looks at it; `with` ends both."""

    def __init__(self, strace: str) -> None:
        """Start them; it takes a few seconds to import everything."""
        self._folder = tempfile.TemporaryDirectory(prefix="memdeck-hostile-player-")
        folder = Path(self._folder.name)
        self._trace = folder / "trace"
        self.script = str(folder / "memdeck")
        environment = os.environ | {"PYTHONPATH": str(HOUSE), "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"}
        watch = [strace, "-f", "--seccomp-bpf", "-qq", "-y", "-s", "20000", "-o", str(self._trace)]
        watch += ["-e", f"trace={','.join(CALLS)}", "-e", "signal=none"]
        self._process = subprocess.Popen(
            [*watch, sys.executable, "-m", "tests.hostile.player", str(folder)],
            cwd=HOUSE,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._seen = 0
        self._hosts: set[str] = set()

    def __enter__(self) -> Client:
        """Hand it out."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the player: it stops when its input does, and strace with it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(PATIENCE)
        self._process.stdout.close()
        self._folder.cleanup()

    def play(self, case: Case, *, screen: bool = True) -> Verdict:
        """Play one case and judge it; TimeoutError where the player does not answer."""
        report = self._ask(f"{case.name} screen" if screen else case.name)
        wrong = list(report["violations"])
        judge = Judge(report["allowed"], self.script)
        seen: list[str] = []
        calls = 0
        for verb, found in by_verb(read_calls(self._lines()), self._hosts):
            seen.append(verb)
            calls += len(found)
            wrong += judge.wrong(verb, found)
        wanted = [*VERBS, *(["screen"] if screen else []), *(PROGRAMS if case.program else ())]
        if not report["skip"] and seen != wanted:
            wrong.append(f"the trace holds {seen}, not {wanted}")
        return Verdict(report["skip"], wrong, report["printed"], report["exits"], calls)

    def _ask(self, name: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(name.encode() + b"\n")
        self._process.stdin.flush()
        answer = b""
        until = time.monotonic() + PATIENCE
        while not answer.endswith(b"\n"):
            ready, _, _ = select.select([self._process.stdout], [], [], max(0, until - time.monotonic()))
            data = os.read(self._process.stdout.fileno(), 1 << 20) if ready else b""
            if not data:
                raise TimeoutError(f"the player does not answer to {name}")
            answer += data
        found: dict[str, Any] = json.loads(answer)
        return found

    def _lines(self) -> list[str]:
        """Return what was traced since the last case; strace writes a call before the process goes on."""
        with self._trace.open("rb") as stream:
            stream.seek(self._seen)
            data = stream.read()
        self._seen += len(data)
        return data.decode("latin-1").splitlines()
