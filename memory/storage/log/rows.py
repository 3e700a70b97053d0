"""The statements on the tables of the change log; each is called inside of a transaction of the database."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from memory.document.compare import Region
from memory.document.lines import decode, encode
from memory.storage.changes import Change, ChangeRecord, RecordedFile, Touched
from memory.storage.safe_open import ABSENT, FileVersion

MOST_TOUCHED = 100
"""How many entries of a change are listed with it."""
_LONGEST_CHAIN = 1000  # of takings back of takings back; a longer one is none that anybody made
Identity = tuple[int, bytes] | None
"""The size and the hash of a file's bytes, None where there is no file."""


class LastLook(NamedTuple):
    """How a file looked last: its bytes by size and hash, and its version if that was sure."""

    identity: Identity
    version: FileVersion | None


# -- text and times ---------------------------------------------------------------------------------------------


def key(path: str) -> str | bytes:
    """Return a path as the database holds it: bytes where it is no UTF-8; `os.fsdecode` returns it from there."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def plain_text(text: str) -> str:
    """Return text that the database can hold; bytes that are no UTF-8 become marks."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _blob(text: str | None) -> bytes | None:
    return None if text is None else encode(text)


def time_text(time: datetime) -> str:
    """Return an aware time in a form that sorts."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")


# -- writing ----------------------------------------------------------------------------------------------------


def add_change(db: sqlite3.Connection, change: Change, status: str, *, named: bool) -> int:
    """Add the row of a change and return its place in the order."""
    cursor = db.execute(
        "INSERT INTO change (id, time, actor, operation, summary, status, undoes, redoes, named, reviewer, proposal)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            change.id,
            time_text(change.time),
            plain_text(change.actor),
            plain_text(change.operation),
            plain_text(change.summary),
            status,
            change.undoes,
            change.redoes,
            named,
            None if change.reviewer is None else plain_text(change.reviewer),
            change.proposal,
        ),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def add_file(
    db: sqlite3.Connection,
    seq: int,
    number: int,
    path: str,
    before: Identity,
    after: Identity,
    kept: int | None,
    mode: int | None = None,
) -> None:
    """Add one file of a change; `mode` are the permission bits of one that is removed."""
    mode = mode if after is None else None
    row = (seq, number, key(path), *(before or (None, None)), *(after or (None, None)), kept, mode)
    db.execute("INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def add_regions(db: sqlite3.Connection, seq: int, number: int, regions: Iterable[Region]) -> None:
    """Add what is different in one file of a change."""
    db.executemany(
        "INSERT INTO region VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (seq, number, index, one.kind, one.start, one.before, one.after, _blob(one.section))
            for index, one in enumerate(regions)
        ],
    )


def add_touched(db: sqlite3.Connection, seq: int, number: int, touched: Iterable[Touched]) -> None:
    """Add the entries of one file of a change."""
    db.executemany(
        "INSERT INTO touched VALUES (?, ?, ?, ?, ?, ?)",
        [(seq, number, one.ref, one.old_ref, plain_text(one.title), one.kind) for one in touched],
    )


def finish(db: sqlite3.Connection, change_id: str) -> bool:
    """Make an open change one that was done; False where there is no such row."""
    done = db.execute("UPDATE change SET status = 'done' WHERE id = ? AND status = 'pending'", (change_id,))
    return done.rowcount == 1


def mark(db: sqlite3.Connection, change_id: str, undoes: str | None, redoes: str | None) -> None:
    """Note in the changes that one takes back or brings back that it does, and in those that they had taken back."""
    if undoes is not None:
        _mark_undone(db, undoes, change_id)
    if redoes is not None:
        # What is brought back stands again because the change that took it back does not.
        row = db.execute("SELECT undone_by FROM change WHERE id = ?", (redoes,)).fetchone()
        if row is not None and row[0] is not None:
            _mark_undone(db, row[0], change_id)
        db.execute("UPDATE change SET undone_by = NULL WHERE id = ?", (redoes,))


def _mark_undone(db: sqlite3.Connection, change_id: str, by: str | None) -> None:
    """Note that a change does not stand any more, so that the one which it had taken back does, and so on in turn."""
    for _ in range(_LONGEST_CHAIN):
        db.execute("UPDATE change SET undone_by = ? WHERE id = ?", (by, change_id))
        if by is not None:
            # With it goes what had brought it back.
            again = [(by, one) for one in _done_again(db, change_id)]
            db.executemany("UPDATE change SET undone_by = ? WHERE id = ? AND undone_by IS NULL", again)
        row = db.execute("SELECT undoes, redoes FROM change WHERE id = ?", (change_id,)).fetchone()
        if row is None:
            return
        target = row[0]
        if target is None and row[1] is not None:
            # A redo took back the undo before it.
            known = "SELECT id FROM change WHERE undoes = ? AND seq < (SELECT seq FROM change WHERE id = ?)"
            found = db.execute(f"{known} ORDER BY seq DESC LIMIT 1", (row[1], change_id)).fetchone()
            target = None if found is None else found[0]
        if target is None:
            return
        change_id, by = target, (change_id if by is None else None)


def _done_again(db: sqlite3.Connection, change_id: str) -> Sequence[str]:
    """Return the changes that did what a change did once more: its redos, what took its undos back, theirs in turn."""
    turns = db.execute(
        "SELECT id, undoes, redoes FROM change WHERE undoes IS NOT NULL OR redoes IS NOT NULL"
    ).fetchall()
    found = [change_id]
    for one in found:
        undos = {turn for turn, undoes, _ in turns if undoes == one}
        again = (turn for turn, undoes, redoes in turns if redoes == one or undoes in undos)
        found += [turn for turn in again if turn not in found]
    return found[1:]


def drop(db: sqlite3.Connection, seq: int) -> None:
    """Forget a change that never happened."""
    for table in ("region", "touched", "file", "change"):
        db.execute(f"DELETE FROM {table} WHERE seq = ?", (seq,))


def drop_file(db: sqlite3.Connection, seq: int, number: int) -> None:
    """Forget one file of a change."""
    for table in ("region", "touched", "file"):
        db.execute(f"DELETE FROM {table} WHERE seq = ? AND n = ?", (seq, number))


# -- how files look ---------------------------------------------------------------------------------------------


def get_seen(db: sqlite3.Connection, path: str) -> LastLook | None:
    """Return how a file looked last, None where it was never seen."""
    row = db.execute("SELECT size, hash, dev, ino, mtime, ctime FROM seen WHERE path = ?", (key(path),)).fetchone()
    if row is None:
        return None
    size, digest, dev, ino, mtime, ctime = row
    if size is None:
        return LastLook(None, ABSENT)
    return LastLook((size, digest), None if ino is None else FileVersion(dev, ino, size, mtime, ctime))


def versions(db: sqlite3.Connection) -> dict[str, FileVersion]:
    """Return the version of every file that was there when it was seen last, as far as it was sure."""
    found = db.execute("SELECT path, dev, ino, size, mtime, ctime FROM seen WHERE size IS NOT NULL AND ino IS NOT NULL")
    return {os.fsdecode(path): FileVersion(*version) for path, *version in found}


def put_seen(db: sqlite3.Connection, path: str, identity: Identity, version: FileVersion | None) -> None:
    """Note how a file looks now."""
    stamps: tuple[int | None, ...] = (None, None, None, None)
    if version is not None and version.exists:
        # SQLite's integers are signed; some file systems number their files from the top.
        stamps = (_signed(version.dev), _signed(version.ino), version.mtime_ns, version.ctime_ns)
    row = (key(path), *(identity or (None, None)), *stamps)
    db.execute("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def _signed(number: int) -> int | None:
    return number if number < 1 << 63 else None


def modes_of(db: sqlite3.Connection, change_id: str) -> dict[str, int]:
    """Return the permission bits of the files that a change removed, as far as they are known."""
    query = "SELECT path, mode FROM file JOIN change USING (seq) WHERE id = ? AND mode IS NOT NULL"
    return {os.fsdecode(path): mode & 0o777 for path, mode in db.execute(query, (change_id,))}


def seen_paths(db: sqlite3.Connection, *, gone: bool | None = None) -> list[str]:
    """Return every file that was ever seen; with `gone` only those that were not there any more, or those that were."""
    where = "" if gone is None else " WHERE size IS NULL" if gone else " WHERE size IS NOT NULL"
    return [os.fsdecode(path) for (path,) in db.execute(f"SELECT path FROM seen{where}")]


def put_base(db: sqlite3.Connection, path: str, seq: int, data: bytes | None) -> None:
    """Note the bytes of a file before the change `seq`."""
    db.execute("INSERT OR REPLACE INTO base VALUES (?, ?, 0)", (key(path), seq))
    db.execute("INSERT OR REPLACE INTO base_data VALUES (?, ?)", (key(path), data))


def get_base(db: sqlite3.Connection, path: str) -> tuple[int, bytes] | None:
    """Return a change and the bytes of a file before it."""
    row = db.execute("SELECT seq, data FROM base JOIN base_data USING (path) WHERE path = ?", (key(path),)).fetchone()
    return None if row is None else (row[0], row[1] or b"")


def base_grown(db: sqlite3.Connection, path: str) -> tuple[int, int] | None:
    """Return how many bytes came since the base of a file, and in how many changes; None without a base."""
    known = key(path)
    row = db.execute("SELECT seq, grown FROM base WHERE path = ?", (known,)).fetchone()
    if row is None:
        return None
    (count,) = db.execute("SELECT COUNT(*) FROM file WHERE path = ? AND seq >= ?", (known, row[0])).fetchone()
    return row[1], count


def grow_base(db: sqlite3.Connection, path: str, size: int) -> None:
    """Note that a change of so many bytes came."""
    db.execute("UPDATE base SET grown = grown + ? WHERE path = ?", (size, key(path)))


def regions_since(db: sqlite3.Connection, path: str, seq: int) -> Iterator[tuple[Region, ...]]:
    """Yield the regions of a file of each change from one on, in their order."""
    found = db.execute(
        "SELECT file.seq, file.n FROM file JOIN change USING (seq)"
        " WHERE path = ? AND file.seq >= ? AND status = 'done' ORDER BY file.seq",
        (key(path), seq),
    ).fetchall()
    for place, number in found:
        yield regions_of(db, place, number)


def regions_of(db: sqlite3.Connection, seq: int, number: int) -> tuple[Region, ...]:
    """Return what is different in one file of a change."""
    return tuple(
        Region(kind, start, before, after, None if section is None else decode(section))
        for kind, start, before, after, section in db.execute(
            "SELECT kind, start, before, after, section FROM region WHERE seq = ? AND n = ? ORDER BY k", (seq, number)
        )
    )


# -- open changes -----------------------------------------------------------------------------------------------


def pending(db: sqlite3.Connection) -> list[tuple[int, str, str | None, str | None]]:
    """Return the open changes: place, id, what they undo and redo."""
    return db.execute("SELECT seq, id, undoes, redoes FROM change WHERE status = 'pending'").fetchall()


def is_pending(db: sqlite3.Connection, path: str) -> bool:
    """Tell whether an open change is about a file."""
    query = "SELECT 1 FROM change JOIN file USING (seq) WHERE status = 'pending' AND path = ? LIMIT 1"
    return db.execute(query, (key(path),)).fetchone() is not None


def files_of(db: sqlite3.Connection, seq: int) -> list[tuple[int, str, Identity]]:
    """Return number, path and new identity of the files of a change."""
    query = "SELECT n, path, after_size, after_hash FROM file WHERE seq = ? ORDER BY n"
    return [
        (number, os.fsdecode(path), None if size is None else (size, digest))
        for number, path, size, digest in db.execute(query, (seq,)).fetchall()
    ]


def number_of(db: sqlite3.Connection, seq: int, path: str) -> int | None:
    """Return the number of a file of a change, None where it is none of its files."""
    row = db.execute("SELECT n FROM file WHERE path = ? AND seq = ?", (key(path), seq)).fetchone()
    return None if row is None else int(row[0])


def unnamed(db: sqlite3.Connection) -> list[int]:
    """Return the changes whose entries are not named yet."""
    return [seq for (seq,) in db.execute("SELECT seq FROM change WHERE named = 0 AND status = 'done'").fetchall()]


def set_named(db: sqlite3.Connection, seq: int) -> None:
    """Note that the entries of a change are named."""
    db.execute("UPDATE change SET named = 1 WHERE seq = ?", (seq,))


def newest(db: sqlite3.Connection) -> int:
    """Return the place of the newest change, 0 without any."""
    return int(db.execute("SELECT COALESCE(MAX(seq), 0) FROM change").fetchone()[0])


def state(db: sqlite3.Connection) -> tuple[int, int, int]:
    """Return the place of the newest change that was made, how many were made, and how many of them are undone."""
    query = "SELECT COALESCE(MAX(seq), 0), COUNT(*), COUNT(undone_by) FROM change WHERE status = 'done'"
    newest_place, made, undone = db.execute(query).fetchone()
    return newest_place, made, undone


def count(db: sqlite3.Connection, after: int, others_than: Collection[str], most: int) -> int:
    """Return how many changes behind a place stand that none of these actors made; no more than `most`."""
    actors = ", ".join("?" * len(others_than))
    query = (
        "SELECT 1 FROM change WHERE status = 'done' AND seq > ? AND undone_by IS NULL"
        f" AND actor NOT IN ({actors}) ORDER BY seq DESC LIMIT ?"
    )
    return len(db.execute(query, (after, *others_than, most)).fetchall())


# -- thinning ---------------------------------------------------------------------------------------------------


def kept_bytes(db: sqlite3.Connection) -> int:
    """Return how many bytes of changes are kept."""
    return int(db.execute("SELECT COALESCE(SUM(kept), 0) FROM file").fetchone()[0])


def thinnable(db: sqlite3.Connection, newest_kept: int, removed_since: datetime) -> list[tuple[int, int, int]]:
    """Return (place, file, bytes) of what may lose its bytes, oldest first.

    Not the newest of each file, not what leads from its base to its last known bytes, not files removed since a time;
    a file that was removed before it and is still gone has nothing that is worth keeping.
    """
    return db.execute(
        "SELECT file.seq, file.n, file.kept FROM file JOIN change USING (seq) LEFT JOIN base USING (path)"
        " WHERE file.kept > 0 AND NOT (file.after_size IS NULL AND change.time > ?)"
        " AND ((base.seq IS NULL OR file.seq < base.seq)"
        " AND (SELECT COUNT(*) FROM file AS later WHERE later.path = file.path AND later.seq > file.seq) >= ?"
        f" OR {_GONE})"
        " ORDER BY file.seq",
        (time_text(removed_since), newest_kept),
    ).fetchall()


_GONE = (
    "file.after_size IS NULL"
    " AND NOT EXISTS (SELECT 1 FROM file AS later WHERE later.path = file.path AND later.seq > file.seq)"
)
"""What is true of the removal of a file that is still gone."""


def thin(db: sqlite3.Connection, seq: int, number: int) -> None:
    """Let go of the bytes of one file of a change, and of all that is known of a file that is still gone."""
    gone = f"SELECT path FROM file WHERE seq = ? AND n = ? AND {_GONE}"
    for table in ("base", "base_data", "seen"):
        db.execute(f"DELETE FROM {table} WHERE path = ({gone})", (seq, number))
    db.execute("DELETE FROM region WHERE seq = ? AND n = ?", (seq, number))
    db.execute("UPDATE file SET kept = NULL WHERE seq = ? AND n = ?", (seq, number))


# -- reading ----------------------------------------------------------------------------------------------------

_FILES = (
    "SELECT seq, n, path, before_size, before_hash, after_size, after_hash, kept FROM file WHERE seq = ? ORDER BY n"
)
_COLUMNS = "seq, id, time, actor, operation, summary, named, undone_by, undoes, redoes, reviewer, proposal"


def records(db: sqlite3.Connection, where: str, values: Sequence[object], limit: int) -> Sequence[ChangeRecord]:
    """Return the changes that fit a condition, newest first; `limit` 0 is all."""
    query = f"SELECT {_COLUMNS} FROM change WHERE status = 'done' AND ({where}) ORDER BY seq DESC LIMIT ?"
    found = db.execute(query, (*values, limit or -1)).fetchall()
    return [_record(db, row) for row in found]


def operation_name(text: str) -> str:
    """Return the name of an operation: the verb with a dot (`tasks.add`), also for records with a space in it."""
    return text.replace(" ", ".")


def _record(db: sqlite3.Connection, row: Sequence[object]) -> ChangeRecord:
    seq, change_id, time, actor, operation, summary, named, undone_by, undoes, redoes, *reviewed = row
    files = db.execute(_FILES, (seq,)).fetchall()
    paths = {number: os.fsdecode(path) for _, number, path, *_ in files}
    query = "SELECT n, ref, title, kind, old_ref FROM touched WHERE seq = ? ORDER BY rowid LIMIT ?"
    touched = db.execute(query, (seq, MOST_TOUCHED + 1)).fetchall()
    return ChangeRecord(
        seq,  # type: ignore[arg-type]
        str(change_id),
        datetime.fromisoformat(f"{time}+00:00"),
        str(actor),
        operation_name(str(operation)),
        str(summary),
        tuple(
            [
                RecordedFile(
                    paths[number],
                    None if before_size is None else (before_size, before_hash),
                    None if after_size is None else (after_size, after_hash),
                    kept,
                )
                for _, number, _, before_size, before_hash, after_size, after_hash, kept in files
            ]
        ),
        tuple([Touched(paths[number], *rest) for number, *rest in touched[:MOST_TOUCHED]]),
        bool(named) and len(touched) <= MOST_TOUCHED,
        undone_by,  # type: ignore[arg-type]
        undoes,  # type: ignore[arg-type]
        redoes,  # type: ignore[arg-type]
        *reviewed,  # type: ignore[arg-type]
    )
