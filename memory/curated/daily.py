"""Daily logs: one Markdown file a day about the changes to memory, made from the events of a side.

They are split where one is full. The upkeep writes those of the last days, archives old ones, and purges the archive.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta

from memory.base.secrets import mask
from memory.errors import ConflictError, NotFoundError, UsageError
from memory.storage.transaction import Transaction

from .curated import Curated
from .files.listing import listed_names
from .index.records import milliseconds, read_number, time_of, utc_day, write_number
from .model import Json, OperationCall
from .sides import Side, archive

FOLDER = "_system/daily"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_OWN = "memory.daily.%"
"""Events of the logs themselves, because of which each sweep would write another log."""
_SWEPT = "daily_swept"
_Row = tuple[str, str, str | None, str | None, int]


def folders(curated: Curated, side: Side) -> tuple[str, str]:
    """Return the folders of the current and of the archived logs of a side, relative to the store's root."""
    root = curated.root(side.name).folder
    return f"{root}/{FOLDER}", f"{root}/{curated.settings['daily.archive_path']}/daily"


def day_of(name: str) -> str | None:
    """Return the day at the beginning of a log's name, None for another file."""
    found = _DAY.search(name)
    return found[0] if found is not None and name.endswith(".md") else None


def logs_in(side: Side, folder: str) -> list[str]:
    """Return the logs of a folder, by name; links are skipped."""
    return listed_names(side.store, folder, stat.S_ISREG, day_of)


def counts(side: Side, since: int = 0) -> list[Json]:
    """Return the number of events by day and scope since a time in milliseconds, the newest day first."""
    text = (
        "SELECT date(ts_ms / 1000, 'unixepoch'), coalesce(scope, ?), agent_name, agent_tier, count(*)"
        " FROM memory_events WHERE ts_ms >= ? AND op NOT LIKE ? GROUP BY 1, 2, 3, 4 ORDER BY 1 DESC, 2, 3, 4"
    )
    rows = side.records.look(lambda db: db.execute(text, (side.name, since, _OWN)).fetchall(), list[_Row]())
    keys = ("date", "scope", "agent_name", "agent_tier", "operation_count")
    return [dict(zip(keys, row, strict=True)) for row in rows]


def days_before(side: Side, now: datetime, days: int) -> list[str]:
    """Return a line for each of the last days with events of memory."""
    tally: dict[str, int] = {}
    for row in counts(side, milliseconds(now - timedelta(days=days))) if days else ():
        tally[row["date"]] = tally.get(row["date"], 0) + row["operation_count"]
    return [f"- {day}: {count} operations" for day, count in sorted(tally.items())]


def _lines_of(side: Side, day: str) -> list[str]:
    """Return the lines of a day's log, in the order of the events."""
    text = (
        "SELECT ts_ms, op, scope, agent_name, target_id, session_id, metadata FROM memory_events"
        " WHERE ts_ms >= ? AND ts_ms < ? AND op NOT LIKE ? ORDER BY id"
    )
    start = datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC)
    values = (milliseconds(start), milliseconds(start + timedelta(days=1)), _OWN)
    rows = side.records.look(lambda db: db.execute(text, values).fetchall(), list[tuple[str, ...]]())
    found = []
    for stamp, op, scope, agent, target, session, metadata in rows:
        facts = json.loads(metadata)
        words = str(facts.get("reason") or facts.get("summary") or "")
        parts = (time_of(int(stamp))[11:19], op, scope, agent, target, f"session {session}" if session else "", words)
        found.append(mask("- " + " ".join(" ".join(str(part).split()) for part in parts if part)))
    return found


def files_of(curated: Curated, side: Side, day: str) -> Mapping[str, str]:
    """Return the files of a day with their text: full ones with a number, then the current one."""
    settings = curated.settings
    parts: list[list[str]] = [[]]
    used = 0
    for line in _lines_of(side, day):
        length = len(line.encode("utf-8", "replace")) + 1
        full = len(parts[-1]) >= settings["daily.max_lines"] or used + length > settings["daily.max_bytes"]
        if parts[-1] and full:
            parts.append([])
            used = 0
        parts[-1].append(line)
        used += length
    if not parts[-1]:
        return {}
    names = [settings["daily.rotate_format"].format(date=day, seq=number) for number in range(1, len(parts))]
    texts = [f"# {day} ({side.name})\n\n" + "\n".join(part) + "\n" for part in parts]
    return dict(zip([*names, f"{day}.md"], texts, strict=True))


