"""Undo, redo and revert over the logs of a workspace: its own, and those of memory outside it that belongs to it."""

from __future__ import annotations

import heapq
import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from memory.storage import Change
from memory.storage.changes import PERSONS, ChangeRecord, the_one
from memory.storage.merging import Take
from memory.storage.store import SharedLog

from .undo import FoundChange, bring_back_in, redo_in, redoable, revert_in, undo_in, undoable

HOOKS = "hook:*"
"""The actors that keep sessions for the clients of agents."""
_TIME = 10
"""Characters of an id that encode its time, to the millisecond."""
_When = tuple[str, int]


class TakenBackChange(NamedTuple):
    """The change that an undo, a redo or a revert made, with the log that contains it."""

    change: Change
    log: SharedLog


def undo(here: SharedLog, *, actor: str, now: datetime) -> TakenBackChange:
    """Take back the newest change of an actor, in whichever of the logs it is; as `undo_in`."""
    log = max(_logs(here, actor), key=lambda log: _undone_next(log, actor))
    return TakenBackChange(undo_in(log, actor=actor, now=now), log)


def redo(here: SharedLog, *, actor: str, now: datetime) -> TakenBackChange:
    """Redo the last undone change, unless the actor made a newer change in any of the logs; as `redo_in`."""
    log = _undone_last(_logs(here, actor), actor) or here
    return TakenBackChange(redo_in(log, actor=actor, now=now), log)


def undo_and_redo_available(here: SharedLog, actor: str) -> tuple[bool, bool]:
    """Return whether `undo` and `redo` would find a change of an actor."""
    logs = _logs(here, actor)
    return any(undoable(log, actor) for log in logs), _undone_last(logs, actor) is not None


def state(here: SharedLog, actor: str) -> tuple[tuple[int, int, int], ...]:
    """Return `ChangeLog.state` of each log, that of the workspace first.

    It changes when the result of `undo_and_redo_available` may change.
    """
    return tuple([log.history.state() for log in _logs(here, actor)])


def revert(
    here: SharedLog, change_id: str, *, actor: str, now: datetime, removed: bool = False, take: Take | None = None
) -> TakenBackChange:
    """Take back one change; errors as `find_change` and `revert_in`, to which `take` is passed.

    With `removed` only the entries that another program's change removed come back.
    """
    record, log = find_change(here, change_id, actor)
    if removed:
        return TakenBackChange(bring_back_in(log, record.id, actor=actor, now=now), log)
    return TakenBackChange(revert_in(log, record.id, actor=actor, now=now, take=take), log)


def find_change(here: SharedLog, change_id: str, actor: str) -> FoundChange:
    """Return a change by its id or the beginning of it; NotFoundError `change.not_found`, AmbiguousError."""
    found = [FoundChange(record, log) for log in _logs(here, actor) for record in log.history.beginning_with(change_id)]
    record = the_one([one.record for one in found], change_id, "change")
    return next(one for one in found if one.record is record)


def list_changes(
    here: SharedLog, *, limit: int = 0, actor: str | None = None, **filters: Any
) -> tuple[FoundChange, ...]:
    """Return the changes of the workspace and of the user's own memory, newest first; filters as in `ChangeLog.list`.

    What hooks keep of sessions is left out unless the actor is named.
    """
    found = [
        [
            FoundChange(record, log)
            for record in log.history.list(
                limit, actor=actor, without=HOOKS if log.own and actor is None else None, **filters
            )
        ]
        for log in here.logs()
        if log.own or log is here
    ]
    merged = tuple(heapq.merge(*found, key=lambda one: one.record.time, reverse=True))
    return merged[:limit] if limit else merged


def _logs(here: SharedLog, actor: str) -> tuple[SharedLog, ...]:
    """Return the logs whose changes an actor can take back, that of the workspace first."""
    return tuple([log for log in here.logs() if log is here or log.own or actor in PERSONS])


def _undone_next(log: SharedLog, actor: str) -> _When:
    """Return when the newest change that can be undone was made; less than any other where there is none."""
    record = undoable(log, actor)
    return ("", 0) if record is None else _when(log, record)


def _undone_last(logs: Sequence[SharedLog], actor: str) -> SharedLog | None:
    """Return the log with the last undone change, None if there is nothing to redo."""
    undone: list[tuple[_When, SharedLog]] = []
    for log in logs:
        record = redoable(log, actor)
        if record is not None and record.undone_by is not None:
            undone.append((_when(log, log.history.get(record.undone_by)), log))
    if not undone:
        return None
    when, last = max(undone, key=lambda one: one[0])
    return None if any(_undone_next(log, actor) > when for log in logs if log is not last) else last


def _when(log: SharedLog, record: ChangeRecord) -> _When:
    """Return when a change was made: its time, and for equal ones the time of the file system at which it wrote."""
    written = []
    with log.glance(), suppress(OSError):
        for path in record.paths:
            store = log.store_of(path)
            if store is not None:  # Of a file that is gone, its folder knows when.
                file = store.workspace / path
                written.append(os.lstat(file if os.path.lexists(file) else file.parent).st_mtime_ns)
    return record.id[:_TIME], min(written, default=0)
