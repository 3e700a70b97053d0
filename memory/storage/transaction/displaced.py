"""What changes displaced: looked at again once every program that may have had it open is done with it.

A program that opened a file just before it was replaced writes to the file that was displaced. So that one keeps a
name in the stage folder for a while; if its bytes are still the same then, it goes, and if not, it is kept for a
person, or for merging.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import replace

from memory.storage import fsio
from memory.storage.files import leases
from memory.storage.files.identity import Mark, look
from memory.storage.files.leases import Lease

from .intent_log import Displaced

_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_DAY = 86_400.0


def sweep(files: tuple[Displaced, ...], stage: int, settle: float) -> tuple[Displaced, ...]:
    """Remove what stayed as it was for `settle` seconds, keep what did not; return what is still to be looked after.

    Without leases nothing tells that a program is done with a file: it stays for a day.
    """
    left: list[Displaced] = []
    now = time.time()  # The clock of the file system's stamps.
    for place, file in enumerate(files):
        found = look(file.name, stage)
        if found is None:
            continue
        if file.late or found.st_ctime > now:  # A clock that went back says nothing about those behind it.
            left.append(file)
            continue
        if now - found.st_ctime < settle:
            # Those behind it were displaced later. A series of changes must not look at all of them each time.
            left += files[place:]
            break
        lease = _lease(file.name, stage)
        same = file.mark.same(found)
        if lease is Lease.NONE and same and settle and now - found.st_ctime < _DAY:
            left += files[place:]
            break
        if lease is Lease.REFUSED:
            left.append(file)
        elif same:
            with suppress(OSError):
                fsio.remove(file.name, stage)
        else:
            left.append(_kept(file, stage, found))
    return tuple(left)


def _lease(name: str, stage: int) -> Lease:
    """Ask whether a program still has the file open for writing."""
    try:
        fd = os.open(name, _LOOK, dir_fd=stage)
    except OSError:
        return Lease.NONE
    try:
        return leases.take(fd)
    finally:
        os.close(fd)


def _kept(file: Displaced, stage: int, found: os.stat_result) -> Displaced:
    """Give the late bytes a name that no clearing up touches."""
    name = file.name.removesuffix(".new").removesuffix(".old") + ".old" + fsio.KEPT
    if look(name, stage) is not None:
        name = file.name + fsio.KEPT
    try:
        fsio.rename(file.name, stage, name, stage)
    except OSError:
        return file
    return replace(file, name=name, mark=Mark.of(found), late=True)