def _masked(data: bytes) -> str:
    """Return the text of a log's file, with the secrets in each line masked."""
    return "\n".join(map(mask, data.decode("utf-8", "replace").split("\n")))


def merged(stored: bytes | None, text: str) -> str:
    """Return a log with the lines of its file that the events lack: the database may have been removed since."""
    before = "" if stored is None else _masked(stored)
    there, lines = set(before.split("\n")), text.removesuffix("\n").split("\n")
    if there <= {*lines, ""}:
        return text
    return before.rstrip("\n") + "\n" + "".join(f"{line}\n" for line in lines if line not in there)


# -- upkeep ---------------------------------------------------------------------------------------------------------


def is_due(curated: Curated, side: Side, now: datetime) -> bool:
    """Return whether the hour of the sweep has come since the last one (`daily.sweep_hour`, UTC).

    A last sweep in the future does not count.
    """
    last = side.records.look(lambda db: read_number(db, _SWEPT), None)
    hour = now.astimezone(UTC).replace(hour=curated.settings["daily.sweep_hour"], minute=0, second=0, microsecond=0)
    if hour > now:
        hour -= timedelta(days=1)
    return last is None or not milliseconds(hour) <= last <= milliseconds(now)


def sweep(curated: Curated, side: Side, call: OperationCall, *, dry_run: bool = False) -> dict[str, int]:
    """Write the logs of the last days, archive those older than `daily.cold_archive_days`, purge the archive.

    Return the number of logs, and how many were written, archived and purged. A log whose name is taken in the archive
    by other content stays where it is.
    """
    settings, (logs, archived) = curated.settings, folders(curated, side)
    if side.name == "workspace" and not side.workspace_id:
        return {"logs": 0, "written": 0, "archived": 0, "purged": 0}
    horizon = utc_day(call.now - timedelta(days=settings["daily.cold_archive_days"]))
    days = sorted({row["date"] for row in counts(side)} - {utc_day(call.now + timedelta(days=1))})
    wanted = {name: text for day in days if day >= horizon for name, text in files_of(curated, side, day).items()}
    here = logs_in(side, logs)
    changed: dict[str, bytes] = {}
    for name, text in wanted.items():
        stored = side.store.read(f"{logs}/{name}").base
        data = merged(stored, text).encode("utf-8", "replace")
        if stored != data:
            changed[name] = data
    old = [name for name in here if (day_of(name) or "") < horizon]
    tally = {"logs": len({*here, *wanted}), "written": len(changed), "archived": len(old)}
    moved: list[str] = []

    def plan(transaction: Transaction) -> str:
        for name, data in changed.items():
            path = f"{logs}/{name}"
            transaction.write(path, data, base=transaction.read(path).base)
        moved[:] = [name for name in old if archive(transaction, f"{logs}/{name}", f"{archived}/{name}")]
        words = [f"wrote {len(changed)}"] * bool(changed) + [f"archived {len(moved)}"] * bool(moved)
        return f"{' and '.join(words)} daily logs" if words else ""

    if not dry_run:
        if changed or old:
            side.prepare(actor=call.actor, now=call.now)
            full = [name for name in changed if name not in here and name != f"{day_of(name)}.md"]
            _change(side, plan, {"rotated": full, "archived": moved}, call)
            tally["archived"] = len(moved)
        if wanted or here:
            side.records.run(lambda db: write_number(db, _SWEPT, milliseconds(call.now)))
    hard = settings["daily.hard_delete_days"]
    limit = utc_day(call.now - timedelta(days=hard)) if hard else ""
    return {**tally, "purged": _purge(curated, side, limit, call, dry_run=dry_run)}


def _purge(curated: Curated, side: Side, before: str, call: OperationCall, *, dry_run: bool) -> int:
    """Remove archived logs of days before one (empty: of none), and the oldest beyond `daily.max_archive_bytes`.

    Return how many; the change log keeps their bytes.
    """
    folder = folders(curated, side)[1]
    gone, size = [], 0
    for name in reversed(logs_in(side, folder)):
        size += len(side.store.read(f"{folder}/{name}").data)
        if (day_of(name) or "") < before or size > curated.settings["daily.max_archive_bytes"]:
            gone.append(name)

    def plan(transaction: Transaction) -> str:
        for name in gone:
            stored = transaction.read(f"{folder}/{name}")
            if stored.base is not None:
                transaction.remove(f"{folder}/{name}", base=stored.base)
        return f"purged {len(gone)} archived daily logs"

    if gone and not dry_run:
        _change(side, plan, {"purged": gone}, call)
    return len(gone)


