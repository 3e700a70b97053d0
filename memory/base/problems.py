"""What is wrong in a file, said once and in one shape for `check`, Brief and the status line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning", "note"]


_BYTE = re.compile(r"(?<!\\)((?:\\\\)*)\\udc([89a-f][0-9a-f])")
"""A byte as `repr` writes it, behind no backslash that stands for itself."""


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

    def __post_init__(self) -> None:
        """Write bytes that are no UTF-8 in a quoted text as the application shows them: `\\xe9`, not `\\udce9`."""
        object.__setattr__(self, "message", _BYTE.sub(r"\1\\x\2", self.message))
