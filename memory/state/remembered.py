"""What a machine remembers of the files that it imported sessions from, so that a sync reads what changed only.

The record lies outside of the workspace and is no part of the state: without it every file is read again.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .files.model import Json
from .imports import ImportedItem
from .machine_notes import MachineNotes

if TYPE_CHECKING:
    from pathlib import Path

    from memory.storage.places import StateFolder

_VERSION = 1

Key = tuple[str, str | None, str]
"""What tells one import from another: the source, the item and the hash of its text."""


@dataclass(frozen=True, slots=True)
class RememberedFile:
    """What reading a file gave: the item and the hash of its text; both None where it holds no session of the
    repository, and then `elsewhere` is the folder of the session, None where nobody said anything.

    `bad` counts the lines that are no record, `first` is the number of the first of them.
    """

    item: str | None
    hash: str | None
    elsewhere: str | None
    bad: int
    first: int | None


def known_of(item: ImportedItem) -> RememberedFile:
    """Return what is remembered of a file that was read."""
    said = item.elsewhere is None and item.messages
    return RememberedFile(
        item.external_item_id if said else None,
        item.content_hash if said else None,
        item.elsewhere,
        item.bad_lines,
        item.first_bad_line,
    )


def look_at(path: Path) -> tuple[int, int]:
    """Return size and time of change (nanoseconds) of a file, by which it is told whether it changed; OSError."""
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


class Remembered:
    """The record of one workspace; without a state folder nothing is remembered."""

    def __init__(self, folder: StateFolder | None) -> None:
        """Nothing is read yet."""
        self._notes = MachineNotes(folder, "imports.json")

    def of(self, source: Json, seen: Collection[Key]) -> dict[str, tuple[tuple[int, int], RememberedFile]]:
        """Return what is remembered of a source, by the path in it.

        A session counts only where its event is still there (`seen`): after an undo it is imported again.
        """
        kept = _sources(self._notes.read()).get(source["id"])
        items = kept.get("items") if isinstance(kept, dict) and kept.get("where") == _where(source) else None
        found = {}
        for name, values in items.items() if isinstance(items, dict) else ():
            one = _known(values)
            if one is None:
                continue
            known = one[1]
            if known.hash is None or (source["id"], known.item, known.hash) in seen:
                found[name] = one
        return found

    def keep(self, read: list[tuple[Json, dict[str, tuple[tuple[int, int], RememberedFile]]]], now: datetime) -> None:
        """Remember sources as they are now; where that cannot be kept, the next sync reads more."""
        new = {
            source["id"]: {
                "where": _where(source),
                "items": {
                    name: [*look, known.item, known.hash, known.elsewhere, known.bad, known.first]
                    for name, (look, known) in items.items()
                },
            }
            for source, items in read
        }
        self._notes.update(
            lambda notes: {"version": _VERSION, "sources": {**_sources(notes), **new}}, now, command="state.sync"
        )


def _where(source: Json) -> list[str]:
    return [source["type"], os.path.realpath(source["path"])]


def _known(values: object) -> tuple[tuple[int, int], RememberedFile] | None:
    if not isinstance(values, list) or len(values) != 7:
        return None
    size, changed, item, told, elsewhere, bad, first = values
    numbers = all(isinstance(one, int) for one in (size, changed, bad))
    texts = all(one is None or isinstance(one, str) for one in (item, told, elsewhere))
    if not (numbers and texts and (first is None or isinstance(first, int)) and (item is None) == (told is None)):
        return None
    return (size, changed), RememberedFile(item, told, elsewhere, bad, first)


def _sources(notes: Json) -> dict[str, Any]:
    sources = notes.get("sources")
    return sources if isinstance(sources, dict) and notes.get("version") == _VERSION else {}
