"""Asks a player under `strace` to play cases, and has the judge look at its trace."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.players import PlayerProcess

from .case import Case
from .judge import CALLS, Judge, by_verb, read_calls
from .player import PROGRAMS, VERBS


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
        """Name them; it takes a few seconds to import everything."""
        self._folder = tempfile.TemporaryDirectory(prefix="memdeck-hostile-player-")
        folder = Path(self._folder.name)
        self._trace = folder / "trace"
        self.script = str(folder / "memdeck")
        watch = [strace, "-f", "--seccomp-bpf", "-qq", "-y", "-s", "20000", "-o", str(self._trace)]
        watch += ["-e", f"trace={','.join(CALLS)}", "-e", "signal=none"]
        self._player = PlayerProcess(*watch, sys.executable, "-m", "tests.hostile.player", str(folder))
        self._seen = 0
        self._hosts: set[str] = set()

    def __enter__(self) -> Client:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the player, and strace with it."""
        self._player.stop()
        self._folder.cleanup()

    def play(self, case: Case, *, screen: bool = True) -> Verdict:
        """Play one case and judge it; TimeoutError where the player does not answer."""
        report = self._ask(case, screen=screen)
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

    def _ask(self, case: Case, *, screen: bool) -> dict[str, Any]:
        try:
            return self._player.ask({"case": case.name, "screen": screen})
        except TimeoutError:
            # The next player begins a new trace.
            self._seen = 0
            self._hosts.clear()
            raise

    def _lines(self) -> list[str]:
        """Return what was traced since the last case; strace writes a call before the process goes on."""
        with self._trace.open("rb") as stream:
            stream.seek(self._seen)
            data = stream.read()
        self._seen += len(data)
        return data.decode("latin-1").splitlines()
