"""Findings about files, in one form for `check`, Brief and the status line."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Level = Literal["error", "warning", "note"]


_BYTE = re.compile(r"(?<!\\)((?:\\\\)*)\\udc([89a-f][0-9a-f])")
"""A byte as `repr` writes it, not after an escaped backslash."""


_MAKE = tuple.__new__


class _Finding(NamedTuple):
    level: Level
    file: str
    line: int
    code: str
    message: str


class Problem(_Finding):
    """One finding: `file` relative to the memory folder, `line` from 1 (0: the file as a whole).

    `error` means that something does not parse or loses meaning, `warning` that links or forms are off,
    `note` that something optional is missing. Only errors make `check` exit with 4.
    """

    __slots__ = ()

    def __new__(cls, level: Level, file: str, line: int, code: str, message: str) -> Problem:
        """Show bytes of a quoted text that are not UTF-8 as the application does: `\\xe9`, not `\\udce9`."""
        if "\\udc" in message:
            message = _BYTE.sub(r"\1\\x\2", message)
        # A file may have a hundred thousand findings: the tuple is made directly, without calls of the base classes.
        return _MAKE(cls, (level, file, line, code, message))

    @property
    def place(self) -> str:
        """The file and the line, or the file alone for a finding about the whole file."""
        return f"{self.file}:{self.line}" if self.line else self.file
