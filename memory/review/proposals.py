"""Proposals: changes of agents that wait for a person, in a database beside the change log.

A proposal holds the bytes of every file before and after it, as the agent saw and planned them; nothing of it is in the
files. Unlike the change log it is not history: a proposal that cannot be stored durably is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from typing import TypeVar

from memory.document.lines import encode
from memory.errors import MemdeckError, RefusedError
from memory.storage.changes import Change, FileChange, Touched, touched_in
from memory.storage.database import DatabaseKind
from memory.storage.log.rows import time_text
from memory.storage.store import SharedLog

from .model import STATES, Proposal, State

T = TypeVar("T")
MOST_WAITING = 1_000
"""How many proposals may wait in a workspace."""
LARGEST = 64_000_000
"""How many bytes the files of one proposal may have, before and after."""
KEPT = 500
"""How many decided proposals are remembered."""
REOPENABLE = 50
"""How many rejected proposals keep their bytes, so that they can wait again."""

_TABLES = """
CREATE TABLE proposal (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, actor TEXT NOT NULL, digest BLOB NOT NULL,
    state TEXT NOT NULL, decided_at TEXT, about TEXT NOT NULL);
CREATE INDEX proposal_state ON proposal (state);
CREATE TABLE file (seq INTEGER NOT NULL REFERENCES proposal ON DELETE CASCADE, n INTEGER NOT NULL, before BLOB,
    after BLOB, mode INTEGER, PRIMARY KEY (seq, n)) WITHOUT ROWID;
