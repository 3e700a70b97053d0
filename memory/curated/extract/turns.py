"""Turns of sessions that wait to be looked at: one bounded queue a session, in a private file."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from memory.base.json_objects import read_object
from memory.curated.model import Json
from memory.curated.places.session_ids import check_session
from memory.errors import MemdeckError

if TYPE_CHECKING:
    from memory.curated.curated import Curated
    from memory.curated.sides import Side
    from memory.storage.record import PrivateRecord

LONGEST = 20_000
"""Characters of a turn that are kept."""
SESSIONS = 64
"""Sessions that wait at most."""


def side_of_turns(curated: Curated) -> Side:
    """Return the side that keeps the turns: the workspace where it has an identity, else the person."""
    side = curated.sides.get("workspace")
    return side if side is not None and side.workspace_id else curated.sides.get("global") or curated.sides["workspace"]


def _record(curated: Curated) -> PrivateRecord:
    record = side_of_turns(curated).record("turns")
    if record is None:
        raise MemdeckError("memory.extractor.no_state", "there is no private folder to keep turns in", "set HOME")
    return record


def queued(curated: Curated) -> dict[str, list[Json]]:
    """Return the turns that wait, by session, in the order in which the sessions came."""
    record = side_of_turns(curated).record("turns")
    return {} if record is None else _read(record.read().base)


def _read(data: bytes | None) -> dict[str, list[Json]]:
    return {key: value for key, value in read_object(data).items() if isinstance(value, list)}


def _change(curated: Curated, now: datetime, work: Callable[[dict[str, list[Json]]], None]) -> None:
    def change(data: bytes | None) -> bytes:
        found = _read(data)
        work(found)
        return json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")

    _record(curated).update(change, command="extract", now=now)


def feed(curated: Curated, session: str, role: str, content: str, turn: int | None, now: datetime) -> str:
    """Queue a turn and return what became of it: queued, coalesced with those that wait, or dropped (empty).

    Beyond `extractor.queue.coalesce_max` turns of a session the oldest are dropped, and so is the oldest of more than
    64 sessions.
    """
    from .inbox import stamp

    check_session(session)
    records = side_of_turns(curated).records
    if not content.strip():
        records.event("memory.extractor.dropped", now, session_id=session, reason="empty_snapshot", message_count=1)
        return "dropped"
    most = curated.settings["extractor.queue.coalesce_max"]
    lost: list[tuple[str, int]] = []
    before: list[int] = []

    def work(found: dict[str, list[Json]]) -> None:
        turns = found.setdefault(session, [])
        before.append(len(turns))
        number = turn if turn is not None else (turns[-1]["seq"] + 1 if turns else 1)
        turns.append({"seq": number, "role": role, "content": content[:LONGEST], "at": stamp(now)})
        if len(turns) > most:
            lost.append((session, len(turns) - most))
            del turns[: len(turns) - most]
        while len(found) > SESSIONS:
            oldest = next(iter(found))
            lost.append((oldest, len(found.pop(oldest))))

    _change(curated, now, work)
    for name, number in lost:
        records.event("memory.extractor.dropped", now, session_id=name, reason="queue_full", message_count=number)
    if before[0]:
        records.event("memory.extractor.coalesced", now, session_id=session, message_count=before[0] + 1)
        return "coalesced"
    return "queued"


def requeue(curated: Curated, session: str, turns: list[Json], now: datetime) -> None:
    """Put turns back in front of those that wait."""

    def work(found: dict[str, list[Json]]) -> None:
        known = found.get(session, [])
        seen = {(one["at"], one["seq"]) for one in known}
        found[session] = [*(one for one in turns if (one["at"], one["seq"]) not in seen), *known]

    _change(curated, now, work)


def done_with(curated: Curated, session: str, turns: list[Json], now: datetime) -> None:
    """Remove turns that were looked at; those that came meanwhile stay."""
    gone = [(one["at"], one["seq"]) for one in turns]

    def work(found: dict[str, list[Json]]) -> None:
        left = [one for one in found.get(session, []) if (one["at"], one["seq"]) not in gone]
        if left:
            found[session] = left
        else:
            found.pop(session, None)

    _change(curated, now, work)


def ready(curated: Curated) -> list[str]:
    """Return the sessions with enough turns to be looked at (`extractor.throttle_turns`), the oldest first."""
    least = curated.settings["extractor.throttle_turns"]
    return [name for name, turns in queued(curated).items() if len(turns) >= least]
