"""The heartbeat: tasks that are due, overdue or due later today, and stale monitors; reported only when they are news.

A fact is reported once, and again when it changes or comes back. The record keeps what the last beat found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from memory.base.clock import format_local
from memory.base.cron import BadCron, describe, latest_run
from memory.base.safe_text import plural
from memory.files.snapshot import Snapshot
from memory.files.tasks.model import Task
from memory.monitoring.words import plain

TITLE = "Heartbeat Check"
NOTE = "heartbeat"
"""The key under which the record keeps the result of the last beat."""
KEY = "\0heartbeat"
"""The name, which no monitor has, under which beats are claimed."""
SHOWN = 20


@dataclass(frozen=True, slots=True)
class Beat:
    """The result of a beat: the lines of its journal entry (none: no news), and the state for the next beat."""

    lines: tuple[str, ...]
    memory: dict[str, Any]


def beat(
    snapshot: Snapshot, known: Mapping[str, Any], now: datetime, zone: tzinfo, checked: Collection[str] = ()
) -> Beat:
    """Check tasks and monitors; `known` is the state of the last beat, empty before the first.

    `checked` names monitors that were just checked, which the snapshot may not show yet.
    """
    before = known.get("told")
    told = {fact for fact in before if isinstance(fact, str)} if isinstance(before, list) else set()
    last = _last(known, now)
    tasks = [task for task in snapshot.tasks.open if b"due:" in task.entry.raw]
    due = [line for task in tasks if (line := _due(task, last, now, zone))]
    facts = list(dict.fromkeys([*due, *_stale(snapshot, now, zone, checked)]))
    news = [line for line in facts if line not in told]
    lines: list[str] = []
    if news:
        pending = sum(task.section == "pending" for task in snapshot.tasks.tasks)
        lines = [f"{plural(pending, 'pending task')} found", *news[:SHOWN]]
        if len(news) > SHOWN:
            lines.append(f"and {len(news) - SHOWN} more")
    return Beat(tuple(lines), {"told": facts, "at": now.astimezone(UTC).isoformat()})


def _last(known: Mapping[str, Any], now: datetime) -> datetime:
    """Return when the last beat was, at most a day ago; a day ago if that is not known."""
    earliest = now - timedelta(days=1)
    try:
        at = datetime.fromisoformat(str(known.get("at")))
    except ValueError:
        return earliest
    return max(at, earliest) if at.tzinfo is not None and at <= now else earliest


def _quoted(title: str) -> str:
    return '"' + plain(title, 80).replace('"', "'") + '"'


def _due(task: Task, last: datetime, now: datetime, zone: tzinfo) -> str:
    """Return the line for a task that is overdue, due, or due later today, or whose recurrence came since the last
    beat; "" for any other.
    """
    moment, name, today = task.due_moment(zone), _quoted(task.title), now.astimezone(zone).date()
    if moment is None:
        try:
            run = latest_run(task.recurring, now, zone) if task.recurring else None
        except BadCron:
            run = None
        return f"Due: {name} (since {format_local(run, zone)})" if run is not None and run > last else ""
    if moment.date < today:
        return f"Overdue: {name} (due {moment.text})"
    if moment.date > today and (moment.instant is None or moment.instant > now):
        return ""
    if moment.instant is None:
        return f"Due: {name} (today)"
    clock = format_local(moment.instant, zone)[11:]
    return f"Due: {name} (since {clock})" if moment.instant <= now else f"Deferred: {name} (due at {clock})"


def _stale(snapshot: Snapshot, now: datetime, zone: tzinfo, fresh: Collection[str]) -> Iterator[str]:
    """Yield a line for every monitor without a result for two of its intervals."""
    for monitor in snapshot.monitors.monitors:
        checked = monitor.checked_at(zone)
        if checked is not None and monitor.name not in fresh and monitor.stale(now, zone):
            yield (
                f"Drift: monitor {_quoted(monitor.name)} was last checked {format_local(checked, zone)}, "
                f"its interval is {plain(describe(monitor.interval or ''), 40)}"
            )
