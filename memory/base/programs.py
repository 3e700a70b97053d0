"""Finding programs: only absolute folders of PATH count, so that no workspace can put its own before them."""

from __future__ import annotations

import os


def absolute_folders(path: str) -> str:
    """Return PATH without its relative and empty entries, which mean the current folder: often a workspace."""
    return os.pathsep.join(folder for folder in path.split(os.pathsep) if os.path.isabs(folder))


def find_program(name: str, path: str, *, outside: str | None = None) -> str | None:
    """Return where a program is, None where it is not; a name with a slash is a person's own, and stays as it is.

    Folders within `outside`, a workspace, do not count.
    """
    if os.sep in name:
        return name
    import shutil

    folders = absolute_folders(path).split(os.pathsep)
    if outside is not None:
        root = os.path.realpath(outside)
        folders = [one for one in folders if os.path.commonpath([os.path.realpath(one or "/"), root]) != root]
    return shutil.which(name, path=os.pathsep.join(folders)) if any(folders) else None
