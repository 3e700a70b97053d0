"""What is wrong in a file, said once and in one shape for `check`, Brief and the status line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding: `file` relative to the memory folder, `line` from 1 (0: the file as a whole).

    `error` means that something does not parse or loses meaning, `warning` that links or forms are off,
    `note` that something optional is missing. Only errors make `check` exit with 4.
    """

    level: Level
    file: str
    line: int
    code: str
    message: str

    @property
    def place(self) -> str:
        """The file and the line, or the file alone where it is about the whole of it."""
        return f"{self.file}:{self.line}" if self.line else self.file
