"""An agent's memory at one moment, what the next prune deletes of it, the consent for that, and the prune.

Episodic files are deleted when older than 7 days, procedural ones when older than 90, both strictly; core files never.
What a run deletes is what its plan names, so that a dry run reports what a run does; the bytes can be restored.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from memory.base.safe_text import plural
from memory.errors import BlockedError, BusyError, MemdeckError, RefusedError
from memory.storage import Store
from memory.storage.safe_open import MOST_BYTES, allow
from memory.trust.asks import Ask, hidden_in, hidden_in_name
from memory.trust.consent import Trust, blocked_json

from .aidefile import EPISODIC, NAME, PROCEDURAL, Aidefile
from .files import LOCK, MARKDOWN, TYPES, AgentFiles, Holder, LeftOut, MemoryFile, Type, aidefile_of, holder_of, look
from .registry import Agent, root_of
from .sizes import nanoseconds

USUAL = f'procedural_dir = "{PROCEDURAL}"\nepisodic_dir = "{EPISODIC}"'
"""The folders of an Aidefile that names none, in the form of `folders_text`."""


@dataclass(frozen=True, slots=True)
class AgentPrune:
    """The result of a prune of one agent, or its plan: files deleted, how many are kept, what was skipped, what failed.

    `kept` counts the regular files that stay because they are core or young enough. `skipped` are links, other entries
    that are not regular files, locks and what they lock; `errors` are the files that should have been deleted but were
    not. `error` is why the agent could not be checked at all. `changes` are the ids of the changes.
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
        """The total size of the deleted files, in bytes."""
        return sum(file.size for file in self.deleted)

    def json(self) -> dict[str, Any]:
        """Return the part of the report about one agent."""
        return {
            "agent": self.agent.name,
            "path": str(self.agent.folder),
            "deleted": len(self.deleted),
            "kept": self.kept,
            "skipped": [asdict(one) for one in self.skipped],
            "errors": [asdict(one) for one in self.errors],
            "bytes_freed": self.freed,
            "files": [{"path": file.path, "type": file.type, "size": file.size} for file in self.deleted],
            "error": _error(self.error),
            "changes": list(self.changes),
        }


@dataclass(frozen=True, slots=True)
class AgentLook:
    """A snapshot of one agent's files; `error` says why it could not be read, and then all else is empty."""

    agent: Agent
    aidefile: Aidefile | None
    found: AgentFiles
    locks: tuple[Holder, ...] = ()
    error: MemdeckError | None = None

    def at(self, now: datetime, approvals: Path | None = None) -> AgentStatus:
        """Return the agent's status at an aware time; `approvals` as in `plan_prune`."""
        return AgentStatus(self, plan_prune(self, now, approvals), nanoseconds(now))


@dataclass(frozen=True, slots=True)
class AgentStatus:
    """One agent at one moment; `prune` is what a prune would do now."""

    look: AgentLook
    prune: AgentPrune
    now_ns: int

    @property
    def agent(self) -> Agent:
        """The agent."""
        return self.look.agent

    @property
    def found(self) -> AgentFiles:
        """Its files."""
        return self.look.found

    def oldest(self, kind: Type | None = None) -> float | None:
        """Return the age of the oldest file of a type, or of all, in seconds; None without files."""
        ages = [file.age_ns(self.now_ns) for file in self.found.files if kind in (None, file.type)]
        return max(ages) / 1e9 if ages else None

    @property
    def limit(self) -> int | None:
        """How many tokens the Aidefile allows before memory should be compacted; None where it sets no limit."""
        return self.look.aidefile.compact_after if self.look.aidefile else None

    @property
    def fill(self) -> float | None:
        """The used fraction of the limit; 1.0 is all of it."""
        return None if self.limit is None else self.found.tokens / self.limit

    def json(self) -> dict[str, Any]:
        """Return the status for programs; ages are in seconds."""
        return {
            "agent": self.agent.name,
            "path": str(self.agent.folder),
            "registered": self.agent.registered,
            "types": {
                kind: {
                    "files": len(self.found.of(kind)),
                    "bytes": self.found.size(kind),
                    "oldest_seconds": self.oldest(kind),
                }
                for kind in TYPES
            },
            "bytes": self.found.size(),
            "oldest_seconds": self.oldest(),
            "tokens": self.found.tokens,
            "compact_after": self.limit,
            "fill": None if self.fill is None else round(self.fill, 4),
            "over": self.fill is not None and self.fill > 1,
            "next_prune": {"files": len(self.prune.deleted), "bytes": self.prune.freed},
            "not_pruned": None if self.prune.error is None else self.prune.error.message,
            "missing_core": list(self.found.missing),
            "locks": [holder.json() for holder in self.look.locks],
            "error": _error(self.look.error),
        }


