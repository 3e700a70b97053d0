"""The typed memory operations as free functions: merge, promote, demote, expire, lock, unlock, record_failure.

Agents call them from Python with only a path, and memdeck's own operations with a time, a store and an actor. Therefore
this module alone fills in what the rest of `memory` accepts as arguments. A path is absolute or relative to the current
folder; with `store`, it is relative to the agent's folder. It belongs to the agent in the nearest folder upwards with
an Aidefile; UsageError `typed.no_agent_here` where there is none. Each function takes the keywords of `How` and changes
only files of the agent's memory, others are RefusedError `typed.not_memory`; each change is one transaction.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from logging import getLogger
from typing import TypedDict, Unpack

from memory.base.programs import retry
from memory.errors import MemdeckError, NotFoundError, RefusedError, UsageError
from memory.storage import Change, Store
from memory.storage.own_folders import home, state_home
from memory.storage.transaction import Transaction

from .aidefile import NAME, moment_of, read_age, with_core_file
from .files import aidefile_of, refuse_foreign
from .merging import merged
from .reading import FILE, STATUSES, note_of, with_note
from .registry import Agent, Holder, agent_above, find_agent, lock_file, path_in, refuse_locked, store_of, unlock_file

AnyPath = str | os.PathLike[str]
_MERGED = {"none": "added text to", "line_hash": "added new lines to", "section_replace": "merged sections into"}


class How(TypedDict, total=False):
    """The time (aware), the store and the actor of a call; `owner` is the process that calls (default: this one).

    A lock of another process is BusyError `typed.locked`, unless `ignore_lock`.
    """

    now: datetime | None
    store: Store | None
    actor: str | None
    owner: int | None
    ignore_lock: bool


def merge(path: AnyPath, content: str, dedupe: str = "none", **how: Unpack[How]) -> Change:
    """Append content to a file, leaving out what the file already has; the change names no file where nothing is new.

    `dedupe` is `none`, `line_hash` or `section_replace`; see `memory.typed.merging`. The file and its folders are made
    where they are missing. UsageError `typed.dedupe`, BusyError `typed.locked`, and what a transaction raises.
    """
    store, inside = _place(path, how)
    words = f"{_MERGED.get(dedupe, '')} {inside}"
    return rewrite(store, inside, lambda data: merged(data, content, dedupe), "typed.merge", words, how)


def rewrite(store: Store, path: str, build: Callable[[bytes], bytes], operation: str, summary: str, how: How) -> Change:
    """Write the bytes that `build` returns for a file's bytes (none: no file); no empty file is made."""
    refuse_foreign(store.root, path)

    def attempt() -> Change:
        with _transaction(store, operation, how) as transaction:
            _refuse_locked(store, how, path)
            stored = transaction.read(path)
            data = build(stored.data)
            if data != stored.data:
                transaction.write(path, data, base=stored.base)
            return transaction.commit(summary)

    return retry(attempt)


def promote(src: AnyPath, dst: AnyPath, *, force: bool = False, core: bool = False, **how: Unpack[How]) -> Change:
    """Move a file up, typically from episodic to core: all or nothing, keeping its mode and its time; folders are made.

    With `core` the Aidefile lists it under `core_files` in the same change. NotFoundError `typed.no_file` for a missing
    source, RefusedError `typed.exists` for a target that exists, unless `force`; UsageError `typed.same` for the same
    path twice.
    """
    return _move(src, dst, "typed.promote", force, core, how)


def demote(src: AnyPath, dst: AnyPath, *, force: bool = False, **how: Unpack[How]) -> Change:
    """Move a file down, the opposite of `promote`; errors are the same. A core file leaves `core_files` with it.

    It keeps its time, so the next prune may delete a file that was not changed for long.
    """
    return _move(src, dst, "typed.demote", force, False, how)


def _move(src: AnyPath, dst: AnyPath, operation: str, force: bool, core: bool, how: How) -> Change:
    store, source = _place(src, how)
    target = path_in(store, dst if how.get("store") else os.path.abspath(dst))
    if source == target:
        raise UsageError("typed.same", f"{source} is already there", "name another path")
    for path in (source, target):
        refuse_foreign(store.root, path)

    def attempt() -> Change:
        with _transaction(store, operation, how) as transaction:
            _refuse_locked(store, how, source, target)
            base = transaction.read(source).base
            if base is None:
                words = f"there is no file {source}"
                raise NotFoundError("typed.no_file", words, "name a file that exists", path=source)
            over = transaction.read(target).base
            if over is not None and not force:
                raise RefusedError("typed.exists", f"{target} exists already", "force it, or name another path")
            transaction.move(source, target, base=base, over=over)
            if core or operation == "typed.demote":
                _list_core(transaction, source, target if core else None)
            return transaction.commit(f"moved {source} to {target}")

    return retry(attempt)


def _list_core(transaction: Transaction, source: str, target: str | None) -> None:
    """Remove the source from `core_files` of the Aidefile and add the target; a missing Aidefile is made for one."""
    stored = transaction.read(NAME)
    changed = with_core_file(stored.data, source, add=False) if stored.data else stored.data
    if target is not None:
        changed = with_core_file(changed, target, add=True)
    if changed != stored.data:
        transaction.write(NAME, changed, base=stored.base)


