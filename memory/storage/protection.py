"""How well a folder protects changes: what its file system can do, and bytes that other programs wrote late."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

from memory.errors import MemdeckError

from . import fsio
from .log import ChangeLog
from .own_folders import PrivateState, WorkFolder
from .safe_open import names_in
from .step import KEPT


class LateBytes(NamedTuple):
    """Bytes that another program wrote to a file that a change had just displaced.

    `path` is relative to the store's root, `name` that of the file in the stage folder.
    """

    name: str
    path: str


_NO_EXCHANGE = "files cannot swap places here: what replaces a file during a change is not noticed"


def probe(root: Path, state: PrivateState) -> tuple[str, ...]:
    """Return in sentences what the file system of a store's root cannot do, and the faults of the state folder.

    It is tested in a temporary folder, which is removed again.
    """
    reasons: list[str] = []
    if sys.platform not in ("linux", "darwin"):
        reasons.append(f"memory files are not changed on {sys.platform}")
    try:
        reasons += _try(root)
    except (OSError, MemdeckError) as error:
        reasons.append(f"{root} cannot be written to: {error}")
    try:
        state.last_maintenance()
    except MemdeckError as error:
        reasons.append(str(error))
    return tuple(reasons)


def _try(root: Path) -> list[str]:
    name = f".memdeck-{os.getpid()}"
    # The last part is the root itself, which may be a link to anywhere.
    with fsio.closing(fsio.open_folder([root.name], root.parent)) as top:
        try:
            with fsio.closing(fsio.private_folder(name, top, name)) as folder:
                for one in ("a", "b"):
                    fsio.put(one, folder, one.encode(), durable=False)
                reasons = [] if fsio.exchanged("a", folder, "b", folder) else [_NO_EXCHANGE]
                for one in ("a", "b"):
                    fsio.remove(one, folder)
                return reasons
        finally:
            fsio.remove_folders([name], root)


def late_bytes(place: WorkFolder, prefix: str, log: ChangeLog) -> tuple[LateBytes, ...]:
    """Return the late bytes that a store kept; files of the stage folder that belong to no change in the log are left
    out, because a clone may have brought them.

    `prefix` is the path of the store's root in the workspace.
    """
    names = names_in(place.workspace / place.path / "stage", place.workspace)
    found = []
    for name in names if isinstance(names, tuple) else ():
        change, _, rest = name.partition(".")
        for record in log.records("id = ?", [change], 1) if name.endswith(KEPT) else ():
            number = rest.partition(".")[0]
            path = record.paths[int(number)] if number.isdecimal() and int(number) < len(record.paths) else ""
            if path.startswith(prefix):
                found.append(LateBytes(name, path.removeprefix(prefix)))
    return tuple(found)
