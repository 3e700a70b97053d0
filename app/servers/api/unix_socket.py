"""The socket in the file system: only this user can open it, and it is removed when the server ends."""

from __future__ import annotations

import os
import socket
import stat

from memory.errors import MemdeckError
from memory.storage import fsio


class UnixSocket:
    """A listening socket at a path; MemdeckError `api.socket` if it cannot be created."""

    def __init__(self, path: str) -> None:
        """Listen; a socket left by a crashed server is replaced, anything else is not touched."""
        self.path = os.path.abspath(path)
        self._clear()
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # `bind` creates the file, and no other user may open it even for a moment.
        before = os.umask(0o177)
        try:
            self.listening.bind(self.path)
            self.listening.listen(64)
            self._made = os.lstat(self.path)
        except (OSError, ValueError) as error:
            self.listening.close()
            why = getattr(error, "strerror", None) or str(error)
            raise self._error(why) from error
        finally:
            os.umask(before)

    def _clear(self) -> None:
        try:
            found = os.lstat(self.path)
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            raise self._error(str(error)) from error
        if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
            raise self._error("something else is there")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
            trial.settimeout(2)
            try:
                trial.connect(self.path)
            except (ConnectionRefusedError, FileNotFoundError):
                self._remove(found)
                return
            except OSError as error:
                raise self._error(str(error)) from error
        raise self._error("a server listens there")

    def close(self) -> None:
        """Remove the file, if it is still this socket."""
        self._remove(self._made)

    def _remove(self, known: os.stat_result) -> None:
        folder, name = os.path.split(self.path)
        try:
            found = os.lstat(self.path)
            if (found.st_dev, found.st_ino) != (known.st_dev, known.st_ino):
                return
            opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return
        try:
            fsio.remove(name, opened)
        finally:
            os.close(opened)

    def _error(self, why: str) -> MemdeckError:
        return MemdeckError("api.socket", f"{self.path} cannot be a socket: {why}", "name another one with --socket")
