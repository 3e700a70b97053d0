"""Opening and reading files in a workspace safely; nothing in here changes a file.

A cloned repository may hold anything under the name of a memory file: a link to `~/.ssh`, a FIFO that never answers, a
device. So every part of a path is opened by itself, without following links, from the folder before it.
"""

from __future__ import annotations

import errno
import os
import stat as st
import time
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from memory.errors import (
    BusyError,
    MemdeckError,
    RefusedError,
    file_too_large,
    link_outside,
    not_regular,
    reading,
)

from .fsio import closing

_TOP = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FOLDER = _TOP | os.O_NOFOLLOW | getattr(os, "O_PATH", 0)
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_LINKS = 40
_TRIES = 8
_NO_NAMES = frozenset({"", ".", ".."})


class FileVersion(NamedTuple):
    """The stat values that change when a file's bytes do; equal versions mean equal bytes, once settled.

    `size` is in bytes, `mtime_ns` and `ctime_ns` in nanoseconds since 1970 UTC.
    """

    dev: int
    ino: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @property
    def exists(self) -> bool:
        """Whether there was a file."""
        return self.size >= 0

    @classmethod
    def of(cls, stat: os.stat_result) -> FileVersion:
        """Return the version of a stat result."""
        return cls(*_STAMPS(stat))

    def settled(self, at_ns: int) -> bool:
        """Return whether a write after `at_ns` (nanoseconds since 1970) would change this version.

        File systems stamp with the kernel's tick, up to 10 ms coarse: two writes within one tick can look the
        same. Only the ctime counts: no program can set it.
        """
        return at_ns - self.ctime_ns > 20_000_000


_STAMPS = attrgetter("st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")

ABSENT = FileVersion(0, 0, -1, 0, 0)
"""The version of a missing file."""

UNKNOWN = FileVersion(0, 0, -2, 0, 0)
"""The version of a file that cannot be read; it equals no version that was ever read."""


class Stored(NamedTuple):
    """The bytes of a file and the version they belong to; `b""` and `ABSENT` where there is no file."""

    data: bytes
    version: FileVersion

    @property
    def exists(self) -> bool:
        """Whether there was a file."""
        return self.version.size >= 0

    @property
    def base(self) -> bytes | None:
        """The `base` for `Transaction.write`: the bytes, or None where there is no file."""
        return self.data if self.version.size >= 0 else None


MISSING = Stored(b"", ABSENT)
"""The result of reading a missing file."""


# -- opening and reading ------------------------------------------------------------------------------------------

MOST_BYTES = 256 << 20
"""The largest file that is read: a planted sparse file of a terabyte must not fill the memory."""


def parts_of(path: str) -> list[str]:
    """Split a relative path with `/`; RefusedError `file.outside` unless it stays inside its starting folder."""
    parts = path.split("/")
    if "\0" in path or not _NO_NAMES.isdisjoint(parts):
        raise RefusedError("file.outside", f"{path!r} is not a path inside the workspace", file=path)
    return parts


def check_path(path: str, private: str) -> None:
    """Raise RefusedError `file.outside` for a path outside the workspace or in memdeck's own folder, `private`."""
    parts = parts_of(path)
    if parts[: private.count("/") + 1] == private.split("/"):
        raise RefusedError("file.outside", f"{path} is in memdeck's own folder", file=path)


def read(path: str, beneath: str | os.PathLike[str], shown: str = "") -> Stored:
    """Read the regular file `path` (relative, with `/`) in a folder; `MISSING` where there is none.

    Links are followed as long as they stay inside. RefusedError `file.link_outside`, `file.link_loop`,
    `file.not_regular`, `file.too_large`, `file.unreadable`; BusyError `file.unsettled` when the file keeps changing;
    `file.io` for the rest. Errors name the file as `shown` (default: `path`).
    """
    parts, name = parts_of(path), shown or path
    for attempt in range(_TRIES):
        with reading(name):
            try:
                with closing(_open(parts, os.fspath(beneath), name)) as fd:
                    stored = read_open(fd, name)
            except FileNotFoundError:
                return MISSING
        if stored is not None:
            return stored
        time.sleep(0.001 * 2**attempt)
    raise BusyError("file.unsettled", f"{name} changes faster than it can be read", "try again", file=name)


def read_start(path: str | os.PathLike[str], most: int, *, follow: bool = True) -> bytes:
    """Return the first `most` bytes of a regular file anywhere on the machine; without `follow` a link is an error.

    RefusedError `file.not_regular` for anything else under that path, OSError for a file that cannot be read.
    """
    fd = os.open(path, _FILE & ~os.O_NOFOLLOW if follow else _FILE)
    with os.fdopen(fd, "rb") as file:
        mode = os.fstat(fd).st_mode
        if not st.S_ISREG(mode):
            raise not_regular(os.fspath(path), mode)
        return file.read(most)


