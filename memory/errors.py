"""The errors of memdeck: every one has a stable, dotted code and says what to do.

MemdeckError                 exit 1   something could not be done
├── UsageError               exit 2   wrong usage
│   └── ConfigError          exit 2   a setting in a file is wrong; names file and line
├── NotFoundError            exit 1   a ref or a name that fits nothing
├── AmbiguousError           exit 1   a ref or a name that fits several entries
├── RefusedError             exit 1   a file that must not be read or written, and why
├── BlockedError             exit 3   needs a person's approval
├── ConflictError            exit 4   the same thing was changed by somebody else
└── BusyError                exit 75  locked by another process; try again
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .named_tuple import NamedTuple


class MemdeckError(Exception):
    """What a verb could not do, in one line a person can act on.

    `code` is dotted and stable (`task.not_found`), `message` says what happened, `hint` what to do about it,
    `details` is JSON-able data for programs (candidates, file, line).
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, code: str, message: str, hint: str = "", **details: Any) -> None:
        """Keep the code, the sentence, the advice and the data."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.details = details

    def __str__(self) -> str:
        """Return `CODE: what happened; what to do`."""
        return f"{self.code}: {self.message}" + (f"; {self.hint}" if self.hint else "")


class UsageError(MemdeckError):
    """The call itself is wrong: an unknown key, a value of the wrong form, no workspace."""

    exit_code = 2


class ConfigError(UsageError):
    """A setting in a file is wrong; `details` holds `file` and `line` (from 1)."""


class NotFoundError(MemdeckError):
    """A ref, title or name that fits no entry."""


class EntryChoice(NamedTuple):
    """One of several entries as people choose it.

    `ref` is as short as it still names no other, `place` is file and line (from 1), `title` is as in the file.
    """

    ref: str
    place: str
    title: str


class AmbiguousError(MemdeckError):
    """A ref or title that fits several entries; `details["candidates"]` lists their refs.

    `choices` are the same for people, where each can be named.
    """

    def __init__(self, code: str, message: str, hint: str = "", *, choices: Sequence[EntryChoice] = (), **details: Any):
        """Keep the choices beside what every error has."""
        super().__init__(code, message, hint, **details)
        self.choices = tuple(choices)


class RefusedError(MemdeckError):
    """A file that memdeck does not read or write as it is: a link that leads out, a FIFO, a hard link."""


class BlockedError(MemdeckError):
    """Something that runs only after a person approved it."""

    exit_code = 3


class ConflictError(MemdeckError):
    """The entry or file was changed by somebody else since it was read."""

    exit_code = 4


class BusyError(MemdeckError):
    """The lock is held by another process; `details` names the holder."""

    exit_code = 75
