"""Reading a workspace as it stood at one moment, though others change several of its files meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from memory.workspace import Workspace

    from .protocol import System

TRIES = 3
"""How often a workspace is read at one look until nobody wrote to it meanwhile."""
UNSETTLED = 5
"""The look at which one that is written to during every reading is taken as it was read."""
FileStamp = tuple[int, ...] | None
R = TypeVar("R")


def files_at_rest(workspace: Workspace, systems: Iterable[System]) -> dict[str, FileStamp] | None:
    """Return the stamps of the files of these systems; None while a change has moved some of its files and not all.

    Where it is the same before and after a reading, all that was read stood in the files at one moment.
    """
    # Before the stamps: a change that ends between the two has moved its files by then, and they tell of it.
    if any(store.journal is not None and store.journal.waiting() is not None for store in workspace.stores()):
        return None
    names = (name for system in systems for name in system.files())
    return {name: file_stamp(os.path.join(workspace.root, name)) for name in names}


def read_at_rest(
    workspace: Workspace, systems: Sequence[System], read: Callable[[], R], *, patient: bool = True
) -> R | None:
    """Return what a reading of these systems gave, None where their files did not all stand so at one moment: an
    entry that is moved meanwhile is in two files then, or in none. Without `patient` it is returned all the same.
    """
    before = files_at_rest(workspace, systems)
    if before is None and patient:
        return None
    found = read()
    return found if not patient or files_at_rest(workspace, systems) == before else None


def file_stamp(path: str) -> FileStamp:
    """Return what tells two states of a file apart; None: it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
