"""The typed memory operations as free functions: merge, promote, demote, expire, lock, unlock, record_failure.

For agents that call them from Python with no more than a path. So this module alone fills in what all the rest of
`memory` takes as arguments: the time, the store, in whose name. A path is absolute or relative to the current folder,
and belongs to the agent whose folder, the nearest one upwards with an Aidefile, it lies in; where there is none, to
the nearest folder that exists. Pass `now` (aware), `store` or `actor` to say otherwise; `ignore_lock` writes in spite
of another's lock.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory.errors import MemdeckError, NotFoundError, UsageError
from memory.person import home, state_home
from memory.storage import Store

from . import failures, writes
from .aidefile import NAME
from .files import aidefile_of
from .locks import Holder
from .registry import Agent, find_agent, read_registry
from .sizes import read_age
from .stores import path_in, store_of

AnyPath = str | os.PathLike[str]


def merge(
    path: AnyPath,
    content: str,
    dedupe: str = "none",
    *,
    now: datetime | None = None,
    store: Store | None = None,
    actor: str | None = None,
    ignore_lock: bool = False,
) -> bool:
    """Append content to a file, leaving out what is there already, and return whether the file changed.

    `dedupe` is `none`, `line_hash` or `section_replace`; see `memory.typed.merging`. The file and its folders are made
    where they are missing. UsageError `typed.dedupe`, BusyError `typed.locked`, and what a transaction raises.
    """
    store, inside = _place(path, store)
    return bool(_writer(store, now, actor, ignore_lock=ignore_lock).merge(inside, content, dedupe).files)


def promote(
    src: AnyPath,
    dst: AnyPath,
    *,
    force: bool = False,
    now: datetime | None = None,
    store: Store | None = None,
    actor: str | None = None,
    ignore_lock: bool = False,
) -> Path:
    """Move a file up, typically from episodic to core, and return where it is; all or nothing, with its mode and time.

    Folders are made. NotFoundError `typed.no_file` for a missing source, RefusedError `typed.exists` for a destination
    that is there, unless `force`. The Aidefile is not changed: `memdeck typed promote --core` does that too.
    """
    return _move(src, dst, "typed.promote", force, now, store, actor, ignore_lock)


def demote(
    src: AnyPath,
    dst: AnyPath,
    *,
    force: bool = False,
    now: datetime | None = None,
    store: Store | None = None,
    actor: str | None = None,
    ignore_lock: bool = False,
) -> Path:
    """Move a file down, the opposite of `promote`; arguments and errors are the same.

    It keeps its time, so that one which was not changed for long may be taken by the next prune.
    """
    return _move(src, dst, "typed.demote", force, now, store, actor, ignore_lock)


def _move(
    src: AnyPath,
    dst: AnyPath,
    operation: str,
    force: bool,
    now: datetime | None,
    store: Store | None,
    actor: str | None,
    ignore_lock: bool,
) -> Path:
    store, source = _place(src, store, dst)
    target = path_in(store, os.path.abspath(dst))
    _writer(store, now, actor, ignore_lock=ignore_lock).move(source, target, operation, force=force)
    return store.root / target


def expire(
    path: AnyPath,
    max_age: timedelta | float | str,
    *,
    now: datetime | None = None,
    store: Store | None = None,
    actor: str | None = None,
    ignore_lock: bool = False,
) -> bool:
    """Delete a file that was last changed longer ago than `max_age`, and return whether it was deleted.

    `max_age` is a timedelta, a number of seconds, or text such as `7d`; UsageError `typed.age` for what is none, also
    where no file is there. A missing file is no error, a folder is RefusedError `file.not_regular`. The bytes go to the
    change log, so that `memdeck undo` brings them back.
    """
    try:
        age = read_age(max_age)
    except ValueError as error:
        raise UsageError("typed.age", str(error), "write an age such as 7d, or a number of seconds") from None
    if not os.path.lexists(path):
        return False
    store, inside = _place(path, store)
    return _writer(store, now, actor, ignore_lock=ignore_lock).expire(inside, age)


def lock(path: AnyPath, *, now: datetime | None = None, store: Store | None = None, owner: int | None = None) -> Holder:
    """Make `<path>.lock`, in one step that one caller wins; BusyError `typed.locked` says who was first.

    The path itself need not exist. `owner` is the process that holds it (default: this one).
    """
    store, inside = _place(path, store)
    return writes.lock_file(store, inside, now=_now(now), owner=owner)


def unlock(path: AnyPath, *, store: Store | None = None) -> bool:
    """Remove `<path>.lock` and return whether it was there; unlocking twice is fine."""
    store, inside = _place(path, store)
    return writes.unlock_file(store, inside)


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

    `agent` is one of the registry, its name there, or the path of its folder. It never raises: a note that cannot be
    written must not fail the run that it is about; why it was not is a warning of the logger `memory.typed.ops`. Other
    statuses are no failures, and nothing is written.
    """
    try:
        write_failure(agent, status, task, tokens, issue, now, store=store, actor=actor)
    except Exception as error:
        from logging import getLogger

        getLogger(__name__).warning("no failure was noted: %s", error)
        return False
    return status in failures.STATUSES


