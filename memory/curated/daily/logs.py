"""The logs of days: counted and written from the events of a side, cut where one is full."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from memory.curated.control.decision import time_of
from memory.curated.index.records import milliseconds
from memory.curated.model import Json

if TYPE_CHECKING:
    from memory.curated.curated import Curated
    from memory.curated.sides import Side

FOLDER = "_system/daily"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_OWN = "memory.daily.%"
"""Events of the logs themselves, which would make each sweep another one."""
_Row = tuple[str, str, str | None, str | None, int]


@dataclass(frozen=True, slots=True)
class LogFolder:
    """Where a side has its logs: the folder of today's and of put away ones, relative to the store's root."""

    side: Side
    logs: str
    archive: str


def place_of(curated: Curated, side: Side) -> LogFolder:
    """Return where a side has its logs."""
    root = curated.root(side.name).folder
    return LogFolder(side, f"{root}/{FOLDER}", f"{root}/{curated.settings['daily.archive_path']}/daily")


def day_of(name: str) -> str | None:
    """Return the day that the name of a log begins with, None for another file."""
    found = _DAY.search(name)
    return found[0] if found is not None and name.endswith(".md") else None


def _bounds(day: str) -> tuple[int, int]:
    start = datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC)
    return milliseconds(start), milliseconds(start + timedelta(days=1))


def counts(side: Side, since: int = 0) -> list[Json]:
    """Return how many events there were by day and scope since a time in milliseconds, the newest day first."""
    text = (
        "SELECT date(ts_ms / 1000, 'unixepoch'), coalesce(scope, ?), agent_name, agent_tier, count(*)"
        " FROM memory_events WHERE ts_ms >= ? AND op NOT LIKE ? GROUP BY 1, 2, 3, 4 ORDER BY 1 DESC, 2, 3, 4"
    )
    rows = side.records.look(lambda db: db.execute(text, (side.name, since, _OWN)).fetchall(), list[_Row]())
    return [
        {"date": day, "scope": scope, "agent_name": agent, "agent_tier": tier, "operation_count": count}
        for day, scope, agent, tier, count in rows
    ]


def days_before(side: Side, now: datetime, days: int) -> list[str]:
    """Return a line for each of the last days on which something was done to memory."""
    since = milliseconds(now - timedelta(days=days))
    tally: dict[str, int] = {}
    for row in counts(side, since) if days else ():
        tally[row["date"]] = tally.get(row["date"], 0) + row["operation_count"]
    return [f"- {day}: {count} operations" for day, count in sorted(tally.items())]


def lines_of(side: Side, day: str) -> list[str]:
    """Return the lines of a day's log, in the order in which things were done."""
    text = (
        "SELECT ts_ms, op, scope, agent_name, target_id, session_id, metadata FROM memory_events"
        " WHERE ts_ms >= ? AND ts_ms < ? AND op NOT LIKE ? ORDER BY id"
    )
    rows = side.records.look(lambda db: db.execute(text, (*_bounds(day), _OWN)).fetchall(), list[tuple[str, ...]]())
    found = []
    for stamp, op, scope, agent, target, session, metadata in rows:
        import json

        facts = json.loads(metadata)
        words = str(facts.get("reason") or facts.get("summary") or "")
        parts = (time_of(int(stamp))[11:19], op, scope, agent, target, f"session {session}" if session else "", words)
        found.append("- " + " ".join(" ".join(str(part).split()) for part in parts if part))
    return found


def files_of(curated: Curated, side: Side, day: str) -> Mapping[str, str]:
    """Return the files of a day with their text: full ones with a number, then the one that is written to."""
    settings = curated.settings
    most, room = settings["daily.max_lines"], settings["daily.max_bytes"]
    parts: list[list[str]] = [[]]
    used = 0
    for line in lines_of(side, day):
        length = len(line.encode("utf-8", "replace")) + 1
        if parts[-1] and (len(parts[-1]) >= most or used + length > room):
            parts.append([])
            used = 0
        parts[-1].append(line)
        used += length
    if not parts[-1]:
        return {}
    full = [settings["daily.rotate_format"].format(date=day, seq=number) for number in range(1, len(parts))]
    names = [*full, f"{day}.md"]
    return {
        name: f"# {day} ({side.name})\n\n" + "\n".join(part) + "\n" for name, part in zip(names, parts, strict=True)
    }  # fmt: skip


def merged(stored: bytes | None, text: str) -> str:
    """Return a log with what its file says and the events do not: the database may have been removed since."""
    before = "" if stored is None else stored.decode("utf-8", "replace")
    known = set(text.splitlines())
    if all(line in known for line in before.splitlines()):
        return text
    there = set(before.splitlines())
    return before.rstrip("\n") + "\n" + "".join(f"{line}\n" for line in text.splitlines() if line not in there)
