"""Findings about files, in one form for `check`, Brief and the status line.

One is the same in every system: a copy of a file that a syncing program, an editor or git left beside it, which
nothing reads.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

Level = Literal["error", "warning", "note"]


_BYTE = re.compile(r"(?<!\\)((?:\\\\)*)\\udc([89a-f][0-9a-f])")
"""A byte as `repr` writes it, not after an escaped backslash."""


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
        return super().__new__(cls, level, file, line, code, message)

    @property
    def place(self) -> str:
        """The file and the line, or the file alone for a finding about the whole file."""
        return f"{self.file}:{self.line}" if self.line else self.file


# Dropbox, Nextcloud, a second download; iCloud and file managers; Syncthing; Resilio; OneDrive's name of the machine;
# Synology; the sides of a merge.
_INSIDE = re.compile(
    r"(?P<stem>.+?)(?: ?\([^)]*(?:conflict|copy|conf|[0-9])[^)]*\)+| copy(?: [0-9]+)?| [0-9]{1,2}"
    r"|\.sync-conflict-[0-9A-Za-z-]+|[._ -]conflict[^/]*|-[A-Z][A-Za-z0-9' -]*|_[Cc]onf\([0-9]+\)"
    r"|_(?:BASE|LOCAL|REMOTE|BACKUP)_[0-9]+)(?P<suffix>\.[A-Za-z]{1,8})"
)
# Editors and patch; the sides of a merge in git and Subversion.
_BEHIND = re.compile(
    r"(?P<name>.+?\.[A-Za-z]{1,8})"
    r"(?:~|\.(?:orig|rej|bak|mine|theirs|ours|r[0-9]+)|\.(?:BASE|LOCAL|REMOTE|BACKUP)\.[0-9]+\.[A-Za-z]{1,8})"
)


def original_of(name: str, known: Callable[[str], object]) -> str | None:
    """Return the name of the file that a file is a copy of, by its name; None where no known file is such."""
    for found in (_BEHIND.fullmatch(name), _INSIDE.fullmatch(name)):
        if found is not None:
            parts = found.groupdict()
            original = parts.get("name") or f"{parts['stem']}{parts['suffix']}"
            if known(original):
                return original
    return None


def copy_problem(name: str, original: str) -> Problem:
    """Return the warning about a copy of a file, which nothing reads."""
    message = f"a copy of {original} that another program left; nothing reads it: move what you need, then delete it"
    return Problem("warning", name, 0, "file.conflicted_copy", message)


def copies_in(folder: Path, shown: str) -> Iterator[Problem]:
    """Yield the warnings about the copies of files in a folder; `shown` is its path in problems."""
    names: list[str] = []
    with suppress(OSError):
        names = sorted(os.listdir(folder))
    known = set(names)
    for name in names:
        if (original := original_of(name, known.__contains__)) is not None:
            yield copy_problem(f"{shown}/{name}", f"{shown}/{original}")
