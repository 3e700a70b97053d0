"""Turns of sessions: each waits for extraction in a bounded queue, unless its markers can be taken at once.

There is one queue per session, in a private file. Markers need no model: `remember: …`, `remember(project): …` at the
start of a line. Without a model, those of a turn go into the inbox when it is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime

from memory.base.secrets import mask
from memory.curated.curated import Curated
from memory.curated.files.names import check_session
from memory.curated.model import TYPES, Json
from memory.errors import MemdeckError

from .inbox import stamp

LONGEST = 20_000
"""How many characters of a turn are kept."""
SESSIONS = 64
"""How many sessions wait at most."""
_MARK = re.compile(rf"^[ \t]*(?:[-*>][ \t]+)?remember(?:\(({'|'.join(TYPES)})\))?[ \t]*[:：][ \t]*(\S.*)$", re.I | re.M)
_TITLE = re.compile(r"^([^.:;|]{1,60})[ \t]+\|[ \t]+(\S.*)$")


def queued(curated: Curated) -> dict[str, list[Json]]:
    """Return the waiting turns by session; the sessions are in order of arrival."""
    return _lists(curated.home.note("turns"))


def _lists(values: Json) -> dict[str, list[Json]]:
    return {key: value for key, value in values.items() if isinstance(value, list)}


def _change(curated: Curated, now: datetime, work: Callable[[dict[str, list[Json]]], None]) -> None:
    def change(values: Json) -> Json:
        found = _lists(values)
        work(found)
        return found

    if not curated.home.change_note("turns", change, command="extract", now=now):
        raise MemdeckError("memory.extractor.no_state", "there is no private folder to keep turns in", "set HOME")


def feed(curated: Curated, session: str, role: str, content: str, turn: int | None, now: datetime) -> str:
    """Queue a turn and return the result: queued, coalesced with waiting turns, or dropped (empty).

    Beyond `extractor.queue.coalesce_max` turns of a session the oldest are dropped, and so is the oldest of more than
    64 sessions.
    """
    check_session(session)
    records = curated.home.records
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
        turns.append({"seq": number, "role": role, "content": mask(content)[:LONGEST], "at": stamp(now)})
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
    """Put turns back at the front of the queue."""

    def work(found: dict[str, list[Json]]) -> None:
        known = found.get(session, [])
        seen = {(one["at"], one["seq"]) for one in known}
        found[session] = [*(one for one in turns if (one["at"], one["seq"]) not in seen), *known]

    _change(curated, now, work)


def done_with(curated: Curated, session: str, turns: list[Json], now: datetime) -> None:
    """Remove processed turns; those that arrived meanwhile stay."""
    gone = [(one["at"], one["seq"]) for one in turns]

    def work(found: dict[str, list[Json]]) -> None:
        left = [one for one in found.get(session, []) if (one["at"], one["seq"]) not in gone]
        if left:
            found[session] = left
        else:
            found.pop(session, None)

    _change(curated, now, work)


def marked(turns: Sequence[Json], default: str) -> list[Json]:
    """Return the candidates marked in turns; `default` is the type of those that name none.

    The text may begin with a name: `remember(project): Deploy window | deploys happen on tuesdays`.
    """
    found = []
    for turn in turns:
        # Few turns have a marker, and the pattern takes longer to compile than the rest.
        if "remember" not in turn["content"].lower():
            continue
        for kind, text in _MARK.findall(turn["content"]):
            titled = _TITLE.match(text.strip())
            row: Json = {"type": (kind or default).lower(), "content": (titled[2] if titled else text).strip()}
            if titled:
                row["name"] = titled[1].strip()
            if row not in found:
                found.append(row)
    return found


def refuse_disabled(curated: Curated) -> None:
    """Raise MemdeckError `memory.disabled` or `memory.extractor.disabled` where the settings disable it."""
    curated.refuse_disabled()
    if not curated.settings["extractor.enabled"]:
        raise MemdeckError(
            "memory.extractor.disabled", "the extractor is switched off", "set memory.extractor.enabled in config.toml"
        )
