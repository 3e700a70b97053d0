"""The change log as it is read: its tables, the changes that fit a filter, and the bytes of files before and after."""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, MutableSequence, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

from memory.document.compare import Region, apply, inverted
from memory.document.lines import decode

from .changes import ChangeRecord, RecordedFile, Touched, the_one
from .database import Database, DatabaseKind
from .own_folders import StateFolder
from .safe_open import FileVersion

T = TypeVar("T")
_TABLES = """
CREATE TABLE change (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, time TEXT NOT NULL, actor TEXT NOT NULL,
    operation TEXT NOT NULL, summary TEXT NOT NULL, undone_by TEXT, undoes TEXT, redoes TEXT, reviewer TEXT,
    proposal TEXT);
CREATE INDEX change_proposal ON change (proposal) WHERE proposal IS NOT NULL;
CREATE TABLE file (seq INTEGER NOT NULL REFERENCES change ON DELETE CASCADE, n INTEGER NOT NULL, path TEXT NOT NULL,
    before_size INTEGER, before_hash BLOB, after_size INTEGER, after_hash BLOB, kept INTEGER, mode INTEGER,
    PRIMARY KEY (seq, n)) WITHOUT ROWID;
CREATE INDEX file_path ON file (path, seq);
CREATE TABLE region (seq INTEGER NOT NULL REFERENCES change ON DELETE CASCADE, n INTEGER NOT NULL, k INTEGER NOT NULL,
    kind TEXT NOT NULL, start INTEGER NOT NULL, before BLOB NOT NULL, after BLOB NOT NULL, section BLOB);
CREATE INDEX region_file ON region (seq, n, k);
CREATE TABLE touched (seq INTEGER NOT NULL REFERENCES change ON DELETE CASCADE, n INTEGER NOT NULL, ref TEXT,
    old_ref TEXT, title BLOB NOT NULL, kind TEXT NOT NULL);
CREATE INDEX touched_seq ON touched (seq);
CREATE INDEX touched_ref ON touched (ref) WHERE ref IS NOT NULL;
CREATE TABLE seen (path TEXT PRIMARY KEY, size INTEGER, hash BLOB, dev INTEGER, ino INTEGER, mtime INTEGER,
    ctime INTEGER, data BLOB) WITHOUT ROWID;
"""
CHANGES = DatabaseKind("changes.sqlite", "the change log", _TABLES, 9)
"""The change log. `seen` holds each file as it was seen last, with its bytes packed and its version if that is certain.
"""
MOST_TOUCHED = 100
"""How many entries of a change are listed with it."""
KEEP = "keep"
"""The operation of a note that a person leaves what another program removed as it is."""
NOT_KEPT = f"id NOT IN (SELECT undoes FROM change WHERE operation = '{KEEP}' AND undoes IS NOT NULL)"
"""The condition of changes about which there is no such note."""
OF_FILE = "seq IN (SELECT seq FROM file WHERE path = ?)"
"""The condition of changes of a file, by its `key`."""
_HASH = 16  # This many bytes of a SHA-256 distinguish contents.
Identity = tuple[int, bytes] | None
"""The size and the hash of a file's bytes, None where there is no file."""


def identity(data: bytes | None) -> Identity:
    """Return the size and the hash of bytes, None for no file."""
    return None if data is None else (len(data), sha256(data).digest()[:_HASH])


def key(path: str) -> str | bytes:
    """Return a path as the database holds it: bytes where it is not UTF-8; `os.fsdecode` reverses it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def time_text(time: datetime) -> str:
    """Return an aware time in a form that sorts."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")


class LastLook(NamedTuple):
    """How a file was seen last: size and hash, its version if that was certain, and its bytes, packed."""

    identity: Identity
    version: FileVersion | None
    packed: bytes | None

    @property
    def data(self) -> bytes | None:
        """The bytes of the file; None where there was no file, or where they are not known."""
        try:
            data = None if self.packed is None else zlib.decompress(self.packed)
        except zlib.error:
            return None
        return data if identity(data) == self.identity else None


def last_look(db: sqlite3.Connection, path: str) -> LastLook | None:
    """Return how a file was seen last, None where it was never seen."""
    query = "SELECT size, hash, dev, ino, mtime, ctime, data FROM seen WHERE path = ?"
    row = db.execute(query, (key(path),)).fetchone()
    if row is None:
        return None
    size, hashed, dev, ino, mtime, ctime, data = row
    version = None if ino is None or size is None else FileVersion(dev, ino, size, mtime, ctime)
    return LastLook(_identity(size, hashed), version, data)


