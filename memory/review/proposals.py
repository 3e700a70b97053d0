"""Proposals: changes of agents that wait for a person, in a database beside the change log; and the gate to it.

A proposal holds the bytes of every file before and after it, as the agent saw and planned them; nothing of it is in the
files. Unlike the change log it is not history: a proposal that cannot be stored durably is refused.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal, TypeVar

from memory.base.clock import exact_utc
from memory.base.safe_text import as_request
from memory.errors import BlockedError, MemdeckError, RefusedError
from memory.storage.changes import Change, FileChange, Touched, file_name, subject, touched_in
from memory.storage.database import Database, DatabaseKind
from memory.storage.store import SharedLog

from .kinds import kinds_of
from .policy import DECISIONS, decide, read_policy

T = TypeVar("T")
State = Literal["waiting", "accepted", "rejected"]
MOST_WAITING = 1_000
"""How many proposals may wait in a workspace."""
LARGEST = 64_000_000
"""How many bytes the files of one proposal may have, before and after."""
KEPT = 500
"""How many decided proposals are remembered."""
REOPENABLE = 50
"""How many rejected proposals keep their bytes, so that they can wait again."""
_MOST_ENTRIES = 100

_TABLES = """
CREATE TABLE proposal (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, digest BLOB NOT NULL, state TEXT NOT NULL,
    about TEXT NOT NULL);
CREATE TABLE file (seq INTEGER NOT NULL REFERENCES proposal ON DELETE CASCADE, n INTEGER NOT NULL, before BLOB,
    after BLOB, mode INTEGER, PRIMARY KEY (seq, n)) WITHOUT ROWID;
"""
PROPOSALS = DatabaseKind("proposals.sqlite", "the record of proposals", _TABLES, 4, durable=True)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that waits, or waited, for a person; its bytes go when it is accepted, or a while after it is rejected.

    `kinds` say why it waits, `folder` is that of the store whose files it is about, as seen from the workspace, and so
    are all paths. `change_id` is the change that it became. `edited` says that a person changed it before. `place` is
    the folder that the paths count from where that is not the workspace; the record itself does not hold it.
    """

    id: str
    time: datetime
    actor: str
    operation: str
    summary: str
    kinds: tuple[str, ...]
    folder: str
    paths: tuple[str, ...]
    touched: tuple[Touched, ...]
    undoes: str | None = None
    redoes: str | None = None
    edited: bool = False
    decided_by: str | None = None
    decided_at: datetime | None = None
    note: str = ""
    change_id: str | None = None
    seq: int = 0
    state: State = "waiting"
    place: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        """The files by their names in the memory folder; those outside the workspace with their folder."""
        within = f"{self.place}/" if self.place else ""
        return tuple(f"{within}{file_name(path)}" for path in self.paths)

    @property
    def wanted(self) -> str:
        """What it asks for: its summary, as a request as long as it is not accepted."""
        return self.summary if self.state == "accepted" else as_request(self.summary)

    def row(self) -> dict[str, Any]:
        """Return it under the keys of the interface; `file` and `ref` are those of its first entry."""
        first = subject(self.touched)
        files = [file_name(path) for path in self.paths]
        return {
            "id": self.id,
            "time": exact_utc(self.time),
            "actor": self.actor,
            "operation": self.operation,
            "file": file_name(first.file) if first else (files[0] if files else None),
            "ref": None if first is None else first.old_ref or first.ref,
            "summary": self.wanted,
            "state": self.state,
            "kinds": list(self.kinds),
            "files": files,
            "store": self.place or None,
            "entries": [one.row() for one in self.touched],
            "edited": self.edited,
            "decidedBy": self.decided_by,
            "decidedAt": None if self.decided_at is None else exact_utc(self.decided_at),
            "note": self.note or None,
            "change": self.change_id,
        }


# -- the gate -------------------------------------------------------------------------------------------------------


