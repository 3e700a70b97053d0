"""The change log: every change of every writer, with the bytes that differ, in a database outside the workspace.

A change is recorded when its files are in place, while its store is still locked. The bytes of each file as it was seen
last are kept too, so that a change by another program is noticed at the next look and recorded for the actor `outside`;
the first sight of a file is not a change.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, TypeVar

from memory.document.compare import (
    Region,
    apply,
    compare,
    compare_lines,
    inverted,
    is_lines,
    lines_of,
)
from memory.document.match import units_of
from memory.errors import MemdeckError
from memory.storage.changes import (
    Change,
    ChangeRecord,
    FileChange,
    RecordedFile,
    Touched,
    TouchKind,
    is_by_place,
    new_id,
    the_one,
    touched_in,
)
from memory.storage.database import Database
from memory.storage.own_folders import StateFolder
from memory.storage.safe_open import FileVersion, Stored, version_of
from memory.storage.store_files import Stores

from . import rows

T = TypeVar("T")
KEEP_BYTES = 50_000_000
"""How many bytes of changes are kept."""
KEEP_NEWEST = 10
"""How many of the newest changes of each file keep their bytes, of any size."""
KEEP_REMOVED = timedelta(days=30)
"""How long a whole file that was removed is kept at least."""
KEEP = "keep"
"""The operation of a note that a person leaves what another program removed as it is."""
NOT_KEPT = f"id NOT IN (SELECT undoes FROM change WHERE operation = '{KEEP}' AND undoes IS NOT NULL)"
"""The condition of changes about which there is no such note."""
PASSING = 5.0
"""Seconds for which a file may be in the midst of another program's writing."""