def open_beneath(path: str, beneath: str | os.PathLike[str]) -> int:
    """Open a file or folder by its path relative to `beneath`, for reading; the caller closes it.

    `..` means what it means to the system; links are followed as long as they stay inside. RefusedError
    `file.link_outside` where the path leads out, `file.not_regular` for sockets and the like; else OSError.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return _open(parts, os.fspath(beneath), path)


def read_within(path: str, beneath: str | os.PathLike[str], most: int) -> bytes | None:
    """Return a regular file in a folder; None where it is missing, larger than `most` bytes, or leads out of it."""
    try:
        with closing(open_beneath(path, beneath)) as fd:
            data = os.pread(fd, most + 1, 0) if st.S_ISREG(os.fstat(fd).st_mode) else None
    except (OSError, ValueError, MemdeckError):
        return None
    return data if data is not None and len(data) <= most else None


def read_open(fd: int, path: str) -> Stored | None:
    """Read an open file from its start; None if it changed meanwhile; RefusedError unless it is a regular
    file of `MOST_BYTES` at most.
    """
    before = os.fstat(fd)
    if not st.S_ISREG(before.st_mode):
        raise not_regular(path, before.st_mode)
    version = FileVersion.of(before)
    if version.size > MOST_BYTES:
        raise file_too_large(path, version.size, MOST_BYTES)
    data = os.pread(fd, version.size + 1, 0)  # One byte more shows that it grew.
    if len(data) != version.size or FileVersion.of(os.fstat(fd)) != version:
        return None
    return Stored(data, version)


def version_of(path: str, beneath: str | os.PathLike[str]) -> FileVersion:
    """Return a file's version in one call: `ABSENT` if there is no file, `UNKNOWN` if it cannot be read."""
    try:
        return FileVersion(*_STAMPS(os.stat(f"{os.fspath(beneath)}/{path}")))
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except (OSError, ValueError):
        return UNKNOWN


def _open(parts: list[str], beneath: str, path: str) -> int:
    """Open a file part by part; follow links by hand, so that none can lead above `beneath`."""
    folders = [os.open(beneath, _TOP)]
    pending = parts[::-1]
    links = 0
    try:
        while pending:
            name = pending.pop()
            if name == "..":
                if len(folders) == 1:
                    raise link_outside(path)
                os.close(folders.pop())
                continue
            try:
                fd = os.open(name, _FOLDER if pending else _FILE, dir_fd=folders[-1])
            except OSError as error:
                if error.errno in (errno.ENXIO, errno.EOPNOTSUPP):
                    raise not_regular(path, os.lstat(name, dir_fd=folders[-1]).st_mode) from error
                if error.errno not in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR):
                    raise
                target = _target(name, folders[-1])
                links += 1
                if target is None:
                    raise
                if links > _LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error
                if target.startswith("/"):
                    target = _relative(target, beneath, path)
                    while len(folders) > 1:
                        os.close(folders.pop())
                pending.extend(part for part in reversed(target.split("/")) if part not in ("", "."))
                continue
            if not pending:
                return fd
            folders.append(fd)
        raise not_regular(path, st.S_IFDIR)
    finally:
        for folder in folders:
            os.close(folder)


def _target(name: str, folder: int) -> str | None:
    """Return the target of a link, None if it is not a link."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError:
        return None


def _relative(target: str, beneath: str, path: str) -> str:
    """Return an absolute link's target relative to the workspace; RefusedError if it is elsewhere."""
    for top in (os.path.realpath(beneath), os.path.abspath(beneath)):
        if target == top or target.startswith(top.rstrip("/") + "/"):
            return target[len(top) :]
    raise link_outside(path)


@dataclass(frozen=True, slots=True)
class Unlisted:
    """Why the names in a folder are not listed: the code of the problem, and a description of the folder."""

    code: str
    what: str


def names_in(folder: Path, root: Path) -> tuple[str, ...] | Unlisted:
    """Return the names in a folder, sorted, or why they are not listed; () where the folder is missing.

    A link that leads out of the workspace is not followed: a clone must not show files elsewhere.
    """
    try:
        if not st.S_ISDIR(os.stat(folder).st_mode):
            return Unlisted("file.not_folder", "not a folder")
        if os.path.realpath(folder).startswith(os.path.realpath(root).rstrip("/") + "/"):
            return tuple(sorted(os.listdir(folder)))
        return Unlisted("file.link_outside", "a link that leads out of the workspace")
    except FileNotFoundError:
        return Unlisted("file.link_dangling", "a link to nothing") if os.path.islink(folder) else ()
    except NotADirectoryError:
        return Unlisted("file.not_folder", "not a folder")
    except OSError as error:
        code = "file.link_loop" if error.errno == errno.ELOOP else "file.unreadable"
        return Unlisted(code, f"not to be listed ({os.strerror(error.errno or 0)})")
