"""The upkeep of daily logs: write those of the last days, put old ones away, let the oldest go, bring one back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from memory.base.tries import again
from memory.curated.index.records import milliseconds
from memory.errors import ConflictError, NotFoundError

from .logs import LogFolder, counts, day_of, files_of, merged, place_of

if TYPE_CHECKING:
    from memory.curated.curated import Curated
    from memory.curated.sides import Side
    from memory.storage.transaction.transaction import Transaction

_SWEPT = "daily_swept"


def names_in(place: LogFolder, folder: str) -> list[str]:
    """Return the logs of a folder, by name; links are passed over."""
    try:
        with os.scandir(place.side.store.root / folder) as entries:
            return sorted(one.name for one in entries if day_of(one.name) and one.is_file(follow_symlinks=False))
    except OSError:
        return []


def is_due(curated: Curated, side: Side, now: datetime) -> bool:
    """Tell whether the hour of the sweep has come since the last one (`daily.sweep_hour`, UTC)."""
    text = "SELECT value FROM memory_about WHERE key = ?"
    row = side.records.look(lambda db: db.execute(text, (_SWEPT,)).fetchone(), None)
    hour = now.astimezone(UTC).replace(hour=curated.settings["daily.sweep_hour"], minute=0, second=0, microsecond=0)
    if hour > now:
        hour -= timedelta(days=1)
    return row is None or int(row[0]) < milliseconds(hour)


def sweep(curated: Curated, side: Side, *, actor: str, now: datetime, dry_run: bool = False) -> dict[str, int]:
    """Write the logs of the last days, archive those older than `daily.cold_archive_days`, purge the archive.

    Return how many logs there were, how many were written, archived and purged.
    """
    settings, place = curated.settings, place_of(curated, side)
    if side.name == "workspace" and not side.workspace_id:
        return {"logs": 0, "written": 0, "archived": 0, "purged": 0}
    horizon = _day(now - timedelta(days=settings["daily.cold_archive_days"]))
    days = sorted({row["date"] for row in counts(side)} - {_day(now + timedelta(days=1))})
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
    limit = _day(now - timedelta(days=hard)) if hard else ""
    tally["purged"] = purge(curated, side, limit, actor=actor, now=now, dry_run=dry_run)
    if not dry_run and (wanted or here):
        value = str(milliseconds(now))
        side.records.run(lambda db: db.execute("INSERT OR REPLACE INTO memory_about VALUES (?, ?)", (_SWEPT, value)))
    return tally


def _written(place: LogFolder, files: dict[str, str], here: Iterable[str], actor: str, now: datetime) -> None:
    """Write logs in one change; a number that is new means that a log was full."""
    if not files:
        return

    def plan(transaction: Transaction) -> str:
        for name, text in files.items():
            path = f"{place.logs}/{name}"
            transaction.write(path, text.encode("utf-8", "replace"), base=transaction.read(path).base)
        return f"wrote {len(files)} daily logs"

    _change(place, plan, actor, now)
    for name in files:
        if name not in here and name != f"{day_of(name)}.md":
            place.side.records.event("memory.daily.rotated", now, target_id=name)


def _archived(place: LogFolder, names: Iterable[str], actor: str, now: datetime) -> int:
    """Move logs into the archive; one that is there with other content stays where it is."""
    done: list[str] = []

    def plan(transaction: Transaction) -> str:
        done.clear()
        for name in names:
            stored = transaction.read(f"{place.logs}/{name}")
            target = f"{place.archive}/{name}"
            there = transaction.read(target)
            if stored.base is None or (there.base is not None and there.base != stored.base):
                continue
            if there.base is None:
                transaction.move(f"{place.logs}/{name}", target, base=stored.base)
            else:
                transaction.remove(f"{place.logs}/{name}", base=stored.base)
            done.append(name)
        return f"archived {len(done)} daily logs" if done else ""

    _change(place, plan, actor, now)
    for name in done:
        place.side.records.event("memory.daily.archived", now, target_id=name)
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

    _change(place, plan, actor, now)
    for name in gone:
        side.records.event("memory.daily.purged", now, target_id=name)
    return len(gone)


def restore(curated: Curated, side: Side, day: str, *, actor: str, now: datetime) -> list[str]:
    """Bring the archived logs of a day back, until the next sweep, and return their names.

    NotFoundError `memory.not_found`, ConflictError `memory.exists` where a log of that name is there with other words.
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

    _change(place, plan, actor, now)
    for name in names:
        side.records.event("memory.daily.restored", now, target_id=name)
    return names


def _change(place: LogFolder, plan: Callable[[Transaction], str], actor: str, now: datetime) -> None:
    def attempt() -> None:
        with place.side.store.transaction("curated.daily", actor=actor, now=now, recorded=True) as transaction:
            summary = plan(transaction)
            if summary:
                transaction.commit(summary)

    again(attempt)


def _day(now: datetime) -> str:
    return now.astimezone(UTC).date().isoformat()
