"""Which files memdeck may replace: regular, its own user's, with one name; anything else is refused with the reason."""

from __future__ import annotations

import errno
import os
import stat as st

from memory.errors import RefusedError

from . import errnos as faults

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
