"""The change log: every change of every writer, with what was different, in a database outside of the workspace.

A change is a row before its files move (`begin`) and counts once they did (`done`). Bytes are kept as the regions
that differ. How each file looked last is kept too, so that what another program did is noticed on the next look and
becomes a change of the actor `outside`; the first sight of a file is no change.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memory.document.compare import Region, apply, compare, compare_lines, is_lines, lines_of
from memory.document.match import units_of
from memory.errors import MemdeckError
from memory.storage.changes import (
    OUTSIDE,
    Change,
    FileChange,
    Touched,
    TouchKind,
    is_by_place,
    new_id,
    touched_in,
)
from memory.storage.own_folders import StateFolder
from memory.storage.safe_open import FileVersion

from . import rows
from .database import LogFile

if TYPE_CHECKING:
    from memory.storage.store import SharedLog

KEEP_BYTES = 50_000_000
"""How many bytes of changes are kept."""
KEEP_NEWEST = 5
"""How many of the newest changes of each file keep their bytes whatever their size."""
KEEP_REMOVED = timedelta(days=30)
"""How long a whole file that was removed is kept at least."""
_NAME_BYTES = 200_000  # entries of a larger change are named when somebody asks for changes by entry
_GROWTH = 1 << 18
_MOST_CHANGES = 500
_THIN_EVERY = 50
_HASH = 16  # So many bytes of a SHA-256 tell bytes from others.
_SETTLED_NS = 20_000_000
_PASSING_NS = 5_000_000_000

Look = Callable[[str], "tuple[bytes | None, FileVersion | None]"]
"""Returns the bytes of a file as they are now, None where there is none, and their version if that is sure."""
Mine = Callable[[str], bool]
"""Tells whether a file is one of the store whose lock is held: about changes of others nothing can be decided."""


class FoundFile(NamedTuple):
    """A file as it was read: bytes (None: no file), version, and how long ago it was changed, in nanoseconds."""

    path: str
    data: bytes | None
    version: FileVersion
    age_ns: int

    @property
    def settled(self) -> bool:
        """Whether the version would be another one after a further write."""
        return self.data is not None and self.age_ns > _SETTLED_NS


class ChangeLog:
    """The log of one workspace; not safe between threads, `History` sees to that."""

    def __init__(self, folder: StateFolder | None, reading: SharedLog, *, keep_bytes: int = KEEP_BYTES) -> None:
        """Nothing is opened yet; without a folder the log lives as long as the process. `reading` knows the files."""
        self.file = LogFile(folder)
        self.reading = reading
        self._keep_bytes = keep_bytes
        self._known: dict[str, tuple[bytes, rows.Identity]] = {}  # The last bytes of a file.
        self._compared: dict[str, tuple[bytes | None, bytes, tuple[Region, ...]]] = {}
        self._own: dict[str, bytes | None] = {}  # What this process wrote last.
        self._since_thinned = _THIN_EVERY

    # -- what a transaction tells -------------------------------------------------------------------------------

    def begin(self, change: Change, look: Look, mine: Mine) -> bool:
        """Note a change whose files are about to move; what others did to them before is noted first.

        False where it could not be noted: then `done` would wait for the log in vain.
        """
        # Looked at before the database is locked: other processes wait for it.
        planned = [(file, regions := self._told(file) or self.regions(file), _size(regions)) for file in change.files]
        self._compared.clear()

        def work(db: sqlite3.Connection) -> bool:
            self._settle(db, look, mine)
            for file in change.files:
                self._notice(db, file.path, file.before, None, change.time)
            self._insert(db, change, planned, "pending")
            return True

        return self.file.run(work, False)

    def done(self, change: Change, versions: dict[str, FileVersion]) -> None:
        """Note that the files of a change are in their places; `versions` as far as they are known for sure."""

        self._own.update({file.path: file.after for file in change.files})

        def work(db: sqlite3.Connection) -> None:
            if not rows.finish(db, change.id):
                return
            for file in change.files:
                self._remember(file.path, file.after)
                rows.put_seen(db, file.path, self.identity(file.path, file.after), versions.get(file.path))
            rows.mark(db, change.id, change.undoes, change.redoes)
            self._since_thinned += 1 + sum([len(file.before or b"") for file in change.files]) // _GROWTH
            if self._since_thinned >= _THIN_EVERY:
                self._since_thinned = 0
                self._thin(db, change.time)

        self.file.run(work, None)

    def note(self, change: Change) -> None:
        """Note something without files that is done already."""
        self.file.run(lambda db: self._insert(db, change, (), "done"), None)

    def name_all(self, db: sqlite3.Connection) -> None:
        """Name the entries of changes that were too long to be named when they were made."""
        for seq in rows.unnamed(db):
            (record,) = rows.records(db, "seq = ?", (seq,), 1)
            by_place = is_by_place(record.actor, record.operation)
            for number, path, _ in rows.files_of(db, seq):
                found = self.touched(path, rows.regions_of(db, seq, number), by_place=by_place)
                rows.add_touched(db, seq, number, found)
            rows.set_named(db, seq)

    # -- what others did ----------------------------------------------------------------------------------------

    def notice(self, found: Sequence[FoundFile], now: datetime, same: Callable[[FoundFile], bool]) -> int:
        """Compare files with how they looked last; return how many changes of other programs were noted.

        `same` tells, while no other process can write to the log, whether a file still is what was read. A file that
        is missing, empty, cut off or less than half as long is given some seconds to come back.
        """

        def work(db: sqlite3.Connection) -> int:
            count = 0
            # Nearly all files are those that were seen last: all are told in one go.
            known = rows.versions(db) if found else {}
            for one in found:
                if one.settled and known.get(one.path) == one.version:
                    continue
                seen = rows.get_seen(db, one.path)
                if one.data is None and (seen is None or seen.identity is None):
                    continue
                if rows.is_pending(db, one.path) or not same(one) or (seen and self._passing(db, one, seen.identity)):
                    continue
                count += self._notice(db, one.path, one.data, one.version if one.settled else None, now)
            return count

        return self.file.run(work, 0)

    def passing(self, one: FoundFile) -> bool:
        """Tell whether a file may be in the midst of another program's writing: missing, cut off or halved just now."""
        if one.data is not None and self._own.get(one.path) is one.data:
            return False

        def work(db: sqlite3.Connection) -> bool:
            seen = rows.get_seen(db, one.path)
            return seen is not None and self._passing(db, one, seen.identity)

        return self.file.run(work, False, make=False)

    def _passing(self, db: sqlite3.Connection, one: FoundFile, before: rows.Identity) -> bool:
        """Tell whether a file may be on its way from one state to the next: halved, and only just."""
        if before is None or one.age_ns > _PASSING_NS:
            return False
        if one.data is None or len(one.data) * 2 < before[0]:
            return True
        if len(one.data) >= before[0]:
            return False
        old = self._last_bytes(db, one.path, before)
        return old is not None and old.startswith(one.data)

    def last_known(self, path: str) -> tuple[bool, bytes | None]:
        """Return whether a file was ever seen, and its bytes as they were known last (None: no file, or lost)."""

        def work(db: sqlite3.Connection) -> tuple[bool, bytes | None]:
            seen = rows.get_seen(db, path)
            return (False, None) if seen is None else (True, self._last_bytes(db, path, seen.identity))

        nothing: tuple[bool, bytes | None] = (False, None)
        return self.file.run(work, nothing, make=False)

    def settle(self, look: Look, mine: Mine) -> None:
        """Decide about changes that a crash left open; only while no transaction of that store is under way."""
        self.file.run(lambda db: self._settle(db, look, mine), None, make=False)

    # -- bytes --------------------------------------------------------------------------------------------------

    def expect(
        self, path: str, data: bytes, before: bytes | None = None, regions: Sequence[Region] | None = None
    ) -> None:
        """Keep for a change that is about to write some bytes what is different from the bytes `before`."""
        if regions is not None:
            self._compared[path] = (before, data, tuple(regions))

    def identity(self, path: str, data: bytes | None) -> rows.Identity:
        """Return (size, hash) of bytes; for the last bytes of a file it is known."""
        if data is None:
            return None
        known = self._known.get(path)
        return known[1] if known is not None and known[0] is data else (len(data), sha256(data).digest()[:_HASH])

    def _remember(self, path: str, data: bytes | None) -> None:
        """Keep the last bytes of a file; of one that is gone nobody asks for them, and there may be many of those."""
        if data is None:
            self._known.pop(path, None)
        else:
            self._known[path] = (data, self.identity(path, data))

    def _told(self, file: FileChange) -> tuple[Region, ...] | None:
        """Return what is different in a file, where whoever changes these very bytes has said so."""
        before, after, regions = self._compared.get(file.path, (None, b"", ()))
        return regions if before is file.before and after is file.after else None

    def regions(self, file: FileChange) -> tuple[Region, ...]:
        """Return what is different in a file."""
        before, after = file.before or b"", file.after or b""
        if is_lines(file.path):
            return compare_lines(before, after)
        old, new = self.reading.document(file.path, before), self.reading.document(file.path, after)
        if old is None or new is None:
            return compare_lines(before, after, "bytes")
        return compare(old, new)

    # -- inside of a transaction of the database ----------------------------------------------------------------

    def _insert(
        self,
        db: sqlite3.Connection,
        change: Change,
        planned: Sequence[tuple[FileChange, tuple[Region, ...], int]],
        status: str,
    ) -> None:
        named: list[list[Touched]] | None = None
        if sum([size for *_, size in planned]) <= _NAME_BYTES:
            by_place = is_by_place(change.actor, change.operation)
            named = [self.touched(file.path, regions, by_place=by_place) for file, regions, _ in planned]
        seq = rows.add_change(db, change, status, named=named is not None)
        for number, (file, regions, size) in enumerate(planned):
            before = self.identity(file.path, file.before)
            self._rebase(db, seq, file, size)
            after = self.identity(file.path, file.after)
            rows.add_file(db, seq, number, file.path, before, after, size, file.mode)
            rows.add_regions(db, seq, number, regions)
            if named is not None:
                rows.add_touched(db, seq, number, named[number])

    def touched(self, path: str, regions: Sequence[Region], *, by_place: bool) -> list[Touched]:
        """Return the entries of one file that some regions touch, and the sections whose own text they change.

        `by_place` as in `memory.document.match.units_of`.
        """
        found = []
        for unit in units_of(regions, by_place=by_place):
            one = None if unit.before is None else self.reading.ref(path, unit.section, unit.before)
            other = None if unit.after is None else self.reading.ref(path, unit.new_section, unit.after)
            entry = unit.after or unit.before
            assert entry is not None
            if unit.before is None or unit.after is None:
                found.append(Touched(path, one or other, entry.title, "added" if unit.after else "removed"))
            else:
                kind: TouchKind = "edited" if unit.section == unit.new_section else "moved"
                found.append(Touched(path, other, entry.title, kind, None if one == other else one))
        found += [
            Touched(path, None, region.section or path.rpartition("/")[2], "edited")
            for region in regions
            if region.kind == "body" and region.before and region.after
        ]
        for region in regions:
            if region.kind == "lines":
                found += self._touched_lines(path, region)
        return found

    def _touched_lines(self, path: str, region: Region) -> list[Touched]:
        """Return the lines that went and came; one with a ref that did both was edited."""
        gone = [self.reading.line(path, line) for line in lines_of(region.before)]
        come = [self.reading.line(path, line) for line in lines_of(region.after)]
        old, new = {ref for ref, _ in gone if ref}, {ref for ref, _ in come if ref}
        found = [Touched(path, ref, title, "removed") for ref, title in gone if ref is None or ref not in new]
        return found + [
            Touched(path, ref, title, "edited" if ref is not None and ref in old else "added") for ref, title in come
        ]

    def removed_lines(self, path: str, regions: Sequence[Region]) -> list[tuple[bytes, str]]:
        """Return the lines that some regions of a file of lines removed, each with its title."""
        come = {self.reading.line(path, line)[0] for one in regions for line in lines_of(one.after)}
        gone = [(line, *self.reading.line(path, line)) for one in regions for line in lines_of(one.before)]
        return [(line, title) for line, ref, title in gone if ref is None or ref not in come]

    def _notice(
        self, db: sqlite3.Connection, path: str, data: bytes | None, version: FileVersion | None, now: datetime
    ) -> bool:
        """Compare bytes with the last known ones; note the difference as a change from outside."""
        seen = rows.get_seen(db, path)
        identity = self.identity(path, data)
        if seen is None:
            # The first sight is no change. A file that is not there has not been seen.
            if data is not None:
                self._remember(path, data)
                rows.put_base(db, path, rows.newest(db) + 1, data)
                rows.put_seen(db, path, identity, version)
            return False
        if seen.identity == identity:
            if version is not None and seen.version != version:
                rows.put_seen(db, path, identity, version)
            return False
        before = self._last_bytes(db, path, seen.identity)
        lost = before is None and seen.identity is not None
        file = FileChange(path, before, data)
        regions = () if lost else self.regions(file)
        self._remember(path, data)
        size = _size(regions)
        named = self.touched(path, regions, by_place=False) if size <= _NAME_BYTES else None
        what = "changed" if named is None else touched_in(named)
        name = path.rpartition("/")[2]
        words = "removed" if data is None else "created" if before is None and not lost else what
        change = Change(new_id(now), now, OUTSIDE, "edit", f"{name}: {words}", (file,))
        seq = rows.add_change(db, change, "done", named=named is not None)
        kept = None if lost else size
        self._rebase(db, seq, file, kept or 0)
        rows.add_file(db, seq, 0, path, seen.identity, identity, kept)
        rows.add_regions(db, seq, 0, regions)
        if named is not None:
            rows.add_touched(db, seq, 0, named)
        if lost:
            rows.put_base(db, path, seq + 1, data)
        rows.put_seen(db, path, identity, version)
        return True

    def _last_bytes(self, db: sqlite3.Connection, path: str, identity: rows.Identity) -> bytes | None:
        """Return the bytes of a file as they were known last: those before the base, with every region since."""
        known = self._known.get(path)
        if known is not None and known[1] == identity:
            return known[0]
        if identity is None:
            return None
        found = rows.get_base(db, path)
        if found is None:
            return None
        seq, data = found
        try:
            for regions in rows.regions_since(db, path, seq):
                data = apply(regions, data)
        except ValueError:
            return None
        return data if self.identity(path, data) == identity else None

    def _rebase(self, db: sqlite3.Connection, seq: int, file: FileChange, kept: int) -> None:
        """Take the bytes before a change as the new base where what came since the old one has grown long."""
        grown = rows.base_grown(db, file.path)
        size = len(file.before or b"")
        if grown is None or grown[0] > _GROWTH + size // 2 or grown[1] > _MOST_CHANGES:
            rows.put_base(db, file.path, seq, file.before)
        rows.grow_base(db, file.path, kept)

    def _settle(self, db: sqlite3.Connection, look: Look, mine: Mine) -> None:
        """Decide about every open change by the files: those that hold its new bytes were moved by it."""
        for seq, change_id, undoes, redoes in rows.pending(db):
            files = rows.files_of(db, seq)
            if not all(mine(path) for _, path, _ in files):
                continue
            try:
                found = [(number, path, after, *look(path)) for number, path, after in files]
            except MemdeckError:
                continue  # a file that cannot be read now says nothing
            moved = 0
            for number, path, after, data, version in found:
                if self.identity(path, data) == after:
                    moved += 1
                    rows.put_seen(db, path, after, version)
                else:
                    # What stands there instead is noticed as somebody else's change.
                    rows.drop_file(db, seq, number)
            if moved:
                rows.finish(db, change_id)
                rows.mark(db, change_id, undoes, redoes)
            else:
                rows.drop(db, seq)

    def _thin(self, db: sqlite3.Connection, now: datetime) -> None:
        """Let go of the oldest bytes when they grow over the budget."""
        excess = rows.kept_bytes(db) - self._keep_bytes
        if excess <= 0:
            return
        limit = (now - KEEP_REMOVED).astimezone(UTC)
        for seq, number, kept in rows.thinnable(db, KEEP_NEWEST, limit):
            if excess <= 0:
                return
            rows.thin(db, seq, number)
            excess -= kept


def _size(regions: Sequence[Region]) -> int:
    """Return how many bytes some regions hold."""
    return sum([region.size for region in regions])