class Records:
    """Reads the changes in a log; what cannot be read is not there, and told by `warnings`."""

    def __init__(self, folder: StateFolder) -> None:
        """Nothing is opened yet; the log is in the private `folder`."""
        self.file = Database(folder, CHANGES)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The errors of the log, or those after a change that was made, since the process began."""
        return tuple(self.file.warnings)

    def warn(self, text: str) -> None:
        """Add a sentence to the warnings, once."""
        self.file.warn(text)

    def close(self) -> None:
        """Close the log after the work that other threads do in it; the next use opens it again."""
        self.file.close()

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Return the result of a query, None where there is no log or it cannot be read."""
        return self.file.run(work, None, make=False)

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self._read(lambda db: db.execute(query, values).fetchall()) or []

    # -- changes ------------------------------------------------------------------------------------------------

    def list(self, limit: int = 0, **filters: Any) -> tuple[ChangeRecord, ...]:
        """Return the newest `limit` changes that fit the filters of `conditions`, newest first; 0 for all."""
        return tuple(self.records(*conditions(**filters), limit))

    def records(self, where: str, values: Sequence[object], limit: int) -> Sequence[ChangeRecord]:
        """Return the newest changes of which an SQL condition holds; `limit` 0 is all."""
        columns = "seq, id, time, actor, operation, summary, undone_by, undoes, redoes, reviewer, proposal"
        query = f"SELECT {columns} FROM change WHERE {where} ORDER BY seq DESC LIMIT ?"

        def work(db: sqlite3.Connection) -> Sequence[ChangeRecord]:
            return [_record(db, *row) for row in db.execute(query, (*values, limit or -1)).fetchall()]

        return self._read(work) or ()

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
        found = self._rows("SELECT coalesce(max(seq), 0), count(*), count(undone_by) FROM change")
        newest, count, undone = found[0] if found else (0, 0, 0)
        return newest, count, undone

    def count(self, after: int, others_than: Collection[str], most: int) -> int:
        """Return how many changes after a `seq` other actors than these made, undone ones left out, up to `most`."""
        actors = ", ".join("?" * len(others_than))
        query = f"SELECT 1 FROM change WHERE seq > ? AND undone_by IS NULL AND actor NOT IN ({actors}) LIMIT ?"
        return len(self._rows(query, after, *others_than, most))

    def newer_name(self, ref: str) -> str | None:
        """Return the ref that an entry has now by its last renaming, None where no change gave it another one."""
        query = "SELECT ref FROM touched WHERE old_ref = ? AND ref IS NOT NULL ORDER BY seq DESC LIMIT 1"
        found, seen = None, {ref}
        while (row := self._rows(query, found or ref)) and row[0][0] not in seen:
            found = str(row[0][0])
            seen.add(found)
        return found

    # -- bytes --------------------------------------------------------------------------------------------------

    def seen(self) -> dict[str, bool]:
        """Return every file that was ever seen, and whether it existed when it was seen last."""
        return {os.fsdecode(path): size is not None for path, size in self._rows("SELECT path, size FROM seen")}

    def last_bytes(self, path: str) -> bytes | None:
        """Return the bytes of a file as they were seen last; None for no file, or where they are not known."""
        seen = self._read(lambda db: last_look(db, path))
        return None if seen is None else seen.data

    def regions_by_file(self, record: ChangeRecord, path: str = "") -> Mapping[str, Sequence[Region]]:
        """Return the differences in each file of a change, or in one; none where the bytes were thinned out."""
        query = (
            "SELECT path, kind, start, before, after, section FROM region JOIN file USING (seq, n)"
            f" WHERE seq = ? {'AND path = ?' if path else ''} ORDER BY n, k"
        )
        found: defaultdict[str, MutableSequence[Region]] = defaultdict(list)
        for name, kind, start, before, after, section in self._rows(query, record.seq, *([key(path)] if path else [])):
            one = Region(kind, start, before, after, None if section is None else decode(section))
            found[os.fsdecode(name)].append(one)
        return found

    def regions(self, record: ChangeRecord, file: RecordedFile) -> Sequence[Region]:
        """Return the differences in one file of a change; none where the bytes were thinned out."""
        return self.regions_by_file(record, file.path).get(file.path, ())

    def before(self, change_id: str, path: str) -> bytes | None:
        """Return the bytes that a file had before a change; None for no file, or where they are no longer known."""
        record = self.get(change_id)
        file = next((file for file in record.files if file.path == path), None)
        found = None if file is None else self.versions(record, file)
        return None if found is None else found[0]

    def versions(self, record: ChangeRecord, file: RecordedFile) -> tuple[bytes | None, bytes | None] | None:
        """Return a file before and after a change (None: no file); None where that is no longer known."""
        try:
            if file.kept is None:
                return None
            if file.after is None:
                return apply(inverted(self.regions(record, file)), b""), None
            if file.before is None:
                return None, apply(self.regions(record, file), b"")
        except ValueError:  # Rows that do not belong together.
            return None
        for one, before, data in self.walk(file.path, self.last_bytes(file.path) or b"", record.seq):
            if one.seq == record.seq and identity(data) == file.after:
                return before, data
        return None

    def walk(self, path: str, data: bytes, since: int = 0) -> Iterator[tuple[ChangeRecord, bytes, bytes]]:
        """Yield the changes of a file, newest first, with its bytes before and after each (empty: no file), from its
        bytes now back to the change of a `seq`; it ends where they are no longer known.
        """
        for record in self.records(f"seq >= ? AND {OF_FILE}", (since, key(path)), 0):
            file = next(file for file in record.files if file.path == path)
            if file.kept is None:
                return
            try:
                before = apply(inverted(self.regions(record, file)), data)
            except ValueError:  # Rows that do not belong together.
                return
            yield record, before, data
            data = before


