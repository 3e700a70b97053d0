"""Opening and reading files beneath a workspace, whatever lies there, and telling which of them may be replaced.

Nothing in here changes a file. Only regular files of the own user with one name are replaced.

A cloned repository may hold anything under the name of a memory file: a link to `~/.ssh`, a FIFO that never
answers, a device. So every part of a path is opened on its own, without following links, from the folder
before it.
"""

from __future__ import annotations

import errno
import os
import stat as st
import time

from memory.errors import BusyError, RefusedError

from . import errnos as faults
from .version import ABSENT, MISSING, UNKNOWN, FileVersion, Stored

_TOP = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FOLDER = _TOP | os.O_NOFOLLOW | getattr(os, "O_PATH", 0)
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_LINKS = 40
_TRIES = 8
MOST_BYTES = 256 << 20
"""How large a file may be: whoever plants one of a terabyte, all holes, must not fill the memory."""


def parts_of(path: str) -> list[str]:
    """Split a relative path with `/`; RefusedError `file.outside` unless it stays beneath where it starts."""
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise RefusedError("file.outside", f"{path!r} is not a path beneath the workspace", file=path)
    return parts


def read(path: str, beneath: str | os.PathLike[str]) -> Stored:
    """Read the regular file `path` (relative, with `/`) beneath a folder; `MISSING` where there is none.

    Links are followed as long as they stay beneath. RefusedError `file.link_outside`, `file.link_loop`,
    `file.not_regular`, `file.too_large`, `file.unreadable`; BusyError `file.unsettled` when the file never holds
    still; `file.io` for the rest.
    """
    parts = parts_of(path)
    for attempt in range(_TRIES):
        try:
            fd = _open(parts, os.fspath(beneath), path)
            try:
                stored = read_open(fd, path)
            finally:
                os.close(fd)
        except FileNotFoundError:
            return MISSING
        except OSError as error:
            raise faults.reading(error, path) from error
        if stored is not None:
            return stored
        time.sleep(0.001 * 2**attempt)
    raise BusyError("file.unsettled", f"{path} changes faster than it can be read", "try again", file=path)


def open_beneath(path: str, beneath: str | os.PathLike[str]) -> int:
    """Open what lies under a relative path beneath a folder, a folder too, for reading; the caller closes it.

    `..` is taken as the system takes it, links are followed as long as they stay beneath. RefusedError
    `file.link_outside` where the path leads out, `file.not_regular` for sockets and the like; else OSError.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return _open(parts, os.fspath(beneath), path)


def read_open(fd: int, path: str) -> Stored | None:
    """Read an open file from its start; None if it changed meanwhile; RefusedError unless it is a regular
    file of `MOST_BYTES` at most.
    """
    before = os.fstat(fd)
    if not st.S_ISREG(before.st_mode):
        raise faults.not_regular(path, before.st_mode)
    version = FileVersion.of(before)
    if version.size > MOST_BYTES:
        raise faults.too_large(path, version.size, MOST_BYTES)
    data = read_all(fd, version.size)
    if len(data) != version.size or FileVersion.of(os.fstat(fd)) != version:
        return None
    return Stored(data, version)


def read_all(fd: int, size: int) -> bytes:
    """Read from the start of an open file up to one byte more than `size`, which shows that it grew."""
    data = os.pread(fd, size + 1, 0)
    # One call gives everything but for files over 2 GB, where the kernel stops short.
    while len(data) < size:
        more = os.pread(fd, size + 1 - len(data), len(data))
        if not more:
            break
        data += more
    return data


def version_of(path: str, beneath: str | os.PathLike[str]) -> FileVersion:
    """Look at a file's version in one call: `ABSENT` if there is none, `UNKNOWN` if it cannot be told."""
    try:
        return FileVersion.of(os.stat(f"{os.fspath(beneath)}/{path}"))
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
                    raise faults.outside(path)
                os.close(folders.pop())
                continue
            try:
                fd = os.open(name, _FOLDER if pending else _FILE, dir_fd=folders[-1])
            except OSError as error:
                if error.errno in (errno.ENXIO, errno.EOPNOTSUPP):
                    raise faults.not_regular(path, os.lstat(name, dir_fd=folders[-1]).st_mode) from error
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
        raise faults.not_regular(path, st.S_IFDIR)
    finally:
        for folder in folders:
            os.close(folder)


def _target(name: str, folder: int) -> str | None:
    """Return where a link leads, None if it is none."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError:
        return None


def _relative(target: str, beneath: str, path: str) -> str:
    """Return an absolute link's target relative to the workspace; RefusedError if it lies elsewhere."""
    for top in (os.path.realpath(beneath), os.path.abspath(beneath)):
        if target == top or target.startswith(top.rstrip("/") + "/"):
            return target[len(top) :]
    raise faults.outside(path)


_TARGET = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


def open_target(name: str, folder: int, path: str) -> tuple[int, os.stat_result] | None:
    """Open a file that is about to be replaced, None where there is none; the caller closes the descriptor.

    RefusedError with the reason why it must not be written: `file.link`, `file.not_regular`,
    `file.hard_link`, `file.foreign_owner`, `file.read_only`, `file.unreadable`.
    """
    try:
        found = os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return None
    allow(found, path)
    try:
        fd = os.open(name, _TARGET, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise faults.writing(error, path) from error
        raise faults.reading(error, path) from error
    try:
        opened = os.fstat(fd)
        # No name at all: it was replaced between the two calls, which the comparison of versions will notice.
        if opened.st_nlink:
            allow(opened, path)
    except BaseException:
        os.close(fd)
        raise
    return fd, opened


def allow(found: os.stat_result, path: str) -> None:
    """Raise RefusedError with the reason unless a file is one that memdeck may replace."""
    if st.S_ISLNK(found.st_mode):
        raise RefusedError("file.link", f"{path} is a symbolic link", "edit the file it leads to", file=path)
    if not st.S_ISREG(found.st_mode):
        raise faults.not_regular(path, found.st_mode)
    if found.st_nlink > 1:
        raise RefusedError(
            "file.hard_link",
            f"{path} has {found.st_nlink} names (hard links)",
            "replace it with a copy of its own",
            file=path,
            links=found.st_nlink,
        )
    if found.st_uid != os.geteuid():
        raise foreign(path)
    if not found.st_mode & st.S_IWUSR:
        raise RefusedError("file.read_only", f"{path} is read-only", f"chmod u+w {path}", file=path)


def foreign(path: str) -> RefusedError:
    """Return the error for a file or folder of another user."""
    return RefusedError(
        "file.foreign_owner",
        f"{path} belongs to another user",
        "change its owner, or run as that user",
        file=path,
    )
