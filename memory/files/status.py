"""What a person wants to know first: what is late, what is next, what happened last, and what is not well."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from .config import Config
from .journal.model import JournalEntry
from .monitors import Monitor
from .tasks.model import Task, moment_or_none, read_due

if TYPE_CHECKING:
    from memory.base.problems import Problem

    from .snapshot import Snapshot

LAST_ENTRIES = 5
MAX_RUNS = 12
_MAX_EXPRESSIONS = 40
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
    overdue: tuple[Task, ...]
    due_today: tuple[Task, ...]
    due_week: tuple[Task, ...]
    in_progress: tuple[Task, ...]
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
    late: list[tuple[datetime, int, Task]] = []
    soon: list[tuple[datetime, int, Task]] = []
    week: list[tuple[datetime, int, Task]] = []
    running: list[Task] = []
    sections = {"pending": 0, "in-progress": 0, "completed": 0}
    today = now.astimezone(zone).date()
    limit = (today + timedelta(days=9)).isoformat().encode()
    for number, task in enumerate(snapshot.tasks.tasks):
        section = task.section
        sections[section] = sections.get(section, 0) + 1
        if section == "completed":
            continue
        if section == "in-progress":
            running.append(task)
        raw = task.entry.raw
        if b"due:" not in raw or _is_far(raw, limit):
            continue
        text = read_due(task.entry.fields.get("due")).date
        moment = moment_or_none(text, zone) if text is not None else None
        if moment is None:
            continue  # what only recurs is among the next runs
        at = moment.due_at(zone)
        ahead = (moment.date - today).days
        if at <= now:
            late.append((at, number, task))
        elif ahead < 7:
            (soon if ahead <= 0 else week).append((at, number, task))
    overdue, due_today, due_week = (
        tuple(task for *_, task in sorted(group, key=lambda one: one[:2])) for group in (late, soon, week)
    )
    return Brief(
        snapshot,
        now,
        overdue,
        due_today,
        due_week,
        tuple(running),
        tuple(snapshot.journal.entries(limit=LAST_ENTRIES)),
        tuple(monitor for monitor in snapshot.monitors.monitors if monitor.healthy is False),
        _counts(snapshot, sections),
    )


def _is_far(raw: bytes, limit: bytes) -> bool:
    """Tell from the bytes alone that a due date is far away; most are, so no field of those is read."""
    found = _DUE.search(raw)
    return (
        found is not None
        and found[1] > limit
        and raw.count(b"due:") == 1
        and not (b"```" in raw or b"~~~" in raw or b"<" in raw)
    )


def _counts(snapshot: Snapshot, sections: dict[str, int]) -> dict[str, dict[str, int]]:
    contacts = snapshot.contacts
    plans = snapshot.plans
    return {
        "tasks": sections,
        "journal": {"entries": snapshot.journal.count, "days": len(snapshot.journal.days)},
        "knowledge": {"items": len(snapshot.knowledge.items)},
        "contacts": {
            "channels": len(contacts.channels),
            "routes": len(contacts.routes),
            "people": len(contacts.people),
        },
        "plans": {"active": len(plans.in_section("active")), "completed": len(plans.in_section("completed"))},
        "monitors": {"monitors": len(snapshot.monitors.monitors)},
        "archive": {"files": len(snapshot.archive_names)},
    }


def _next_runs(snapshot: Snapshot, now: datetime) -> list[NextRun]:
    from memory.base.schedule import BadCron, next_runs

    zone = snapshot.zone
    known: dict[str, datetime | None] = {}
    found: list[tuple[datetime, str, str, Task | Monitor | None]] = []
    for label, kind, expression, item in _expressions(snapshot):
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
            found.append((instant, label, kind, item))
    found.sort(key=lambda run: run[0])
    return [
        NextRun(label, instant, kind, None if item is None else item.ref)
        for instant, label, kind, item in found[:MAX_RUNS]
    ]


def _expressions(snapshot: Snapshot) -> Iterator[tuple[str, str, str, Task | Monitor | None]]:
    config: Config = snapshot.config
    for setting in config.settings:
        if setting.key == "expression" and config.get("expression") and config.setting("expression") is setting:
            yield setting.section or "Heartbeat", "heartbeat", setting.value, None
    schedule = config.get("maintenanceSchedule")
    if schedule:
        yield "Maintenance", "maintenance", schedule, None
    for monitor in snapshot.monitors.monitors:
        if monitor.interval:
            yield monitor.name, "monitor", monitor.interval, monitor
    for task in snapshot.tasks.tasks:
        if task.section != "completed" and b"recurring:" in task.entry.raw and task.recurring:
            yield task.title, "task", task.recurring, task