def write_failure(
    agent: Agent | AnyPath,
    status: str,
    task: str,
    tokens: int,
    issue: str = "local",
    now: datetime | None = None,
    *,
    store: Store | None = None,
    actor: str | None = None,
) -> str | None:
    """Do what `record_failure` does, and return the log's path from the agent's folder on; this one raises.

    NotFoundError `typed.no_agent` for a name that the registry does not have, `typed.no_folder` for a path that leads
    to no folder.
    """
    if status not in failures.STATUSES:
        return None
    folder = _agent_folder(agent)
    if not folder.is_dir():
        raise NotFoundError("typed.no_folder", f"{folder} is no folder", "name the agent's folder")
    store = store_of(folder, state_home(os.environ), home(os.environ)) if store is None else store
    moment = _now(now)
    path = f"{aidefile_of(folder).procedural_real}/{failures.FILE}"
    note = failures.note_of(status, str(task), int(tokens), str(issue), moment)
    _writer(store, moment, actor).note_failure(path, note)
    return path


def _agent_folder(agent: Agent | AnyPath) -> Path:
    """Return the folder of an agent: names of the registry come first, as on the command line."""
    if isinstance(agent, Agent):
        return agent.folder
    named = os.fspath(agent)
    if isinstance(agent, str) and "/" not in named:
        known = read_registry(home(os.environ))
        if any(one.name == named for one in known) or not os.path.isdir(named):
            return find_agent(named, home(os.environ), known).folder
    return Path(os.path.abspath(named))


def _place(path: AnyPath, store: Store | None, other: AnyPath | None = None) -> tuple[Store, str]:
    """Return the store that a path belongs to, and the path in it; `other` must lie in the same folder."""
    full = os.path.abspath(path)
    if store is None:
        folder = agent_folder(full)
        if folder is None:
            both = full if other is None else os.path.commonpath([full, os.path.abspath(other)])
            folder = _existing(os.path.dirname(both) if both == full else both)
        store = store_of(Path(folder), state_home(os.environ), home(os.environ))
    return store, path_in(store, full)


def agent_folder(path: str) -> str | None:
    """Return the nearest folder upwards from an absolute path that holds an Aidefile, None where there is none."""
    folder = os.path.dirname(path)
    while True:
        if os.path.isfile(os.path.join(folder, NAME)):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _existing(folder: str) -> str:
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder


def _now(now: datetime | None) -> datetime:
    if now is None:
        return datetime.now(UTC)
    if now.tzinfo is None:
        raise MemdeckError("typed.naive_time", "the time has no zone", "pass an aware datetime")
    return now


def _writer(store: Store, now: datetime | None, actor: str | None, *, ignore_lock: bool = False) -> writes.AgentWriter:
    """Return who writes, in whose name: as asked, as MEMDECK_ACTOR says, or the agent itself."""
    name = actor or os.environ.get("MEMDECK_ACTOR") or f"agent:{store.root.name}"
    return writes.AgentWriter(store, _now(now), name, ignore_lock=ignore_lock)
