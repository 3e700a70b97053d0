"""The typed memory operations as free functions: merge, promote, demote, expire, lock, unlock, record_failure.

For agents that call them from Python with only a path. Therefore this module alone fills in what the rest of `memory`
accepts as arguments: the time, the store and the actor. A path is absolute or relative to the current folder. It
belongs to the agent in the nearest folder upwards with an Aidefile; UsageError `typed.no_agent_here` where there is
none. Each takes the keywords of `How`.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from logging import getLogger
from pathlib import Path
from typing import TypedDict, Unpack

from memory.errors import MemdeckError, NotFoundError, UsageError
from memory.storage import Store
from memory.storage.own_folders import home, state_home

from . import failures, locks
from .aidefile import NAME
from .files import aidefile_of
from .locks import Holder
from .registry import Agent, find_agent, read_registry
from .sizes import read_age
from .stores import path_in, store_of
from .writes import AgentWriter

AnyPath = str | os.PathLike[str]


class How(TypedDict, total=False):
    """The time (aware), the store and the actor of a call; `ignore_lock` writes in spite of another's lock."""

    now: datetime | None
    store: Store | None
    actor: str | None
    ignore_lock: bool


def merge(path: AnyPath, content: str, dedupe: str = "none", **how: Unpack[How]) -> bool:
    """Append content to a file, leaving out what is there already, and return whether the file changed.

    `dedupe` is `none`, `line_hash` or `section_replace`; see `memory.typed.merging`. The file and its folders are made
    where they are missing. UsageError `typed.dedupe`, BusyError `typed.locked`, and what a transaction raises.
    """
    store, inside = _place(path, how.get("store"))
    return bool(_writer(store, how).merge(inside, content, dedupe).files)


def promote(src: AnyPath, dst: AnyPath, *, force: bool = False, **how: Unpack[How]) -> Path:
    """Move a file up, typically from episodic to core, and return its new path; all or nothing, with its mode and time.

    Folders are made. NotFoundError `typed.no_file` for a missing source, RefusedError `typed.exists` for a destination
    that exists, unless `force`. The Aidefile is not changed: `memdeck typed promote --core` does that too.
    """
    return _move("typed.promote", src, dst, force, how)


def demote(src: AnyPath, dst: AnyPath, *, force: bool = False, **how: Unpack[How]) -> Path:
    """Move a file down, the opposite of `promote`; arguments and errors are the same.

    It keeps its time, so the next prune may delete a file that was not changed for long.
    """
    return _move("typed.demote", src, dst, force, how)


def _move(operation: str, src: AnyPath, dst: AnyPath, force: bool, how: How) -> Path:
    store, source = _place(src, how.get("store"))
    target = path_in(store, os.path.abspath(dst))
    _writer(store, how).move(source, target, operation, force=force)
    return store.root / target


def expire(path: AnyPath, max_age: timedelta | float | str, **how: Unpack[How]) -> bool:
    """Delete a file that was last changed longer ago than `max_age`, and return whether it was deleted.

    `max_age` is a timedelta, a number of seconds, or text such as `7d`; UsageError `typed.age` for anything else. A
    missing file is no error, a folder is RefusedError `file.not_regular`. `memdeck undo` restores the bytes.
    """
    try:
        age = read_age(max_age)
    except ValueError as error:
        raise UsageError("typed.age", str(error), "write an age such as 7d, or a number of seconds") from None
    if not os.path.lexists(path):
        return False
    store, inside = _place(path, how.get("store"))
    return _writer(store, how).expire(inside, age)


def lock(path: AnyPath, *, now: datetime | None = None, store: Store | None = None, owner: int | None = None) -> Holder:
    """Make `<path>.lock` in one step that only one caller wins; BusyError `typed.locked` names the holder.

    The path itself need not exist. `owner` is the process that holds it (default: this one).
    """
    store, inside = _place(path, store)
    return locks.lock_file(store, inside, now=_now(now), owner=owner)


def unlock(path: AnyPath, *, store: Store | None = None) -> bool:
    """Remove `<path>.lock` and return whether it existed; unlocking twice is fine."""
    return locks.unlock_file(*_place(path, store))


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
        how = How(now=now, store=store, actor=actor)
        return write_failure(agent, status, task, tokens, issue, **how) is not None
    except Exception as error:
        getLogger(__name__).warning("no failure was noted: %s", error)
        return False


def write_failure(
    agent: Agent | AnyPath, status: str, task: str, tokens: int, issue: str = "local", **how: Unpack[How]
) -> str | None:
    """Do what `record_failure` does, and return the log's path from the agent's folder on; this function raises.

    NotFoundError `typed.no_agent` for a name that is not in the registry, `typed.no_folder` for a path that leads to no
    folder.
    """
    if status not in failures.STATUSES:
        return None
    folder = _agent_folder(agent)
    if not folder.is_dir():
        raise NotFoundError("typed.no_folder", f"{folder} is no folder", "name the agent's folder")
    store = how.get("store") or store_of(folder, state_home(os.environ), home(os.environ))
    path = f"{aidefile_of(folder).procedural_real}/{failures.FILE}"
    note = failures.note_of(status, str(task), int(tokens), str(issue), _now(how.get("now")))
    _writer(store, how).note_failure(path, note)
    return path


def _agent_folder(agent: Agent | AnyPath) -> Path:
    """Return the folder of an agent; names of the registry come first, as on the command line."""
    if isinstance(agent, Agent):
        return agent.folder
    named = os.fspath(agent)
    if isinstance(agent, str) and "/" not in named:
        known = read_registry(home(os.environ))
        if any(one.name == named for one in known) or not os.path.isdir(named):
            return find_agent(named, home(os.environ), known).folder
    return Path(os.path.abspath(named))


def _place(path: AnyPath, store: Store | None) -> tuple[Store, str]:
    """Return the store that a path belongs to, and the path in it."""
    full = os.path.abspath(path)
    if store is None:
        folder = agent_folder(full)
        if folder is None:
            raise UsageError("typed.no_agent_here", f"{path} is in no folder with an Aidefile", "make one there")
        store = store_of(Path(folder), state_home(os.environ), home(os.environ))
    return store, path_in(store, full)


def agent_folder(path: str) -> str | None:
    """Return the nearest folder upwards from an absolute path that holds an Aidefile, None where there is none."""
    return next((str(folder) for folder in Path(path).parents if os.path.isfile(folder / NAME)), None)


def _now(now: datetime | None) -> datetime:
    if now is not None and now.tzinfo is None:
        raise MemdeckError("typed.naive_time", "the time has no zone", "pass an aware datetime")
    return now or datetime.now(UTC)


def _writer(store: Store, how: How) -> AgentWriter:
    """Return the writer; its actor is the given one, else MEMDECK_ACTOR, else the agent itself."""
    name = how.get("actor") or os.environ.get("MEMDECK_ACTOR") or f"agent:{store.root.name}"
    return AgentWriter(store, _now(how.get("now")), name, ignore_lock=how.get("ignore_lock", False))
