"""Whether anything in a workspace changed, by the stamps of its files and folders: cheap enough to ask each second."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memory.systems.at_rest import FileStamp, file_stamp

if TYPE_CHECKING:
    from memory.workspace import Workspace

Stamp = tuple[FileStamp, ...]


def watched_of(workspace: Workspace) -> tuple[str, ...]:
    """Return the paths whose stamps tell of every change: the files of all systems, and the folders around them."""
    files = [
        os.path.join(workspace.root, name)
        for system in workspace.system_names()
        for name in workspace.system(system).files()
    ]
    folders = [
        os.path.join(workspace.root, name)
        for system in workspace.system_names()
        for name in workspace.system(system).folders()
    ]
    around = [os.path.dirname(path) for path in files]
    archive = os.path.join(workspace.memory, "archive")
    return tuple(dict.fromkeys([str(workspace.root), archive, *folders, *around, *files]))


def stamp_of(paths: tuple[str, ...]) -> Stamp:
    """Return what tells two states of these paths apart; None stands for one that is not there."""
    return tuple(map(file_stamp, paths))
