"""Which monitors are due: each instant of a schedule once, even with clock jumps and other runners.

A monitor is due at the newest instant of its interval, however many were missed before; one that never ran is due at
that instant too. A claimed instant is never due again. If the clock jumped back, repeated instants are already claimed;
if it jumped ahead, the missed ones collapse into one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from memory.base.cron import BadCron, latest_run, next_runs
from memory.files.monitors import Monitor

from .ledger import key_of


@dataclass(frozen=True, slots=True)
class DueMonitors:
    """The monitors that are due with their instant (UTC), and the problems of other monitors' schedules, by file and
    line; both in file order.
    """

    due: tuple[tuple[Monitor, datetime], ...]
    problems: tuple[str, ...]


def due_instant(expression: str, last: datetime | None, now: datetime, zone: tzinfo) -> datetime | None:
    """Return the instant (UTC) at which something is due; None: it is not due.

    `last` is the newest claimed instant that is not in the future. Raises BadCron.
    """
    newest = latest_run(expression, now, zone)
    if newest is None:
        return None
    at = newest.astimezone(UTC)
    return at if last is None or at > last else None


def is_due(expression: str | None, last: datetime | None, now: datetime, zone: tzinfo) -> bool:
    """Return whether a schedule is due; a missing or invalid one never is."""
    if not expression:
        return False

    try:
        return due_instant(expression, last, now, zone) is not None
    except BadCron:
        return False


def due_monitors(
    monitors: Iterable[Monitor], claimed: Mapping[str, datetime], now: datetime, zone: tzinfo
) -> DueMonitors:
    """Return which monitors are due; `claimed` is `MonitorLedger.last_claims`.

    A monitor without an interval is never due: it runs on request. Of monitors with the same name the first counts.
    """
    due: dict[str, tuple[Monitor, datetime]] = {}
    problems: list[str] = []
    for monitor in monitors:
        key = key_of(monitor.name)
        if not monitor.interval or key in due:
            continue
        try:
            found = due_instant(monitor.interval, claimed.get(key), now, zone)
        except BadCron as error:
            problems.append(f"{monitor.file}:{monitor.line + 1}: interval of {monitor.name[:60]!r}: {error.message}")
            continue
        if found is not None:
            due[key] = (monitor, found)
    return DueMonitors(tuple(due.values()), tuple(problems))


def next_due(expression: str | None, now: datetime, zone: tzinfo) -> datetime | None:
    """Return the next instant of a schedule, None if it has none or is invalid."""
    if not expression:
        return None

    try:
        runs = next_runs(expression, now, zone)
    except BadCron:
        return None
    return runs[0] if runs else None