def _record(
    db: sqlite3.Connection, seq: int, change_id: str, time: str, actor: str, operation: str, summary: str, *rest: Any
) -> ChangeRecord:
    columns = "path, before_size, before_hash, after_size, after_hash, kept, mode"
    rows = db.execute(f"SELECT {columns} FROM file WHERE seq = ? ORDER BY n", (seq,)).fetchall()
    files = tuple(
        RecordedFile(os.fsdecode(path), _identity(*sides[:2]), _identity(*sides[2:4]), *sides[4:])
        for path, *sides in rows
    )
    query = "SELECT n, ref, title, kind, old_ref FROM touched WHERE seq = ? ORDER BY rowid LIMIT ?"
    touched = [Touched(files[n].path, *more) for n, *more in db.execute(query, (seq, MOST_TOUCHED + 1))]
    at = datetime.fromisoformat(f"{time}+00:00")
    named = len(touched) <= MOST_TOUCHED
    return ChangeRecord(
        seq, change_id, at, actor, operation, summary, files, tuple(touched[:MOST_TOUCHED]), named, *rest
    )


def _identity(size: int | None, hashed: bytes) -> Identity:
    return None if size is None else (size, hashed)


# -- filters ----------------------------------------------------------------------------------------------------


def conditions(
    *,
    actor: str | None = None,
    file: str | None = None,
    entry: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    before: int | None = None,
    without: str | None = None,
) -> tuple[str, Sequence[object]]:
    """Return the SQL condition of changes that fit all filters, and its values; without filters of every change.

    `before` is the `seq` that a page goes on from. `actor` may end in `*`, and so may `without`, whose changes are left
    out; `file` is a path, its end from a `/` on, or a part with `*`; `entry` is a ref, its hex digits, or a part of a
    title, and follows an entry through its renames; `since` and `until` are aware and inclusive.
    """
    pattern = "" if file is None else file if "*" in file else _escaped(file)
    found: list[tuple[str, Sequence[object]]] = [("1", ())]
    if actor is not None:
        found.append(("actor GLOB ?" if "*" in actor else "actor = ?", (actor,)))
    if without is not None:
        found.append(("actor NOT GLOB ?", (without,)))
    if file is not None:
        found.append(("seq IN (SELECT seq FROM file WHERE path GLOB ? OR path GLOB ?)", (pattern, f"*/{pattern}")))
    if since is not None:
        found.append(("time >= ?", (time_text(since),)))
    if until is not None:
        found.append(("time <= ?", (time_text(until),)))
    if before is not None:
        found.append(("seq < ?", (before,)))
    if entry is not None:
        found.append(_touching(entry))
    return " AND ".join(one for one, _ in found), [value for _, values in found for value in values]


_TOUCHING = """seq IN (
    WITH RECURSIVE name (ref) AS (
        SELECT ref FROM touched WHERE ref GLOB ? UNION SELECT old_ref FROM touched WHERE old_ref GLOB ?
        UNION SELECT old_ref FROM touched JOIN name USING (ref) WHERE old_ref IS NOT NULL
    )
    SELECT seq FROM touched WHERE ref IN name OR old_ref IN name
)"""
"""The condition of changes that touch an entry, under its older names too; its values are a pattern of refs, twice."""


def _touching(entry: str) -> tuple[str, Sequence[object]]:
    """Return the condition of changes that touch an entry, by its ref, its hex digits or a part of its title."""
    kind, mark, digits = entry.strip().rpartition("#")
    digits = digits[:10].lower()
    if not (mark or (len(digits) >= 7 and all(one in "0123456789abcdef" for one in digits))):
        return "seq IN (SELECT seq FROM touched WHERE instr(lower(title), ?) > 0)", [entry.strip().lower()]
    pattern = f"{_escaped(kind) or '*'}#{_escaped(digits)}*"
    return _TOUCHING, [pattern, pattern]


def _escaped(text: str) -> str:
    """Return text that GLOB takes literally."""
    return "".join(f"[{one}]" if one in "*?[" else one for one in text)
