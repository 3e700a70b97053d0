"""The errors of memdeck: every one has a stable, dotted code and says what to do.

The functions at the end turn errors of the operating system into one of them.

MemdeckError                 exit 1   something could not be done
├── UsageError               exit 2   wrong usage
│   └── ConfigError          exit 2   a setting in a file is wrong; names file and line
├── NotFoundError            exit 1   a ref or a name that matches nothing
├── AmbiguousError           exit 1   a ref or a name that matches several entries
├── RefusedError             exit 1   a file that must not be read or written, and why
├── BlockedError             exit 3   needs a person's approval
├── ConflictError            exit 4   another author changed the same thing
└── BusyError                exit 75  locked by another process; try again
"""

from __future__ import annotations

import errno
import os
import stat as st
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Any, ClassVar


class MemdeckError(Exception):
    """A failure of a verb, described in one line that the user can act on.

    `code` is dotted and stable (`task.not_found`), `message` says what happened, `hint` what to do about it, `details`
    is JSON-able data for programs (candidates, file, line).
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, code: str, message: str, hint: str = "", **details: Any) -> None:
        """Store the code, the message, the hint and the data."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.details = details

    def __str__(self) -> str:
        """Return `CODE: what happened; what to do`."""
        return f"{self.code}: {self.message}" + (f"; {self.hint}" if self.hint else "")

    def document(self) -> dict[str, Any]:
        """Return the error for programs: `{"error": {"code", "message", "details"}}`, with the hint in the details."""
        details = dict(self.details)
        if self.hint:
            details.setdefault("hint", self.hint)
        return {"error": {"code": self.code, "message": self.message, "details": details}}


class UsageError(MemdeckError):
    """The call itself is wrong: an unknown key, a value of the wrong form, no workspace."""

    exit_code = 2


class ConfigError(UsageError):
    """A setting in a file is wrong; `details` holds `file` and `line` (from 1)."""


class NotFoundError(MemdeckError):
    """A ref, title or name that matches no entry."""


class EntryChoice(NamedTuple):
    """One of several entries, as shown to the user for a choice.

    `ref` is the shortest that names no other, `place` is file and line (from 1), `title` is as in the file.
    """

    ref: str
    place: str
    title: str


class AmbiguousError(MemdeckError):
    """A ref or title that matches several entries; `details["candidates"]` lists their refs.

    `choices` describes the same entries to the user, where each can be named.
    """

    def __init__(self, code: str, message: str, hint: str = "", *, choices: Sequence[EntryChoice] = (), **details: Any):
        """Store the choices and what every error has."""
        super().__init__(code, message, hint, **details)
        self.choices = tuple(choices)


class RefusedError(MemdeckError):
    """A file that memdeck does not read or write: a link that leads out of the workspace, a FIFO, a hard link."""


class BlockedError(MemdeckError):
    """An action that runs only after a person approved it."""

    exit_code = 3
    grant: Callable[[datetime], object] | None = None
    """What gives the approval at a time, where one question to the user at a terminal is enough."""


class ConflictError(MemdeckError):
    """Another author changed the entry or file since it was read."""

    exit_code = 4


class BusyError(MemdeckError):
    """The lock is held by another process; `details` names the holder."""

    exit_code = 75


# -- from errors of the operating system ----------------------------------------------------------------------------

_REFUSALS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_LINKS = frozenset({errno.ELOOP, errno.EMLINK})


def read_failed(error: OSError, path: str) -> MemdeckError:
    """Return the error for a failed read of `path` (relative to the workspace)."""
    if error.errno in _REFUSALS:
        return RefusedError(
            "file.unreadable", f"{path} cannot be read ({_name(error)})", "check its permissions", file=path
        )
    if error.errno == errno.ENOTDIR:
        return RefusedError("file.not_folder", f"a part of {path} is a file, not a folder", file=path)
    if error.errno in _LINKS:
        return RefusedError(
            "file.link_loop",
            f"{path} is a link to itself, or one of too many links ({_name(error)})",
            "replace it with the file",
            file=path,
        )
    return _io(error, path, "read")


def write_failed(error: OSError, path: str) -> MemdeckError:
    """Return the error for a failed change of `path` (relative to the workspace)."""
    if error.errno in _REFUSALS:
        return RefusedError(
            "file.read_only",
            f"{path} cannot be written ({_name(error)})",
            "check the permissions of the file and its folder",
            file=path,
            errno=_name(error),
        )
    if error.errno in _LINKS:
        return RefusedError("file.link", f"{path} is a symbolic link or behind one", "edit its target", file=path)
    if error.errno == errno.ENOTDIR:
        return RefusedError("file.not_folder", f"a part of {path} is not a folder", file=path)
    if error.errno == errno.EXDEV:
        return RefusedError(
            "file.other_device",
            f"{path} is on another file system than memdeck's own folder ({_name(error)})",
            "mount the system's folder as a whole: memdeck replaces files in one step, within one file system",
            file=path,
            errno=_name(error),
        )
    return _io(error, path, "write")


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise an OSError of the block as `read_failed` has it for a path."""
    try:
        yield
    except OSError as error:
        raise read_failed(error, os.fspath(path)) from error


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise an OSError of the block as `write_failed` has it for a path."""
    try:
        yield
    except OSError as error:
        raise write_failed(error, os.fspath(path)) from error


def link_outside(path: str) -> RefusedError:
    """Return the error for a link that leads out of the workspace."""
    return RefusedError(
        "file.link_outside",
        f"{path} is a link that leads out of the workspace",
        "replace it with a copy, or open the workspace it leads to",
        file=path,
    )


def not_regular(path: str, mode: int) -> RefusedError:
    """Return the error for a path that is not a regular file, naming what it is instead."""
    kind = file_kind(mode)
    return RefusedError("file.not_regular", f"{path} is {kind}, not a regular file", file=path, kind=kind)


def file_too_large(path: str, size: int, most: int) -> RefusedError:
    """Return the error for a file that would fill the memory."""
    return RefusedError(
        "file.too_large",
        f"{path} has {size:,} bytes; the limit is {most:,}",
        "move old entries into files of archive/, or empty it",
        file=path,
        size=size,
    )


def made_anew(error: MemdeckError) -> MemdeckError:
    """Return a refusal of one of memdeck's own files or folders with the hint to remove it: nothing is lost with it."""
    return type(error)(error.code, error.message, "remove it: memdeck recreates it", **error.details)


def file_kind(mode: int) -> str:
    """Return the kind of file of a stat mode, with its article."""
    names = {
        st.S_IFDIR: "a folder",
        st.S_IFIFO: "a FIFO",
        st.S_IFSOCK: "a socket",
        st.S_IFLNK: "a symbolic link",
        st.S_IFCHR: "a device",
        st.S_IFBLK: "a device",
        st.S_IFREG: "a regular file",
    }
    return names.get(st.S_IFMT(mode), "something else")


def no_room(error: MemdeckError) -> bool:
    """Return whether an error says that a disk is full or read-only: writing elsewhere may still work."""
    return error.details.get("errno") in ("ENOSPC", "EDQUOT", "EROFS")


def in_words(error: BaseException) -> str:
    """Return any error as one sentence for people."""
    text = str(error)
    return text if isinstance(error, MemdeckError) else type(error).__name__ + (f": {text}" if text else "")


def _name(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, "unknown error")


def _io(error: OSError, path: str, verb: str) -> MemdeckError:
    text = os.strerror(error.errno) if error.errno else str(error)
    return MemdeckError("file.io", f"cannot {verb} {path}: {text} ({_name(error)})", file=path, errno=_name(error))