def expire(path: AnyPath, max_age: timedelta | float | str, **how: Unpack[How]) -> bool:
    """Delete a file that was last changed longer ago than `max_age`, and return whether it was deleted.

    `max_age` is a timedelta, a number of seconds, or text such as `7d`; UsageError `typed.age` for anything else. A
    missing file is no error, a folder is. `memdeck undo` restores the bytes.
    """
    try:
        limit = _now(how) - read_age(max_age)
    except ValueError as error:
        raise UsageError("typed.age", str(error), "write an age such as 45s, 30m, 12h, 7d or 2w") from None
    store, inside = _place(path, how)
    refuse_foreign(store.root, inside)

    def attempt() -> bool:
        with _transaction(store, "typed.expire", how) as transaction:
            stored = transaction.read(inside)
            if stored.base is None or moment_of(stored.version.mtime_ns) >= limit:
                return False
            _refuse_locked(store, how, inside)
            transaction.remove(inside, base=stored.base)
            transaction.commit(f"deleted {inside}, which was too old")
            return True

    return retry(attempt)


def lock(path: AnyPath, **how: Unpack[How]) -> Holder:
    """Make `<path>.lock` in one step that only one caller wins; BusyError `typed.locked` names the holder.

    The path itself need not exist. `owner` holds the lock.
    """
    store, inside = _place(path, how)
    refuse_foreign(store.root, inside)
    return lock_file(store, inside, now=_now(how), owner=how.get("owner"))


def unlock(path: AnyPath, **how: Unpack[How]) -> bool:
    """Remove `<path>.lock` and return whether it existed; unlocking twice is fine."""
    store, inside = _place(path, how)
    refuse_foreign(store.root, inside)
    return unlock_file(store, inside)


def record_failure(
    agent: Agent | AnyPath,
    status: str,
    task: str,
    tokens: int,
    issue: str = "local",
    now: datetime | None = None,
    *,
    store: Store | None = None,
    actor: str | None = None,
) -> bool:
    """Append a note on a run that ended as `partial` or `timeout` to the agent's failure log; return whether it did.

    `agent` is an agent of the registry, its name there, or the path of its folder. This function never raises: a note
    that cannot be written must not fail the run that it is about. The reason is logged as a warning of the logger
    `memory.typed.ops`. Other statuses are not failures, and nothing is written.
    """
    try:
        return write_failure(agent, status, task, tokens, issue, now=now, store=store, actor=actor) is not None
    except Exception as error:
        getLogger(__name__).warning("no failure was noted: %s", error)
        return False


def write_failure(
    agent: Agent | AnyPath, status: str, task: str, tokens: int, issue: str = "local", **how: Unpack[How]
) -> str | None:
    """Do what `record_failure` does, and return the log's path from the agent's folder on; this function raises.

    NotFoundError `typed.no_agent` for what is no agent, `typed.no_folder` for a registered one without a folder.
    """
    if status not in STATUSES:
        return None
    folder = (agent if isinstance(agent, Agent) else find_agent(os.fspath(agent), home(os.environ))).folder
    if not folder.is_dir():
        raise NotFoundError("typed.no_folder", f"{folder} is not a folder", "name the agent's folder")
    path = f"{aidefile_of(folder).procedural.real}/{FILE}"
    note = note_of(status, str(task), int(tokens), str(issue), _now(how))
    store = how.get("store") or store_of(folder, state_home(os.environ), home(os.environ))
    words = f"added a failure to {path}"
    rewrite(store, path, lambda data: with_note(data, note), "typed.fail", words, how)
    return path


def _place(path: AnyPath, how: How) -> tuple[Store, str]:
    """Return the store that a path belongs to, and the path in it."""
    store = how.get("store")
    if store is not None:
        return store, path_in(store, path)
    full = os.path.abspath(path)
    agent = agent_above(full)
    if agent is None:
        raise UsageError("typed.no_agent_here", f"{path} is in no folder with an Aidefile", "make one there")
    store = store_of(agent.folder, state_home(os.environ), home(os.environ))
    return store, path_in(store, full)


def _now(how: How) -> datetime:
    now = how.get("now")
    if now is not None and now.tzinfo is None:
        raise MemdeckError("typed.naive_time", "the time has no zone", "pass an aware datetime")
    return now or datetime.now(UTC)


def _transaction(store: Store, operation: str, how: How) -> Transaction:
    """Return a transaction; its actor is the given one, else MEMDECK_ACTOR, else the agent itself."""
    actor = how.get("actor") or os.environ.get("MEMDECK_ACTOR") or f"agent:{store.root.name}"
    return store.transaction(operation, actor=actor, now=_now(how))


def _refuse_locked(store: Store, how: How, *paths: str) -> None:
    for path in () if how.get("ignore_lock") else paths:
        refuse_locked(store.root, path, how.get("owner"))
