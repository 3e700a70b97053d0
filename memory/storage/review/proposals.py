"""Proposals: changes of agents that wait for a person, in a database beside the change log.

A proposal holds the bytes of every file before and after it, as the agent saw and planned them; nothing of it is in the
files. Unlike the change log it is not history: a proposal that cannot be stored durably is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeVar

from memory.document.compare import Region
from memory.document.lines import encode
from memory.errors import MemdeckError, RefusedError
from memory.storage.changes import Change, FileChange, Touched, touched_in
from memory.storage.database import Database, DatabaseKind
from memory.storage.log.rows import key, plain_text, time_text
from memory.storage.own_folders import StateFolder

T = TypeVar("T")
State = Literal["waiting", "accepted", "rejected"]
STATES: tuple[State, ...] = ("waiting", "accepted", "rejected")
MOST_WAITING = 1_000
"""How many proposals may wait in a workspace."""
LARGEST = 64_000_000
"""How many bytes the files of one proposal may have, before and after."""
KEPT = 500
"""How many decided proposals are remembered."""

_TABLES = """
CREATE TABLE proposal (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, time TEXT NOT NULL, actor TEXT NOT NULL,
    operation TEXT NOT NULL, summary TEXT NOT NULL, kinds TEXT NOT NULL, folder TEXT NOT NULL, digest BLOB NOT NULL,
    state TEXT NOT NULL, edited INTEGER NOT NULL DEFAULT 0, undoes TEXT, redoes TEXT, decided_by TEXT, decided_at TEXT,
    note TEXT NOT NULL DEFAULT '', change_id TEXT);
CREATE INDEX proposal_state ON proposal (state);
CREATE TABLE proposal_file (seq INTEGER NOT NULL REFERENCES proposal ON DELETE CASCADE, n INTEGER NOT NULL,
    path TEXT NOT NULL, before BLOB, after BLOB, mode INTEGER, kept INTEGER NOT NULL DEFAULT 1, PRIMARY KEY (seq, n));
CREATE TABLE proposal_entry (seq INTEGER NOT NULL REFERENCES proposal ON DELETE CASCADE, n INTEGER NOT NULL,
    file TEXT NOT NULL, ref TEXT, title TEXT NOT NULL, kind TEXT NOT NULL, old_ref TEXT, PRIMARY KEY (seq, n));
"""
PROPOSALS = DatabaseKind("proposals.sqlite", "the record of proposals", _TABLES, 1, durable=True)
_COLUMNS = (
    "seq, id, time, actor, operation, summary, kinds, folder, state, edited, undoes, redoes, decided_by, decided_at,"
    " note, change_id"
)
_MOST_ENTRIES = 100


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that waits, or waited, for a person; `files` have no bytes any more once it is decided.

    `kinds` say why it waits, `folder` is that of the store whose files it is about, as seen from the workspace, and so
    are all paths. `change_id` is the change that it became. `edited` says that a person changed it before. `place` is
    the folder that the paths count from where that is not the workspace; the record itself does not hold it.
    """

    seq: int
    id: str
    time: datetime
    actor: str
    operation: str
    summary: str
    kinds: tuple[str, ...]
    folder: str
    state: State
    edited: bool
    undoes: str | None
    redoes: str | None
    decided_by: str | None
    decided_at: datetime | None
    note: str
    change_id: str | None
    paths: tuple[str, ...]
    touched: tuple[Touched, ...]
    place: str = ""

    @property
    def waiting(self) -> bool:
        """Whether it is not decided yet."""
        return self.state == "waiting"


