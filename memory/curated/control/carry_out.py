"""Carrying out decisions: recorded first, then file and index in one transaction, then the stamp and the event.

Those that were recorded but not carried out, because the process ended in between, are finished by a replay.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime
from functools import partial

from memory.curated.files.listing import index_line, index_lines, rendered
from memory.curated.files.names import fault_of
from memory.curated.index.catalog import memories
from memory.curated.index.records import UNAVAILABLE, add_event, milliseconds
from memory.curated.model import INDEX, Json
from memory.curated.sides import Side
from memory.errors import BusyError, ConflictError, MemdeckError
from memory.files.refs import short
from memory.storage import Change
from memory.storage.transaction import Transaction

from .decision import ABSENT, Decision, begin, hash_of, insert, select

WORDS = {"add": "remembered", "update": "renewed", "delete": "forgot"}
"""The effect of each decision, in words for people."""
_EVENTS = {"reject": "memory.write.rejected", "noop": "memory.write.shadowed"}


def carry_out(
    side: Side, decision: Decision, transaction: Transaction, now: datetime, *, event: str | None = None
) -> Change | None:
    """Record a decision, change its files, then stamp it; the lock is held all the time.

    Where the files cannot be changed, the decision's row is deleted and the error is raised. A failure after the change
    does not fail the decision: a missing stamp is left to the next replay, which finds the decision's bytes in its
    file.
    """
    stamp = partial(recorded, side, decision, now, event=event)
    side.records.run(partial(begin, side, decision))
    if not decision.changes:
        side.records.run(stamp)
        return None
    try:
        change = _commit(side, decision, transaction)
    except BaseException:
        gone = "DELETE FROM memory_decisions WHERE id = ? AND applied_at IS NULL"
        side.records.run(lambda db: db.execute(gone, (decision.id,)))
        raise
    try:
        side.records.run(stamp)
    except Exception as error:
        if not (isinstance(error, MemdeckError) and error.code == UNAVAILABLE):
            side.store.history.warn(f"the change is made, but what follows it failed: {type(error).__name__}")
    return change


def _commit(side: Side, decision: Decision, transaction: Transaction) -> Change:
    """Change the files: the memory, and the index with it at the top, then all others, the newest first."""
    root = decision.root
    mine = (decision.target_filename, decision.source_file)
    target, source, index = (f"{root.folder}/{name}" for name in (*mine, INDEX))
    transaction.read(target)
    if decision.prior is not None and (decision.post is None or source != target):
        transaction.remove(source, base=decision.prior)
    if decision.post is not None:
        transaction.write(target, decision.post, base=decision.prior if source == target else None)
    stored = transaction.read(index)
    known = side.catalog.read((root,), partial(memories, roots=(root,)))
    lines = index_lines(one for one in known if one.filename not in mine)
    if decision.op != "delete":
        line = index_line(decision.header["name"], decision.target_filename, decision.header["description"])
        lines = {decision.target_filename: line, **lines}
    data = rendered(stored.data, lines, mine)
    if data:
        transaction.write(index, data, base=stored.base)
    elif stored.base is not None:
        transaction.remove(index, base=stored.base)
    title = short(decision.title) if decision.title else decision.target_filename
    change = transaction.commit(f"{WORDS[decision.op]} {title} ({root.label})")
    side.store.remember(target, None)  # Otherwise thousands of files would stay in memory.
    return change


def recorded(
    side: Side,
    decision: Decision,
    now: datetime,
    db: sqlite3.Connection,
    *,
    event: str | None = None,
    replayed: bool = False,
) -> None:
    """Record that a decision is carried out, with its event; a memory that moved to another file keeps its signals."""
    target = decision.target_filename
    facts: Json = {"decision_id": decision.id, "target_id": target, "operation": decision.op, "target_filename": target,
                   "reason": decision.reason, "applied": decision.changes,
                   "rule_ids": ",".join(one.name for one in decision.trace)}  # fmt: skip
    if replayed:
        facts["replayed"] = True
    at = milliseconds(now)
    if not db.execute("UPDATE memory_decisions SET applied_at = ? WHERE id = ?", (at, decision.id)).rowcount:
        # The records were damaged since and started again: the bytes before and after are kept all the same.
        insert(db, decision._replace(applied_at=at))
    if decision.op == "update" and decision.source_file != target:
        old, new = (f"{decision.root.key}/{name}" for name in (decision.source_file, target))
        db.execute("UPDATE OR REPLACE memory_recall_signals SET chunk_id = ? WHERE chunk_id = ?", (new, old))
    op = event or _EVENTS.get(decision.op, "memory.write.committed")
    add_event(db, side.records.workspace_id, op, now, decision.root, facts)


# -- after a crash --------------------------------------------------------------------------------------------------


def pending(side: Side) -> list[Decision]:
    """Return the decisions that are not carried out yet, the oldest first."""
    where = "applied_at IS NULL AND abandoned IS NULL ORDER BY seq"
    return side.records.look(lambda db: select(side, db, where, []), [])


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
    why = ""
    if decision.changes:
        names = (decision.target_filename, decision.source_file)
        if any(map(fault_of, names)):
            why = "its file name is none that a decision may write"
        else:
            target, source = (hash_of(transaction.read(f"{decision.root.folder}/{name}").base) for name in names)
            moves = names[0] != names[1]
            after = ABSENT if decision.op == "delete" else decision.post_hash
            if source == decision.prior_hash and (not moves or target == ABSENT) and target != after:
                _commit(side, decision, transaction)
            elif target != after or (moves and source != ABSENT):
                why = "another program changed the file before it was carried out"
    if why:
        text = "UPDATE memory_decisions SET abandoned = ? WHERE id = ?"
        side.records.run(lambda db: db.execute(text, (why, decision.id)))
    else:
        side.records.run(partial(recorded, side, decision, now, replayed=True))
