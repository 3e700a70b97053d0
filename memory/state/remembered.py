"""What a machine remembers of the files that it imported sessions from, so that a sync reads what changed only.

The record lies outside of the workspace and is no part of the state: without it every file is read again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.errors import MemdeckError

from .files.model import Json
from .imports import ImportedItem

if TYPE_CHECKING:
    from pathlib import Path

    from memory.storage.places import StateFolder
    from memory.storage.record import PrivateRecord

_FOLDER, _NAME, _VERSION = "state", "imports.json", 1

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
        self._folder = folder

    def of(self, source: Json, seen: Collection[Key]) -> dict[str, tuple[tuple[int, int], RememberedFile]]:
        """Return what is remembered of a source, by the path in it.

        A session counts only where its event is still there (`seen`): after an undo it is imported again.
        """
        kept = self._read().get(source["id"])
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
        record = self._record
        if record is None:
            return
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

        def change(data: bytes | None) -> bytes:
            return json.dumps({"version": _VERSION, "sources": {**_sources(data), **new}}).encode()

        with suppress(MemdeckError):
            record.update(change, command="state.sync", now=now)

    @property
    def _record(self) -> PrivateRecord | None:
        from memory.storage.record import PrivateRecord

        return None if self._folder is None else PrivateRecord(self._folder, _FOLDER, _NAME)

    def _read(self) -> dict[str, Any]:
        record = self._record
        if record is None:
            return {}
        with suppress(MemdeckError, OSError):
            return _sources(record.read().base)
        return {}


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


def _sources(data: bytes | None) -> dict[str, Any]:
    try:
        values = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(values, dict) or values.get("version") != _VERSION:
        return {}
    sources = values.get("sources")
    return sources if isinstance(sources, dict) else {}
