"""Carrying out decisions: recorded first, then file and index in one transaction, then the stamp and the event.

Those that were recorded but not carried out, because the process ended in between, are finished by a replay.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime
from functools import partial

from memory.curated.files.listing import IndexLine, rendered
from memory.curated.files.names import fault_of
from memory.curated.index.catalog import index_lines
from memory.curated.index.records import UNAVAILABLE, add_event, milliseconds
from memory.curated.model import INDEX, Json
from memory.curated.sides import Side
from memory.errors import BusyError, ConflictError, MemdeckError
from memory.storage import Change
from memory.storage.transaction import Transaction

from .decision import ABSENT, Decision, begin, hash_of, insert, select

WORDS = {"add": "remembered", "update": "renewed", "delete": "forgot"}
"""What a decision did, for people."""
_EVENTS = {"reject": "memory.write.rejected", "noop": "memory.write.shadowed"}


def carry_out(
    side: Side, decision: Decision, transaction: Transaction, now: datetime, *, event: str | None = None
) -> Change | None:
    """Record a decision, change its files, then stamp it; the lock is held all the time.

    Where the files cannot be changed, the decision's row is deleted and the error is raised. A failure after the change
    does not fail the decision: a missing stamp is left to the next replay, which finds the decision's bytes in its
    file.
    """
    side.records.run(partial(begin, side, decision))
    if not decision.changes:
        stamp(side, decision, now, event=event)
        return None
    try:
        change = _commit(side, decision, transaction)
    except BaseException:
        gone = "DELETE FROM memory_decisions WHERE id = ? AND applied_at IS NULL"
        side.records.run(lambda db: db.execute(gone, (decision.id,)))
        raise
    try:
        stamp(side, decision, now, event=event)
    except Exception as error:
        if not (isinstance(error, MemdeckError) and error.code == UNAVAILABLE):
            side.store.history.warn(f"the change is made, but what follows it failed: {type(error).__name__}")
    return change


def _commit(side: Side, decision: Decision, transaction: Transaction) -> Change:
    """Change the files."""
    folder = decision.root.folder
    target, source = f"{folder}/{decision.target_filename}", f"{folder}/{decision.source_file}"
    transaction.read(target)
    if decision.prior is not None and (decision.post is None or source != target):
        transaction.remove(source, base=decision.prior)
    if decision.post is not None:
        transaction.write(target, decision.post, base=decision.prior if source == target else None)
    _write_index(side, decision, transaction)
    change = transaction.commit(f"{WORDS[decision.op]} {decision.target_filename} ({decision.root.label})")
    side.store.remember(target, None)  # Otherwise thousands of files would stay in memory.
    return change


def _write_index(side: Side, decision: Decision, transaction: Transaction) -> None:
    """Write the index: the memory of the decision at the top, then all others, the newest first."""
    root = decision.root
    mine = (decision.target_filename, decision.source_file)
    path = f"{root.folder}/{INDEX}"
    stored = transaction.read(path)
    known = side.catalog.read((root,), partial(index_lines, root=root))
    lines = [one for one in known if one.filename not in mine]
    if decision.op != "delete":
        lines.insert(0, IndexLine(decision.header["name"], decision.target_filename, decision.header["description"]))
    data = rendered(stored.data, lines, mine)
    if data:
        transaction.write(path, data, base=stored.base)
    elif stored.base is not None:
        transaction.remove(path, base=stored.base)


def stamp(side: Side, decision: Decision, now: datetime, *, event: str | None = None, replayed: bool = False) -> None:
    """Record that a decision is carried out, with its event; a memory that moved to another file keeps its signals."""
    side.records.run(lambda db: recorded(side, decision, now, db, event=event, replayed=replayed))


def recorded(
    side: Side,
    decision: Decision,
    now: datetime,
    db: sqlite3.Connection,
    *,
    event: str | None = None,
    replayed: bool = False,
) -> None:
    """As `stamp`, in the transaction of the caller."""
    target = decision.target_filename
    facts: Json = {"decision_id": decision.id, "target_id": target, "operation": decision.op, "target_filename": target,
                   "reason": decision.reason, "applied": decision.changes,
                   "rule_ids": ",".join(one.name for one in decision.trace)}  # fmt: skip
    if replayed:
        facts["replayed"] = True
    at = milliseconds(now)
    found = db.execute("UPDATE memory_decisions SET applied_at = ? WHERE id = ?", (at, decision.id)).rowcount
    if not found:
        # The records were damaged since and started again: the bytes before and after are kept all the same.
        insert(db, decision._replace(applied_at=at))
    if decision.op == "update" and decision.source_file != decision.target_filename:
        old, new = (f"{decision.root.key}/{name}" for name in (decision.source_file, decision.target_filename))
        db.execute("UPDATE OR REPLACE memory_recall_signals SET chunk_id = ? WHERE chunk_id = ?", (new, old))
    op = event or _EVENTS.get(decision.op, "memory.write.committed")
    add_event(db, side.records.workspace_id, op, now, decision.root, facts)


# -- after a crash --------------------------------------------------------------------------------------------------


def pending(side: Side) -> list[Decision]:
    """Return the decisions that are not carried out yet, the oldest first."""
    return side.records.look(
        lambda db: select(side, db, "applied_at IS NULL AND abandoned IS NULL ORDER BY seq", []), []
    )


def replay(side: Side, now: datetime) -> int:
    """Carry out the pending decisions in order, and return how many were handled.

    A file that already holds the decision's bytes is only stamped. A file that another program changed since stays as
    it is, and the decision is recorded as abandoned with its contents. Where another process holds the lock, the
    pending decisions are left to it.
    """
    done = 0
    for decision in pending(side):
        try:
            with side.store.transaction("curated.replay", actor="replay", now=now, wait=False) as transaction:
                if any(one.id == decision.id for one in pending(side)):
                    _finish(side, decision, transaction, now)
                    done += 1
        except BusyError:
            return done
        except ConflictError:
            continue
    return done


def _finish(side: Side, decision: Decision, transaction: Transaction, now: datetime) -> None:
    if not decision.changes:
        stamp(side, decision, now, replayed=True)
        return
    if any(fault_of(name) for name in (decision.target_filename, decision.source_file)):
        _abandon(side, decision, "its file name is none that a decision may write")
        return
    folder = decision.root.folder
    target = hash_of(transaction.read(f"{folder}/{decision.target_filename}").base)
    source = hash_of(transaction.read(f"{folder}/{decision.source_file}").base)
    moves = decision.source_file != decision.target_filename
    after = ABSENT if decision.op == "delete" else decision.post_hash
    if target == after and (not moves or source == ABSENT):
        stamp(side, decision, now, replayed=True)
    elif source == decision.prior_hash and (not moves or target == ABSENT):
        _commit(side, decision, transaction)
        stamp(side, decision, now, replayed=True)
    else:
        _abandon(side, decision, "another program changed the file before it was carried out")


def _abandon(side: Side, decision: Decision, why: str) -> None:
    text = "UPDATE memory_decisions SET abandoned = ? WHERE id = ?"
    side.records.run(lambda db: db.execute(text, (why, decision.id)))
