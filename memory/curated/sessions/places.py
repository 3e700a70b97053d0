"""Where sessions are: `<ledger root>/<workspace id or _unbound>/<session>/` in the person's folder."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from memory.curated.places.session_ids import check_session, is_segment
from memory.errors import NotFoundError
from memory.named_tuple import NamedTuple

if TYPE_CHECKING:
    from memory.curated.curated import Curated
    from memory.curated.sides import Side

EVENTS, LEDGER, DAMAGED = "events.jsonl", "ledger.jsonl", "ledger.damaged.jsonl"
ARCHIVE = "_archive"
"""The folder of ledgers that were put away, beside those of the workspaces."""


class SessionFolder(NamedTuple):
    """The folder of one session; `folder` is relative to the root of the person's store."""

    side: Side
    workspace_id: str
    id: str
    folder: str
    archived: bool = False

    def path(self, name: str) -> str:
        """Return one of its files, relative to the root of the store."""
        return f"{self.folder}/{name}"

    def data(self, name: str) -> bytes | None:
        """Return the bytes of one of its files, None where it has none."""
        path = self.path(name)
        try:
            return self.side.store.read(path).base
        finally:
            self.side.store.remember(path, None)  # Thousands of ledgers would stay in memory.


def person(curated: Curated) -> Side:
    """Return the side that keeps sessions; UsageError `memory.scope.workspace_required` without a home folder."""
    return curated.side_of(curated.root("global"))


def place_of(curated: Curated, session: str, workspace_id: str | None = None) -> SessionFolder:
    """Return the folder of a session of this workspace, or of the one named; it need not exist."""
    check_session(session)
    number = workspace_id or curated.workspace_id() or curated.settings["session.unbound_partition"]
    check_session(number)
    return SessionFolder(
        person(curated), number, session, f"{curated.settings['session.ledger_root']}/{number}/{session}"
    )


def find_session(curated: Curated, session: str, workspace_id: str | None = None) -> SessionFolder:
    """Return the folder of a session that exists, wherever it is; NotFoundError `memory.not_found`."""
    place = place_of(curated, session, workspace_id)
    if place.data(LEDGER) is None and place.data(EVENTS) is None:
        for one in sessions(curated, archived=True):
            if one.id == session and workspace_id in (None, one.workspace_id):
                return one
        raise NotFoundError(
            "memory.not_found", f"there is no session {session[:80]!r}", "`curated session append` begins one"
        )
    return place


def sessions(curated: Curated, *, archived: bool = False) -> list[SessionFolder]:
    """Return all sessions that have a folder; with `archived` those too that were put away."""
    side = person(curated)
    top = curated.settings["session.ledger_root"]
    found = []
    for number in _folders(side, top):
        if number == ARCHIVE:
            continue
        found += [
            SessionFolder(side, number, one, f"{top}/{number}/{one}") for one in _folders(side, f"{top}/{number}")
        ]
    for number in _folders(side, f"{top}/{ARCHIVE}") if archived else ():
        folder = f"{top}/{ARCHIVE}/{number}"
        found += [SessionFolder(side, number, one, f"{folder}/{one}", True) for one in _folders(side, folder)]
    return found


def _folders(side: Side, folder: str) -> list[str]:
    try:
        with os.scandir(side.store.root / folder) as entries:
            return sorted(
                one.name
                for one in entries
                if is_segment(one.name) and stat.S_ISDIR(one.stat(follow_symlinks=False).st_mode)
            )
    except OSError:
        return []
