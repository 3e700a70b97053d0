"""The result of one check of a file or rule of the project state, and the plan of a repair."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from memory.base.problems import Problem
from memory.state.files.model import Json

Level = Literal["pass", "warn", "fail"]
SHOWN = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: `code` such as `state:bundle-hash`, `line` from 1 (0: the file as a whole)."""

    level: Level
    code: str
    message: str
    file: str
    line: int = 0

    def json(self) -> Json:
        """Return it for programs."""
        return {
            "code": self.code,
            "status": self.level,
            "message": self.message,
            "file": self.file,
            "line": self.line or None,
        }

    def problem(self) -> Problem:
        """Return it as a problem for `check`, a note where it only waits for a person; not for a check that passed."""
        waits = self.code.startswith(("validation:", "recall:backlog"))
        level: Literal["error", "warning", "note"] = "error" if self.level == "fail" else "note" if waits else "warning"
        return Problem(level, self.file, self.line, f"state.{self.code.replace(':', '.')}", self.message)


class Mend(NamedTuple):
    """One step of a repair: the file, the action on it, and the reason."""

    file: str
    action: str
    why: str


@dataclass(slots=True)
class RepairPlan:
    """A repair: its steps, the new bytes of files (None: the file is removed), and the parts kept aside, by name.

    `lost` are the ids of events that cannot be read in the parts kept aside; `left` what no step fixes.
    """

    steps: list[Mend] = field(default_factory=list)
    files: dict[str, bytes | None] = field(default_factory=dict)
    aside: list[tuple[str, bytes]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    left: list[Finding] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Identifies the plan: the hash of what it would write."""
        told = hashlib.sha256(repr(self.lost).encode())
        for path, data in sorted(self.files.items()):
            told.update(repr((path, None if data is None else hashlib.sha256(data).hexdigest())).encode())
        return told.hexdigest()

    def json(self) -> Json:
        """Return it for programs."""
        return {"steps": [one._asdict() for one in self.steps], "left": [one.json() for one in self.left]}

    def keep_aside(self, path: str, data: bytes) -> None:
        """Keep the bytes of a damaged file aside, under its own name."""
        if data:
            self.aside.append((f"damaged/{path.replace('/', '+')}", data))

    def write(self, path: str, data: bytes | None, action: str, why: str, *, damaged: bytes = b"") -> None:
        """Plan the bytes of a file (None: it is removed), and keep its `damaged` ones aside."""
        self.keep_aside(path, damaged)
        self.files[path] = data
        self.steps.append(Mend(path, action, why))
