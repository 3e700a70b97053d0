"""What a look at one file or promise of the project state gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memory.base.problems import Problem
from memory.state.files.model import Json

Level = Literal["pass", "warn", "fail"]
SHOWN = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: `code` such as `state:bundle-hash`, `line` from 1 (0: the file as a whole)."""

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
        """Return it as the problem that `check` lists, a note where it only waits for somebody; what passes is none."""
        waits = self.code.startswith(("validation:", "recall:backlog"))
        level: Literal["error", "warning", "note"] = "error" if self.level == "fail" else "note" if waits else "warning"
        return Problem(level, self.file, self.line, f"state.{self.code.replace(':', '.')}", self.message)
