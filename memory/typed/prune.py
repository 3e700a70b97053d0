"""Pruning: delete the files of an agent that are too old, in such a way that they can be restored.

What a run deletes is what its plan names (`status.plan_prune`), so that a dry run reports what a run does.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from memory.errors import BusyError, MemdeckError
from memory.storage import Store

from .files import LOCK, LeftOut, MemoryFile
from .registry import Agent
from .sizes import nanoseconds
from .status import AgentPrune, May, look_at, plan_prune

OPERATION = "typed.prune"
_BATCH_FILES, _BATCH_BYTES = 1000, 16_000_000


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
    if dry_run or plan.error is not None or not plan.deleted:
        return plan
    run = _Run(store(agent), now, actor)
    for batch in _batches(plan.deleted):
        try:
            run.remove(batch)
        except BusyError as error:
            gone = {file.path for file in run.deleted}
            left = (LeftOut(file.path, error.message) for file in plan.deleted if file.path not in gone)
            errors = (*plan.errors, *left)
            return replace(plan, deleted=tuple(run.deleted), errors=errors, error=error, changes=tuple(run.changes))
    return replace(
        plan,
        deleted=tuple(run.deleted),
        kept=plan.kept + run.kept,
        skipped=(*plan.skipped, *run.skipped),
        errors=(*plan.errors, *run.errors),
        changes=tuple(run.changes),
    )


def _batches(files: Sequence[MemoryFile]) -> Iterator[list[MemoryFile]]:
    """Yield files in batches that can be held in memory and open at once."""
    batch: list[MemoryFile] = []
    size, most = 0, _most_files()
    for file in files:
        if batch and (len(batch) >= most or size + file.size > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file.size
    if batch:
        yield batch


def _most_files() -> int:
    """Return how many files one transaction can hold open: it needs two descriptors for each."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _BATCH_FILES if limit in (-1, resource.RLIM_INFINITY) else max(8, min(_BATCH_FILES, limit // 4))


class _Run:
    """The transactions of one prune of one agent, and their results."""

    def __init__(self, store: Store, now: datetime, actor: str) -> None:
        self._store = store
        self._now = now
        self._actor = actor
        self._series = os.urandom(8)
        self.deleted: list[MemoryFile] = []
        self.errors: list[LeftOut] = []
        self.skipped: list[LeftOut] = []
        self.changes: list[str] = []
        self.kept = 0

    def remove(self, batch: Sequence[MemoryFile]) -> None:
        """Remove some files in one transaction; where one of them fails, the others are removed without it."""
        try:
            self._remove(batch)
        except MemdeckError as error:
            if error.code in ("file.locked", "file.lock_lost") or error.code.startswith("state."):
                raise
            if len(batch) == 1:
                self.errors.append(LeftOut(batch[0].path, error.message))
                return
            middle = len(batch) // 2
            self.remove(batch[:middle])
            self.remove(batch[middle:])

    def _remove(self, batch: Sequence[MemoryFile]) -> None:
        moment = nanoseconds(self._now)
        store, root = self._store, self._store.root
        gone, kept, skipped = [], 0, []
        part = len(self.changes)
        with store.transaction(
            OPERATION, actor=self._actor, now=self._now, part=(self._series, part), recorded=True
        ) as transaction:
            for file in batch:
                if os.path.lexists(root / (file.path + LOCK)):
                    skipped.append(LeftOut(file.path, "locked meanwhile"))
                    continue
                stored = transaction.read(file.path)
                store.remember(file.path, None)  # Read only once: its bytes need not stay in memory.
                # It may have changed since the plan was made.
                now_file = replace(file, mtime_ns=stored.version.mtime_ns, size=len(stored.data))
                if stored.base is None:
                    continue
                if not now_file.too_old(moment):
                    kept += 1
                    continue
                transaction.remove(file.path, base=stored.base)
                gone.append(now_file)
            change = transaction.commit(f"pruned {len(gone):,} {'file' if len(gone) == 1 else 'files'}")
        self.deleted += gone
        self.skipped += skipped
        self.kept += kept
        if change.files:
            self.changes.append(change.id)
