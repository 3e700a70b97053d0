"""An empty private folder for one command, outside every workspace, and gone after it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from memory.errors import RefusedError, writing
from memory.storage.own_folders import StateFolder

NAME = "runs"
_OLD = 86400.0
"""Seconds after which a folder belongs to no run: a crash left it."""


def temporary_folder(prefix: str = "memdeck-", above: str | None = None) -> str:
    """Make a new private folder in `above`, or among the machine's temporary files, and return its path."""
    with writing(above or "the folder of temporary files"):
        return tempfile.mkdtemp(prefix=prefix, dir=above)


def remove_tree(folder: str) -> None:
    """Remove a folder of memdeck's own with everything in it; what cannot be removed stays."""
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def run_folder(state: StateFolder, in_workspace: Callable[[str], object]) -> Iterator[str]:
    """Make an empty folder (0700) for a block, and remove it afterwards with everything in it; yield its path.

    It is made in the state folder or, where `in_workspace` says that this is inside a workspace, in the system's
    temporary folder. RefusedError `state.inside_workspace` where that is inside one too; errors of the state folder.
    """
    with writing(state.path / NAME), state.opened(NAME):
        above = os.path.realpath(state.path / NAME)
    if in_workspace(above):
        above = os.path.realpath(tempfile.gettempdir())
        if in_workspace(above):
            raise RefusedError(
                "state.inside_workspace",
                f"there is no place outside of a workspace to run commands in: {above} is inside one",
                "set XDG_STATE_HOME or TMPDIR to a folder outside it",
            )
    folder = temporary_folder(above=above)
    try:
        yield folder
    finally:
        remove_tree(folder)
        _remove_old(above)


def _remove_old(above: str) -> None:
    """Remove the folders that killed runs left; only memdeck's own, and only in the state folder."""
    if os.path.basename(above) != NAME:
        return
    newest = os.stat(above).st_mtime
    for name in os.listdir(above):
        # Another run may remove its own at any moment.
        with suppress(FileNotFoundError):
            if os.lstat(f"{above}/{name}").st_mtime < newest - _OLD:
                remove_tree(f"{above}/{name}")
