"""Daily logs: what happened to memory on a day in UTC, made from the events of a side.

The log of a day is written once, when the day is over, and archived later. Until then it is shown from the events.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta

from memory.base.secrets import mask
from memory.errors import NotFoundError, UsageError
from memory.storage.transaction import Transaction

from .curated import Curated
from .files.listing import listed_names
from .index.records import milliseconds, time_of, utc_day
from .model import Json, OperationCall
from .sides import Side, archive

FOLDER = "_system/daily"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_OWN = "memory.daily.%"
"""Events of the logs themselves, because of which each day would have a log."""
_Row = tuple[str, str, str | None, str | None, int]


def _folders(curated: Curated, side: Side) -> tuple[str, str]:
    """Return the folders of the current and of the archived logs of a side, relative to the store's root."""
    root = curated.root(side.name).folder
    return f"{root}/{FOLDER}", f"{root}/{curated.settings['daily.archive_path']}/daily"


def _day_of(name: str) -> str:
    """Return the day at the beginning of a log's name, empty for another file."""
    found = _DAY.match(name)
    return found[0] if found is not None and name.endswith(".md") else ""


def _logs_in(side: Side, folder: str) -> list[str]:
    """Return the logs of a folder, by name; links are skipped."""
    return listed_names(side.store, folder, stat.S_ISREG, _day_of)


def counts(side: Side) -> list[Json]:
    """Return the number of events by day and scope, the newest day first."""
    text = (
        "SELECT date(ts_ms / 1000, 'unixepoch'), coalesce(scope, ?), agent_name, agent_tier, count(*)"
        " FROM memory_events WHERE op NOT LIKE ? GROUP BY 1, 2, 3, 4 ORDER BY 1 DESC, 2, 3, 4"
    )
    rows = side.records.look(lambda db: db.execute(text, (side.name, _OWN)).fetchall(), list[_Row]())
    keys = ("date", "scope", "agent_name", "agent_tier", "operation_count")
    return [dict(zip(keys, row, strict=True)) for row in rows]


def _texts_of(curated: Curated, side: Side, day: str) -> Mapping[str, str]:
    """Return the log of a day by file names, a line for each event; one with many lines has several files."""
    text = (
        "SELECT ts_ms, op, scope, agent_name, target_id, session_id, metadata FROM memory_events"
        " WHERE ts_ms >= ? AND ts_ms < ? AND op NOT LIKE ? ORDER BY id"
    )
    start = datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC)
    values = (milliseconds(start), milliseconds(start + timedelta(days=1)), _OWN)
    rows = side.records.look(lambda db: db.execute(text, values).fetchall(), list[tuple[str, ...]]())
    lines = []
    for stamp, op, scope, agent, target, session, metadata in rows:
        facts = json.loads(metadata)
        words = str(facts.get("reason") or facts.get("summary") or "")
        parts = (time_of(int(stamp))[11:19], op, scope, agent, target, f"session {session}" if session else "", words)
        lines.append(mask("- " + " ".join(" ".join(str(part).split()) for part in parts if part)))
    most = curated.settings["daily.max_lines"]
    found = {}
    for number, at in enumerate(range(0, len(lines), most), 1):
        name = f"{day}.md" if number == 1 else f"{day}.{number}.md"
        found[name] = f"# {day} ({side.name})\n\n" + "\n".join(lines[at : at + most]) + "\n"
    return found


def sweep(curated: Curated, side: Side, call: OperationCall, *, dry_run: bool = False) -> dict[str, int]:
    """Write the logs of the days that are over, and archive those older than `daily.cold_archive_days`.

    Return the number of logs, and how many were written and archived. A log whose name is taken in the archive by other
    content stays where it is.
    """
    logs, archived = _folders(curated, side)
    if side.name == "workspace" and not side.workspace_id:
        return {"logs": 0, "written": 0, "archived": 0}
    horizon = utc_day(call.now - timedelta(days=curated.settings["daily.cold_archive_days"]))
    here = _logs_in(side, logs)
    written = {_day_of(name) for name in here}
    days = {row["date"] for row in counts(side) if horizon <= row["date"] < utc_day(call.now)} - written
    made = {name: text for day in sorted(days) for name, text in _texts_of(curated, side, day).items()}
    old = [name for name in here if _day_of(name) < horizon]

    def plan(transaction: Transaction) -> str:
        for name, text in made.items():
            if not transaction.read(f"{logs}/{name}").exists:
                transaction.write(f"{logs}/{name}", text.encode("utf-8", "replace"), base=None)
        moved = [name for name in old if archive(transaction, f"{logs}/{name}", f"{archived}/{name}")]
        return f"wrote {len(made)} daily logs and archived {len(moved)}" if made or moved else ""

    if (made or old) and not dry_run:
        side.prepare(actor=call.actor, now=call.now)
        side.change("curated.daily", plan, actor=call.actor, now=call.now, recorded=True)
        for name in old:
            side.records.event("memory.daily.archived", call.now, target_id=name)
    return {"logs": len(here) + len(made), "written": len(made), "archived": len(old)}


# -- operations -----------------------------------------------------------------------------------------------------


def ls(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """List the days on which something was done to memory, with their logs."""
    found: list[Json] = []
    for side in curated.sides_of(args.get("scope")):
        logs, archived = ({_day_of(name): f"{folder}/{name}" for name in reversed(_logs_in(side, folder))}
                          for folder in _folders(curated, side))  # fmt: skip
        rows = counts(side)
        empty = {"scope": side.name, "agent_name": None, "agent_tier": None, "operation_count": 0}
        rows += [{"date": day, **empty} for day in {*logs, *archived} - {row["date"] for row in rows}]
        for row in rows:
            path = logs.get(row["date"]) or archived.get(row["date"])
            whole = None if path is None else str(side.store.root / path)
            only = row["date"] in archived and row["date"] not in logs
            found.append({**row, "workspace_id": side.workspace_id or None, "path": whole, "archived": only})
    found = [row for row in found if args.get("date") in (None, row["date"])]
    found.sort(key=lambda row: (row["date"], row["scope"]), reverse=True)
    return {"logs": found[: min(args.get("limit", 50), 200)]}


def show(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Show the log of a day."""
    day, parts = str(args["date"]), list[str]()
    try:
        date.fromisoformat(day)
    except ValueError:
        raise UsageError("memory.validation", f"{day[:40]!r} is no day", "such as 2026-01-15", field="date") from None
    for side in curated.sides_of(args.get("scope")):
        kept = [f"{folder}/{name}" for folder in _folders(curated, side) for name in _logs_in(side, folder)
                if _day_of(name) == day]  # fmt: skip
        texts = [side.store.read(path).data.decode("utf-8", "replace") for path in kept]
        parts += [mask(text) for text in texts] or _texts_of(curated, side, day).values()
    if not parts:
        raise NotFoundError("memory.not_found", f"nothing was done on {day}", "`memdeck curated daily ls`")
    return {"date": day, "text": "\n".join(parts)}


def sweep_all(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Write the logs of the days that are over, and archive old ones."""
    dry = args.get("dry_run", False)
    done = [sweep(curated, side, call, dry_run=dry) for side in curated.sides_of(args.get("scope"))]
    return {**{key: sum(one[key] for one in done) for key in ("logs", "written", "archived")}, "dry_run": dry}
