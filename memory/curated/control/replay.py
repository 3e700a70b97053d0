"""Replay: decisions that were recorded and not carried out, because the process ended between, are finished."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from memory.curated.files.listing import digest
from memory.curated.files.names import fault_of
from memory.errors import BusyError, ConflictError

from .carry_out import stamp, write
from .decision import ABSENT, Decision, select

if TYPE_CHECKING:
    from memory.curated.sides import Side
    from memory.storage.transaction.transaction import Transaction

_PENDING = "applied_at IS NULL AND abandoned IS NULL ORDER BY seq"


def pending(side: Side) -> list[Decision]:
    """Return the decisions that wait to be carried out, the oldest first."""
    return side.records.look(lambda db: select(db, _PENDING, []), [])


def replay(side: Side, now: datetime) -> int:
    """Carry out what waits, in order, and return how many decisions that were.

    A file that holds the decision's bytes already is only stamped. One that another program changed since stays as
    it is, and the decision is noted as abandoned with its contents. Where another process holds the lock, what waits
    is its own.
    """
    done = 0
    for decision in pending(side):
        try:
            with side.store.at_once().transaction("curated.replay", actor="replay", now=now) as transaction:
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
    target = _hash(transaction.read(f"{folder}/{decision.target_filename}").base)
    source = _hash(transaction.read(f"{folder}/{decision.source_file}").base)
    moves = decision.source_file != decision.target_filename
    after = ABSENT if decision.op == "delete" else decision.post_hash
    if target == after and (not moves or source == ABSENT):
        stamp(side, decision, now, replayed=True)
    elif source == decision.prior_hash and (not moves or target == ABSENT):
        write(side, decision, transaction)
        stamp(side, decision, now, replayed=True)
    else:
        _abandon(side, decision, "another program changed the file before it was carried out")


def _hash(data: bytes | None) -> str:
    return ABSENT if data is None else digest(data)


def _abandon(side: Side, decision: Decision, why: str) -> None:
    text = "UPDATE memory_decisions SET abandoned = ? WHERE id = ?"
    side.records.run(lambda db: db.execute(text, (why, decision.id)))
