"""The socket in the file system: only this user can open it, and it is removed when the server ends."""

from __future__ import annotations

import errno
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from memory.errors import MemdeckError
from memory.storage import fsio


@contextmanager
def socket_at(path: str) -> Iterator[socket.socket]:
    """Give a listening socket at an absolute path, and remove its file at the end; MemdeckError `api.socket`.

    A socket that a crashed server left is replaced, anything else is not touched.
    """
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as listening:
        # `bind` creates the file, and no other user may open it even for a moment.
        before = os.umask(0o177)
        try:
            if _is_left(path):
                _remove(path)
            listening.bind(path)
            listening.listen(64)
            made = os.lstat(path)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise MemdeckError(
                "api.socket", f"{path} cannot be a socket: {why}", "name another one with --socket"
            ) from error
        finally:
            os.umask(before)
        try:
            yield listening
        finally:
            with suppress(OSError):
                if os.path.samestat(os.lstat(path), made):
                    _remove(path)


def _is_left(path: str) -> bool:
    """Return whether a socket of this user exists on which no server listens; one that is only busy is not left."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
        return False
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as trial:
        trial.settimeout(2)
        return trial.connect_ex(path) == errno.ECONNREFUSED


def _remove(path: str) -> None:
    folder, name = os.path.split(path)
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fsio.remove(name, opened)
    finally:
        os.close(opened)
