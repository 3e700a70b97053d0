"""Pruning: delete the files of an agent that are too old, in such a way that they can be restored.

What a run deletes is what its plan names (`status.plan_prune`), so that a dry run reports what a run does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from memory.errors import BusyError, MemdeckError
from memory.storage import Store

from .files import LOCK, LeftOut, MemoryFile
from .registry import Agent
from .sizes import nanoseconds
from .status import AgentPrune, May, look_at, plan_prune

OPERATION = "typed.prune"
_BATCH = 100


def prune(
    agent: Agent,
    store: Callable[[Agent], Store],
    now: datetime,
    *,
    actor: str,
    dry_run: bool = False,
    may: May | None = None,
) -> AgentPrune:
    """Delete the files of an agent that are too old; `dry_run` only reports. It raises only what stops Python.

    `may` is asked about the folders that the Aidefile names now; without it the caller must have approved them. The
    bytes go to the change log first. Many files are deleted in several transactions, which are one for undo. A file
    that fails is reported and stays; a lock that another memdeck process holds fails the agent (`error`).
    """
    plan = plan_prune(look_at(agent), now, may)
    if dry_run or plan.error is not None:
        return plan
    done = replace(plan, deleted=())
    pending = [plan.deleted[at : at + _BATCH] for at in range(0, len(plan.deleted), _BATCH)]
    series = os.urandom(8)
    while pending:
        batch = pending.pop(0)
        try:
            done = _without(done, store(agent), batch, (series, len(done.changes)), now, actor)
        except BusyError as error:
            gone = {file.path for file in done.deleted}
            left = [LeftOut(file.path, error.message) for file in plan.deleted if file.path not in gone]
            return replace(done, errors=(*plan.errors, *left), error=error)
        except MemdeckError as error:
            if error.code.startswith("state."):
                raise
            if len(batch) == 1:
                done = replace(done, errors=(*done.errors, LeftOut(batch[0].path, error.message)))
            else:  # One of them fails: the others are removed without it.
                pending = [(file,) for file in batch] + pending
    return done


def _without(
    done: AgentPrune, store: Store, batch: Sequence[MemoryFile], part: tuple[bytes, int], now: datetime, actor: str
) -> AgentPrune:
    """Remove some files in one transaction, and return the report with them."""
    moment = nanoseconds(now)
    gone, kept, skipped = [], 0, []
    with store.transaction(OPERATION, actor=actor, now=now, part=part, recorded=True) as transaction:
        for file in batch:
            if os.path.lexists(store.root / (file.path + LOCK)):
                skipped.append(LeftOut(file.path, "locked meanwhile"))
                continue
            stored = transaction.read(file.path)
            store.remember(file.path, None)  # Read only once: its bytes need not stay in memory.
            if stored.base is None:
                continue
            # It may have changed since the plan was made.
            now_file = replace(file, mtime_ns=stored.version.mtime_ns, size=len(stored.data))
            if not now_file.too_old(moment):
                kept += 1
                continue
            transaction.remove(file.path, base=stored.base)
            gone.append(now_file)
        change = transaction.commit(f"pruned {len(gone):,} {'file' if len(gone) == 1 else 'files'}")
    changes = (*done.changes, change.id) if change.files else done.changes
    return replace(
        done, deleted=(*done.deleted, *gone), kept=done.kept + kept, skipped=(*done.skipped, *skipped), changes=changes
    )
