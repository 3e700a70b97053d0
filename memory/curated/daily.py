"""Daily logs: one Markdown file a day about the changes to memory, made from the events of a side.

They are split where one is full. The upkeep writes those of the last days, archives old ones, and purges the archive.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from memory.base.secrets import mask
from memory.errors import ConflictError, NotFoundError
from memory.storage.transaction import Transaction

from .curated import Curated
from .files.listing import listed_names
from .index.records import milliseconds, read_number, time_of, utc_day, write_number
from .model import Json
from .sides import Side, archive

FOLDER = "_system/daily"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_OWN = "memory.daily.%"
"""Events of the logs themselves, because of which each sweep would write another log."""
_SWEPT = "daily_swept"
_Row = tuple[str, str, str | None, str | None, int]


@dataclass(frozen=True, slots=True)
class LogFolder:
    """The log folders of a side: for current and for archived logs, relative to the store's root."""

    side: Side
    logs: str
    archive: str


def place_of(curated: Curated, side: Side) -> LogFolder:
    """Return the log folders of a side."""
    root = curated.root(side.name).folder
    return LogFolder(side, f"{root}/{FOLDER}", f"{root}/{curated.settings['daily.archive_path']}/daily")


def day_of(name: str) -> str | None:
    """Return the day at the beginning of a log's name, None for another file."""
    found = _DAY.search(name)
    return found[0] if found is not None and name.endswith(".md") else None


def counts(side: Side, since: int = 0) -> list[Json]:
    """Return the number of events by day and scope since a time in milliseconds, the newest day first."""
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
    """Return a line for each of the last days with events of memory."""
    since = milliseconds(now - timedelta(days=days))
    tally: dict[str, int] = {}
    for row in counts(side, since) if days else ():
        tally[row["date"]] = tally.get(row["date"], 0) + row["operation_count"]
    return [f"- {day}: {count} operations" for day, count in sorted(tally.items())]


def lines_of(side: Side, day: str) -> list[str]:
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


def masked_log(data: bytes) -> str:
    """Return the text of a log's file, with the secrets in each line masked."""
    return "\n".join(map(mask, data.decode("utf-8", "replace").split("\n")))


def merged(stored: bytes | None, text: str) -> str:
    """Return a log with the lines of its file that the events lack: the database may have been removed since."""
    before = "" if stored is None else masked_log(stored)
    there, lines = set(before.split("\n")), text.removesuffix("\n").split("\n")
    if there <= {*lines, ""}:
        return text
    return before.rstrip("\n") + "\n" + "".join(f"{line}\n" for line in lines if line not in there)


# -- upkeep ---------------------------------------------------------------------------------------------------------


def names_in(place: LogFolder, folder: str) -> list[str]:
    """Return the logs of a folder, by name; links are skipped."""
    return listed_names(place.side.store, folder, stat.S_ISREG, day_of)


def is_due(curated: Curated, side: Side, now: datetime) -> bool:
    """Return whether the hour of the sweep has come since the last one (`daily.sweep_hour`, UTC).

    A last sweep in the future does not count.
    """
    last = side.records.look(lambda db: read_number(db, _SWEPT), None)
    hour = now.astimezone(UTC).replace(hour=curated.settings["daily.sweep_hour"], minute=0, second=0, microsecond=0)
    if hour > now:
        hour -= timedelta(days=1)
    return last is None or not milliseconds(hour) <= last <= milliseconds(now)


def sweep(curated: Curated, side: Side, *, actor: str, now: datetime, dry_run: bool = False) -> dict[str, int]:
    """Write the logs of the last days, archive those older than `daily.cold_archive_days`, purge the archive.

    Return the number of logs, and how many were written, archived and purged.
    """
    settings, place = curated.settings, place_of(curated, side)
    if side.name == "workspace" and not side.workspace_id:
        return {"logs": 0, "written": 0, "archived": 0, "purged": 0}
    horizon = utc_day(now - timedelta(days=settings["daily.cold_archive_days"]))
    days = sorted({row["date"] for row in counts(side)} - {utc_day(now + timedelta(days=1))})
    wanted = {
        name: text for day in days if day >= horizon for name, text in files_of(curated, side, day).items()
    }  # fmt: skip
    here = names_in(place, place.logs)
    stored = {name: side.store.read(f"{place.logs}/{name}").base for name in wanted}
    wanted = {name: merged(stored[name], text) for name, text in wanted.items()}
    changed = [name for name, text in wanted.items() if stored[name] != text.encode("utf-8", "replace")]
    old = [name for name in here if (day_of(name) or "") < horizon]
    tally = {"logs": len({*here, *wanted}), "written": len(changed), "archived": len(old)}
    if not dry_run:
        if changed:
            side.prepare(actor=actor, now=now)
        _written(place, {name: wanted[name] for name in changed}, here, actor, now)
        tally["archived"] = _archived(place, old, actor, now) if old else 0
    hard = settings["daily.hard_delete_days"]
    limit = utc_day(now - timedelta(days=hard)) if hard else ""
    tally["purged"] = purge(curated, side, limit, actor=actor, now=now, dry_run=dry_run)
    if not dry_run and (wanted or here):
        side.records.run(lambda db: write_number(db, _SWEPT, milliseconds(now)))
    return tally


