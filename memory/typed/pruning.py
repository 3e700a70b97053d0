"""An agent's memory at one moment, what the next prune deletes of it, the consent for that, and the prune.

Episodic files are deleted when older than 7 days, procedural ones when older than 90, both strictly; core files never.
What a run deletes is what its plan names, so that a dry run reports what a run does; the bytes can be restored.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from memory.base.safe_text import plural
from memory.errors import BlockedError, BusyError, MemdeckError, RefusedError
from memory.storage import Store
from memory.storage.fsio import allow
from memory.storage.safe_open import MOST_BYTES
from memory.trust.asks import Ask, hidden_in, hidden_in_name
from memory.trust.consent import Trust, blocked_json

from .aidefile import EPISODIC, LOCK, NAME, PROCEDURAL, moment_of
from .files import MARKDOWN, TYPES, AgentLook, LeftOut, MemoryFile, Type, look_at
from .registry import Agent, root_of

_FOLDERS = 'procedural_dir = "{}"\nepisodic_dir = "{}"'


@dataclass(frozen=True, slots=True)
class AgentPrune:
    """The result of a prune of one agent, or its plan: files deleted, how many are kept, what was skipped, what failed.

    `kept` counts the regular files that stay because they are core or young enough. `skipped` are links, other entries
    that are not regular files, locks and what they lock; `errors` are the files that should have been deleted but were
    not. `error` is why the agent could not be checked at all. `change` is the id of the change.
    """

    agent: Agent
    deleted: tuple[MemoryFile, ...] = ()
    kept: int = 0
    skipped: tuple[LeftOut, ...] = ()
    errors: tuple[LeftOut, ...] = ()
    error: MemdeckError | None = None
    change: str | None = field(default=None, compare=False)

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
            "change": self.change,
        }


@dataclass(frozen=True, slots=True)
class AgentStatus:
    """One agent at one moment; `prune` is what a prune would do now."""

    look: AgentLook
    prune: AgentPrune
    now: datetime

    def oldest(self, kind: Type) -> float | None:
        """Return the age of the oldest file of a type, in seconds; None without files."""
        ages = [file.age(self.now) for file in self.look.of(kind)]
        return max(ages).total_seconds() if ages else None

    def json(self) -> dict[str, Any]:
        """Return the status for programs; ages are in seconds."""
        look = self.look
        return {
            "agent": look.agent.name,
            "path": str(look.agent.folder),
            "registered": look.agent.registered,
            "types": {
                kind: {"files": len(look.of(kind)), "bytes": look.size(kind), "oldest_seconds": self.oldest(kind)}
                for kind in TYPES
            },
            "tokens": look.tokens,
            "compact_after": look.limit,
            "next_prune": {"files": len(self.prune.deleted), "bytes": self.prune.freed},
            "not_pruned": None if self.prune.error is None else self.prune.error.message,
            "error": _error(look.error),
        }


def status_of(look: AgentLook, now: datetime, approvals: Path | None = None) -> AgentStatus:
    """Return the status of an agent at an aware time; `approvals` as in `plan_prune`."""
    plan = plan_prune(look, now, approvals)
    if not look.agent.registered and plan.error is None:
        words = f"{look.agent.name} is not registered, so only `prune --agent` with its path prunes it"
        plan = AgentPrune(look.agent, error=MemdeckError("typed.unregistered", words))
    return AgentStatus(look, plan, now)


def _error(error: MemdeckError | None) -> dict[str, str] | None:
    return None if error is None else {"code": error.code, "message": error.message}


def plan_prune(look: AgentLook, now: datetime, approvals: Path | None = None) -> AgentPrune:
    """Return what a prune at an aware time would do to an agent; nothing is written.

    An agent that cannot be read, because its Aidefile is wrong or its folder is missing, gives a report with `error`;
    so does one whose folders are refused, or not approved: `approvals` is the state folder, None for no question.
    """
    agent = look.agent
    if look.aidefile is None:
        return AgentPrune(agent, error=look.error)
    if (error := folder_refusal(look) or not_approved(approvals, look)) is not None:
        return AgentPrune(agent, error=error)
    deleted, errors, skipped = [], list(look.failed), list(look.passed)
    skipped += [LeftOut(path, "a lock is never pruned") for path in look.sentinels]
    held = {holder.path: holder.text() for holder in look.locks}
    kept = 0
    for file in look.files:
        if not file.too_old(now):
            kept += 1
        elif not file.path.casefold().endswith(MARKDOWN):
            skipped.append(LeftOut(file.path, "it is not Markdown"))
        elif file.path in held:
            skipped.append(LeftOut(file.path, f"locked by {held[file.path]}"))
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


def folder_refusal(look: AgentLook) -> RefusedError | None:
    """Return why the folders can never be pruned: one is hidden, or what it holds is not memory.

    A folder that the Aidefile chose must hold Markdown, or nothing: `src` is not memory, even if an Aidefile says so.
    """
    assert look.aidefile is not None
    for key, (written, real), usual in (
        ("procedural_dir", look.aidefile.procedural, PROCEDURAL),
        ("episodic_dir", look.aidefile.episodic, EPISODIC),
    ):
        inside = [file.path.casefold() for file in look.files if file.path.startswith(real + "/")]
        if any(part.startswith(".") and part.strip(".") for part in (*written.split("/"), *real.split("/"))):
            why = "and a folder whose name begins with a dot is never pruned"
        elif real != usual and inside and not any(path.endswith(MARKDOWN) for path in inside):
            why = "which holds no Markdown, so it is not a memory and is not pruned"
        else:
            continue
        return RefusedError("typed.folder", f"{key} is {written[:80]!r}, {why}", "fix [memory] in the Aidefile")
    return None


# -- consent ---------------------------------------------------------------------------------------------------------


def ask_of(look: AgentLook) -> Ask:
    """Return an agent's ask for its two folders, links resolved; it does not depend on the workspace that shows it."""
    assert look.aidefile is not None
    agent, refusal = look.agent, folder_refusal(look)
    text = _FOLDERS.format(look.aidefile.procedural.real, look.aidefile.episodic.real)
    hidden = hidden_in(text) or hidden_in_name(agent.name)
    why = refusal.message if refusal is not None else f"it holds the hidden character {hidden}" if hidden else ""
    file = os.path.relpath(agent.folder / NAME, root_of(agent.folder))
    usual = "the folders of every agent without settings" if text == _FOLDERS.format(PROCEDURAL, EPISODIC) else ""
    return Ask("folders", "typed", text, agent.name, file, 0, ambiguous=why, usual=usual)