def hold(change: Change, folder: str, log: SharedLog) -> None:
    """Return where the rules let an agent make a change at once; a change of anyone else does not pass here.

    It is called right before the files of a store would move, under its lock. `folder` is the folder of the store in
    the workspace; the paths of the change are relative to it. BlockedError `review.waiting` with the id of the proposal
    that it became, RefusedError `review.denied`, `review.full` where too many wait, `review.large`, ConfigError
    `review.policy` where the rules cannot be read, MemdeckError `review.unrecorded` where no proposal can be stored.
    """
    policy, actor = read_policy(log.state), change.actor
    files = tuple(file._replace(path=f"{folder}{file.path}") for file in change.files)
    with log.glance():
        found = kinds_of(log, actor, files)
    decisions = {(kind, persons): decide(policy, actor, kind, persons=persons) for kind, persons in found}
    decision = max(decisions.values(), key=DECISIONS.index, default="apply")
    if decision == "apply":
        return
    kinds = tuple(sorted({kind for (kind, _), one in decisions.items() if one == decision}))
    if decision == "deny":
        words = f"the person does not allow {actor} to do this ({', '.join(kinds)})"
        raise RefusedError("review.denied", words, "ask the person", kinds=list(kinds))
    proposal = _propose(log, change._replace(files=files), kinds, folder)
    raise BlockedError(
        "review.waiting",
        f"nothing is changed yet: proposal {proposal} is pending",
        "ask for the outcome with the tool or verb review",
        proposal=proposal,
        kinds=list(kinds),
        summary=as_request(change.summary),
    )


def _propose(log: SharedLog, change: Change, kinds: tuple[str, ...], folder: str) -> str:
    """Store a change as a proposal, durably, and return its id: that of an equal one that waits already, if any."""
    if sum(len(file.before or b"") + len(file.after or b"") for file in change.files) > LARGEST:
        raise RefusedError("review.large", "the change is too large to wait for a person", "make it in parts")
    touched, digest = _content(log, change.actor, change.operation, change.files)
    proposal = Proposal(
        id=change.id,
        time=change.time,
        actor=change.actor,
        operation=change.operation,
        summary=change.summary or touched_in(touched),
        kinds=kinds,
        folder=folder,
        undoes=change.undoes,
        redoes=change.redoes,
        paths=tuple(file.path for file in change.files),
        touched=touched[:_MOST_ENTRIES],
    )

    def work(db: sqlite3.Connection) -> str:
        waiting = dict(db.execute("SELECT digest, id FROM proposal WHERE state = 'waiting'").fetchall())
        if digest in waiting:
            return str(waiting[digest])
        if len(waiting) >= MOST_WAITING:
            words = f"{MOST_WAITING} proposals are already pending"
            raise RefusedError("review.full", words, "wait until the person decides on some")
        query = "INSERT INTO proposal (id, digest, state, about) VALUES (?, ?, 'waiting', ?)"
        _put_files(db, db.execute(query, (change.id, digest, _about(proposal))).lastrowid or 0, change.files)
        return change.id

    return _changed(log, work)


# -- the record -----------------------------------------------------------------------------------------------------


def listed(log: SharedLog, condition: str = "1") -> list[Proposal]:
    """Return the proposals beside a log of which an SQL condition holds, newest first."""
    query = f"SELECT seq, state, about FROM proposal WHERE {condition} ORDER BY seq DESC"
    found = [_proposal(seq, state, about, log.place) for seq, state, about in _read(log, query)]
    # The record of an agent's folder may be that of another workspace, with proposals about other folders.
    return [one for one in found if log.folder in (None, one.folder)]


def files_of(log: SharedLog, proposal: Proposal) -> tuple[FileChange, ...]:
    """Return the bytes of a proposal, with paths as seen from the workspace; none where they are not kept."""
    rows = _read(log, "SELECT n, before, after, mode FROM file WHERE seq = ? ORDER BY n", proposal.seq)
    return tuple(FileChange(proposal.paths[n], *rest) for n, *rest in rows)


