"""Where proposals are kept: with a workspace, and with each store of its systems that lies outside of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from memory.errors import BusyError, MemdeckError
from memory.storage.review.proposals import Proposal

if TYPE_CHECKING:
    from memory.storage.shared_log import SharedLog
    from memory.workspace import Workspace


class Room(NamedTuple):
    """Stores with one record of proposals: those of the workspace, or one store outside of it.

    `place` is the folder of the latter, empty for the workspace; `folder` the only one of which proposals count (None:
    of all), for the record may be that of another workspace.
    """

    together: SharedLog
    place: str = ""
    folder: str | None = None

    @property
    def used(self) -> bool:
        """Whether there ever was a proposal; a look at a folder."""
        return self.together.proposals.stamp() is not None

    def list(self, states: Sequence[str] = (), actor: str | None = None, limit: int = 0) -> tuple[Proposal, ...]:
        """Return its proposals, newest first."""
        if self.folder is None:
            return self.together.proposals.list(states=states, actor=actor, limit=limit)
        found = self.together.proposals.list(states=states, actor=actor)
        return tuple(replace(one, place=self.place) for one in found if one.folder == self.folder)


def rooms_of(workspace: Workspace) -> tuple[Room, ...]:
    """Return the room of a workspace, and those of the stores outside of it."""
    state = workspace.state
    others = [
        Room(store.together, str(store.root), store.shown(""))
        for store in workspace.outside()
        if store.state is not None and (state is None or store.state.folder.path != state.folder.path)
    ]
    return (Room(workspace.together), *others)


def settle(room: Room) -> None:
    """Note the proposals whose change was made by a process that was killed before it could note that."""
    proposals, history = room.together.proposals, room.together.history
    waiting = room.list(("waiting",))
    if not waiting:
        return
    # The change log of a process that was killed may hold changes that are not known to be done.
    with suppress(MemdeckError, BusyError):
        history.notice((), waiting[0].time)
    marks = ", ".join("?" * len(waiting))
    made = history.records(f"proposal IN ({marks})", [one.id for one in waiting], 0)
    by_id = {one.id: one for one in waiting}
    for record in made:
        one = by_id.get(record.proposal or "")
        if one is not None:
            with suppress(MemdeckError):
                proposals.decide(one, "accepted", by=record.reviewer or "human", now=record.time, change_id=record.id)
