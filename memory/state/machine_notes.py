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

    file: str
    """The name of its file."""

    def __init__(self, root: Path, folder: StateFolder | None, home: Path | None) -> None:
        """Nothing is read yet; `home` is the person's home folder."""
        self._root, self._home = root, home
        self._record = None if folder is None else PrivateRecord(folder, "state", self.file)

    def read(self) -> dict[str, Any]:
        """Return the notes; empty where they cannot be read."""
        with suppress(MemdeckError, OSError):
            return {} if self._record is None else read_object(self._record.read().base)
        return {}

    def update(self, change: Callable[[dict[str, Any]], dict[str, Any]], now: datetime) -> None:
        """Store the result of `change` on the notes; where that cannot be written, nothing is remembered."""
        if self._record is not None:
            with suppress(MemdeckError):
                self._record.update(
                    lambda data: json.dumps(change(read_object(data))).encode(), command="state", now=now
                )

    def _where(self, source: Json) -> list[str]:
        return [source["type"], os.path.realpath(full_path(source["path"], self._root, self._home))]


class Unattended(MachineNotes):
    """When the automation ran in a workspace, and which sources outside of it the person lets it read."""

    file = "automation.json"

    def is_due(self, now: datetime, minutes: int) -> bool:
        """Return whether the last cycle was at least `minutes` ago; a last cycle in the future does not count."""
        last = moment(self.read().get("lastCycleAt"))
        return last is None or last > now or last <= now - timedelta(minutes=minutes)

    def ran(self, now: datetime) -> None:
        """Record that a cycle ran; where that cannot be written, the next one comes sooner."""
        self.update(lambda notes: {**notes, "lastCycleAt": stamp(now)}, now)

    def take(self, sources: Iterable[Json], now: datetime) -> None:
        """Record that a person allowed these sources to be read."""
        known = self.read().get("sources", [])
        new = [where for where in map(self._where, sources) if where not in known]
        self.update(lambda notes: {**notes, "sources": [*known, *new]}, now)

    def refusal(self, source: Json) -> str:
        """Return why a source is not read unattended, "" where it is."""
        where, root = self._where(source), os.path.realpath(self._root)
        if where[1].startswith(root.rstrip("/") + "/") or where in self.read().get("sources", []):
            return ""
        return (
            f"{source['path']} is outside of the workspace, and you have not read it on this machine yet; "
            f"`memdeck state sync {source['id']}` does, and from then on it is read"
        )


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


class Remembered(MachineNotes):
    """The files from which the sessions of a workspace were imported."""

    file = "imports.json"

    def of(self, source: Json, seen: Collection[Key]) -> dict[str, RememberedFile]:
        """Return the record of a source, by the path in it.

        A session counts only where its event still exists (`seen`): after an undo it is imported again.
        """
        kept = _sources(self.read()).get(source["id"], {})
        found = kept["items"].items() if kept.get("where") == self._where(source) else ()
        known = {name: RememberedFile(*values) for name, values in found}
        return {
            name: one for name, one in known.items() if one.hash is None or (source["id"], one.item, one.hash) in seen
        }

    def keep(self, read: list[tuple[Json, dict[str, RememberedFile]]], now: datetime) -> None:
        """Record the present state of sources; where that cannot be written, the next sync reads more."""
        new = {source["id"]: {"where": self._where(source), "items": items} for source, items in read}
        self.update(lambda notes: {"version": _VERSION, "sources": {**_sources(notes), **new}}, now)


def _sources(notes: Json) -> dict[str, Any]:
    return notes["sources"] if notes.get("version") == _VERSION else {}
