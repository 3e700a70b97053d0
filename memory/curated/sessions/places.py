"""The folders of sessions: `<ledger root>/<workspace id or _unbound>/<session>/` in the person's folder.

Also how many are kept, how large they are, and for how long the settings keep them.
"""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from memory.curated.curated import Curated
from memory.curated.files.listing import listed_names
from memory.curated.files.names import check_session, is_segment
from memory.curated.model import Json
from memory.curated.settings import CuratedSettings
from memory.curated.sides import Side
from memory.errors import NotFoundError

EVENTS, LEDGER, DAMAGED = "events.jsonl", "ledger.jsonl", "ledger.damaged.jsonl"
ARCHIVE = "_archive"
"""The folder of archived ledgers, beside those of the workspaces."""


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
            self.side.store.remember(path, None)  # Otherwise thousands of ledgers would stay in memory.


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
    """Return the folder of an existing session, wherever it is; NotFoundError `memory.not_found`."""
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
    """Return all sessions that have a folder; with `archived` also the archived ones."""
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
    return listed_names(side.store, folder, stat.S_ISDIR, is_segment)


class KeptSessions(NamedTuple):
    """The number of kept sessions, the bytes of their files, and how long they are kept, in words."""

    sessions: int
    size: int
    words: str

    def json(self) -> Json:
        """Return it for programs."""
        return {"count": self.sessions, "bytes": self.size, "kept": self.words}


def kept_sessions(curated: Curated, workspace_id: str | None = None) -> KeptSessions:
    """Return the statistics of all sessions, or of those of one workspace."""
    count = size = 0
    for one in sessions(curated, archived=True) if "global" in curated.sides else ():
        if workspace_id not in (None, one.workspace_id):
            continue
        count += 1
        for name in (EVENTS, LEDGER):
            try:
                size += os.lstat(one.side.store.root / one.path(name)).st_size
            except OSError:
                continue
    return KeptSessions(count, size, keeping(curated.settings))


def keeping(settings: CuratedSettings) -> str:
    """Return in words until when sessions are kept: without a setting none is deleted by its age."""
    days, most = settings["session.hard_delete_days"], settings["session.max_archive_bytes"]
    aged = f"deleted {days:,} days after their end" if days else "none is deleted by its age"
    room = f"{most / 2**30:.3g} GiB" if most >= 2**27 else f"{most:,} bytes"
    return f"{aged}, the oldest archived ones beyond {room}"
