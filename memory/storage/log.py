"""The change log: every change of every writer, with the bytes that differ, in a database outside the workspace.

A change is recorded when its files are in place, while its store is still locked. The bytes of each file as it was seen
last are kept too, so that a change by another program is noticed at the next look and recorded for the actor `outside`;
the first sight of a file is not a change.
"""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from memory.document.compare import Region, compare, compare_lines, is_lines, lines_of
from memory.document.lines import encode
from memory.document.match import units_of
from memory.errors import MemdeckError

from .changes import Change, FileChange, Touched, TouchKind, is_by_place, new_id, touched_in
from .own_folders import StateFolder
from .records import Records, identity, key, last_look, time_text
from .safe_open import FileVersion, Stored, version_of

if TYPE_CHECKING:
    from .store import SharedLog

T = TypeVar("T")
KEEP_BYTES = 50_000_000
"""How many bytes of changes are kept."""
KEEP_NEWEST = 10
"""How many of the newest changes of each file keep their bytes, of any size."""
KEEP_REMOVED = timedelta(days=30)
"""How long a whole file that was removed is kept at least."""
PASSING = 5.0
"""Seconds for which a file may be in the midst of another program's writing."""
_LONGEST_CHAIN = 1000  # Undos of undos; a longer chain is not one that a person made.


_Described = tuple[FileChange, Sequence[Region], Sequence[Touched]]
"""A file of a change with the differences in it, and the entries that these touch."""


class ChangeLog(Records):
    """The log of the changes of some stores; safe to share between threads. All paths are relative to the workspace."""

    def __init__(self, stores: SharedLog, folder: StateFolder) -> None:
        """Nothing is opened yet; the log is in the private `folder`."""
        super().__init__(folder)
        self._stores = stores
        self.keep_bytes = KEEP_BYTES

    def _run(self, work: Callable[[sqlite3.Connection], T], default: T) -> T:
        with self._stores.glance():
            return self.file.run(work, default)

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

    def done(self, change: Change) -> None:
        """Record a change whose files are in place."""
        by_place = is_by_place(change.actor, change.operation)
        with self._stores.glance():  # Compared before the database is locked: other processes wait for it.
            files = [self._described(file, by_place=by_place) for file in change.files]

        def work(db: sqlite3.Connection) -> None:
            _add(db, change, files)
            for file in change.files:
                _put_seen(db, file.path, file.after, None)
            _thin(db, self.keep_bytes, KEEP_NEWEST, change.time - KEEP_REMOVED)

        self._run(work, None)

    def note(self, operation: str, summary: str, *, actor: str, now: datetime, undoes: str | None = None) -> None:
        """Record a decision of a person that changed no file.

        `undoes` is the change that it is about, which is not undone by it.
        """
        change = Change(new_id(now), now, actor, operation, summary, (), undoes=undoes)
        self._run(lambda db: _add(db, change, ()), None)

    def _described(self, file: FileChange, *, by_place: bool = False) -> _Described:
        regions = self.touched_by(file)
        return file, regions, self.entries_of(file.path, regions, by_place=by_place)

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
                known = _versions(db) if found else {}  # Nearly all files are as they were seen last.
                return sum(self._look(db, *one, now) for one in found if known.get(one[0]) != one[1].version)

            return self._run(work, 0)

    def expect(self, paths: Iterable[str]) -> None:
        """Note of files never seen that they were missing at the last look, so that they are noticed as created."""

        def work(db: sqlite3.Connection) -> None:
            for path in paths:
                if last_look(db, path) is None:
                    _put_seen(db, path, None, None)

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
        seen = last_look(db, path)
        if seen is None or seen.identity == identity(data):
            # The first sight is not a change. A file that does not exist has not been seen.
            if (seen is None and data is not None) or (seen is not None and version and version != seen.version):
                _put_seen(db, path, data, version)
            return False
        described = self._described(FileChange(path, seen.data, data))
        file, _, touched = described
        name = path.rpartition("/")[2]
        words = "edited" if [one.title for one in touched] == [name] else touched_in(touched)
        if data is None or seen.identity is None:
            words = "removed" if data is None else "created"
        writer = self._stores.reading(path)[0].writer
        change = Change(new_id(now), now, writer, "edit", f"{name}: {words}", (file,))
        _add(db, change, [described])
        _put_seen(db, path, data, version)
        return True

    def passing(self, path: str, stored: Stored, within: float) -> bool:
        """Return whether a file changed less than `within` seconds ago to a state that does not last.

        These states are missing, empty, cut off, and less than half as long as the file was seen last.
        """
        return bool(self._read(lambda db: self._is_passing(db, path, stored, within)))

    def _is_passing(self, db: sqlite3.Connection, path: str, stored: Stored, within: float) -> bool:
        seen = last_look(db, path)
        changed = stored.version.mtime_ns if stored.exists else self._folder_time(path)
        size = 0 if seen is None or seen.identity is None else seen.identity[0]
        if len(stored.data) >= size or time.time_ns() - changed > within * 1e9:
            return False
        halved = not stored.exists or len(stored.data) * 2 < size
        return halved or ((seen and seen.data) or b"").startswith(stored.data)

    def _folder_time(self, path: str) -> int:
        store = self._stores.store_of(path)
        try:
            return 0 if store is None else os.stat((store.workspace / path).parent).st_mtime_ns
        except OSError:
            return 0

    def to_look_at(self) -> tuple[str, ...]:
        """Return the files that existed when they were seen last, and those that were missing then and exist now."""
        with self._stores.glance():
            return tuple(path for path, there in self.seen().items() if there or self._exists(path))

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


