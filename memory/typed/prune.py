"""Pruning: which files of an agent are too old, and deleting them so that they can be brought back.

Episodic files go when they are older than 7 days, procedural ones older than 90, both strictly; core files never. A
plan is made from what `look` sees and from what the storage would refuse, so that a dry run says what a run does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.errors import BusyError, MemdeckError

from .aidefile import Aidefile
from .files import LOCK, AgentFiles, LeftOut, MemoryFile, aidefile_of, look
from .folders import folder_refusal
from .locks import holder_of
from .registry import Agent
from .sizes import nanoseconds

if TYPE_CHECKING:
    from memory.storage import Store

OPERATION = "typed.prune"
LARGEST = 256_000_000
"""The largest file, in bytes, of which the history can keep a copy; a larger one stays."""
_BATCH_FILES, _BATCH_BYTES = 1000, 16_000_000
May = Callable[[Agent, Aidefile, AgentFiles], MemdeckError | None]
"""Says why the folders of an agent may not be pruned, None where they may."""


@dataclass(frozen=True, slots=True)
class AgentPrune:
    """What a prune did to one agent, or would do: files deleted, how many are kept, what was skipped, what failed.

    `kept` counts the regular files that stay because they are core or young enough. `skipped` are links, what is no
    regular file, locks and what they lock; `errors` are the files that should have gone and did not. `error` is why
    nothing of the agent was looked at. `changes` are the ids of the changes.
    """

    agent: Agent
    deleted: tuple[MemoryFile, ...] = ()
    kept: int = 0
    skipped: tuple[LeftOut, ...] = ()
    errors: tuple[LeftOut, ...] = ()
    error: MemdeckError | None = None
    changes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def freed(self) -> int:
        """How many bytes the deleted files have."""
        return sum(file.size for file in self.deleted)

    def json(self) -> dict[str, Any]:
        """Return the part of the report about one agent."""
        return {
            "agent": self.agent.name,
            "path": str(self.agent.folder),
            "deleted": len(self.deleted),
            "kept": self.kept,
            "skipped": [{"path": one.path, "reason": one.reason} for one in self.skipped],
            "errors": [{"path": one.path, "reason": one.reason} for one in self.errors],
            "bytes_freed": self.freed,
            "files": [{"path": file.path, "type": file.type, "size": file.size} for file in self.deleted],
            "error": None if self.error is None else {"code": self.error.code, "message": self.error.message},
            "changes": list(self.changes),
        }


def plan_prune(
    agent: Agent,
    now: datetime,
    found: AgentFiles | None = None,
    *,
    aidefile: Aidefile | None = None,
    may: May | None = None,
) -> AgentPrune:
    """Return what a prune at an aware time would do to an agent; nothing is written.

    An agent that cannot be looked at, for its Aidefile is wrong or its folder missing, gives a report with `error`; so
    does one whose folders are refused, or by `may` not approved. `found` and `aidefile` are known already.
    """
    try:
        if not agent.folder.is_dir():
            raise no_folder(agent)
        aidefile = aidefile_of(agent.folder) if aidefile is None else aidefile
        found = look(agent.folder, aidefile) if found is None else found
    except MemdeckError as error:
        return AgentPrune(agent, error=error)
    wrong = folder_refusal(aidefile, found) or (None if may is None else may(agent, aidefile, found))
    if wrong is not None:
        return AgentPrune(agent, error=wrong)
    moment = nanoseconds(now)
    deleted, errors, skipped = [], list(found.failed), list(found.passed)
    skipped += [LeftOut(path, "a lock is never pruned") for path in found.sentinels]
    kept = 0
    writable: dict[str, bool] = {}
    for file in found.files:
        if not file.too_old(moment):
            kept += 1
        elif file.locked:
            skipped.append(_locked(agent, file))
        elif reason := _refusal(agent, file, writable):
            errors.append(LeftOut(file.path, reason))
        else:
            deleted.append(file)
    return AgentPrune(agent, tuple(deleted), kept, tuple(skipped), tuple(errors))


def no_folder(agent: Agent) -> MemdeckError:
    """Return the error for an agent whose folder is not there."""
    return MemdeckError("typed.no_folder", f"{agent.folder} is no folder", "mend its path in the registry")


def _locked(agent: Agent, file: MemoryFile) -> LeftOut:
    holder = holder_of(agent.folder, file.path)
    return LeftOut(file.path, f"locked by {holder.text()}" if holder else "locked")


def _refusal(agent: Agent, file: MemoryFile, writable: dict[str, bool]) -> str | None:
    """Return why the storage would refuse to remove a file, None where it would not."""
    from memory.storage.files.safe_open import allow

    place = agent.folder / file.path
    if file.size > LARGEST:
        return f"it is larger than {LARGEST // 1_000_000} MB, of which no copy can be kept"
    try:
        allow(os.lstat(place), file.path)
    except MemdeckError as error:
        return error.message
    except OSError as error:
        return error.strerror or str(error)
    parent = os.path.dirname(place)
    if parent not in writable:
        writable[parent] = os.access(parent, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids)
    if not writable[parent]:
        return "its folder cannot be written"
    readable = os.access(place, os.R_OK, effective_ids=os.access in os.supports_effective_ids)
    return None if readable else "it cannot be read, so that no copy can be kept"


def prune(
    agent: Agent,
    store: Callable[[Agent], Store],
    now: datetime,
    *,
    actor: str,
    dry_run: bool = False,
    progress: Callable[[int], object] | None = None,
    may: May | None = None,
) -> AgentPrune:
    """Delete the files of an agent that are too old; `dry_run` only reports. Nothing raises but what stops Python.

    `may` is asked about the folders that the Aidefile names now; without it the caller answers for them.
    The bytes go to the change log first. Many files go in several transactions, which are one for undo. A file that
    fails is told and stays; a lock that another memdeck process holds fails the agent (`error`).
    """
    plan = plan_prune(agent, now, may=may)
    if dry_run or plan.error is not None or not plan.deleted:
        return plan
    run = _Run(store(agent), now, actor)
    done = 0
    for batch in _batches(plan.deleted):
        try:
            run.remove(batch)
        except BusyError as error:
            gone = {file.path for file in run.deleted}
            left = (LeftOut(file.path, error.message) for file in plan.deleted if file.path not in gone)
            errors = (*plan.errors, *left)
            return replace(plan, deleted=tuple(run.deleted), errors=errors, error=error, changes=tuple(run.changes))
        done += len(batch)
        if progress is not None:
            progress(done)
    return replace(
        plan,
        deleted=tuple(run.deleted),
        kept=plan.kept + run.kept,
        skipped=(*plan.skipped, *run.skipped),
        errors=(*plan.errors, *run.errors),
        changes=tuple(run.changes),
    )


def _batches(files: Sequence[MemoryFile]) -> Iterator[list[MemoryFile]]:
    """Yield files in pieces that are held in memory and open at once."""
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
    """Return how many files one transaction may hold open: it needs two descriptors for each."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _BATCH_FILES if limit in (-1, resource.RLIM_INFINITY) else max(8, min(_BATCH_FILES, limit // 4))


class _Run:
    """The transactions of one prune of one agent, and what came of them."""

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
        """Remove some files in one transaction; where one is in the way, the others go without it."""
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
                store.remember(file.path, None)  # Read once: its bytes need not be kept in memory.
                # It may have been changed since it was looked at.
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
