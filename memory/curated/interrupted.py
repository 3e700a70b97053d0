"""What a crash interrupted, finished before anything else is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.errors import MemdeckError
from memory.storage.files.errnos import no_room

from .index.records import UNAVAILABLE

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from .curated import Curated


def finish_interrupted(curated: Curated, now: datetime) -> None:
    """Finish the changes, decisions and dreams that a crash interrupted, unless another process is at work.

    A workspace that was moved is noted where it is now.
    """
    for side in curated.sides.values():
        side.store.recover()
        side.follow_move(now)
        if side.records.look(_waits, False):
            # Most processes find nothing, and are spared the imports.
            from .control.replay import replay
            from .dreaming.settle import settle

            try:
                replay(side, now)
                settle(side, now)
            except MemdeckError as error:
                # On a full disk it waits, and what only reads goes on; what writes is told by its own write.
                if error.code != UNAVAILABLE and not no_room(error):
                    raise


def _waits(db: sqlite3.Connection) -> bool:
    """Tell whether a decision was not carried out, or a dream has no end."""
    (found,) = db.execute(
        "SELECT EXISTS (SELECT 1 FROM memory_decisions WHERE applied_at IS NULL AND abandoned IS NULL)"
        " OR EXISTS (SELECT 1 FROM memory_consolidations WHERE status = 'running')"
    ).fetchone()
    return bool(found)