# -- writing to the database ------------------------------------------------------------------------------------


def _add(db: sqlite3.Connection, change: Change, files: Iterable[_Described]) -> None:
    """Record a change that was made."""
    texts = (change.actor, change.operation, change.summary, change.reviewer)
    actor, operation, summary, reviewer = (None if text is None else _plain_text(text) for text in texts)
    cursor = db.execute(
        "INSERT INTO change (id, time, actor, operation, summary, undoes, redoes, reviewer, proposal)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(change.id, time_text(change.time), actor, operation, summary),
            *(change.undoes, change.redoes, reviewer, change.proposal),
        ),
    )
    seq = cursor.lastrowid
    for number, (file, regions, touched) in enumerate(files):
        sides = [identity(data) or (None, None) for data in (file.before, file.after)]
        kept, mode = sum(region.size for region in regions), file.mode if file.after is None else None
        row = (seq, number, key(file.path), *sides[0], *sides[1], kept, mode)
        db.execute("INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        db.executemany(
            "INSERT INTO region VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (seq, number, k, *one[:4], None if one.section is None else encode(one.section))
                for k, one in enumerate(regions)
            ],
        )
        db.executemany(
            "INSERT INTO touched VALUES (?, ?, ?, ?, ?, ?)",
            [(seq, number, one.ref, one.old_ref, _plain_text(one.title), one.kind) for one in touched],
        )
    if not change.files:  # A note is about a change, and does not undo it.
        return
    for other, by in ((change.undoes, change.id), (change.redoes, None)):
        if other is not None:
            _mark_undone(db, other, by)


def _plain_text(text: str) -> str:
    """Return text that the database can hold; bytes that are not UTF-8 become marks."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _mark_undone(db: sqlite3.Connection, change_id: str, by: str | None) -> None:
    """Note what undid a change, None where it counts again; what it undid or redid itself turns with it."""
    for _ in range(_LONGEST_CHAIN):
        db.execute("UPDATE change SET undone_by = ? WHERE id = ?", (by, change_id))
        row = db.execute("SELECT undoes, redoes FROM change WHERE id = ?", (change_id,)).fetchone()
        if row is None or row == (None, None):
            return
        change_id, by = (row[1], by) if row[0] is None else (row[0], change_id if by is None else None)


def _versions(db: sqlite3.Connection) -> dict[str, FileVersion]:
    """Return the version of every file that existed when it was seen last, as far as it was certain."""
    found = db.execute("SELECT path, dev, ino, size, mtime, ctime FROM seen WHERE size IS NOT NULL AND ino IS NOT NULL")
    return {os.fsdecode(path): FileVersion(*version) for path, *version in found}


def _put_seen(db: sqlite3.Connection, path: str, data: bytes | None, version: FileVersion | None) -> None:
    """Note how a file is now; `version` if it is certain."""
    stamps: tuple[int | None, ...] = (None, None, None, None)
    if version is not None and version.exists and max(version.dev, version.ino) < 1 << 63:  # SQLite's are signed.
        stamps = (version.dev, version.ino, version.mtime_ns, version.ctime_ns)
    packed = None if data is None else zlib.compress(data, 1)
    row = (key(path), *(identity(data) or (None, None)), *stamps, packed)
    db.execute("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)


def _thin(db: sqlite3.Connection, keep_bytes: int, newest_kept: int, removed_since: datetime) -> None:
    """Forget the oldest bytes while more than `keep_bytes` are kept.

    Not those of the newest changes of each file, and not those of files removed since a time; a file that was removed
    before it and is still gone has nothing that is worth keeping.
    """
    excess = db.execute("SELECT COALESCE(SUM(kept), 0) FROM file").fetchone()[0] - keep_bytes
    if excess <= 0:
        return
    later = "(SELECT COUNT(*) FROM file AS later WHERE later.path = file.path AND later.seq > file.seq)"
    found = db.execute(
        "SELECT file.seq, file.n, file.kept FROM file JOIN change USING (seq)"
        " WHERE file.kept > 0 AND NOT (file.after_size IS NULL AND change.time > ?)"
        f" AND ({later} >= ? OR (file.after_size IS NULL AND {later} = 0)) ORDER BY file.seq",
        (time_text(removed_since), newest_kept),
    ).fetchall()
    for seq, number, kept in found:
        if excess <= 0:
            return
        db.execute("DELETE FROM region WHERE seq = ? AND n = ?", (seq, number))
        db.execute("UPDATE file SET kept = NULL WHERE seq = ? AND n = ?", (seq, number))
        excess -= kept
