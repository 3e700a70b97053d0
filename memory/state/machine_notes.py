"""The machine's notes about a workspace's state, outside of it: small JSON objects that may be lost at any time.

`imports.json` holds the files from which sessions were imported, so that a sync reads only changed files: without it
every file is read again. `automation.json` holds when the automation ran, and which sources it may read. The list of
sources is a file of the repository, and a repository may come from anyone. Sources inside the workspace are read
unattended; a folder elsewhere only after it was added or synced by hand on this machine.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from memory.base.json_objects import read_object
from memory.errors import MemdeckError
from memory.storage.own_folders import StateFolder
from memory.storage.private.record import PrivateRecord

from .files.archive import Key
from .files.model import Json, moment, stamp
from .imports import ImportedItem
from .paths import full_path

_VERSION = 1


class MachineNotes:
    """One JSON object in the state folder of a workspace; without such a folder nothing is remembered."""

    def __init__(self, folder: StateFolder | None, name: str) -> None:
        """Nothing is read yet; `name` is the name of the file."""
        self._folder, self._name = folder, name

    @property
    def _record(self) -> PrivateRecord | None:
        return None if self._folder is None else PrivateRecord(self._folder, "state", self._name)

    def read(self) -> dict[str, Any]:
        """Return the notes; empty where they cannot be read."""
        record = self._record
        if record is None:
            return {}
        with suppress(MemdeckError, OSError):
            return read_object(record.read().base)
        return {}

    def update(self, change: Callable[[dict[str, Any]], dict[str, Any]], now: datetime, *, command: str) -> None:
        """Store the result of `change` on the notes; where that cannot be written, nothing is remembered."""
        record = self._record
        if record is not None:
            with suppress(MemdeckError):
                record.update(lambda data: json.dumps(change(read_object(data))).encode(), command=command, now=now)


def _where(source: Json, root: Path, home: Path | None) -> list[str]:
    return [source["type"], os.path.realpath(full_path(source["path"], root, home))]


# -- the automation ---------------------------------------------------------------------------------------------


class Unattended:
    """The record of one workspace; without a state folder nothing is recorded, and nothing outside is read."""

    def __init__(self, root: Path, folder: StateFolder | None, home: Path | None) -> None:
        """Nothing is read yet; `home` is the person's home folder."""
        self._root, self._home = root, home
        self._notes = MachineNotes(folder, "automation.json")

    def is_due(self, now: datetime, minutes: int) -> bool:
        """Return whether the last cycle was at least `minutes` ago; a last cycle in the future does not count."""
        last = moment(self._notes.read().get("lastCycleAt"))
        return last is None or last > now or last <= now - timedelta(minutes=minutes)

    def ran(self, now: datetime) -> None:
        """Record that a cycle ran; where that cannot be written, the next one comes sooner."""
        self._notes.update(lambda notes: {**notes, "lastCycleAt": stamp(now)}, now, command="state")

    def _allowed(self) -> list[Any]:
        known = self._notes.read().get("sources")
        return known if isinstance(known, list) else []

    def take(self, sources: Iterable[Json], now: datetime) -> None:
        """Record that a person allowed these sources to be read."""
        kept = [one for one in self._allowed() if isinstance(one, list)]
        for source in sources:
            kept += [where] if (where := _where(source, self._root, self._home)) not in kept else []
        self._notes.update(lambda notes: {**notes, "sources": kept}, now, command="state")

    def refusal(self, source: Json) -> str:
        """Return why a source is not read unattended, "" where it is."""
        where, root = _where(source, self._root, self._home), os.path.realpath(self._root)
        if where[1].startswith(root.rstrip("/") + "/") or where in self._allowed():
            return ""
        return (
            f"{source['path']} lies outside of the workspace, and nobody read it on this machine yet; "
            f"`memdeck state sync {source['id']}` does, and from then on it is read"
        )


# -- the imports ------------------------------------------------------------------------------------------------


class RememberedFile(NamedTuple):
    """The result of reading a file: the item and the hash of its text.

    Both are None where the file holds no session of the repository; then `elsewhere` is the folder of the session, None
    where it holds no messages. `bad` counts the lines that are not records, `first` is the number of the first. By
    `size` and `changed` (modification time in nanoseconds) a change is detected.
    """

    size: int
    changed: int
    item: str | None
    hash: str | None
    elsewhere: str | None
    bad: int
    first: int | None


def known_of(item: ImportedItem, status: os.stat_result) -> RememberedFile:
    """Return the record of a file that was read."""
    said = item.elsewhere is None and item.messages
    name, told = (item.external_item_id, item.content_hash) if said else (None, None)
    looks = status.st_size, status.st_mtime_ns
    return RememberedFile(*looks, name, told, item.elsewhere, item.bad_lines, item.first_bad_line)


class Remembered:
    """The record of one workspace; without a state folder nothing is remembered."""

    def __init__(self, root: Path, folder: StateFolder | None, home: Path | None) -> None:
        """Nothing is read yet; `home` is the person's home folder."""
        self._root, self._home = root, home
        self._notes = MachineNotes(folder, "imports.json")

    def of(self, source: Json, seen: Collection[Key]) -> dict[str, RememberedFile]:
        """Return the record of a source, by the path in it.

        A session counts only where its event still exists (`seen`): after an undo it is imported again.
        """
        kept = _sources(self._notes.read()).get(source["id"])
        items = (
            kept.get("items")
            if isinstance(kept, dict) and kept.get("where") == _where(source, self._root, self._home)
            else None
        )
        found = {}
        for name, values in items.items() if isinstance(items, dict) else ():
            known = _known(values)
            if known is not None and (known.hash is None or (source["id"], known.item, known.hash) in seen):
                found[name] = known
        return found

    def keep(self, read: list[tuple[Json, dict[str, RememberedFile]]], now: datetime) -> None:
        """Record the present state of sources; where that cannot be written, the next sync reads more."""
        new = {
            source["id"]: {"where": _where(source, self._root, self._home), "items": items} for source, items in read
        }
        self._notes.update(
            lambda notes: {"version": _VERSION, "sources": {**_sources(notes), **new}}, now, command="state.sync"
        )


def _known(values: object) -> RememberedFile | None:
    if not isinstance(values, list) or len(values) != len(RememberedFile._fields):
        return None
    known = RememberedFile(*values)
    numbers = all(isinstance(one, int) for one in (known.size, known.changed, known.bad))
    texts = all(one is None or isinstance(one, str) for one in (known.item, known.hash, known.elsewhere))
    sound = numbers and texts and (known.first is None or isinstance(known.first, int))
    return known if sound and (known.item is None) == (known.hash is None) else None


def _sources(notes: Json) -> dict[str, Any]:
    sources = notes.get("sources")
    return sources if isinstance(sources, dict) and notes.get("version") == _VERSION else {}
