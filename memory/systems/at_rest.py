"""Reading a workspace as it was at one moment, even while other programs change several of its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from memory.system import System
from memory.workspace import Workspace

TRIES = 5
"""How often a workspace is read until no other program wrote to it meanwhile; the last reading counts in any case."""
FileStamp = tuple[int, ...] | None
R = TypeVar("R")


def files_at_rest(workspace: Workspace, systems: Iterable[System]) -> dict[str, FileStamp] | None:
    """Return the stamps of the files of these systems; None while a change has moved some of its files and not all.

    Equal stamps before and after a reading mean that everything read was in the files at one moment.
    """
    # Checked before the stamps: a change that ends in between has already moved its files, so the stamps show it.
    if any(store.journal.under_way() is not None for store in workspace.together.stores):
        return None
    names = (name for system in systems for name in system.files())
    return {name: file_stamp(os.path.join(workspace.root, name)) for name in names}


def read_at_rest(workspace: Workspace, read: Callable[[Sequence[System]], R]) -> R:
    """Return the result of `read` over the systems of a workspace, read again while their files change meanwhile: an
    entry that is moved during the reading is in two files then, or in none.
    """
    for left in reversed(range(TRIES)):
        systems = workspace.systems()
        before = files_at_rest(workspace, systems)
        found = read(systems)
        if not left or (before is not None and files_at_rest(workspace, systems) == before):
            break
    return found


def file_stamp(path: str) -> FileStamp:
    """Return what identifies a state of a file; None if the file does not exist."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
