"""Programs of this machine: where they are, and which of them run.

Only absolute folders of PATH count, so that no workspace can put its own before them.
"""

from __future__ import annotations

import os

_MOST_LINKS = 40


def absolute_folders(path: str, *, outside: str | os.PathLike[str] | None = None) -> str:
    """Return PATH without its relative and empty entries, which mean the current folder: often a workspace.

    Without those, too, that lie in the folder `outside`, or pass through it on the way that their links lead.
    """
    folders = [folder for folder in path.split(os.pathsep) if os.path.isabs(folder)]
    if outside is not None:
        root = os.path.realpath(outside)
        folders = [folder for folder in folders if not passes(folder, root)]
    return os.pathsep.join(folders)


def passes(folder: str, root: str) -> bool:
    """Tell whether the way to a folder leads through `root`, or through what is another place for each process."""
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
                # Under another name, for one that is written in other capitals or mounted twice.
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
    """Return where a program is, None where it is not; a name with a slash is a person's own, and stays as it is.

    Folders within `outside`, a workspace, do not count.
    """
    if os.sep in name:
        return name
    import shutil

    folders = absolute_folders(path, outside=outside)
    return shutil.which(name, path=folders) if folders else None


def is_alive(pid: int) -> bool:
    """Tell whether there is a process of a number on this machine, whoever's it is."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