def _error(error: MemdeckError | None) -> dict[str, str] | None:
    return None if error is None else {"code": error.code, "message": error.message}


def plan_prune(look: AgentLook, now: datetime, approvals: Path | None = None) -> AgentPrune:
    """Return what a prune at an aware time would do to an agent; nothing is written.

    An agent that cannot be read, because its Aidefile is wrong or its folder is missing, gives a report with `error`;
    so does one whose folders are refused, or not approved: `approvals` is the state folder, None for no question.
    """
    agent, found = look.agent, look.found
    if look.aidefile is None:
        return AgentPrune(agent, error=look.error)
    wrong: MemdeckError | None = folder_refusal(look.aidefile, found)
    if wrong is None and approvals is not None:
        wrong = _not_approved(approvals, agent, look.aidefile, found)
    if wrong is not None:
        return AgentPrune(agent, error=wrong)
    moment = nanoseconds(now)
    deleted, errors, skipped = [], list(found.failed), list(found.passed)
    skipped += [LeftOut(path, "a lock is never pruned") for path in found.sentinels]
    kept = 0
    for file in found.files:
        if not file.too_old(moment):
            kept += 1
        elif not file.path.casefold().endswith(MARKDOWN):
            skipped.append(LeftOut(file.path, "it is no Markdown"))
        elif file.locked:
            holder = holder_of(agent.folder, file.path)
            skipped.append(LeftOut(file.path, f"locked by {holder.text()}" if holder else "locked"))
        elif reason := _refusal(agent, file):
            errors.append(LeftOut(file.path, reason))
        else:
            deleted.append(file)
    return AgentPrune(agent, tuple(deleted), kept, tuple(skipped), tuple(errors))


def _refusal(agent: Agent, file: MemoryFile) -> str | None:
    """Return why the storage would refuse to remove a file, None where it would not."""
    place = agent.folder / file.path
    if file.size > MOST_BYTES:
        return f"it is larger than {MOST_BYTES >> 20} MB, of which no copy can be kept"
    try:
        allow(os.lstat(place), file.path)
    except MemdeckError as error:
        return error.message
    except OSError as error:
        return error.strerror
    if not os.access(place.parent, os.W_OK | os.X_OK):
        return "its folder cannot be written"
    return None if os.access(place, os.R_OK) else "it cannot be read, so that no copy can be kept"


def folders_text(aidefile: Aidefile) -> str:
    """Return the two folders for the question to the user: their real paths, with links resolved."""
    return f'procedural_dir = "{aidefile.procedural_real}"\nepisodic_dir = "{aidefile.episodic_real}"'


def folder_refusal(aidefile: Aidefile, found: AgentFiles) -> RefusedError | None:
    """Return why the folders can never be pruned: one is hidden, or what it holds is not memory.

    A folder that the Aidefile chose must hold Markdown, or nothing: `src` is not memory, even if an Aidefile says so.
    """
    folders = (
        ("procedural_dir", aidefile.procedural_dir, aidefile.procedural_real, PROCEDURAL),
        ("episodic_dir", aidefile.episodic_dir, aidefile.episodic_real, EPISODIC),
    )
    for key, written, real, usual in folders:
        names = [part for part in (*written.split("/"), *real.split("/")) if part not in ("", ".", "..")]
        inside = [file.path for file in found.files if file.path.startswith(real + "/")]
        if any(part.startswith(".") for part in names):
            why = "and a folder whose name begins with a dot is never pruned"
        elif real != usual and inside and not any(path.casefold().endswith(MARKDOWN) for path in inside):
            why = "which holds no Markdown, so it is no memory and is not pruned"
        else:
            continue
        return RefusedError("typed.folder", f"{key} is {written[:80]!r}, {why}", "mend [memory] in the Aidefile")
    return None


