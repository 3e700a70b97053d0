"""What a person wants to know first: what is late, what is next, what happened last, and what is not well."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from functools import cached_property, lru_cache
from heapq import nsmallest
from operator import itemgetter
from typing import TYPE_CHECKING

from .tasks.model import SECTIONS, Task, moment_or_none, read_due

if TYPE_CHECKING:
    from memory.base.problems import Problem
    from memory.document import Entry

    from .config import Config
    from .journal.model import JournalEntry
    from .monitors import Monitor
    from .snapshot import Snapshot
    from .tasks.model import TaskList

LAST_ENTRIES = 5
MAX_RUNS = 12
_MAX_EXPRESSIONS = 40
_LAST = itemgetter(-1)
NEVER = b"never"
"""What stands behind every day."""
_DUE = re.compile(rb"\n- {1,4}due: ([0-9]{4}-[0-9]{2}-[0-9]{2})")


@dataclass(frozen=True, slots=True)
class NextRun:
    """Something that runs by a cron expression: what, when (aware, in the workspace's zone), and where it stands."""

    label: str
    instant: datetime
    kind: str
    ref: str | None


@dataclass(frozen=True)
class Brief:
    """The answer of `brief`: tasks by how near they are due, the newest entries, alerts, and counts per file.

    `next_runs` and `problems` are found when they are asked for, and once.
    """

    snapshot: Snapshot
    now: datetime
    overdue: Sequence[Task]
    due_today: Sequence[Task]
    due_week: Sequence[Task]
    in_progress: Sequence[Task]
    last_entries: tuple[JournalEntry, ...]
    alerts: tuple[Monitor, ...]
    counts: Mapping[str, Mapping[str, int]]

    @cached_property
    def next_runs(self) -> tuple[NextRun, ...]:
        """The next runs of recurring tasks, monitors, heartbeat and maintenance, soonest first, at most `MAX_RUNS`."""
        return tuple(_next_runs(self.snapshot, self.now))

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """All findings of `check_files`; this reads every file."""
        from .check import check_files

        return check_files(self.snapshot)


def brief(snapshot: Snapshot, now: datetime) -> Brief:
    """Return what matters now; overdue tasks come most overdue first, the others in the order they are due.

    `due_week` holds what is due within seven days, but not today. Tasks whose date does not exist are in no list.
    """
    zone = snapshot.zone
    late: list[tuple[float, int]] = []
    soon: list[tuple[float, int]] = []
    week: list[tuple[float, int]] = []
    tasks = snapshot.tasks
    today = now.astimezone(zone).date()
    limit = (today + timedelta(days=9)).isoformat().encode()
    # Most days are far away, as the bytes alone tell: no field of those tasks is read.
    days, entries, moment = tasks.columns.of(_due_day), tasks.columns.entries, now.timestamp()
    for place in tasks.places("pending", "in-progress"):
        for number in [number for number in place if days[number] <= limit]:
            text = read_due(entries[number].fields.get("due")).date
            due = None if text is None else _due_at(text, zone)  # what only recurs is among the next runs
            if due is None:
                continue
            at, on, _ = due
            if at <= moment:
                late.append((at, number))
            elif (ahead := (on - today).days) < 7:
                (soon if ahead <= 0 else week).append((at, number))
    overdue, due_today, due_week = (tasks.tasks.pick(map(_LAST, sorted(group))) for group in (late, soon, week))
    return Brief(
        snapshot,
        now,
        overdue,
        due_today,
        due_week,
        tasks.in_section("in-progress"),
        tuple(snapshot.journal.entries(limit=LAST_ENTRIES)),
        tuple(monitor for monitor in snapshot.monitors.monitors if monitor.healthy is False),
        _counts(snapshot, {name: tasks.count(name) for name in SECTIONS}),
    )


def next_overdue(found: Brief) -> datetime:
    """Return when another task becomes overdue, where no file changes before; seven days later where none does."""
    zone = found.snapshot.zone
    ahead = [
        due[2]
        for task in (*found.due_today, *found.due_week)
        if (day := read_due(task.entry.fields.get("due")).date) is not None and (due := _due_at(day, zone)) is not None
    ]
    return min([*ahead, found.now + timedelta(days=7)])


@lru_cache(4096)
def _due_at(text: str, zone: tzinfo) -> tuple[float, date, datetime] | None:
    """Return when something is due that says so with these words, and on which day; None where they name no day.

    The time comes first as seconds since 1970, which are compared in a fraction of the time.
    """
    moment = moment_or_none(text, zone)
    if moment is None:
        return None
    at = moment.due_at(zone)
    return at.timestamp(), moment.date, at


def _due_day(entry: Entry) -> bytes:
    """Return the day of `due` where the bytes alone tell it, empty where the fields have to be read, NEVER without."""
    raw = entry.raw
    if b"due:" not in raw:
        return NEVER
    found = _DUE.search(raw)
    if found is None or raw.count(b"due:") != 1 or b"```" in raw or b"~~~" in raw or b"<" in raw:
        return b""
    return found[1]


def _recurring(entry: Entry) -> str | None:
    """Return the expression that a task recurs by."""
    return read_due(entry.fields.get("due")).recurring if b"recurring:" in entry.raw else None


def _counts(snapshot: Snapshot, sections: dict[str, int]) -> dict[str, dict[str, int]]:
    contacts = snapshot.contacts
    return {
        "tasks": sections,
        "journal": {"entries": snapshot.journal.count, "days": len(snapshot.journal.days)},
        "knowledge": {"items": len(snapshot.knowledge.items)},
        "contacts": {
            "channels": len(contacts.channels),
            "routes": len(contacts.routes),
            "people": len(contacts.people),
        },
        "plans": snapshot.plans.counts(),
        "monitors": {"monitors": len(snapshot.monitors.monitors)},
        "archive": {"files": len(snapshot.archive_names)},
    }


def _next_runs(snapshot: Snapshot, now: datetime) -> list[NextRun]:
    from memory.base.cron import BadCron, next_runs

    zone = snapshot.zone
    known: dict[str, datetime | None] = {}
    found: list[tuple[datetime, str, str | Task | Monitor]] = []
    for kind, expression, item in (*_expressions(snapshot), *_recurring_tasks(snapshot.tasks)):
        if expression not in known:
            if len(known) >= _MAX_EXPRESSIONS:
                continue
            try:
                runs = next_runs(expression, now, zone)
            except BadCron:
                runs = []
            known[expression] = runs[0] if runs else None
        instant = known[expression]
        if instant is not None:
            found.append((instant, kind, item))
    # Of all that recur a dozen are shown: only those are asked what they are called.
    return [
        NextRun(item, instant, kind, None)
        if isinstance(item, str)
        else NextRun(item.title if isinstance(item, Task) else item.name, instant, kind, item.ref)
        for instant, kind, item in nsmallest(MAX_RUNS, found, key=itemgetter(0))
    ]


def _expressions(snapshot: Snapshot) -> Iterator[tuple[str, str, str | Monitor]]:
    """Yield what recurs beside tasks: its kind, its expression, and what it is or what it is called."""
    config: Config = snapshot.config
    for setting in config.settings:
        if setting.key == "expression" and config.get("expression") and config.setting("expression") is setting:
            yield "heartbeat", setting.value, setting.section or "Heartbeat"
    schedule = config.get("maintenanceSchedule")
    if schedule:
        yield "maintenance", schedule, "Maintenance"
    for monitor in snapshot.monitors.monitors:
        if monitor.interval:
            yield "monitor", monitor.interval, monitor


def _recurring_tasks(tasks: TaskList) -> Iterator[tuple[str, str, Task]]:
    """Yield the open tasks that recur, as `_expressions`: those of one expression run at the same time, and so many are
    enough that a list of the next runs can show.
    """
    seen: dict[str, int] = {}
    recurring = tasks.columns.of(_recurring)
    for place in tasks.places("pending", "in-progress"):
        for number, expression in enumerate(recurring[place.start : place.stop], place.start):
            if expression:
                count = seen[expression] = seen.get(expression, 0) + 1
                if count <= MAX_RUNS:
                    yield "task", expression, tasks.tasks[number]
