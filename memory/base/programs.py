"""Other programs of this machine: where they are, which processes run, and work that their writes cross.

Only absolute folders of PATH count, so that no workspace can put its own programs first.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

from memory.errors import ConflictError

T = TypeVar("T")
_MOST_LINKS = 40
_TRIES = 12
_LONGEST_PAUSE = 0.1  # The longest pause between two tries, in seconds.


def absolute_folders(path: str, *, outside: str | os.PathLike[str] | None = None) -> str:
    """Return PATH without its relative and empty entries, which mean the current folder: often a workspace.

    Entries in the folder `outside`, or whose links lead through it, are removed too.
    """
    folders = [folder for folder in path.split(os.pathsep) if os.path.isabs(folder)]
    if outside is not None:
        root = os.path.realpath(outside)
        folders = [folder for folder in folders if not passes(folder, root)]
    return os.pathsep.join(folders)


def passes(folder: str, root: str) -> bool:
    """Return whether the path to a folder leads, by its links too, through `root` or `/proc` (differs by process)."""
    here, links = "/", 0
    pending = [part for part in reversed(folder.split("/")) if part not in ("", ".")]
    try:
        top = os.stat(root)
    except OSError:
        return True
    while pending:
        name = pending.pop()
        if name == "..":
            here = os.path.dirname(here)
            continue
        place = os.path.join(here, name)
        if place in (root, "/proc"):
            return True
        try:
            target = os.readlink(place)
        except OSError:
            here = place
            try:
                # It may have another name: with different case, or mounted twice.
                if os.path.samestat(os.stat(place), top):
                    return True
            except OSError:
                pass
            continue
        links += 1
        if links > _MOST_LINKS:
            return True
        here = "/" if target.startswith("/") else here
        pending.extend(part for part in reversed(target.split("/")) if part not in ("", "."))
    return False


def find_program(name: str, path: str, *, outside: str | None = None) -> str | None:
    """Return the path of a program, None if it is not found.

    A name with a slash is the user's choice and returned unchanged. Folders in `outside`, a workspace, do not count.
    """
    if os.sep in name:
        return name
    import shutil

    folders = absolute_folders(path, outside=outside)
    return shutil.which(name, path=folders) if folders else None


def is_alive(pid: int) -> bool:
    """Return whether a process with this id exists on this machine, of any user."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def retry(attempt: Callable[[], T]) -> T:
    """Return the result of `attempt`; it is repeated, after a longer pause each time, while other programs write."""
    for tries in range(1, _TRIES + 1):
        try:
            return attempt()
        except ConflictError as error:
            if tries == _TRIES or not error.details.get("crossed"):
                raise
            time.sleep(min(0.001 * 2**tries, _LONGEST_PAUSE))
    raise AssertionError("the last try returns or raises")