def look_at(agent: Agent) -> AgentLook:
    """Read the files of an agent; a fault of the agent as a whole is returned as `error`."""
    try:
        if not agent.folder.is_dir():
            raise MemdeckError("typed.no_folder", f"{agent.folder} is no folder", "mend its path in the registry")
        aidefile = aidefile_of(agent.folder)
    except MemdeckError as error:
        return AgentLook(agent, None, AgentFiles(()), error=error)
    found = look(agent.folder, aidefile)
    # Sentinels of core files may be outside of the two folders.
    sentinels = {file.path + LOCK for file in found.files if file.locked} | set(found.sentinels)
    locks = [holder_of(agent.folder, path.removesuffix(LOCK)) for path in sorted(sentinels)]
    return AgentLook(agent, aidefile, found, tuple(holder for holder in locks if holder is not None))


# -- consent ---------------------------------------------------------------------------------------------------------


def ask_of(agent: Agent, aidefile: Aidefile, found: AgentFiles) -> Ask:
    """Return an agent's ask; it does not depend on the workspace from which the agent is seen."""
    text = folders_text(aidefile)
    refusal = folder_refusal(aidefile, found)
    hidden = hidden_in(text) or hidden_in_name(agent.name)
    why = refusal.message if refusal is not None else f"it holds the hidden character {hidden}" if hidden else ""
    file = os.path.relpath(agent.folder / NAME, root_of(agent.folder))
    usual = "the folders of every agent without settings" if text == USUAL else ""
    return Ask("folders", "typed", text, agent.name, file, 0, ambiguous=why, usual=usual)


def _not_approved(approvals: Path, agent: Agent, aidefile: Aidefile, found: AgentFiles) -> MemdeckError | None:
    """Return why the folders of an agent may not be pruned, None where they may; `approvals` is the state folder.

    The folders of an agent without settings may be pruned. Others need an approval, and so do the usual ones once
    others were approved: BlockedError `trust.blocked`.
    """
    ask = ask_of(agent, aidefile, found)
    root = root_of(agent.folder)
    decision = Trust(approvals, root).decide(ask)
    if decision.allowed:
        return None
    folders = f"{aidefile.procedural_real[:80]!r} and {aidefile.episodic_real[:80]!r}"
    return BlockedError(
        "trust.blocked",
        f"the folders of {agent.name[:60]!r}, {folders}, are not pruned: {decision.why}",
        f"`memdeck trust list -w {root}` shows what waits for an approval",
        blocked=[blocked_json(ask, decision)],
    )


# -- the prune -------------------------------------------------------------------------------------------------------

OPERATION = "typed.prune"
_BATCH = 100


def prune(
    agent: Agent,
    store: Callable[[Agent], Store],
    now: datetime,
    *,
    actor: str,
    dry_run: bool = False,
    approvals: Path | None = None,
) -> AgentPrune:
    """Delete the files of an agent that are too old; `dry_run` only reports. It raises only what stops Python.

    `approvals` is the state folder; without it the caller must have approved the folders that the Aidefile names. The
    bytes go to the change log first. Many files are deleted in several transactions, which are one for undo. A file
    that fails is reported and stays; a lock that another memdeck process holds fails the agent (`error`).
    """
    plan = plan_prune(look_at(agent), now, approvals)
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
            store.forget(file.path)  # Read only once: its bytes need not stay in memory.
            if stored.base is None:
                continue
            # It may have changed since the plan was made.
            now_file = replace(file, mtime_ns=stored.version.mtime_ns, size=len(stored.data))
            if not now_file.too_old(moment):
                kept += 1
                continue
            transaction.remove(file.path, base=stored.base)
            gone.append(now_file)
        change = transaction.commit(f"pruned {plural(len(gone), 'file')}")
    changes = (*done.changes, change.id) if change.files else done.changes
    return replace(
        done, deleted=(*done.deleted, *gone), kept=done.kept + kept, skipped=(*done.skipped, *skipped), changes=changes
    )
