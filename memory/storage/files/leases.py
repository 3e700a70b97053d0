"""Read leases: how to know that nobody has a file open for writing, and to be told when somebody wants to.

While a read lease is held, a program that opens the file for writing waits until the lease is given up. Linux has
them, for one's own files on local file systems; elsewhere a change is protected by comparing alone.
"""

from __future__ import annotations

import errno
import fcntl
import signal
from contextlib import suppress
from enum import Enum

_SET: int | None = getattr(fcntl, "F_SETLEASE", None)
_GET: int | None = getattr(fcntl, "F_GETLEASE", None)
_SIGNAL: int | None = getattr(fcntl, "F_SETSIG", None)


class Lease(Enum):
    """What asking for a lease gave: it is held, somebody has the file open for writing, there are none here."""

    HELD = "held"
    REFUSED = "refused"
    NONE = "none"


def take(fd: int) -> Lease:
    """Ask for a read lease on a file that is open for reading only; closing the descriptor gives it up."""
    if _SET is None or _SIGNAL is None:
        return Lease.NONE
    try:
        # The signal of a break kills by default; this one is ignored unless somebody asked for it.
        fcntl.fcntl(fd, _SIGNAL, signal.SIGURG)
        fcntl.fcntl(fd, _SET, fcntl.F_RDLCK)
    except OSError as error:
        return Lease.REFUSED if error.errno == errno.EAGAIN else Lease.NONE
    return Lease.HELD


def unbroken(fd: int) -> bool:
    """Whether the lease is still whole: nobody waits to open the file for writing."""
    if _GET is None:
        return False
    try:
        return fcntl.fcntl(fd, _GET) == fcntl.F_RDLCK
    except OSError:
        return False


def drop(fd: int) -> None:
    """Give the lease up: whoever waits for the file goes on."""
    if _SET is not None:
        with suppress(OSError):
            fcntl.fcntl(fd, _SET, fcntl.F_UNLCK)
