"""An agent's memory files at one moment, unopened, what the next prune deletes, the consent for that, and the prune.

Episodic files are deleted when older than 7 days, procedural ones when older than 90, both strictly; core files never.
What a run deletes is what its plan names, so that a dry run reports what a run does; the bytes can be restored.
"""

from __future__ import annotations

import os
import stat as st
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, get_args

from memory.base.problems import original_of
from memory.base.safe_text import plural
from memory.errors import BlockedError, BusyError, MemdeckError, RefusedError, file_kind
from memory.storage import Store
from memory.storage import safe_open as beneath
from memory.storage.fsio import allow
from memory.storage.safe_open import MOST_BYTES
from memory.trust.asks import Ask, hidden_in, hidden_in_name
from memory.trust.consent import NOT_YET, Trust, blocked_json
from memory.typed.aidefile import (
    BYTES_PER_TOKEN,
    EPISODIC,
    LOCK,
    NAME,
    PRIVATE,
    PROCEDURAL,
    Aidefile,
    moment_of,
    read_aidefile,
)
from memory.typed.registry import Agent, Holder, holder_of, root_of

Type = Literal["core", "procedural", "episodic"]
TYPES: tuple[Type, ...] = get_args(Type)
MAX_AGE: Mapping[Type, timedelta] = {"procedural": timedelta(days=90), "episodic": timedelta(days=7)}
"""The greatest age of files of a type; core files have no limit."""
MARKDOWN = (".md", ".markdown")
"""The endings of Markdown files."""
_HOME = "memory"
"""The folder of an agent in which its memory always is, whether or not its Aidefile names it."""


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """One file: its path from the agent's folder on (links of folders resolved), type, bytes and last change.

    `locked` is true where its `.lock` exists.
    """

    path: str
    type: Type
    size: int
    changed: datetime
    locked: bool = False

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]

    def age(self, now: datetime) -> timedelta:
        """Return how long ago it was changed; negative for a time in the future."""
        return now - self.changed

    def too_old(self, now: datetime) -> bool:
        """Return whether a prune deletes it: strictly older than the greatest age of its type."""
        limit = MAX_AGE.get(self.type)
        return limit is not None and self.age(now) > limit


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is not a memory file or cannot be read, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class AgentLook:
    """A snapshot of one agent: all memory files by type and path, what was skipped, and what failed.

    `error` says why the agent could not be read, and then all else is empty. `sentinels` are the `.lock` files in the
    two folders, `locks` the holders of all locks, `missing` the listed core files that do not exist, `copies` the files
    that another program left beside the one they are a copy of, each with that: they are no memory.
    """

    agent: Agent
    aidefile: Aidefile | None = None
    files: tuple[MemoryFile, ...] = ()
    passed: tuple[LeftOut, ...] = ()
    failed: tuple[LeftOut, ...] = ()
    sentinels: tuple[str, ...] = ()
    locks: tuple[Holder, ...] = ()
    missing: tuple[str, ...] = ()
    copies: tuple[tuple[str, str], ...] = ()
    error: MemdeckError | None = field(default=None, compare=False)

    def of(self, kind: Type) -> tuple[MemoryFile, ...]:
        """Return the files of one type."""
        return tuple(file for file in self.files if file.type == kind)

    def size(self, kind: Type | None = None) -> int:
        """Return the bytes of one type, or of all."""
        return sum(file.size for file in self.files if kind in (None, file.type))

    @property
    def tokens(self) -> int:
        """Roughly how many tokens all files have together, rounded up."""
        return -(-self.size() // BYTES_PER_TOKEN)

    @property
    def limit(self) -> int | None:
        """How many tokens the Aidefile allows before memory should be compacted; None where it sets no limit."""
        return self.aidefile.compact_after if self.aidefile else None

    @property
    def fill(self) -> float | None:
        """The used fraction of the limit; 1.0 is all of it."""
        return None if self.limit is None else self.tokens / self.limit


def aidefile_of(folder: Path) -> Aidefile:
    """Return the Aidefile of a folder, the defaults where there is none.

    Errors as in `read_aidefile`; RefusedError `file.*` for one that must not be read, such as a link that leads out.
    """
    return read_aidefile(folder, beneath.read(NAME, folder).base)


def refuse_foreign(folder: Path, path: str) -> None:
    """Raise RefusedError `typed.not_memory` unless a path, relative to the agent's folder, is a file of its memory.

    That is a Markdown file below `memory/`, below the procedural or the episodic folder, or listed as core. No part of
    its path is hidden or a link. Every operation that writes checks this, for every caller.
    """
    aidefile = aidefile_of(folder)
    # A place that the Aidefile reaches through a link may be anything: sources, the settings of a program.
    places = [_HOME, *(place.real for place in aidefile.places if place.real == place.written)]
    parts = path.split("/")
    inside = any(path.startswith(place + "/") for place in places) or path in places
    if (
        not inside
        or not path.casefold().endswith(MARKDOWN)
        or any(part[:1] in ("", ".") for part in parts)
        or any(os.path.islink(folder.joinpath(*parts[:count])) for count in range(1, len(parts) + 1))
    ):
        raise RefusedError(
            "typed.not_memory",
            f"{path[:80]!r} is not a Markdown file of the agent's memory",
            f"name one in {_HOME}/, {aidefile.procedural.real}/ or {aidefile.episodic.real}/",
            path=path,
        )


def look_at(agent: Agent) -> AgentLook:
    """Read which files an agent has; a fault of the agent as a whole is returned as `error`.

    Links are not followed, and failures are recorded and skipped. One of the two folders may be inside the other; a
    file in both has the type of the inner one.
    """
    try:
        if not agent.folder.is_dir():
            raise MemdeckError("typed.no_folder", f"{agent.folder} is not a folder", "fix its path in the registry")
        aidefile = aidefile_of(agent.folder)
    except MemdeckError as error:
        return AgentLook(agent, error=error)
    top = os.path.realpath(agent.folder)
    kinds: dict[str, Type] = {aidefile.procedural.real: "procedural", aidefile.episodic.real: "episodic"}
    found: dict[str, MemoryFile] = {}
    passed: list[LeftOut] = []
    failed: list[LeftOut] = []
    sentinels: list[str] = []
    # The inner folder comes first, and the outer one does not enter it.
    for start in sorted(kinds, key=len, reverse=True):
        for path, status in _below(top, start, kinds, passed, failed):
            if st.S_ISLNK(status.st_mode):
                passed.append(LeftOut(path, "a link is not followed"))
            elif not st.S_ISREG(status.st_mode):
                passed.append(LeftOut(path, f"it is {file_kind(status.st_mode)}, not a regular file"))
            elif path.endswith(LOCK):
                sentinels.append(path)
            else:
                found[path] = _file(top, path, "core" if aidefile.is_core(path) else kinds[start], status)
    for _, real in aidefile.core:
        for path, status in _below(top, real, (), [], []):
            if st.S_ISREG(status.st_mode) and path not in found and not path.endswith(LOCK):
                found[path] = _file(top, path, "core", status)
    copies = [(path, original) for path in found if (original := _original(path, found))]
    for path, original in copies:
        del found[path]
        passed.append(LeftOut(path, f"it is a copy of {original} that another program left"))
    files = sorted(found.values(), key=lambda file: (TYPES.index(file.type), file.path))
    # The locks of core files may be outside of the two folders.
    held = {path.removesuffix(LOCK) for path in sentinels} | {file.path for file in files if file.locked}
    return AgentLook(
        agent,
        aidefile,
        files=tuple(files),
        passed=tuple(passed),
        failed=tuple(failed),
        sentinels=tuple(sentinels),
        locks=tuple(holder for path in sorted(held) if (holder := holder_of(top, path)) is not None),
        missing=tuple(written for written, real in aidefile.core if not os.path.lexists(os.path.join(top, real))),
        copies=tuple(copies),
    )


def _original(path: str, known: Collection[str]) -> str | None:
    """Return the file beside a file that it is a copy of, by its name."""
    folder, slash, name = path.rpartition("/")
    original = original_of(name, lambda one: folder + slash + one in known)
    return None if original is None else folder + slash + original


def _file(top: str, path: str, kind: Type, status: os.stat_result) -> MemoryFile:
    locked = os.path.lexists(os.path.join(top, path + LOCK))
    return MemoryFile(path, kind, status.st_size, moment_of(status.st_mtime_ns), locked)


def _below(
    top: str, start: str, apart: Collection[str], passed: list[LeftOut], failed: list[LeftOut]
) -> Iterator[tuple[str, os.stat_result]]:
    """Yield a file, or all files below a folder, each with its status, without the folders `apart`.

    Hidden folders and errors go to the lists. A missing file or folder is no error: it may be removed at any time.
    """
    try:
        status = os.lstat(os.path.join(top, start))
        if not st.S_ISDIR(status.st_mode):
            yield start, status
            return
        names = sorted(os.listdir(os.path.join(top, start)))
    except FileNotFoundError:
        return
    except OSError as error:
        failed.append(LeftOut(start, error.strerror or str(error)))
        return
    for name in names:
        path = f"{start}/{name}"
        if path in apart or name == PRIVATE:
            continue
        if name.startswith(".") and os.path.isdir(os.path.join(top, path)):
            passed.append(LeftOut(path, "a hidden folder holds no memory"))
        else:
            yield from _below(top, path, apart, passed, failed)


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
    folders = f"“{look.aidefile.procedural.real[:80]}” and “{look.aidefile.episodic.real[:80]}”"
    why = " until you approve it" if decision.why == NOT_YET else f": {decision.why}"
    return BlockedError(
        "trust.blocked",
        f"memdeck may not prune {folders}{why}",
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