"""
PROPOSALS = DatabaseKind("proposals.sqlite", "the record of proposals", _TABLES, 3, durable=True)
_WAITS = "seq = ? AND state = 'waiting'"
_MOST_ENTRIES = 100


class Proposals:
    """The proposals beside one change log; safe to share between threads.

    MemdeckError `review.unrecorded` where the database cannot be used.
    """

    def __init__(self, log: SharedLog) -> None:
        """Nothing is opened yet."""
        self._log = log
        self._file = log.database(PROPOSALS)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the database, such as that it was damaged."""
        return tuple(self._file.warnings)

    def add(self, change: Change, *, kinds: Iterable[str], folder: str, files: Sequence[FileChange]) -> str:
        """Store a change as a proposal, durably, and return its id: that of an equal one that waits already, if any.

        The paths of `files` are relative to the workspace.

        RefusedError `review.full` where too many wait, `review.large`.
        """
        if sum(len(file.before or b"") + len(file.after or b"") for file in files) > LARGEST:
            raise RefusedError("review.large", "the change is too large to wait for a person", "make it in parts")
        touched, digest = self._touched(files), self._digest(change.actor, change.operation, files)
        proposal = Proposal(
            id=change.id,
            time=change.time,
            actor=change.actor,
            operation=change.operation,
            summary=change.summary or touched_in(touched),
            kinds=tuple(sorted(kinds)),
            folder=folder,
            undoes=change.undoes,
            redoes=change.redoes,
            paths=tuple(file.path for file in files),
            touched=touched[:_MOST_ENTRIES],
        )

        def work(db: sqlite3.Connection) -> str | None:
            same = db.execute("SELECT id FROM proposal WHERE state = 'waiting' AND digest = ?", (digest,)).fetchone()
            if same is not None:
                return str(same[0])
            (count,) = db.execute("SELECT count(*) FROM proposal WHERE state = 'waiting'").fetchone()
            if count >= MOST_WAITING:
                return None
            added = db.execute(
                "INSERT INTO proposal (id, actor, digest, state, about) VALUES (?, ?, ?, 'waiting', ?)",
                (change.id, change.actor, digest, _about(proposal)),
            )
            _put_files(db, added.lastrowid or 0, files)
            return change.id

        found = self._run(work)
        if found is None:
            raise RefusedError(
                "review.full", f"{MOST_WAITING} proposals wait for the person already", "wait until some are decided"
            )
        return found

    def replace(self, proposal: Proposal, files: Sequence[FileChange]) -> None:
        """Give a proposal that waits other bytes; nothing is done where it was decided meanwhile."""
        paths = tuple(file.path for file in files)
        about = _about(replace(proposal, edited=True, paths=paths, touched=self._touched(files)[:_MOST_ENTRIES]))
        values = (self._digest(proposal.actor, proposal.operation, files), about, proposal.seq)

        def work(db: sqlite3.Connection) -> None:
            if db.execute(f"UPDATE proposal SET digest = ?, about = ? WHERE {_WAITS}", values).rowcount:
                _put_files(db, proposal.seq, files)

        self._run(work)

    def decide(
        self, proposal: Proposal, state: State, *, by: str, now: datetime, note: str = "", change_id: str | None = None
    ) -> None:
        """Record the decision about a proposal; nothing is done where it was decided already.

        The bytes of an accepted proposal are removed, and those of all rejected ones but the last `REOPENABLE`.
        """
        about = _about(replace(proposal, decided_by=by, decided_at=now, note=note, change_id=change_id))

        def work(db: sqlite3.Connection) -> None:
            query = f"UPDATE proposal SET state = ?, decided_at = ?, about = ? WHERE {_WAITS}"
            db.execute(query, (state, time_text(now), about, proposal.seq))
            db.execute(
                "DELETE FROM file WHERE seq IN (SELECT seq FROM proposal WHERE state != 'waiting') AND seq NOT IN"
                " (SELECT seq FROM proposal WHERE state = 'rejected' ORDER BY decided_at DESC LIMIT ?)",
                (REOPENABLE,),
            )
            db.execute(
                "DELETE FROM proposal WHERE state != 'waiting' AND seq NOT IN"
                " (SELECT seq FROM proposal WHERE state != 'waiting' ORDER BY decided_at DESC LIMIT ?)",
                (KEPT,),
            )

        self._run(work)

    def reopen(self, proposal: Proposal) -> bool:
        """Let a rejected proposal wait again; return False where its bytes are gone or an equal one waits already."""
        about = _about(replace(proposal, decided_by=None, decided_at=None, note=""))
        query = (
            "UPDATE proposal SET state = 'waiting', decided_at = NULL, about = ?"
            " WHERE seq = ? AND state = 'rejected' AND seq IN (SELECT seq FROM file) AND digest NOT IN"
            " (SELECT digest FROM proposal WHERE state = 'waiting')"
        )
        return self._run(lambda db: db.execute(query, (about, proposal.seq)).rowcount) > 0

    def list(self, states: Sequence[str] = (), actor: str | None = None, limit: int = 0) -> tuple[Proposal, ...]:
        """Return proposals, newest first; all where no states are named. `limit` 0 is all."""
        wanted = ", ".join("?" * len(states or STATES))
        query = f"SELECT seq, state, about FROM proposal WHERE state IN ({wanted}) AND actor = coalesce(?, actor)"
        values = (*(states or STATES), actor)
        none: list[tuple[int, State, str]] = []
        rows = self._file.run(lambda db: db.execute(f"{query} ORDER BY seq DESC", values).fetchall(), none, make=False)
        # The record of an agent's folder may be that of another workspace, with proposals about other folders.
        found = [_proposal(seq, state, about, self._log.place) for seq, state, about in rows]
        mine = [one for one in found if self._log.folder in (None, one.folder)]
        return tuple(mine[:limit] if limit else mine)

    def stamp(self) -> Hashable:
        """Return a value that changes when a proposal is added or decided; None without a record.

        It costs two `stat` calls, so it can be called often.
        """
        found: list[tuple[int, int]] = []
        for name in (PROPOSALS.name, f"{PROPOSALS.name}-wal"):
            with suppress(OSError):
                seen = os.stat(self._log.state.folder.path / name)
                found.append((seen.st_mtime_ns, seen.st_size))
        return tuple(found) or None

    def files(self, proposal: Proposal) -> tuple[FileChange, ...]:
        """Return the bytes of a proposal, with paths as seen from the workspace; none where they are not kept."""
        none: list[tuple[int, bytes | None, bytes | None, int | None]] = []
        query = "SELECT n, before, after, mode FROM file WHERE seq = ? ORDER BY n"
        rows = self._file.run(lambda db: db.execute(query, (proposal.seq,)).fetchall(), none, make=False)
        return tuple(FileChange(proposal.paths[n], before, after, mode) for n, before, after, mode in rows)

    def settle(self) -> None:
        """Mark proposals as accepted whose change was made by a process that was killed before it could mark them."""
        waiting = {one.id: one for one in self.list(("waiting",))}
        if not waiting:
            return
        marks = ", ".join("?" * len(waiting))
        for record in self._log.history.records(f"proposal IN ({marks})", list(waiting), 0):
            one, by = waiting[record.proposal or ""], record.reviewer or "human"
            with suppress(MemdeckError):
                self.decide(one, "accepted", by=by, now=record.time, change_id=record.id)

    def _touched(self, files: Iterable[FileChange]) -> tuple[Touched, ...]:
        """Return the entries that a change would touch."""
        history = self._log.history
        with self._log.glance():
            return tuple(one for file in files for one in history.entries_of(file.path, history.touched_by(file)))

    def _digest(self, actor: str, operation: str, files: Iterable[FileChange]) -> bytes:
        """Return a digest that distinguishes proposals by actor, operation and text, not by the place in the file.

        An agent that asks again asks for the same.
        """
        found = hashlib.sha256()
        pieces = [encode(actor), encode(operation)]
        for file in files:
            for region in self._log.history.touched_by(file):
                if region.kind != "top":
                    pieces += (encode(file.path), region.before.strip(), region.after.strip())
        for piece in pieces:
            found.update(b"%d:" % len(piece) + piece)
        return found.digest()

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        found = self._file.run(lambda db: (work(db),), None)
        if found is None:
            why = f" ({self._file.warnings[-1]})" if self._file.warnings else ""
            raise MemdeckError(
                "review.unrecorded", f"the proposal cannot be kept{why}, so nothing is done", "see `memdeck doctor`"
            )
        return found[0]


def _about(proposal: Proposal) -> str:
    """Return what a row holds of a proposal beside its own columns."""
    values = asdict(proposal)
    decided = proposal.decided_at
    values |= {"time": proposal.time.isoformat(), "decided_at": None if decided is None else decided.isoformat()}
    return json.dumps({key: value for key, value in values.items() if key not in ("seq", "state", "place")})


def _proposal(seq: int, state: State, about: str, place: str) -> Proposal:
    values = json.loads(about)
    decided = values["decided_at"]
    values |= {
        "time": datetime.fromisoformat(values["time"]),
        "decided_at": None if decided is None else datetime.fromisoformat(decided),
        "kinds": tuple(values["kinds"]),
        "paths": tuple(values["paths"]),
        "touched": tuple(Touched(*one) for one in values["touched"]),
    }
    return Proposal(seq=seq, state=state, place=place, **values)


def _put_files(db: sqlite3.Connection, seq: int, files: Sequence[FileChange]) -> None:
    """Store the bytes of a proposal in place of those that it had."""
    db.execute("DELETE FROM file WHERE seq = ?", (seq,))
    rows = [(seq, number, one.before, one.after, one.mode) for number, one in enumerate(files)]
    db.executemany("INSERT INTO file VALUES (?, ?, ?, ?, ?)", rows)
