"""A folder in which memdeck is used from outside, and what it answers there."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import commands
from tests.patience import PATIENCE

HOUSE = Path(__file__).parents[2]
NOW = "2026-03-02T09:00:00Z"
"""The moment of every call that names no other: a Monday."""


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
        last = self.err.strip().splitlines()[-1:] or [""]
        return last[0].split(": ")[1] if last[0].startswith("memdeck: ") else ""


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
        """Run memdeck with these words; `process` where a start of its own is what is tested."""
        options = [*(["--now", now] if now else []), *(["--actor", actor] if actor else [])]
        done = commands.memdeck(
            [*words[:1], *options, *words[1:]] if words and words[0] in ("hook", "mcp", "api") else [*options, *words],
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
        self, *words: str, keys: str = "", after: str = "", now: str | None = NOW, environ: dict[str, str] | None = None
    ) -> Answer:
        """Run memdeck as a person at a terminal who types `keys` once `after` was shown; `out` is all that was."""
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

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file beneath the folder, with the folders above it; return its path."""
        file = self.work / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def read(self, path: str) -> bytes:
        """Return the bytes of a file beneath the folder."""
        return (self.work / path).read_bytes()
