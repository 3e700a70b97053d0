"""Whether a session belongs to a repository, by the folder it was held in."""

from __future__ import annotations

import os

from memory.state.repository import common_folder, top_of


def is_elsewhere(folder: str, root: str | os.PathLike[str]) -> bool:
    """Tell whether a folder is one of another project on this machine.

    A folder that does not exist here tells nothing: the session may come from another machine, or the repository has
    moved. Other worktrees of the repository, and what is around it within the same repository, belong to it.
    """
    if not os.path.isabs(folder) or not os.path.isdir(folder):
        return False
    real, own = os.path.realpath(folder), os.path.realpath(root)
    if real == own or real.startswith(own.rstrip("/") + "/"):
        return False
    top = top_of(real)
    own_top = top_of(own)
    if top is None or own_top is None:
        return True
    return common_folder(top) != common_folder(own_top)
