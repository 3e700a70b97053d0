"""The lock of dreaming: one run at a time on each side, named by its process, and given up when that one is gone."""

from __future__ import annotations

import json
import os
from datetime import datetime
from typing import TYPE_CHECKING

from memory.base.json_objects import read_object
from memory.base.programs import is_alive
from memory.curated.index.records import milliseconds
from memory.curated.model import Json

if TYPE_CHECKING:
    from memory.curated.sides import Side

STALE_MS = 3_600_000
"""How long a lock counts."""


def holder(side: Side, now: datetime) -> Json | None:
    """Return who dreams: `pid`, `run_id` and `since` (milliseconds); None for nobody, or one that is gone or stale."""
    record = side.record("dream")
    return None if record is None else _live(record.read().base, now)


def take(side: Side, run_id: str, now: datetime) -> Json | None:
    """Take the lock and return None, or return who holds it."""
    record = side.record("dream")
    if record is None:
        return None
    own = {"pid": os.getpid(), "run_id": run_id, "since": milliseconds(now)}
    others: list[Json] = []

    def change(data: bytes | None) -> bytes:
        other = _live(data, now)
        if other is not None:
            others.append(other)
            return data or b""
        return json.dumps(own).encode()

    record.update(change, command="dream", now=now)
    return others[0] if others else None


def give(side: Side, run_id: str, now: datetime) -> None:
    """Give the lock back, if it is still that of a run."""
    record = side.record("dream")
    if record is None:
        return

    def change(data: bytes | None) -> bytes:
        return b"{}" if read_object(data).get("run_id") == run_id else data or b"{}"

    record.update(change, command="dream", now=now)


def _live(data: bytes | None, now: datetime) -> Json | None:
    found = read_object(data)
    return found if counts(found, now) else None


def counts(note: Json, now: datetime) -> bool:
    """Tell whether a note of a process counts: its `pid` runs, and `since` (milliseconds) is not too long ago."""
    pid, since = note.get("pid"), note.get("since")
    if not isinstance(pid, int) or not isinstance(since, int) or pid <= 0:
        return False
    return abs(milliseconds(now) - since) < STALE_MS and is_alive(pid)