def update(log: SharedLog, proposal: Proposal, *, was: State, files: Sequence[FileChange] = ()) -> bool:
    """Store a proposal that changed, with other bytes of its files if given; return False where it is not as it `was`.

    A rejected one waits again only if its bytes are kept and no equal one waits. The bytes of an accepted proposal are
    removed, and those of all rejected ones but the last `REOPENABLE`. MemdeckError `review.unrecorded`.
    """
    touched, digest = _content(log, proposal.actor, proposal.operation, files) if files else ((), None)
    if touched:
        proposal = replace(proposal, touched=touched[:_MOST_ENTRIES])
    query = "UPDATE proposal SET state = ?, about = ?, digest = coalesce(?, digest) WHERE seq = ? AND state = ?"
    if was == "rejected":
        query += " AND seq IN (SELECT seq FROM file)"
        query += " AND digest NOT IN (SELECT digest FROM proposal WHERE state = 'waiting')"

    def work(db: sqlite3.Connection) -> bool:
        if not db.execute(query, (proposal.state, _about(proposal), digest, proposal.seq, was)).rowcount:
            return False
        if files:
            _put_files(db, proposal.seq, files)
        newest = "SELECT seq FROM proposal WHERE state = 'rejected' ORDER BY seq DESC LIMIT ?"
        over = f"SELECT seq FROM proposal WHERE state != 'waiting' AND seq NOT IN ({newest})"
        db.execute(f"DELETE FROM file WHERE seq IN ({over})", (REOPENABLE,))
        newest = "SELECT seq FROM proposal WHERE state != 'waiting' ORDER BY seq DESC LIMIT ?"
        db.execute(f"DELETE FROM proposal WHERE state != 'waiting' AND seq NOT IN ({newest})", (KEPT,))
        return True

    return _changed(log, work)


def database(log: SharedLog) -> Database:
    """Return the database of proposals beside a log; its warnings say what is wrong with it."""
    return log.database(PROPOSALS)


def _content(
    log: SharedLog, actor: str, operation: str, files: Sequence[FileChange]
) -> tuple[tuple[Touched, ...], bytes]:
    """Return the entries that a change would touch, and a digest of it: an agent that asks again asks for the same,
    although the place in the file is another by now.
    """
    with log.glance():
        regions = [(file.path, log.history.touched_by(file)) for file in files]
        touched = tuple(one for path, found in regions for one in log.history.entries_of(path, found))
    texts = [
        (path, one.before.strip(), one.after.strip()) for path, found in regions for one in found if one.kind != "top"
    ]
    return touched, sha256(repr((actor, operation, texts)).encode()).digest()


def _about(proposal: Proposal) -> str:
    """Return what a row holds of a proposal."""
    return json.dumps(asdict(proposal), default=str)


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
    return Proposal(**{**values, "seq": seq, "state": state, "place": place})


def _put_files(db: sqlite3.Connection, seq: int, files: Sequence[FileChange]) -> None:
    """Store the bytes of a proposal in place of those that it had."""
    db.execute("DELETE FROM file WHERE seq = ?", (seq,))
    rows = [(seq, number, one.before, one.after, one.mode) for number, one in enumerate(files)]
    db.executemany("INSERT INTO file VALUES (?, ?, ?, ?, ?)", rows)


def _read(log: SharedLog, query: str, *values: object) -> list[tuple[Any, ...]]:
    none: list[tuple[Any, ...]] = []
    return database(log).run(lambda db: db.execute(query, values).fetchall(), none, make=False)


def _changed(log: SharedLog, work: Callable[[sqlite3.Connection], T]) -> T:
    file = database(log)
    found = file.run(lambda db: (work(db),), None)
    if found is None:
        why = f" ({file.warnings[-1]})" if file.warnings else ""
        raise MemdeckError(
            "review.unrecorded", f"the proposal cannot be kept{why}, so nothing is done", "see `memdeck doctor`"
        )
    return found[0]
