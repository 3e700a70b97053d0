"""Files change places between the stage folder and their own, and what that displaced is looked at again.

They are swapped in one step where that is possible; each function falls back to what the file system has, and what is
displaced keeps a name as long as anything has. A program that opened a file just before it was replaced writes to the
file that was displaced. So that one keeps a name in the stage folder for a while; if its bytes are still the same then,
it goes, and if not, it is kept for a person, or for merging.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from memory.storage import fsio
from memory.storage.files import leases
from memory.storage.files.leases import Lease
from memory.storage.files.version import Mark, look

if TYPE_CHECKING:
    from .intent_log import Displaced

_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_DAY = 86_400.0


def swap(new: str, old: str, stage: int, name: str, folder: int) -> str:
    """Put the staged file `new` in the place of `name`; return the staged name of what was displaced.

    "" where the file system could not keep it. FileNotFoundError where there was no file.
    """
    try:
        fsio.exchange(new, stage, name, folder)
    except OSError as error:
        if error.errno not in fsio.UNSUPPORTED:
            raise
    else:
        return new
    kept = True
    try:
        fsio.link(name, folder, old, stage)
    except OSError as error:
        if error.errno not in fsio.NO_LINKS:
            raise
        kept = False
    fsio.rename(new, stage, name, folder)
    return old if kept else ""


def create(new: str, stage: int, name: str, folder: int) -> None:
    """Give the staged file its name; FileExistsError where somebody has it already.

    It keeps its staged name as well where it can: until the folder is synced, a power cut may take away the other.
    """
    try:
        fsio.link(new, stage, name, folder)
        return
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError as error:
        if error.errno not in fsio.NO_LINKS:
            raise
    try:
        fsio.rename_new(new, stage, name, folder)
    except OSError as error:
        if error.errno not in fsio.UNSUPPORTED:
            raise
        fsio.rename(new, stage, name, folder)


def take_away(name: str, folder: int, old: str, stage: int) -> None:
    """Move a file into the stage folder."""
    try:
        fsio.rename_new(name, folder, old, stage)
    except OSError as error:
        if error.errno not in fsio.UNSUPPORTED:
            raise
        fsio.rename(name, folder, old, stage)


def swap_back(displaced: str, stage: int, name: str, folder: int, spare: str) -> str:
    """Undo a `swap`; return the staged name of the file that stood there meanwhile."""
    try:
        fsio.exchange(displaced, stage, name, folder)
    except OSError as error:
        if error.errno not in fsio.UNSUPPORTED:
            raise
    else:
        return displaced
    with suppress(OSError):
        fsio.link(name, folder, spare, stage)
    fsio.rename(displaced, stage, name, folder)
    return spare


def sweep(files: tuple[Displaced, ...], stage: int, settle: float, *, whole: bool = True) -> tuple[Displaced, ...]:
    """Remove what stayed as it was for `settle` seconds, keep what did not; return what is still to be looked after.

    Without leases nothing tells that a program is done with a file: it stays for a day. `files` are in the order of
    time; unless `whole`, none is looked at behind the first that is too young to go. A series of changes must not look
    at all of them each time, but whoever starts has to: a file that got bytes late may lie behind one that did not.
    """
    left: list[Displaced] = []
    now = time.time()  # The clock of the file system's stamps.
    leases_here = True
    for place, file in enumerate(files):
        found = look(file.name, stage)
        if found is None:
            continue
        if file.late or found.st_ctime > now:  # A clock that went back says nothing about those behind it.
            left.append(file)
            continue
        age, same = now - found.st_ctime, file.mark.same(found)
        young = age < settle
        lease = Lease.NONE if young or not leases_here else lease_of(file.name, stage)
        if not young and lease is Lease.NONE:
            leases_here = False  # They are all on one file system.
            young = same and bool(settle) and age < _DAY
        if young and not whole:
            left += files[place:]
            break
        if young or lease is Lease.REFUSED:
            left.append(file)
        elif same:
            with suppress(OSError):
                fsio.remove(file.name, stage)
        else:
            left.append(_kept(file, stage, found))
    return tuple(left)


def lease_of(name: str, stage: int) -> Lease:
    """Ask whether a program still has the file open for writing."""
    try:
        fd = os.open(name, _LOOK, dir_fd=stage)
    except OSError:
        return Lease.NONE
    try:
        return leases.take(fd)
    finally:
        os.close(fd)


def forgotten(files: tuple[Displaced, ...], name: str, merged: bytes, stage: int) -> tuple[Displaced, ...]:
    """Return the list without one late file whose bytes were merged, which is removed; raises OSError.

    It stays in the list, as one without a change, where more came meanwhile, or where more may come (no leases).
    """
    left: list[Displaced] = []
    for file in files:
        found = look(name, stage) if file.name == name else None
        if file.name == name and found is None:
            continue
        if found is not None:
            mark = Mark.of(found, ctime=True, data=merged)
            if not mark._replace(ino=0, mtime_ns=0, ctime_ns=0).fits(name, stage, found):
                file = file._replace(change="")
            elif lease_of(name, stage) is not Lease.HELD:
                file = file._replace(change="", late=False, mark=mark._replace(digest=""))
            else:
                fsio.remove(name, stage)
                continue
        left.append(file)
    return tuple(left)


def _kept(file: Displaced, stage: int, found: os.stat_result) -> Displaced:
    """Give the late bytes a name that no clearing up touches."""
    if file.name.endswith(fsio.KEPT):  # Bytes that came even later than those that were merged.
        return file._replace(mark=Mark.of(found), late=True)
    name = file.name.removesuffix(".new").removesuffix(".old") + ".old" + fsio.KEPT
    if look(name, stage) is not None:
        name = file.name + fsio.KEPT
    try:
        fsio.rename(file.name, stage, name, stage)
    except OSError:
        return file
    return file._replace(name=name, mark=Mark.of(found), late=True)
