"""Which monitors are due: each instant of a schedule once, whatever clocks and other runners do.

A monitor is due at the newest instant of its interval, however many were missed before it; one that never ran is due
at that instant too. An instant that is claimed is never due again. Where the clock jumped back, instants that come by
again are claimed already; where it jumped ahead, the missed ones collapse into one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from .ledger import key_of

if TYPE_CHECKING:
    from memory.files.monitors import Monitor


@dataclass(frozen=True, slots=True)
class DueMonitor:
    """A monitor that is due: the instant (UTC) of its schedule, and whether instants before it were missed."""

    monitor: Monitor
    at: datetime
    missed: bool


@dataclass(frozen=True, slots=True)
class DueMonitors:
    """The monitors that are due, in file order, and what is wrong with the schedules of others, by file and line."""

    due: tuple[DueMonitor, ...]
    problems: tuple[str, ...]


def due_instant(expression: str, last: datetime | None, now: datetime, zone: tzinfo) -> tuple[datetime, bool] | None:
    """Return the instant (UTC) at which something is due and whether others were missed before it; None: not due.

    `last` is the newest instant claimed that is not in the future. Raises BadCron.
    """
    from memory.base.cron import latest_run

    newest = latest_run(expression, now, zone)
    if newest is None:
        return None
    at = newest.astimezone(UTC)
    if last is None:
        return at, False
    if at <= last:
        return None
    before = latest_run(expression, at - timedelta(minutes=1), zone)
    return at, before is not None and before > last


def is_due(expression: str | None, last: datetime | None, now: datetime, zone: tzinfo) -> bool:
    """Tell whether a schedule is due; one that is missing or cannot be read never is."""
    if not expression:
        return False
    from memory.base.cron import BadCron

    try:
        return due_instant(expression, last, now, zone) is not None
    except BadCron:
        return False


def due_monitors(
    monitors: Iterable[Monitor], claimed: Mapping[str, datetime], now: datetime, zone: tzinfo
) -> DueMonitors:
    """Return which monitors are due; `claimed` is `Ledger.last_claims`.

    A monitor without an interval is never due: it runs when a person asks for it. Of monitors with one name the first
    counts.
    """
    from memory.base.cron import BadCron

    due: dict[str, DueMonitor] = {}
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
            due[key] = DueMonitor(monitor, *found)
    return DueMonitors(tuple(due.values()), tuple(problems))


def next_due(expression: str | None, now: datetime, zone: tzinfo) -> datetime | None:
    """Return the next instant of a schedule, None where it has none or is not readable."""
    if not expression:
        return None
    from memory.base.cron import BadCron, next_runs

    try:
        runs = next_runs(expression, now, zone)
    except BadCron:
        return None
    return runs[0] if runs else None