def _written(place: LogFolder, files: dict[str, str], here: Iterable[str], actor: str, now: datetime) -> None:
    """Write logs in one change; a new number means that a log was full."""
    if not files:
        return

    def plan(transaction: Transaction) -> str:
        for name, text in files.items():
            path = f"{place.logs}/{name}"
            transaction.write(path, text.encode("utf-8", "replace"), base=transaction.read(path).base)
        return f"wrote {len(files)} daily logs"

    full = [name for name in files if name not in here and name != f"{day_of(name)}.md"]
    _change(place, plan, "rotated", full, actor, now)


def _archived(place: LogFolder, names: Iterable[str], actor: str, now: datetime) -> int:
    """Move logs into the archive; one that exists there with other content stays where it is."""
    done: list[str] = []

    def plan(transaction: Transaction) -> str:
        done.clear()
        for name in names:
            if archive(transaction, f"{place.logs}/{name}", f"{place.archive}/{name}"):
                done.append(name)
        return f"archived {len(done)} daily logs" if done else ""

    _change(place, plan, "archived", done, actor, now)
    return len(done)


def purge(curated: Curated, side: Side, before: str, *, actor: str, now: datetime, dry_run: bool = False) -> int:
    """Remove archived logs of days before one (empty: of none), and the oldest beyond `daily.max_archive_bytes`.

    Return how many; the change log keeps their bytes.
    """
    place = place_of(curated, side)
    room = curated.settings["daily.max_archive_bytes"]
    gone, size = [], 0
    for name in reversed(names_in(place, place.archive)):
        size += len(side.store.read(f"{place.archive}/{name}").data)
        if (day_of(name) or "") < before or size > room:
            gone.append(name)
    if not gone or dry_run:
        return len(gone)

    def plan(transaction: Transaction) -> str:
        for name in gone:
            stored = transaction.read(f"{place.archive}/{name}")
            if stored.base is not None:
                transaction.remove(f"{place.archive}/{name}", base=stored.base)
        return f"purged {len(gone)} archived daily logs"

    _change(place, plan, "purged", gone, actor, now)
    return len(gone)


def restore(curated: Curated, side: Side, day: str, *, actor: str, now: datetime) -> list[str]:
    """Restore the archived logs of a day until the next sweep, and return their names.

    NotFoundError `memory.not_found`, ConflictError `memory.exists` where a log of that name exists with other content.
    """
    place = place_of(curated, side)
    names = [name for name in names_in(place, place.archive) if day_of(name) == day]
    if not names:
        raise NotFoundError("memory.not_found", f"there is no archived log of {day[:40]}", "`memdeck curated daily ls`")

    def plan(transaction: Transaction) -> str:
        for name in names:
            stored = transaction.read(f"{place.archive}/{name}")
            if transaction.read(f"{place.logs}/{name}").exists:
                raise ConflictError("memory.exists", f"{name} is there already", "move it away", file=name)
            if stored.base is not None:
                transaction.move(f"{place.archive}/{name}", f"{place.logs}/{name}", base=stored.base)
        return f"restored the logs of {day}"

    _change(place, plan, "restored", names, actor, now)
    return names


def _change(
    place: LogFolder, plan: Callable[[Transaction], str], op: str, names: Iterable[str], actor: str, now: datetime
) -> None:
    """Carry out a plan in one change, then record an event for each of some logs."""
    place.side.change("curated.daily", plan, actor=actor, now=now, recorded=True)
    for name in names:
        place.side.records.event(f"memory.daily.{op}", now, target_id=name)
