"""What is kept of sessions: how many, how large, and for how long the settings keep them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memory.curated.model import Json
from memory.named_tuple import NamedTuple

from .places import EVENTS, LEDGER, sessions

if TYPE_CHECKING:
    from memory.curated.curated import Curated
    from memory.curated.places.settings import CuratedSettings


class KeptSessions(NamedTuple):
    """How many sessions are kept, the bytes of their files, and until when, in words."""

    sessions: int
    size: int
    words: str

    def json(self) -> Json:
        """Return it for programs."""
        return {"count": self.sessions, "bytes": self.size, "kept": self.words}


def kept_sessions(curated: Curated, workspace_id: str | None = None) -> KeptSessions:
    """Return what is kept of all sessions, or of those of one workspace."""
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
    """Say until when sessions are kept: without a setting none is deleted by its age."""
    days, most = settings["session.hard_delete_days"], settings["session.max_archive_bytes"]
    aged = f"deleted {days:,} days after their end" if days else "none is deleted by its age"
    room = f"{most / 2**30:.3g} GiB" if most >= 2**27 else f"{most:,} bytes"
    return f"{aged}, the oldest archived ones beyond {room}"
