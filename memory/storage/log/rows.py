"""The tables of the change log, their statements, called inside a transaction of the database, and filters of them."""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from memory.document.compare import Region
from memory.document.lines import decode, encode
from memory.storage.changes import Change, ChangeRecord, RecordedFile, Touched
from memory.storage.database import DatabaseKind
from memory.storage.safe_open import FileVersion, digest

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
"""The change log."""
MOST_TOUCHED = 100
"""How many entries of a change are listed with it."""
OF_FILE = "seq IN (SELECT seq FROM file WHERE path = ?)"
"""The condition of changes of a file, by its `key`."""
_LONGEST_CHAIN = 1000  # Undos of undos; a longer chain is not one that a person made.
Identity = tuple[int, bytes] | None
"""The size and the hash of a file's bytes, None where there is no file."""
_HASH = 16  # This many bytes of a SHA-256 distinguish contents.


def identity(data: bytes | None) -> Identity:
    """Return the size and the hash of bytes, None for no file."""
    return None if data is None else (len(data), digest(data)[:_HASH])


class LastLook(NamedTuple):
    """How a file was seen last: size and hash, its version if that was certain, and its bytes, packed."""

    identity: Identity
    version: FileVersion | None
    packed: bytes | None


# -- text and times ---------------------------------------------------------------------------------------------


