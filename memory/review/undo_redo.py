"""Undo, redo and revert: in the workspace, in the person's own memory, and of accepted proposals about other memory.

Proposals are stored with a workspace, and with each store of its systems that is outside it. Memory outside a workspace
has its own change log: its changes can be taken back from any workspace that lists it, by the person.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from memory.errors import BusyError, MemdeckError
from memory.storage import Change
from memory.storage.changes import ChangeRecord
from memory.storage.log.history import PEOPLE, History
from memory.storage.log.log import the_one
from memory.storage.log.merging import Take
from memory.storage.own_folders import agh_home
from memory.storage.review.proposals import Proposal
from memory.storage.store import SharedLog
from memory.workspace import Workspace

HOOKS = "hook:*"
"""The actors that keep sessions for the clients of agents."""
_When = tuple[str, int]
_TIME = 10
"""Characters of an id that encode its time, to the millisecond."""


class FoundChange(NamedTuple):
    """A change that was found by its id, with the log that contains it.

    `place` is the folder outside the workspace whose files it is about; empty: it is inside.
    """

    record: ChangeRecord
    history: History
    place: str


class TakenBackChange(NamedTuple):
    """The change that an undo, a redo or a revert made; the log and the folder as in `FoundChange`."""

    change: Change
    history: History
    place: str


def undo(workspace: Workspace, *, actor: str, now: datetime) -> TakenBackChange:
    """Take back the newest change of an actor, in whichever of the logs it is; as `History.undo`."""
    room = _newest(_rooms(workspace, actor), actor)
    history = room.together.history
    return TakenBackChange(history.undo(actor=actor, now=now), history, room.place)


def redo(workspace: Workspace, *, actor: str, now: datetime) -> TakenBackChange:
    """Redo the last undone change, unless the actor made a newer change in any of the logs; as `History.redo`."""
    rooms = _rooms(workspace, actor)
    room = _undone_last(rooms, actor) or rooms[0]
    history = room.together.history
    return TakenBackChange(history.redo(actor=actor, now=now), history, room.place)


def undo_and_redo_available(workspace: Workspace, actor: str) -> tuple[bool, bool]:
    """Return whether `undo` and `redo` would find a change of an actor."""
    rooms = _rooms(workspace, actor)
    room = _newest(rooms, actor)
    return room.together.history.undoable(actor) is not None, _undone_last(rooms, actor) is not None


def state(workspace: Workspace, actor: str) -> tuple[tuple[int, int, int], ...]:
    """Return `History.state` of each log, that of the workspace first.

    It changes when the result of `undo_and_redo_available` may change.
    """
    return tuple([room.together.history.state() for room in _rooms(workspace, actor)])


def revert(
    workspace: Workspace,
    change_id: str,
    *,
    actor: str,
    now: datetime,
    removed: bool = False,
    take: Take | None = None,
) -> TakenBackChange:
    """Take back one change; errors as `find_change` and `History.revert`, to which `take` is passed.

    With `removed` only the entries that another program's change removed come back.
    """
    found = find_change(workspace, change_id, actor)
    history, record = found.history, found.record
    if removed:
        done = history.bring_back(record.id, actor=actor, now=now)
    else:
        done = history.revert(record.id, actor=actor, now=now, take=take)
    return TakenBackChange(done, history, found.place)


def find_change(workspace: Workspace, change_id: str, actor: str) -> FoundChange:
    """Return a change by its id or the beginning of it; NotFoundError `change.not_found`, AmbiguousError."""
    found = [
        FoundChange(record, room.together.history, room.place)
        for room in _rooms(workspace, actor)
        for record in room.together.history.beginning_with(change_id)
    ]
    record = the_one([one.record for one in found], change_id)
    return next(one for one in found if one.record is record)


def list_changes(
    workspace: Workspace, *, limit: int = 0, actor: str | None = None, **filters: Any
) -> tuple[FoundChange, ...]:
    """Return the changes of the workspace and of the person's own memory, newest first; filters as in `History.list`.

    What hooks keep of sessions is left out unless the actor is named.
    """
    found = [
        [
            FoundChange(record, room.together.history, room.place)
            for record in room.together.history.list(
                limit, actor=actor, without=HOOKS if room.own and actor is None else None, **filters
            )
        ]
        for room in rooms_of(workspace)
        if room.own or not room.place
    ]
    merged = tuple(heapq.merge(*found, key=lambda one: one.record.time, reverse=True))
    return merged[:limit] if limit else merged


def _rooms(workspace: Workspace, actor: str) -> tuple[Room, ...]:
    """Return the rooms whose changes an actor can take back, that of the workspace first."""
    here, *others = rooms_of(workspace)
    return (here, *[room for room in others if room.own or actor in PEOPLE])


def _newest(rooms: Sequence[Room], actor: str) -> Room:
    """Return the room with the newest change that can be undone; the first if there is none."""
    return rooms[0] if len(rooms) == 1 else max(rooms, key=lambda room: _standing(room, actor))


def _undone_last(rooms: Sequence[Room], actor: str) -> Room | None:
    """Return the room with the last undone change, None if there is nothing to redo."""
    undone: list[tuple[_When, Room]] = []
    for room in rooms:
        record = room.together.history.redoable(actor)
        if record is not None and record.undone_by is not None:
            undone.append((_when(room, room.together.history.get(record.undone_by)), room))
    if not undone:
        return None
    when, last = max(undone, key=lambda one: one[0])
    return None if any(_standing(room, actor) > when for room in rooms if room is not last) else last


def _standing(room: Room, actor: str) -> _When:
    """Return when the newest change that can be undone was made; less than any other where there is none."""
    record = room.together.history.undoable(actor)
    return ("", 0) if record is None else _when(room, record)


def _when(room: Room, record: ChangeRecord) -> _When:
    """Return when a change was made: its time, and for equal ones the time of the file system at which it wrote."""
    written = []
    for path in record.paths:
        store = room.together.store_of(path)
        if store is not None:
            file = store.workspace / path
            with suppress(OSError):  # Of a file that is gone, its folder knows when.
                written.append(os.lstat(file if os.path.lexists(file) else file.parent).st_mtime_ns)
    return record.id[:_TIME], min(written, default=0)


class Room(NamedTuple):
    """Stores with one record of proposals: those of the workspace, or one store outside it.

    `place` is the folder of that store, empty for the workspace. `folder` is the only folder whose proposals count
    (None: all), because the record may belong to another workspace. `own` says that it is the person's own memory.
    """

    together: SharedLog
    place: str = ""
    folder: str | None = None
    own: bool = False

    @property
    def used(self) -> bool:
        """Whether there ever was a proposal; costs two `stat` calls."""
        return self.together.proposals.stamp() is not None

    def list(self, states: Sequence[str] = (), actor: str | None = None, limit: int = 0) -> tuple[Proposal, ...]:
        """Return its proposals, newest first."""
        if self.folder is None:
            return self.together.proposals.list(states=states, actor=actor, limit=limit)
        found = self.together.proposals.list(states=states, actor=actor)
        return tuple(replace(one, place=self.place) for one in found if one.folder == self.folder)


def rooms_of(workspace: Workspace) -> tuple[Room, ...]:
    """Return the room of a workspace, and those of the stores outside it."""
    own = None if workspace.home is None else agh_home(os.environ, workspace.home)
    others = [
        Room(store.together, str(store.root), store.prefix, own=store.root == own or store.reading.own)
        for store in workspace.outside()
        if store.state.folder.path != workspace.state.folder.path
    ]
    return (Room(workspace.together), *others)


def settle(room: Room) -> None:
    """Mark proposals as accepted if their change was made by a process that was killed before it could mark them."""
    proposals, history = room.together.proposals, room.together.history
    waiting = room.list(("waiting",))
    if not waiting:
        return
    # After a killed process the change log may contain changes that are not yet marked as done.
    with suppress(MemdeckError, BusyError):
        history.notice((), waiting[0].time)
    marks = ", ".join("?" * len(waiting))
    made = history.records(f"proposal IN ({marks})", [one.id for one in waiting], 0)
    by_id = {one.id: one for one in waiting}
    for record in made:
        one, by = by_id[record.proposal or ""], record.reviewer or "human"
        with suppress(MemdeckError):
            proposals.decide(one, "accepted", by=by, now=record.time, change_id=record.id)