class ChangeLog:
    """The log of the changes of some stores; safe to share between threads. All paths are relative to the workspace."""

    def __init__(self, stores: Stores[Any], folder: StateFolder) -> None:
        """Nothing is opened yet; the log is in the private `folder`."""
        self.file = Database(folder, rows.CHANGES)
        self._stores = stores
        self.keep_bytes = KEEP_BYTES

    @property
    def warnings(self) -> tuple[str, ...]:
        """The errors of the log, or those after a change that was made, since the process began."""
        return tuple(self.file.warnings)

    def warn(self, text: str) -> None:
        """Add a sentence to the warnings, once."""
        if text not in self.file.warnings:
            self.file.warnings.append(text)

    def close(self) -> None:
        """Close the log after the work that other threads do in it; the next use opens it again."""
        self.file.close()

    # -- recording ----------------------------------------------------------------------------------------------

    def begin(self, change: Change) -> bool:
        """Record what other programs did before a change to its files; called right before these are changed.

        Return whether the log works. RefusedError `state.*`.
        """

        def work(db: sqlite3.Connection) -> bool:
            for file in change.files:
                self._notice(db, file.path, file.before, None, change.time)
            return True

        return self._run(work, False)

    def done(self, change: Change, regions: Mapping[str, Sequence[Region]]) -> None:
        """Record a change whose files are in place; `regions` are the differences in files where the caller knows
        them.
        """
        # Compared before the database is locked: other processes wait for it.
        by_place = is_by_place(change.actor, change.operation)
        files = [self._new_file(file, regions.get(file.path), by_place=by_place) for file in change.files]

        def work(db: sqlite3.Connection) -> None:
            rows.add(db, change, files)
            for file in change.files:
                rows.put_seen(db, file.path, file.after, None)
            rows.thin(db, self.keep_bytes, KEEP_NEWEST, change.time - KEEP_REMOVED)

        self._run(work, None)

    def note(self, operation: str, summary: str, *, actor: str, now: datetime, undoes: str | None = None) -> None:
        """Record a decision of a person that changed no file.

        `undoes` is the change that it is about, which is not undone by it.
        """
        change = Change(new_id(now), now, actor, operation, summary, (), undoes=undoes)
        self._run(lambda db: rows.add(db, change, ()), None)

    def _new_file(
        self, file: FileChange, regions: Sequence[Region] | None = None, *, by_place: bool = False
    ) -> rows.NewFile:
        regions = self.touched_by(file) if regions is None else regions
        return rows.NewFile(
            file.path,
            rows.identity(file.before),
            rows.identity(file.after),
            sum(region.size for region in regions),
            file.mode,
            regions,
            self.entries_of(file.path, regions, by_place=by_place),
        )

    # -- noticing what other programs did -----------------------------------------------------------------------

    def notice(self, paths: Iterable[str], now: datetime) -> int:
        """Look at files and record what other programs did to them; return how many changes that were.

        Files that cannot be read, belong to no store, or that memdeck is changing right now are left out. Only the log
        is written.
        """
        found = []
        with self._stores.glance():
            for path in paths:
                place = self._stores.find(path)
                if place is not None:
                    with suppress(MemdeckError):
                        stored = place[0].read(place[1])
                        settled = stored.exists and stored.version.settled(time.time_ns())
                        found.append((path, stored, stored.version if settled else None))

            def work(db: sqlite3.Connection) -> int:
                known = rows.versions(db) if found else {}  # Nearly all files are as they were seen last.
                return sum(self._look(db, *one, now) for one in found if known.get(one[0]) != one[1].version)

            return self._run(work, 0)

    def expect(self, paths: Iterable[str]) -> None:
        """Note of files never seen that they were missing at the last look, so that they are noticed as created."""

        def work(db: sqlite3.Connection) -> None:
            for path in paths:
                if rows.get_seen(db, path) is None:
                    rows.put_seen(db, path, None, None)

        self._run(work, None)

    def _look(
        self, db: sqlite3.Connection, path: str, stored: Stored, version: FileVersion | None, now: datetime
    ) -> bool:
        """Record the change of one file, unless it changes right now: no other process can write to the log here.

        `version` is that of the file if a further write would change it.
        """
        store = self._stores.store_of(path)
        if store is None or store.journal.under_way() or version_of(path, store.workspace) != stored.version:
            return False
        if self._is_passing(db, path, stored, PASSING):
            return False
        return self._notice(db, path, stored.base, version, now)

    def _notice(
        self, db: sqlite3.Connection, path: str, data: bytes | None, version: FileVersion | None, now: datetime
    ) -> bool:
        """Compare bytes with those that were seen last; record the difference as a change from outside."""
        seen = rows.get_seen(db, path)
        if seen is None or seen.identity == rows.identity(data):
            # The first sight is not a change. A file that does not exist has not been seen.
            if (seen is None and data is not None) or (seen is not None and version and version != seen.version):
                rows.put_seen(db, path, data, version)
            return False
        before = rows.bytes_seen(seen)
        lost = seen.identity is not None and before is None
        file = FileChange(path, before, data)
        new = self._new_file(file, () if lost else None)
        if lost:
            new = new._replace(before=seen.identity, kept=None)
        name = path.rpartition("/")[2]
        words = "edited" if [one.title for one in new.touched] == [name] else touched_in(new.touched)
        if data is None or seen.identity is None:
            words = "removed" if data is None else "created"
        writer = self._stores.writer(path)
        change = Change(new_id(now), now, writer, "edit", f"{name}: {words}", (file,))
        rows.add(db, change, [new])
        rows.put_seen(db, path, data, version)
        return True

    def passing(self, path: str, stored: Stored, within: float) -> bool:
        """Return whether a file changed less than `within` seconds ago to a state that does not last.

        These states are missing, empty, cut off, and less than half as long as the file was seen last.
        """
        return bool(self._read(lambda db: self._is_passing(db, path, stored, within)))

    def _is_passing(self, db: sqlite3.Connection, path: str, stored: Stored, within: float) -> bool:
        seen = rows.get_seen(db, path)
        changed = stored.version.mtime_ns if stored.exists else self._folder_time(path)
        size = 0 if seen is None or seen.identity is None else seen.identity[0]
        if len(stored.data) >= size or time.time_ns() - changed > within * 1e9:
            return False
        halved = not stored.exists or len(stored.data) * 2 < size
        return halved or (rows.bytes_seen(seen) or b"").startswith(stored.data)

    def _folder_time(self, path: str) -> int:
        store = self._stores.store_of(path)
        try:
            return 0 if store is None else os.stat((store.workspace / path).parent).st_mtime_ns
        except OSError:
            return 0

    def seen(self) -> tuple[str, ...]:
        """Return every file that was ever seen."""
        return tuple(self._read(rows.seen_paths) or ())

    def to_look_at(self) -> tuple[str, ...]:
        """Return the files that existed when they were seen last, and those that were missing then and exist now."""
        with self._stores.glance():
            seen = self._read(rows.seen_paths) or {}
            return tuple(path for path, there in seen.items() if there or self._exists(path))

    def _exists(self, path: str) -> bool:
        store = self._stores.store_of(path)
        return store is not None and os.path.lexists(store.workspace / path)

    # -- differences --------------------------------------------------------------------------------------------

    def touched_by(self, file: FileChange) -> tuple[Region, ...]:
        """Return the differences in a file that a change would write."""
        before, after = file.before or b"", file.after or b""
        if is_lines(file.path):
            return compare_lines(before, after)
        old, new = self._stores.document(file.path, before), self._stores.document(file.path, after)
        if old is None or new is None:
            return compare_lines(before, after, "bytes")
        return compare(old, new)

    def entries_of(self, path: str, regions: Sequence[Region], *, by_place: bool = True) -> Sequence[Touched]:
        """Return the entries of one file that some regions touch, and the sections whose own text they change.

        `by_place` as in `memory.document.match.units_of`.
        """
        found = []
        for unit in units_of(regions, by_place=by_place):
            one = None if unit.before is None else self._stores.ref(path, unit.section, unit.before)
            other = None if unit.after is None else self._stores.ref(path, unit.new_section, unit.after)
            entry = unit.after or unit.before
            assert entry is not None
            if unit.before is None or unit.after is None:
                found.append(Touched(path, one or other, entry.title, "added" if unit.after else "removed"))
            else:
                kind: TouchKind = "edited" if unit.section == unit.new_section else "moved"
                found.append(Touched(path, other, entry.title, kind, None if one == other else one))
        for region in regions:
            if region.kind == "body" and region.before and region.after:
                found.append(Touched(path, None, region.section or path.rpartition("/")[2], "edited"))
            elif region.kind == "lines":
                found += self._lines_of(path, region)
        return found

    def _lines_of(self, path: str, region: Region) -> list[Touched]:
        """Return the lines that were removed and added; one with a ref that was both is edited."""
        gone = [self._stores.line(path, line) for line in lines_of(region.before)]
        come = [self._stores.line(path, line) for line in lines_of(region.after)]
        old, new = {ref for ref, _ in gone if ref}, {ref for ref, _ in come if ref}
        found = [Touched(path, ref, title, "removed") for ref, title in gone if ref is None or ref not in new]
        return found + [
            Touched(path, ref, title, "edited" if ref is not None and ref in old else "added") for ref, title in come
        ]

    def removed_lines(self, path: str, regions: Sequence[Region]) -> list[tuple[bytes, str]]:
        """Return the lines that some regions of a file of lines removed, each with its title."""
        come = {self._stores.line(path, line)[0] for one in regions for line in lines_of(one.after)}
        gone = [(line, *self._stores.line(path, line)) for one in regions for line in lines_of(one.before)]
        return [(line, title) for line, ref, title in gone if ref is None or ref not in come]

    # -- listing ------------------------------------------------------------------------------------------------

    def list(self, limit: int = 0, **filters: Any) -> tuple[ChangeRecord, ...]:
        """Return the newest `limit` changes that fit the filters of `rows.conditions`, newest first; 0 for all."""
        return tuple(self.records(*rows.conditions(**filters), limit))

    def records(self, where: str, values: Sequence[object], limit: int) -> Sequence[ChangeRecord]:
        """Return the newest changes of which an SQL condition holds; `limit` 0 is all."""
        return self._read(lambda db: rows.records(db, where, values, limit)) or ()

    def get(self, change_id: str) -> ChangeRecord:
        """Return the change of an id, or of its beginning; NotFoundError `change.not_found`, AmbiguousError."""
        return the_one(self.beginning_with(change_id), change_id, "change")

    def beginning_with(self, change_id: str) -> tuple[ChangeRecord, ...]:
        """Return the changes whose ids begin so, newest first, at most 21."""
        text = change_id.strip().upper()
        # Every id begins with nothing: an empty one names none, however few there are.
        return tuple(self.records("substr(id, 1, ?) = ?", (len(text), text), 21)) if text else ()

    def state(self) -> tuple[int, int, int]:
        """Return the values on which a listing depends: the `seq` of the newest change (0: none), how many changes
        there are, and how many are undone.
        """
        return self._read(rows.state) or (0, 0, 0)

    def count(self, after: int, others_than: Collection[str], most: int) -> int:
        """Return how many changes after a `seq` were made by others than these actors, up to `most`."""
        return self._read(lambda db: rows.count(db, after, others_than, most)) or 0

    def newer_name(self, ref: str) -> str | None:
        """Return the ref that an entry was renamed to, None where no change gave it another one."""
        return self._read(lambda db: rows.newer_name(db, ref))

    def last_bytes(self, path: str) -> bytes | None:
        """Return the bytes of a file as they were seen last; None for no file, or where they are not known."""
        return self._read(lambda db: rows.bytes_seen(rows.get_seen(db, path)))

    def regions(self, record: ChangeRecord, file: RecordedFile) -> tuple[Region, ...]:
        """Return the differences in one file of a change; none where the bytes were thinned out."""
        return self._read(lambda db: rows.regions_of(db, record.seq, file.path)) or ()

    def before(self, change_id: str, path: str) -> bytes | None:
        """Return the bytes that a file had before a change; None for no file, or where they are no longer known."""
        record = self.get(change_id)
        file = next((file for file in record.files if file.path == path), None)
        found = None if file is None else self.versions(record, file)
        return None if found is None else found[0]

    def versions(self, record: ChangeRecord, file: RecordedFile) -> tuple[bytes | None, bytes | None] | None:
        """Return a file before and after a change (None: no file); None where that is no longer known."""
        regions = self.regions(record, file)
        try:
            if file.kept is None:
                return None
            if file.after is None:
                return apply(inverted(regions), b""), None
            if file.before is None:
                return None, apply(regions, b"")
        except ValueError:  # Rows that do not belong together.
            return None
        for one, before, data in self.walk(file.path, self.last_bytes(file.path) or b"", record.seq):
            if one.seq == record.seq and rows.identity(data) == file.after:
                return before, data
        return None

    def walk(self, path: str, data: bytes, since: int = 0) -> Iterator[tuple[ChangeRecord, bytes, bytes]]:
        """Yield the changes of a file, newest first, with its bytes before and after each (empty: no file), from its
        bytes now back to the change of a `seq`; it ends where they are no longer known.
        """
        for record in self.records(f"seq >= ? AND {rows.OF_FILE}", (since, rows.key(path)), 0):
            file = next(file for file in record.files if file.path == path)
            if file.kept is None:
                return
            try:
                before = apply(inverted(self.regions(record, file)), data)
            except ValueError:  # Rows that do not belong together.
                return
            yield record, before, data
            data = before

    def modes(self, change_id: str) -> dict[str, int]:
        """Return the permission bits of the files that a change removed, as far as they are known."""
        return self._read(lambda db: rows.modes_of(db, change_id)) or {}

    def done_to(self, operation: str, path: str) -> Sequence[ChangeRecord]:
        """Return the changes of an operation to a file that are not undone and still have their bytes, newest first."""
        condition = f"operation = ? AND undone_by IS NULL AND {rows.OF_FILE}"
        return [record for record in self.records(condition, (operation, rows.key(path)), 0) if record.kept]

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Return the result of a query, None where there is no log or it cannot be read."""
        return self.file.run(work, None, make=False)

    def _run(self, work: Callable[[sqlite3.Connection], T], default: T) -> T:
        with self._stores.glance():
            return self.file.run(work, default)