def key(path: str) -> str | bytes:
    """Return a path as the database holds it: bytes where it is not UTF-8; `os.fsdecode` reverses it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def plain_text(text: str) -> str:
    """Return text that the database can hold; bytes that are not UTF-8 become marks."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def time_text(time: datetime) -> str:
    """Return an aware time in a form that sorts."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")


# -- writing ----------------------------------------------------------------------------------------------------


class NewFile(NamedTuple):
    """One file of a change to be recorded; `kept` is None where its bytes before the change are not known."""

    path: str
    before: Identity
    after: Identity
    kept: int | None
    mode: int | None
    regions: Sequence[Region]
    touched: Sequence[Touched]


def add(db: sqlite3.Connection, change: Change, files: Iterable[NewFile]) -> None:
    """Record a change that was made."""
    texts = (change.actor, change.operation, change.summary)
    reviewer = None if change.reviewer is None else plain_text(change.reviewer)
    cursor = db.execute(
        "INSERT INTO change (id, time, actor, operation, summary, undoes, redoes, reviewer, proposal)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(change.id, time_text(change.time), *map(plain_text, texts)),
            *(change.undoes, change.redoes, reviewer, change.proposal),
        ),
    )
    seq = cursor.lastrowid
    for number, file in enumerate(files):
        mode = file.mode if file.after is None else None
        row = (seq, number, key(file.path), *(file.before or (None, None)), *(file.after or (None, None)))
        db.execute("INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, file.kept, mode))
        db.executemany(
            "INSERT INTO region VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (seq, number, k, *one[:4], None if one.section is None else encode(one.section))
                for k, one in enumerate(file.regions)
            ],
        )
        db.executemany(
            "INSERT INTO touched VALUES (?, ?, ?, ?, ?, ?)",
            [(seq, number, one.ref, one.old_ref, plain_text(one.title), one.kind) for one in file.touched],
        )
    if change.files:  # A note is about a change, and does not undo it.
        mark(db, change.id, change.undoes, change.redoes)


def mark(db: sqlite3.Connection, change_id: str, undoes: str | None, redoes: str | None) -> None:
    """Note which changes are undone now, and which are no longer, because of a change."""
    if undoes is not None:
        _mark_undone(db, undoes, change_id)
    if redoes is not None:
        _mark_undone(db, redoes, None)


def _mark_undone(db: sqlite3.Connection, change_id: str, by: str | None) -> None:
    """Note what undid a change, None where it counts again; what it undid or redid itself turns with it."""
    for _ in range(_LONGEST_CHAIN):
        db.execute("UPDATE change SET undone_by = ? WHERE id = ?", (by, change_id))
        row = db.execute("SELECT undoes, redoes FROM change WHERE id = ?", (change_id,)).fetchone()
        if row is None or row == (None, None):
            return
        change_id, by = (row[1], by) if row[0] is None else (row[0], change_id if by is None else None)


# -- how files were seen last -----------------------------------------------------------------------------------


def get_seen(db: sqlite3.Connection, path: str) -> LastLook | None:
    """Return how a file was seen last, None where it was never seen."""
    query = "SELECT size, hash, dev, ino, mtime, ctime, data FROM seen WHERE path = ?"
    row = db.execute(query, (key(path),)).fetchone()
    if row is None:
        return None
    size, hashed, dev, ino, mtime, ctime, data = row
    version = None if ino is None else FileVersion(dev, ino, size, mtime, ctime)
    return LastLook(None if size is None else (size, hashed), version, data)


def bytes_seen(seen: LastLook | None) -> bytes | None:
    """Return the bytes of a file as it was seen last; None where there was no file, or where they are not known."""
    if seen is None or seen.identity is None or seen.packed is None:
        return None
    try:
        data = zlib.decompress(seen.packed)
    except zlib.error:
        return None
    return data if identity(data) == seen.identity else None


def versions(db: sqlite3.Connection) -> dict[str, FileVersion]:
    """Return the version of every file that existed when it was seen last, as far as it was certain."""
    found = db.execute("SELECT path, dev, ino, size, mtime, ctime FROM seen WHERE size IS NOT NULL AND ino IS NOT NULL")
    return {os.fsdecode(path): FileVersion(*version) for path, *version in found}


def put_seen(db: sqlite3.Connection, path: str, data: bytes | None, version: FileVersion | None) -> None:
    """Note how a file is now; `version` if it is certain."""
    stamps: tuple[int | None, ...] = (None, None, None, None)
    if version is not None and version.exists and max(version.dev, version.ino) < 1 << 63:  # SQLite's are signed.
        stamps = (version.dev, version.ino, version.mtime_ns, version.ctime_ns)
    packed = None if data is None else zlib.compress(data, 1)
    row = (key(path), *(identity(data) or (None, None)), *stamps, packed)
    db.execute("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)


def seen_paths(db: sqlite3.Connection) -> dict[str, bool]:
    """Return every file that was ever seen, and whether it existed when it was seen last."""
    return {os.fsdecode(path): size is not None for path, size in db.execute("SELECT path, size FROM seen")}


# -- thinning ---------------------------------------------------------------------------------------------------


def thin(db: sqlite3.Connection, keep_bytes: int, newest_kept: int, removed_since: datetime) -> None:
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


# -- reading ----------------------------------------------------------------------------------------------------


def records(db: sqlite3.Connection, where: str, values: Sequence[object], limit: int) -> Sequence[ChangeRecord]:
    """Return the changes that fit a condition, newest first; `limit` 0 is all."""
    columns = "seq, id, time, actor, operation, summary, undone_by, undoes, redoes, reviewer, proposal"
    query = f"SELECT {columns} FROM change WHERE {where} ORDER BY seq DESC LIMIT ?"
    return [_record(db, *row) for row in db.execute(query, (*values, limit or -1)).fetchall()]


def _record(
    db: sqlite3.Connection, seq: int, change_id: str, time: str, actor: str, operation: str, summary: str, *rest: Any
) -> ChangeRecord:
    query = "SELECT path, before_size, before_hash, after_size, after_hash, kept FROM file WHERE seq = ? ORDER BY n"
    files = tuple(
        RecordedFile(
            os.fsdecode(path),
            None if before_size is None else (before_size, before_hash),
            None if after_size is None else (after_size, after_hash),
            kept,
        )
        for path, before_size, before_hash, after_size, after_hash, kept in db.execute(query, (seq,))
    )
    query = "SELECT n, ref, title, kind, old_ref FROM touched WHERE seq = ? ORDER BY rowid LIMIT ?"
    touched = [Touched(files[n].path, *more) for n, *more in db.execute(query, (seq, MOST_TOUCHED + 1))]
    at = datetime.fromisoformat(f"{time}+00:00")
    named = len(touched) <= MOST_TOUCHED
    return ChangeRecord(
        seq, change_id, at, actor, operation, summary, files, tuple(touched[:MOST_TOUCHED]), named, *rest
    )


def regions_of(db: sqlite3.Connection, seq: int, path: str) -> tuple[Region, ...]:
    """Return the differences in one file of a change."""
    query = (
        "SELECT kind, start, before, after, section FROM region JOIN file USING (seq, n)"
        " WHERE seq = ? AND path = ? ORDER BY k"
    )
    return tuple(
        Region(kind, start, before, after, None if section is None else decode(section))
        for kind, start, before, after, section in db.execute(query, (seq, key(path)))
    )


def modes_of(db: sqlite3.Connection, change_id: str) -> dict[str, int]:
    """Return the permission bits of the files that a change removed, as far as they are known."""
    query = "SELECT path, mode FROM file JOIN change USING (seq) WHERE id = ? AND mode IS NOT NULL"
    return {os.fsdecode(path): mode & 0o777 for path, mode in db.execute(query, (change_id,))}


def state(db: sqlite3.Connection) -> tuple[int, int, int]:
    """Return the place of the newest change, how many there are, and how many of them are undone."""
    found: tuple[int, int, int] = db.execute(
        "SELECT COALESCE(MAX(seq), 0), COUNT(*), COUNT(undone_by) FROM change"
    ).fetchone()
    return found


def count(db: sqlite3.Connection, after: int, others_than: Collection[str], most: int) -> int:
    """Return how many changes after a place were made by others than these actors and are not undone, up to `most`."""
    actors = ", ".join("?" * len(others_than))
    query = f"SELECT 1 FROM change WHERE seq > ? AND undone_by IS NULL AND actor NOT IN ({actors}) LIMIT ?"
    return len(db.execute(query, (after, *others_than, most)).fetchall())


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


def newer_name(db: sqlite3.Connection, ref: str) -> str | None:
    """Return the ref that an entry has now by its last renaming, None where it never got another one."""
    found, seen = None, {ref}
    while True:
        row = db.execute(
            "SELECT ref FROM touched WHERE old_ref = ? AND ref IS NOT NULL ORDER BY seq DESC LIMIT 1", (found or ref,)
        ).fetchone()
        if row is None or row[0] in seen:
            return found
        found = row[0]
        seen.add(found)