def not_approved(approvals: Path | None, look: AgentLook) -> MemdeckError | None:
    """Return why the folders of an agent may not be pruned, None where they may, and without the state folder.

    The folders of an agent without settings may be pruned. Others need an approval, and so do the usual ones once
    others were approved: BlockedError `trust.blocked`.
    """
    if approvals is None or look.aidefile is None:
        return None
    ask, root = ask_of(look), root_of(look.agent.folder)
    decision = Trust(approvals, root).decide(ask)
    if decision.allowed:
        return None
    folders = f"{look.aidefile.procedural.real[:80]!r} and {look.aidefile.episodic.real[:80]!r}"
    return BlockedError(
        "trust.blocked",
        f"the folders of {look.agent.name[:60]!r}, {folders}, are not pruned: {decision.why}",
        f"`memdeck trust list -w {root}` shows what needs approval",
        blocked=[blocked_json(ask, decision)],
    )


# -- the prune -------------------------------------------------------------------------------------------------------


def prune(
    agent: Agent,
    store: Callable[[Agent], Store],
    now: datetime,
    *,
    actor: str,
    dry_run: bool = False,
    approvals: Path | None = None,
) -> AgentPrune:
    """Delete the files of an agent that are too old, in one change; `dry_run` only reports.

    `approvals` is the state folder; without it the caller must have approved the folders that the Aidefile names. The
    bytes go to the change log first. A file that cannot be read is reported and stays; where the change fails, each of
    its files is reported, and a lock that another memdeck process holds fails the agent (`error`).
    """
    plan = plan_prune(look_at(agent), now, approvals)
    if dry_run or not plan.deleted:
        return plan
    gone, kept, skipped, errors = [], plan.kept, list(plan.skipped), list(plan.errors)
    files = store(agent)
    try:
        with files.transaction("typed.prune", actor=actor, now=now, recorded=True) as transaction:
            for file in plan.deleted:
                if os.path.lexists(files.root / (file.path + LOCK)):
                    skipped.append(LeftOut(file.path, "locked meanwhile"))
                    continue
                try:
                    stored = transaction.read(file.path)
                except MemdeckError as error:
                    errors.append(LeftOut(file.path, error.message))
                    continue
                files.forget(file.path)  # Read only once: its bytes need not stay in memory.
                # It may have changed since the plan was made.
                now_file = replace(file, changed=moment_of(stored.version.mtime_ns), size=len(stored.data))
                if stored.base is not None and now_file.too_old(now):
                    transaction.remove(file.path, base=stored.base)
                    gone.append(now_file)
                else:
                    kept += stored.base is not None
            change = transaction.commit(f"pruned {plural(len(gone), 'file')}")
    except MemdeckError as error:
        if error.code.startswith("state."):
            raise
        failed = (LeftOut(file.path, error.message) for file in plan.deleted)
        busy = error if isinstance(error, BusyError) else None
        return replace(plan, deleted=(), errors=(*plan.errors, *failed), error=busy)
    done = change.id if change.files else None
    return AgentPrune(agent, tuple(gone), kept, tuple(skipped), tuple(errors), change=done)
