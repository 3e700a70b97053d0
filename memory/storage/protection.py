"""How well a folder protects changes: what its file system can do (tested), and late bytes of other programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from memory.errors import MemdeckError

from . import fsio, safe_open
from .journal import Journal
from .own_folders import PrivateState, WorkFolder


class Protection(NamedTuple):
    """What protects changes in a workspace; `reasons` says in sentences what is missing, empty where nothing is.

    `exchange`: two files swap places in one step. `links`: a displaced file keeps a name. `journal`: a change of
    several files is all or nothing even after a crash.
    """

    exchange: bool
    links: bool
    journal: bool
    reasons: tuple[str, ...]

    @property
    def full(self) -> bool:
        """Whether nothing is missing."""
        return not self.reasons


class LateBytes(NamedTuple):
    """Bytes that another program wrote to a file that a change had just displaced.

    `path` is relative to the store's root, `change` the id of that change, `name` that of the file in the stage
    folder; `data` is None where it cannot be read.
    """

    name: str
    path: str
    change: str
    data: bytes | None


_REASONS = {
    "exchange": "files cannot swap places here: what replaces a file in the moment of a change is not noticed",
    "links": "files have no second names here: a displaced file cannot be kept",
}


def probe(root: Path, state: PrivateState) -> Protection:
    """Test what the file system of a store's root can do, in a temporary folder that is removed again."""
    reasons: list[str] = []
    found = dict.fromkeys(_REASONS, False)
    if sys.platform not in ("linux", "darwin"):
        reasons.append(f"memory files are not changed on {sys.platform}")
    try:
        found = _try(root)
    except (OSError, MemdeckError) as error:
        reasons.append(f"{root} cannot be written to: {error}")
    else:
        reasons += [_REASONS[what] for what, works in found.items() if not works]
    try:
        state.read()
    except MemdeckError as error:
        reasons.append(str(error))
        return Protection(found["exchange"], found["links"], False, tuple(reasons))
    return Protection(found["exchange"], found["links"], True, tuple(reasons))


def _try(root: Path) -> dict[str, bool]:
    name = f".memdeck-{os.getpid()}"
    # The last part is the root itself, which may be a link to anywhere.
    with fsio.closing(fsio.open_folder([root.name], root.parent)) as top:
        try:
            with fsio.closing(fsio.private_folder(name, top, name)) as folder:
                for one in ("a", "b"):
                    fsio.put_private(one, folder, one.encode(), durable=False)
                works = {
                    "exchange": _works(lambda: fsio.exchange("a", folder, "b", folder)),
                    "links": _works(lambda: fsio.link("a", folder, "c", folder)),
                }
                fsio.empty_folder(folder)
                return works
        finally:
            fsio.remove_folders([name], root)


def _works(call: Callable[[], None]) -> bool:
    try:
        call()
    except OSError as error:
        if error.errno in fsio.NO_LINKS:
            return False
        raise
    return True


def late_bytes(journal: Journal, place: WorkFolder, prefix: str) -> tuple[LateBytes, ...]:
    """Return the late bytes that a store kept and recorded; unrecorded files of the stage folder are left out.

    `prefix` is the path of the store's root in the workspace.
    """
    found = []
    for file in journal.read().displaced:
        if not file.digest and file.path.startswith(prefix):
            try:
                data = safe_open.read(f"{place.path}/stage/{file.name}", place.workspace).base
            except MemdeckError:
                data = None
            found.append(LateBytes(file.name, file.path.removeprefix(prefix), file.change, data))
    return tuple(found)
