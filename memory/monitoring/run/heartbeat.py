"""The heartbeat: due, overdue, deferred or drifting entries; reported only when they are news.

A fact is reported once, and again when it changes or comes back. The record keeps what the last beats found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from hashlib import blake2b
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
BEATS = 6
"""After so many beats without a change a task in progress drifts; `driftAfterBeats` in config.md overrides it."""
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
    facts: dict[str, str] = {}
    for line in _due(snapshot, last, now, zone):
        facts.setdefault(line, line)
    still, drifting = _in_progress(snapshot, known.get("still"), _limit(snapshot))
    unfinished = [
        f"Drift: {_quoted(task.title)} completed without outcome"
        for task in snapshot.tasks.tasks
        if task.section == "completed" and task.outcome is None
    ]
    for line in (*drifting, *unfinished, *_stale(snapshot, now, zone, checked)):
        facts.setdefault(line, line)
    news = [line for line in facts if line not in told]
    lines: list[str] = []
    if news:
        pending = sum(task.section == "pending" for task in snapshot.tasks.tasks)
        lines = [f"{plural(pending, 'pending task')} found", *news[:SHOWN]]
        if len(news) > SHOWN:
            lines.append(f"and {len(news) - SHOWN} more")
    return Beat(tuple(lines), {"told": list(facts), "still": still, "at": now.astimezone(UTC).isoformat()})


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


def _due(snapshot: Snapshot, last: datetime, now: datetime, zone: tzinfo) -> Iterator[str]:
    """Yield a line for every task that is overdue, due, or due later today."""
    today = now.astimezone(zone).date()
    for task in snapshot.tasks.tasks:
        if task.section == "completed" or b"due:" not in task.entry.raw:
            continue
        moment = task.due_moment(zone)
        name = _quoted(task.title)
        if moment is None:
            yield from _recurring(task, last, now, zone)
        elif moment.date < today:
            yield f"Overdue: {name} (due {moment.text})"
        elif moment.instant is None:
            if moment.date == today:
                yield f"Due: {name} (today)"
        elif moment.instant <= now:
            yield f"Due: {name} (since {format_local(moment.instant, zone)[11:]})"
        elif moment.date == today:
            yield f"Deferred: {name} (due at {format_local(moment.instant, zone)[11:]})"


def _recurring(task: Task, last: datetime, now: datetime, zone: tzinfo) -> Iterator[str]:
    """Yield a line if a task without a due date, but with a recurrence, came due since the last beat."""
    if task.recurring is None:
        return

    try:
        run = latest_run(task.recurring, now, zone)
    except BadCron:
        return
    if run is not None and run > last:
        yield f"Due: {_quoted(task.title)} (since {format_local(run, zone)})"


def _limit(snapshot: Snapshot) -> int:
    value = snapshot.config.get("driftAfterBeats") or ""
    return int(value) if value.isascii() and value.isdigit() and int(value[:6]) > 0 else BEATS


def _in_progress(snapshot: Snapshot, before: Any, limit: int) -> tuple[dict[str, list[Any]], list[str]]:
    """Return each task in progress with its content and how many beats it is unchanged, and lines for drifting ones."""
    seen = before if isinstance(before, dict) else {}
    still: dict[str, list[Any]] = {}
    lines = []
    for task in snapshot.tasks.tasks:
        if task.section != "in-progress":
            continue
        look = blake2b(task.entry.raw, digest_size=8).hexdigest()
        count = 0
        match seen.get(task.ref):
            case [str() as same, int() as beats] if same == look:
                count = beats + 1
        still[task.ref] = [look, count]
        if count >= limit:
            lines.append(f"Drift: {_quoted(task.title)} in progress without change for {plural(limit, 'beat')}")
    return still, lines


def _stale(snapshot: Snapshot, now: datetime, zone: tzinfo, fresh: Collection[str]) -> Iterator[str]:
    """Yield a line for every monitor without a result for two of its intervals."""
    for monitor in snapshot.monitors.monitors:
        checked = monitor.checked_at(zone)
        if checked is not None and monitor.name not in fresh and monitor.stale(now, zone):
            yield (
                f"Drift: monitor {_quoted(monitor.name)} was last checked {format_local(checked, zone)}, "
                f"its interval is {plain(describe(monitor.interval or ''), 40)}"
            )
