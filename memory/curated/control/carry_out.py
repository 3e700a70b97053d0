"""Decisions carried out: recorded first, then file and index in one transaction, then the stamp and the event."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from memory.curated.files.index_file import IndexLine, rendered, renewed
from memory.curated.index.entries import index_hash, index_lines, lists_others
from memory.curated.index.records import UNAVAILABLE, add_event, milliseconds
from memory.curated.index.signals import count_waiting
from memory.curated.model import INDEX
from memory.errors import MemdeckError

from .decision import Decision, insert

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from memory.curated.sides import Side
    from memory.storage import Change
    from memory.storage.transaction.transaction import Transaction

_EVENTS = {"reject": "memory.write.rejected", "noop": "memory.write.shadowed"}


def carry_out(
    side: Side, decision: Decision, transaction: Transaction, now: datetime, *, event: str | None = None
) -> Change | None:
    """Record a decision, then change its files, then stamp it; the lock is held all the time.

    Where the files cannot be changed the decision never was: its row goes, and the error is raised. Whatever fails once
    they are is no failure of the decision: a stamp is left to the next replay, which finds its bytes in its file.
    """
    side.records.run(lambda db: insert(db, decision))
    if not decision.changes:
        stamp(side, decision, now, event=event)
        return None
    try:
        change, index = _commit(side, decision, transaction)
    except BaseException:
        gone = "DELETE FROM memory_decisions WHERE id = ? AND applied_at IS NULL"
        side.records.run(lambda db: db.execute(gone, (decision.id,)))
        raise
    for step in (partial(_catalogue, side, decision, index), partial(stamp, side, decision, now, event=event)):
        try:
            try:
                step()
            except MemoryError:
                step()
        except Exception as error:
            if not (isinstance(error, MemdeckError) and error.code == UNAVAILABLE):
                side.store.history.warn(f"the change is made, but what follows it failed: {type(error).__name__}")
    return change


def write(side: Side, decision: Decision, transaction: Transaction) -> None:
    """Change the file of a decision and the index of its folder, in one change."""
    _, index = _commit(side, decision, transaction)
    _catalogue(side, decision, index)


def _commit(side: Side, decision: Decision, transaction: Transaction) -> tuple[Change, bytes]:
    """Change the files; return the bytes of the index with the change."""
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
    index = _index(side, decision, transaction)
    words = {"add": "remembered", "update": "renewed", "delete": "forgot"}[decision.op]
    return transaction.commit(f"{words} {decision.target_filename} ({decision.root.label})"), index


def _catalogue(side: Side, decision: Decision, index: bytes) -> None:
    """Have the catalogue know what was written, and what a look holds of it forgotten."""
    side.store.remember(f"{decision.root.folder}/{decision.target_filename}", None)
    names = tuple({decision.target_filename, decision.source_file})
    side.catalog.wrote(decision.root, names, side.digest(decision.root, index) if index else None)


def _index(side: Side, decision: Decision, transaction: Transaction) -> bytes:
    """Write the index and return it: the memory of the decision on top, then all others, the newest first.

    An index that is as memdeck wrote it last, over files that nobody else changed since, is renewed in this one line.
    """
    root = decision.root
    mine = tuple({decision.target_filename, decision.source_file})
    line = None
    if decision.op != "delete":
        line = IndexLine(decision.header["name"], decision.target_filename, decision.header["description"])
    path = f"{root.folder}/{INDEX}"
    stored = transaction.read(path)
    made = data = None
    if stored.base is not None:
        made = side.catalog.read(
            (root,), lambda db: index_hash(db, root) if lists_others(db, root, mine) else None, unlisted=True
        )
    if made is not None and made == side.digest(root, stored.data):
        data = renewed(stored.data, line, mine)
    if data is None:
        known = side.catalog.read((root,), partial(index_lines, root=root))
        lines = [one for one in known if one.filename not in mine]
        data = rendered(stored.data, lines if line is None else [line, *lines], mine)
    if data:
        transaction.write(path, data, base=stored.base)
    elif stored.base is not None:
        transaction.remove(path, base=stored.base)
    return data


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
        at = milliseconds(now)
        found = db.execute("UPDATE memory_decisions SET applied_at = ? WHERE id = ?", (at, decision.id)).rowcount
        if not found:
            # The records were damaged since and begin anew: the bytes before and after are kept all the same.
            insert(db, decision._replace(applied_at=at))
        if decision.op == "update" and decision.source_file != decision.target_filename:
            old, new = (f"{decision.root.key}/{name}" for name in (decision.source_file, decision.target_filename))
            count_waiting(db)
            db.execute("UPDATE OR REPLACE memory_recall_signals SET chunk_id = ? WHERE chunk_id = ?", (new, old))
        add_event(db, side.records.workspace_id, op, now, decision.root, facts)

    side.records.run(done)
