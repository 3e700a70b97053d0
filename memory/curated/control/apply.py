"""Decisions carried out: recorded first, then file and index in one transaction, then the stamp and the event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from memory.curated.curated import Curated
from memory.curated.files.index_file import Line, rendered
from memory.curated.index.catalog import Catalog, index_lines
from memory.curated.index.records import add_event, milliseconds
from memory.curated.model import INDEX, Json
from memory.curated.sides import Side
from memory.errors import ConflictError, MemdeckError

from .candidate import Candidate
from .decide import decide
from .decision import CHANGES, Decision, insert, of_root, select
from .view import View

if TYPE_CHECKING:
    import sqlite3

    from memory.storage import Change
    from memory.storage.transaction.transaction import Transaction

T = TypeVar("T")
_TRIES = 12
_MINUTE = 60_000
_EVENTS = {"reject": "memory.write.rejected", "noop": "memory.write.shadowed"}


@dataclass(frozen=True, slots=True)
class Proposed:
    """What became of a candidate: `applied` says that a file was changed now."""

    decision: Decision
    applied: bool
    dry_run: bool = False
    change: Change | None = None

    def json(self) -> Json:
        """Return it for programs."""
        return {"decision": self.decision.json(), "applied": self.applied, "dry_run": self.dry_run}


def propose(curated: Curated, candidate: Candidate, *, actor: str, now: datetime, dry_run: bool = False) -> Proposed:
    """Decide on a candidate and carry it out; `dry_run` decides and writes nothing at all.

    UsageError `memory.validation` for what is no candidate, ConflictError `memory.idempotency_conflict` for a caller's
    key that was used for something else, RefusedError `memory.file_invalid`, `memory.exists`, MemdeckError
    `memory.records.unavailable`, and what a transaction raises. A reject is a decision, and no error here.
    """
    curated.refuse_disabled()
    candidate.check()
    side = curated.side_of(candidate.root)
    if dry_run:
        # In memory: the catalogue on the disk would be written to.
        view = View(side.store, Catalog(side.store, None), side.records, candidate.root)
        return Proposed(_known(side, candidate) or _decided(curated, side, candidate, view, None, now), False, True)
    from .replay import replay

    if side.name == "workspace" and not side.workspace_id and not curated.settings["workspace.auto_create"]:
        raise MemdeckError(
            "memory.workspace.missing",
            "the workspace has no identity, and memory.workspace.auto_create is false",
            "set it to true for the first write",
        )
    side.prepare(actor=actor, now=now)
    candidate = replace(candidate, workspace_id=side.workspace_id)
    replay(side, now)
    return again(lambda: _attempt(curated, side, candidate, actor, now))


def again(attempt: Callable[[], T]) -> T:
    """Return what an attempt returns; it is made again while other programs write in that very moment."""
    for left in range(_TRIES - 1, -1, -1):
        try:
            return attempt()
        except ConflictError as error:
            if not (left and error.details.get("crossed")):
                raise
    raise AssertionError("the last try returns or raises")


def _attempt(curated: Curated, side: Side, candidate: Candidate, actor: str, now: datetime) -> Proposed:
    with side.store.transaction("curated.write", actor=actor, now=now) as transaction:
        known = _known(side, candidate)
        if known is not None:
            return Proposed(known, False)
        view = View(side.store, side.catalog, side.records, candidate.root)
        decision = _decided(curated, side, candidate, view, transaction, now)
        stored = side.records.look(
            lambda db: select(db, "idempotency_key = ?", [decision.idempotency_key]), list[Decision]()
        )
        if stored:
            return Proposed(stored[0], False)
        change = carry_out(side, decision, transaction, now)
        return Proposed(replace(decision, applied_at=milliseconds(now)), decision.changes, change=change)


def _known(side: Side, candidate: Candidate) -> Decision | None:
    """Return the decision that a caller's own key had before."""
    if candidate.key is None:
        return None
    key = f"caller:{candidate.key}"
    found = side.records.look(lambda db: select(db, "idempotency_key = ?", [key]), list[Decision]())
    if found and found[0].candidate_hash != candidate.hash:
        raise ConflictError(
            "memory.idempotency_conflict",
            "that idempotency key was used for another candidate",
            "use a new key for it",
            decision=found[0].json(),
        )
    return found[0] if found else None


