"""Databases that were damaged: each is kept beside the one that began anew, the newest few of them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from memory.storage import fsio

KEPT = 5
"""How many damaged databases of one kind are kept."""
_ENDING = ".sqlite"


def damaged_files(folder: Path, name: str) -> tuple[Path, ...]:
    """Return the damaged databases in a folder, the oldest first; `name` is that of the first one."""
    return tuple(folder / one for _, one in _numbered(os.listdir(folder) if os.path.isdir(folder) else [], name))


def move_aside(folder: int, database: str, name: str) -> str:
    """Give a damaged database a name that none has, with what belongs to it beside it, and return the name.

    The names are `name`, then that with a number that grows; the oldest goes where more than `KEPT` would stay.
    """
    taken = _numbered(os.listdir(folder), name)
    number = taken[-1][0] + 1 if taken else 1
    aside = _spelled(name, number)
    for ending in ("-wal", "-journal", "-shm"):
        # What a crash left beside an older one would be read as part of this one.
        fsio.remove(aside + ending, folder)
    fsio.rename(database, folder, aside, folder)
    for ending in ("-wal", "-journal"):
        # Commits that are not in their place yet, or what stood in the place of one that was not done.
        with suppress(FileNotFoundError):
            fsio.rename(database + ending, folder, aside + ending, folder)
    fsio.remove(f"{database}-shm", folder)
    for _, old in taken[: max(len(taken) + 1 - KEPT, 0)]:
        for ending in ("", "-wal", "-journal"):
            fsio.remove(old + ending, folder)
    return aside


def _spelled(name: str, number: int) -> str:
    return name if number == 1 else f"{name.removesuffix(_ENDING)}-{number}{_ENDING}"


def _numbered(names: list[str], name: str) -> list[tuple[int, str]]:
    stem = name.removesuffix(_ENDING)
    found = [(1, name)] if name in names else []
    for one in names:
        number = one.removeprefix(f"{stem}-").removesuffix(_ENDING)
        if one == f"{stem}-{number}{_ENDING}" and number.isdecimal() and number.isascii():
            found.append((int(number), one))
    return sorted(found)
