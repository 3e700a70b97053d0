"""The lock of a workspace, which memdeck's own processes take.

The lock is `flock` on a permanent file that is never replaced and never unlinked (`fcntl` and `lockf` locks vanish
when any code in the process closes the file).
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from datetime import datetime
from threading import Lock as ThreadLock
from threading import get_ident

from memory.errors import BusyError, write_failed

from . import fsio

NAME = "lock"
HELD = b"pid="
"""The beginning of the lock file while the lock is held."""
_IDLE = b"idle"  # Written over the holder's first key on release: if the key is found later, its holder was killed.
_SIZE = 512  # The holder's lines are padded to this, so that no older, longer text shows through.


class Lock:
    """Held by one transaction at a time, across processes and across the threads of this one."""

    def __init__(self, path: str, timeout: float = 5.0) -> None:
        """`path` is the lock file's name in messages; `timeout` is in seconds."""
        self.path = path
        self.timeout = timeout
        self._mutex = ThreadLock()
        self._owner: int | None = None
        self._fd = -1
        self._folder = -1

    def acquire(self, folder: int, command: str, since: datetime, *, wait: bool = True) -> None:
        """Wait for the lock in an open folder and note in it who holds it.

        BusyError `file.locked` with the holder after `timeout` seconds, without `wait` at once; RuntimeError inside a
        transaction of the same thread, which would wait for itself.
        """
        if self._owner == get_ident():
            raise RuntimeError("a transaction inside a transaction of the same thread")
        timeout = self.timeout if wait else 0
        deadline = time.monotonic() + timeout
        if not self._mutex.acquire(timeout=timeout):
            raise _busy(self.path, self._fd)
        try:
            self._owner = get_ident()
            self._folder = folder
            self._fd = self._take(folder, deadline)
            holder = f"pid={os.getpid()}\nhost={os.uname().nodename}\nsince={since.isoformat()}\ncommand={command}"
            line = holder.encode("utf-8", "replace")[: _SIZE - 1]
            with suppress(OSError):  # It is for display only, and a full disk must not stop a change that frees space.
                fsio.overwrite(self._fd, line.ljust(_SIZE - 1) + b"\n")
        except BaseException:
            self.release()
            raise

    def _take(self, folder: int, deadline: float) -> int:
        """Return a descriptor that holds the lock."""
        fd = fsio.open_lock(NAME, folder, self.path)
        try:
            while take(fd, deadline - time.monotonic()):
                if _same(fd, folder):
                    return fd
                # The folder was removed while we waited: a lock on an unlinked file locks no one out.
                other = fsio.open_lock(NAME, folder, self.path)
                os.close(fd)
                fd = other
            raise _busy(self.path, fd)
        except OSError as error:
            os.close(fd)
            raise write_failed(error, self.path) from error
        except BaseException:
            os.close(fd)
            raise

    @property
    def held(self) -> bool:
        """Whether this process holds the lock."""
        return self._fd >= 0

    def intact(self) -> bool:
        """Return whether the held lock still locks others out: its file was not removed."""
        return self._fd >= 0 and _same(self._fd, self._folder)

    def release(self) -> None:
        """Release the lock."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            with suppress(OSError):
                fsio.overwrite(fd, _IDLE)
            os.close(fd)
        self._owner = None
        self._mutex.release()


def take(fd: int, seconds: float) -> bool:
    """Take the lock of an open file, waiting up to some seconds; return whether this succeeded."""
    deadline, pause = time.monotonic() + seconds, 0.001
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(pause, left))
            pause = min(pause * 1.25, 0.02)


def _same(fd: int, folder: int) -> bool:
    """Return whether the lock file of the folder is the one that is open."""
    try:
        return os.path.samestat(os.fstat(fd), os.lstat(NAME, dir_fd=folder))
    except OSError:
        return False


def _busy(path: str, fd: int) -> BusyError:
    """Return the error with the holder named in the lock file: for display only, printable characters only."""
    try:
        text = os.pread(fd, _SIZE, 0).decode("utf-8", "replace") if fd >= 0 else ""
    except OSError:
        text = ""
    holder: dict[str, str] = {}
    for line in text.split("\n"):
        key, equals, value = line.partition("=")
        if equals and key in ("pid", "host", "since", "command"):
            holder[key] = "".join(c if " " <= c <= "~" else "?" for c in value.strip())[:120]
    who = f"process {holder['pid']} on {holder.get('host', '?')}" if "pid" in holder else "another process"
    what = f" ({holder['command']} since {holder.get('since', '?')})" if holder.get("command") else ""
    return BusyError(
        "file.locked",
        f"the workspace is locked by {who}{what}",
        "try again when it is done",
        holder=holder,
        file=path,
    )