def _decided(
    curated: Curated, side: Side, candidate: Candidate, view: View, transaction: Transaction | None, now: datetime
) -> Decision:
    folder = candidate.root.folder
    read = side.store.read if transaction is None else transaction.read
    since = milliseconds(now) - _MINUTE
    marks = ", ".join(f"'{op}'" for op in CHANGES)
    text = f"SELECT count(*) FROM memory_decisions WHERE decided_at > ? AND applied_at IS NOT NULL AND op IN ({marks})"
    writes = side.records.look(lambda db: int(db.execute(text, (since,)).fetchone()[0]), 0)
    made = decide(
        candidate,
        view,
        curated.settings,
        lambda name: read(f"{folder}/{name}").base,
        now=now,
        writes=writes,
        tiebreaker=curated.tiebreaker,
    )
    where, values = of_root(made.root)
    names = tuple({made.target_filename, made.source_file})
    last = (
        f"SELECT id FROM memory_decisions WHERE {where} AND target_filename IN ({','.join('?' * len(names))})"
        f" AND op IN ({marks}) AND applied_at IS NOT NULL ORDER BY seq DESC LIMIT 1"
    )
    row = side.records.look(lambda db: db.execute(last, [*values, *names]).fetchone(), None)
    return made.keyed("" if row is None else row[0], candidate.key, now)


# -- carrying out -------------------------------------------------------------------------------------------------


def carry_out(
    side: Side, decision: Decision, transaction: Transaction, now: datetime, *, event: str | None = None
) -> Change | None:
    """Record a decision, then change its files, then stamp it; the lock is held all the time.

    Where the files cannot be changed the decision never was: its row goes, and the error is raised.
    """
    side.records.run(lambda db: insert(db, decision))
    change = None
    if decision.changes:
        try:
            change = write(side, decision, transaction)
        except BaseException:
            gone = "DELETE FROM memory_decisions WHERE id = ? AND applied_at IS NULL"
            side.records.run(lambda db: db.execute(gone, (decision.id,)))
            raise
    stamp(side, decision, now, event=event)
    return change


def write(side: Side, decision: Decision, transaction: Transaction) -> Change:
    """Change the file of a decision and the index of its folder, in one change."""
    folder = decision.root.folder
    target, source = f"{folder}/{decision.target_filename}", f"{folder}/{decision.source_file}"
    transaction.read(target)
    if decision.op == "delete":
        assert decision.prior is not None
        transaction.remove(target, base=decision.prior)
    elif source != target:
        assert decision.prior is not None
        assert decision.post is not None
        transaction.write(target, decision.post, base=None)
        transaction.remove(source, base=decision.prior)
    else:
        assert decision.post is not None
        transaction.write(target, decision.post, base=decision.prior)
    _index(side, decision, transaction)
    words = {"add": "remembered", "update": "renewed", "delete": "forgot"}[decision.op]
    change = transaction.commit(f"{words} {decision.target_filename} ({decision.root.label})")
    side.store.remember(target, None)
    return change


def _index(side: Side, decision: Decision, transaction: Transaction) -> None:
    """Write the index anew: the memory of the decision on top, then all others, the newest first."""
    root = decision.root
    mine = {decision.target_filename, decision.source_file}
    known = side.catalog.read((root,), lambda db: index_lines(db, root))
    lines = [line for line in known if line.filename not in mine]
    if decision.op != "delete":
        header = decision.header
        lines.insert(0, Line(header["name"], decision.target_filename, header["description"]))
    path = f"{root.folder}/{INDEX}"
    stored = transaction.read(path)
    data = rendered(stored.data, lines, tuple(mine))
    if data:
        transaction.write(path, data, base=stored.base)
    elif stored.base is not None:
        transaction.remove(path, base=stored.base)


def stamp(side: Side, decision: Decision, now: datetime, *, event: str | None = None, replayed: bool = False) -> None:
    """Note that a decision is carried out, with its event; a memory that got another file keeps its signals."""
    op = event or _EVENTS.get(decision.op, "memory.write.committed")
    facts = {
        "decision_id": decision.id,
        "target_id": decision.target_filename,
        "operation": decision.op,
        "target_filename": decision.target_filename,
        "reason": decision.reason,
        "applied": decision.changes,
        "rule_ids": ",".join(one.name for one in decision.trace),
    }
    if replayed:
        facts["replayed"] = True

    def done(db: sqlite3.Connection) -> None:
        db.execute("UPDATE memory_decisions SET applied_at = ? WHERE id = ?", (milliseconds(now), decision.id))
        if decision.op == "update" and decision.source_file != decision.target_filename:
            old, new = (f"{decision.root.key}/{name}" for name in (decision.source_file, decision.target_filename))
            db.execute("UPDATE OR REPLACE memory_recall_signals SET chunk_id = ? WHERE chunk_id = ?", (new, old))
        add_event(db, side.records.workspace_id, op, now, decision.root, facts)

    side.records.run(done)