def _change(
    side: Side, plan: Callable[[Transaction], str], events: Mapping[str, Iterable[str]], call: OperationCall
) -> None:
    """Carry out a plan in one change, then record an event for each of some logs."""
    side.change("curated.daily", plan, actor=call.actor, now=call.now, recorded=True)
    for op, names in events.items():
        for name in names:
            side.records.event(f"memory.daily.{op}", call.now, target_id=name)


# -- operations -----------------------------------------------------------------------------------------------------


def _asked(args: Json) -> str:
    day = str(args["date"])
    if day_of(f"{day}.md") != day:
        raise UsageError("memory.validation", f"{day[:40]!r} is no day", "such as 2026-01-15", field="date")
    return day


def ls(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Return the days with events, with their logs, the newest first."""
    found: list[Json] = []
    for side in curated.sides_of(args.get("scope")):
        logs, archived = ({day_of(name): f"{folder}/{name}" for name in logs_in(side, folder)}
                          for folder in folders(curated, side))  # fmt: skip
        rows = counts(side)
        known = {row["date"] for row in rows}
        empty = {"scope": side.name, "agent_name": None, "agent_tier": None, "operation_count": 0}
        rows += [{"date": day, **empty} for day in {*logs, *archived} - known if day]
        for row in rows:
            path = logs.get(row["date"]) or archived.get(row["date"])
            whole = None if path is None else str(side.store.root / path)
            only = row["date"] in archived and row["date"] not in logs
            found.append({**row, "workspace_id": side.workspace_id or None, "path": whole, "archived": only})
    found = [row for row in found if args.get("date") in (None, row["date"])]
    found.sort(key=lambda row: (row["date"], row["scope"]), reverse=True)
    return {"logs": found[: min(args.get("limit", 50), 200)]}


def show(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Return the log of a day: from the events, else from its files."""
    day, parts = _asked(args), list[str]()
    for side in curated.sides_of(args.get("scope")):
        kept = [f"{folder}/{name}" for folder in folders(curated, side) for name in logs_in(side, folder)
                if day_of(name) == day]  # fmt: skip
        made = files_of(curated, side, day)
        parts += made.values() if made else [_masked(side.store.read(path).data) for path in kept]
    if not parts:
        raise NotFoundError("memory.not_found", f"nothing was done on {day}", "`memdeck curated daily ls`")
    return {"date": day, "text": "\n".join(parts)}


def sweep_all(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Write the logs, archive old ones and purge the archive."""
    tally = {"logs": 0, "written": 0, "archived": 0, "purged": 0}
    dry = args.get("dry_run", False)
    for side in curated.sides_of(args.get("scope")):
        done = sweep(curated, side, call, dry_run=dry)
        tally = {key: tally[key] + done[key] for key in tally}
    return {**tally, "dry_run": dry}


def restore(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Restore the archived logs of a day until the next sweep.

    NotFoundError `memory.not_found`, ConflictError `memory.exists` where a log of that name exists with other content.
    """
    day, found = _asked(args), list[str]()
    for side in curated.sides_of(args.get("scope")):
        logs, archived = folders(curated, side)
        names = [name for name in logs_in(side, archived) if day_of(name) == day]

        def plan(
            transaction: Transaction, logs: str = logs, archived: str = archived, names: Iterable[str] = tuple(names)
        ) -> str:
            for name in names:
                stored = transaction.read(f"{archived}/{name}")
                if transaction.read(f"{logs}/{name}").exists:
                    raise ConflictError("memory.exists", f"{name} already exists", "move it away", file=name)
                if stored.base is not None:
                    transaction.move(f"{archived}/{name}", f"{logs}/{name}", base=stored.base)
            return f"restored the logs of {day}"

        if names:
            _change(side, plan, {"restored": names}, call)
        found += names
    if not found:
        raise NotFoundError("memory.not_found", f"there is no archived log of {day}", "`memdeck curated daily ls`")
    return {"date": day, "restored": found}


def purge(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Remove old archived logs."""
    day = utc_day(call.now - timedelta(days=args["older_than_days"]))
    dry = args.get("dry_run", False)
    sides = curated.sides_of(args.get("scope"))
    return {"purged": sum(_purge(curated, side, day, call, dry_run=dry) for side in sides), "before": day,
            "dry_run": dry}  # fmt: skip
