"""The operations on daily logs: ls, show, sweep, restore, purge."""

from __future__ import annotations

from datetime import timedelta

from memory.curated.curated import Curated
from memory.curated.daily import counts, day_of, files_of, masked_log, names_in, place_of, purge, restore, sweep
from memory.curated.index.records import utc_day
from memory.curated.model import Json
from memory.errors import NotFoundError, UsageError

from .operation import OperationCall


def _day(args: Json) -> str:
    day = str(args["date"])
    if day_of(f"{day}.md") != day:
        raise UsageError("memory.validation", f"{day[:40]!r} is no day", "such as 2026-01-15", field="date")
    return day


def ls(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Return the days with events, with their logs, the newest first."""
    found: list[Json] = []
    for side in curated.sides_of(args.get("scope")):
        place = place_of(curated, side)
        logs = {day_of(name): f"{place.logs}/{name}" for name in names_in(place, place.logs)}
        archive = {day_of(name): f"{place.archive}/{name}" for name in names_in(place, place.archive)}
        rows = counts(side)
        known = {row["date"] for row in rows}
        empty = {"scope": side.name, "agent_name": None, "agent_tier": None, "operation_count": 0}
        rows += [{"date": day, **empty} for day in {*logs, *archive} - known if day]
        for row in rows:
            day = row["date"]
            path = logs.get(day) or archive.get(day)
            found.append(
                {**row, "workspace_id": side.workspace_id or None,
                 "path": None if path is None else str(side.store.root / path),
                 "archived": day in archive and day not in logs}
            )  # fmt: skip
    found = [row for row in found if args.get("date") in (None, row["date"])]
    found.sort(key=lambda row: (row["date"], row["scope"]), reverse=True)
    return {"logs": found[: min(args.get("limit", 50), 200)]}


def show(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Return the log of a day: from its files, else from the events."""
    day, parts = _day(args), list[str]()
    for side in curated.sides_of(args.get("scope")):
        made = files_of(curated, side, day)
        place = place_of(curated, side)
        kept = [
            f"{folder}/{name}" for folder in (place.logs, place.archive) for name in names_in(place, folder)
            if day_of(name) == day
        ]  # fmt: skip
        parts += made.values() if made else [masked_log(side.store.read(path).data) for path in kept]
    if not parts:
        raise NotFoundError("memory.not_found", f"nothing was done on {day}", "`memdeck curated daily ls`")
    return {"date": day, "text": "\n".join(parts)}


def swept(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Write the logs, archive old ones and purge the archive."""
    tally = {"logs": 0, "written": 0, "archived": 0, "purged": 0}
    for side in curated.sides_of(args.get("scope")):
        done = sweep(curated, side, actor=call.actor, now=call.now, dry_run=args.get("dry_run", False))
        tally = {key: tally[key] + done[key] for key in tally}
    return {**tally, "dry_run": args.get("dry_run", False)}


def restored(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Restore the archived logs of a day."""
    day = _day(args)
    found: list[str] = []
    error: NotFoundError | None = None
    for side in curated.sides_of(args.get("scope")):
        try:
            found += restore(curated, side, day, actor=call.actor, now=call.now)
        except NotFoundError as missing:
            error = missing
    if not found and error is not None:
        raise error
    return {"date": day, "restored": found}


def purged(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Remove old archived logs."""
    day = utc_day(call.now - timedelta(days=args["older_than_days"]))
    dry = args.get("dry_run", False)
    count = sum(
        purge(curated, side, day, actor=call.actor, now=call.now, dry_run=dry)
        for side in curated.sides_of(args.get("scope"))
    )
    return {"purged": count, "before": day, "dry_run": dry}