class Proposals:
    """The proposals of one workspace; the caller keeps threads apart.

    MemdeckError `review.unrecorded` where the database cannot be used.
    """

    def __init__(self, folder: StateFolder) -> None:
        """Nothing is opened yet."""
        self._folder = folder
        self._file = Database(folder, PROPOSALS)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong with the database, such as that it was damaged."""
        return tuple(self._file.warnings)

    def close(self) -> None:
        """Close the database; the next work opens it again."""
        self._file.close()

    def add(
        self,
        change: Change,
        *,
        kinds: Iterable[str],
        folder: str,
        files: Sequence[FileChange],
        touched: Sequence[Touched],
        digest: bytes,
    ) -> str:
        """Store a change as a proposal, durably, and return its id: that of an equal one that waits already, if any.

        The paths of `files` are relative to the workspace.

        RefusedError `review.full` where too many wait, `review.large`.
        """
        if sum(len(file.before or b"") + len(file.after or b"") for file in files) > LARGEST:
            raise RefusedError("review.large", "the change is too large to wait for a person", "make it in parts")

        def work(db: sqlite3.Connection) -> str | None:
            same = db.execute("SELECT id FROM proposal WHERE state = 'waiting' AND digest = ?", (digest,)).fetchone()
            if same is not None:
                return str(same[0])
            (count,) = db.execute("SELECT count(*) FROM proposal WHERE state = 'waiting'").fetchone()
            if count >= MOST_WAITING:
                return None
            cursor = db.execute(
                "INSERT INTO proposal"
                " (id, time, actor, operation, summary, kinds, folder, digest, state, undoes, redoes)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'waiting', ?, ?)",
                (
                    *(change.id, time_text(change.time)),
                    *map(plain_text, (change.actor, change.operation, change.summary or touched_in(touched))),
                    *(json.dumps(sorted(kinds)), key(folder), digest, change.undoes, change.redoes),
                ),
            )
            seq = cursor.lastrowid
            assert seq is not None
            _put(db, seq, files, touched)
            return change.id

        found = self._run(work)
        if found is None:
            raise RefusedError(
                "review.full", f"{MOST_WAITING} proposals wait for the person already", "wait until some are decided"
            )
        return found

    def replace(
        self, proposal: Proposal, files: Sequence[FileChange], touched: Sequence[Touched], digest: bytes
    ) -> None:
        """Give a proposal that waits other bytes; nothing is done where it was decided meanwhile."""

        def work(db: sqlite3.Connection) -> None:
            done = db.execute(
                "UPDATE proposal SET edited = 1, digest = ? WHERE seq = ? AND state = 'waiting'",
                (digest, proposal.seq),
            )
            if done.rowcount == 1:
                for table in ("proposal_file", "proposal_entry"):
                    db.execute(f"DELETE FROM {table} WHERE seq = ?", (proposal.seq,))
                _put(db, proposal.seq, files, touched)

        self._run(work)

    def decide(
        self, proposal: Proposal, state: State, *, by: str, now: datetime, note: str = "", change_id: str | None = None
    ) -> None:
        """Record the decision about a proposal and remove its bytes; nothing is done where it was decided already."""

        def work(db: sqlite3.Connection) -> None:
            done = db.execute(
                "UPDATE proposal SET state = ?, decided_by = ?, decided_at = ?, note = ?, change_id = ?"
                " WHERE seq = ? AND state = 'waiting'",
                (state, plain_text(by), time_text(now), plain_text(note), change_id, proposal.seq),
            )
            if done.rowcount != 1:
                return
            db.execute("UPDATE proposal_file SET before = NULL, after = NULL, kept = 0 WHERE seq = ?", (proposal.seq,))
            db.execute(
                "DELETE FROM proposal WHERE state != 'waiting' AND seq NOT IN"
                " (SELECT seq FROM proposal WHERE state != 'waiting' ORDER BY decided_at DESC LIMIT ?)",
                (KEPT,),
            )

        self._run(work)

    def list(self, *, states: Sequence[str] = (), actor: str | None = None, limit: int = 0) -> tuple[Proposal, ...]:
        """Return proposals, newest first; all where no states are named. `limit` 0 is all."""
        conditions, values = ["1"], list[object]()
        if states:
            conditions.append(f"state IN ({', '.join('?' * len(states))})")
            values += states
        if actor is not None:
            conditions.append("actor = ?")
            values.append(actor)
        return self._read(" AND ".join(conditions), values, limit)

    def stamp(self) -> Hashable:
        """Return a value that changes when a proposal is added or decided; None without a record."""
        found: list[tuple[int, int]] = []
        for name in (PROPOSALS.name, f"{PROPOSALS.name}-wal"):
            with suppress(OSError):
                seen = os.stat(self._folder.path / name)
                found.append((seen.st_mtime_ns, seen.st_size))
        return tuple(found) or None

    def count(self) -> int:
        """Return how many wait."""
        query = "SELECT count(*) FROM proposal WHERE state = 'waiting'"
        return self._file.run(lambda db: int(db.execute(query).fetchone()[0]), 0, make=False)

    def files(self, proposal: Proposal) -> tuple[FileChange, ...]:
        """Return the bytes of a proposal that waits; paths as seen from the workspace, none once it is decided."""

        def work(db: sqlite3.Connection) -> tuple[FileChange, ...]:
            query = "SELECT path, before, after, mode FROM proposal_file WHERE seq = ? AND kept ORDER BY n"
            return tuple(
                FileChange(os.fsdecode(path), _unpacked(before), _unpacked(after), mode)
                for path, before, after, mode in db.execute(query, (proposal.seq,))
            )

        return self._file.run(work, (), make=False)

    def _read(self, where: str, values: Sequence[object], limit: int) -> tuple[Proposal, ...]:
        def work(db: sqlite3.Connection) -> tuple[Proposal, ...]:
            query = f"SELECT {_COLUMNS} FROM proposal WHERE {where} ORDER BY seq DESC LIMIT ?"
            return tuple(_proposal(db, row) for row in db.execute(query, (*values, limit or -1)).fetchall())

        return self._file.run(work, (), make=False)

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        found = self._file.run(lambda db: (work(db),), None)
        if found is None:
            why = f" ({self._file.warnings[-1]})" if self._file.warnings else ""
            raise MemdeckError(
                "review.unrecorded", f"the proposal cannot be kept{why}, so nothing is done", "see `memdeck doctor`"
            )
        return found[0]


def _put(db: sqlite3.Connection, seq: int, files: Sequence[FileChange], touched: Sequence[Touched]) -> None:
    db.executemany(
        "INSERT INTO proposal_file (seq, n, path, before, after, mode) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (seq, number, key(file.path), _packed(file.before), _packed(file.after), file.mode)
            for number, file in enumerate(files)
        ],
    )
    db.executemany(
        "INSERT INTO proposal_entry VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (seq, number, key(one.file), one.ref, plain_text(one.title), one.kind, one.old_ref)
            for number, one in enumerate(touched[:_MOST_ENTRIES])
        ],
    )


def _proposal(db: sqlite3.Connection, row: Sequence[object]) -> Proposal:
    seq, number, time, actor, operation, summary, kinds, folder, state, edited, *more = row
    undoes, redoes, decided_by, decided_at, note, change_id = more
    paths = db.execute("SELECT path FROM proposal_file WHERE seq = ? ORDER BY n", (seq,)).fetchall()
    query = "SELECT file, ref, title, kind, old_ref FROM proposal_entry WHERE seq = ? ORDER BY n"
    touched = tuple(Touched(os.fsdecode(file), *rest) for file, *rest in db.execute(query, (seq,)).fetchall())
    return Proposal(
        seq,  # type: ignore[arg-type]
        str(number),
        _time(time),
        str(actor),
        str(operation),
        str(summary),
        tuple(json.loads(str(kinds))),
        os.fsdecode(folder),  # type: ignore[arg-type]
        str(state),  # type: ignore[arg-type]
        bool(edited),
        undoes,  # type: ignore[arg-type]
        redoes,  # type: ignore[arg-type]
        decided_by,  # type: ignore[arg-type]
        None if decided_at is None else _time(decided_at),
        str(note),
        change_id,  # type: ignore[arg-type]
        tuple(os.fsdecode(path) for (path,) in paths),
        touched,
    )


def _time(value: object) -> datetime:
    return datetime.fromisoformat(f"{value}+00:00")


def digest_of(actor: str, operation: str, regions: Iterable[tuple[str, Region]]) -> bytes:
    """Return a digest that distinguishes proposals by actor, operation and text, not by the place in the file.

    `regions` are those of each file, with its path. An agent that asks again asks for the same.
    """
    found = hashlib.sha256()
    pieces = [encode(actor), encode(operation)]
    for path, region in regions:
        if region.kind != "top":
            pieces += (encode(path), region.before.strip(), region.after.strip())
    for piece in pieces:
        found.update(b"%d:" % len(piece) + piece)
    return found.digest()


def _packed(data: bytes | None) -> bytes | None:
    return None if data is None else zlib.compress(data, 1)


def _unpacked(data: bytes | None) -> bytes | None:
    return None if data is None else zlib.decompress(data)
