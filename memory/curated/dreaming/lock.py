"""The lock of dreaming: one run at a time on each side, held by its process, and released when that process is gone."""

from __future__ import annotations

import os
from datetime import datetime

from memory.base.programs import is_alive
from memory.curated.index.records import milliseconds
from memory.curated.model import Json
from memory.curated.sides import Side

STALE_MS = 3_600_000
"""How long a lock is valid, in milliseconds."""


def holder(side: Side, now: datetime) -> Json | None:
    """Return the lock's holder: `pid`, `run_id` and `since` (milliseconds); None without one, or for a stale one."""
    found = side.note("dream")
    return found if counts(found, now) else None


def take(side: Side, run_id: str, now: datetime) -> Json | None:
    """Take the lock and return None, or return who holds it."""
    own = {"pid": os.getpid(), "run_id": run_id, "since": milliseconds(now)}
    others: list[Json] = []

    def change(values: Json) -> Json:
        if not counts(values, now):
            return own
        others.append(values)
        return values

    side.change_note("dream", change, command="dream", now=now)
    return others[0] if others else None


def give(side: Side, run_id: str, now: datetime) -> None:
    """Release the lock, if it still belongs to a run."""

    def change(values: Json) -> Json:
        return {} if values.get("run_id") == run_id else values

    side.change_note("dream", change, command="dream", now=now)


def counts(note: Json, now: datetime) -> bool:
    """Return whether the note of a process is valid: its `pid` runs, and `since` (milliseconds) is not too long ago."""
    pid, since = note.get("pid"), note.get("since")
    if not isinstance(pid, int) or not isinstance(since, int) or pid <= 0:
        return False
    return abs(milliseconds(now) - since) < STALE_MS and is_alive(pid)
