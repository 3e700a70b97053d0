"""Whether anything in a workspace changed, by the stamps of its files and folders: cheap enough to ask each second."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.workspace import Workspace

Stamp = tuple[tuple[int, ...] | None, ...]


def watched_of(workspace: Workspace) -> tuple[str, ...]:
    """Return the paths whose stamps tell of every change: the files of all systems, and the folders around them."""
    files = _files_of(workspace)
    folders = [
        os.path.join(workspace.root, name)
        for system in workspace.system_names()
        for name in workspace.system(system).folders()
    ]
    around = [os.path.dirname(path) for path in files]
    archive = os.path.join(workspace.memory, "archive")
    return tuple(dict.fromkeys([str(workspace.root), archive, *folders, *around, *files]))


def files_at_rest(workspace: Workspace) -> dict[str, tuple[int, ...] | None] | None:
    """Return the stamps of the files of all systems; None while a change has moved some of its files and not all.

    Where it is the same before and after a reading, all that was read stood in the files at one moment.
    """
    # Before the stamps: a change that ends between the two has moved its files by then, and they tell of it.
    if any(store.journal is not None and store.journal.waiting() is not None for store in workspace.stores()):
        return None
    return {path: _stamp(path) for path in _files_of(workspace)}


def stamp_of(paths: tuple[str, ...]) -> Stamp:
    """Return what tells two states of these paths apart; None stands for one that is not there."""
    return tuple(map(_stamp, paths))


def _files_of(workspace: Workspace) -> list[str]:
    return [
        os.path.join(workspace.root, name)
        for system in workspace.system_names()
        for name in workspace.system(system).files()
    ]


def _stamp(path: str) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
