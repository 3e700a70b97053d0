"""Reading a workspace as it was at one moment, even while other programs change several of its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from memory.system import System
from memory.workspace import Workspace

TRIES = 3
"""How often one refresh reads a workspace until no other program wrote to it meanwhile."""
UNSETTLED = 5
"""The refresh at which a workspace that was written to during every reading is accepted as it was read."""
FileStamp = tuple[int, ...] | None
R = TypeVar("R")


def files_at_rest(workspace: Workspace, systems: Iterable[System]) -> dict[str, FileStamp] | None:
    """Return the stamps of the files of these systems; None while a change has moved some of its files and not all.

    Equal stamps before and after a reading mean that everything read was in the files at one moment.
    """
    # Checked before the stamps: a change that ends in between has already moved its files, so the stamps show it.
    if any(store.journal.under_way() is not None for store in workspace.stores()):
        return None
    names = (name for system in systems for name in system.files())
    return {name: file_stamp(os.path.join(workspace.root, name)) for name in names}


def read_at_rest(
    workspace: Workspace, systems: Sequence[System], read: Callable[[], R], *, patient: bool = True
) -> R | None:
    """Return the result of `read`, or None if the files of these systems changed meanwhile: an entry that is moved
    during the reading is in two files then, or in none. Without `patient` the result is returned in any case.
    """
    before = files_at_rest(workspace, systems)
    if before is None and patient:
        return None
    found = read()
    return found if not patient or files_at_rest(workspace, systems) == before else None


def file_stamp(path: str) -> FileStamp:
    """Return what identifies a state of a file; None if the file does not exist."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
