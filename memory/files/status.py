"""The overview for the user: overdue and upcoming tasks, next runs, newest entries, and alerts."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from heapq import nsmallest
from itertools import islice
from operator import itemgetter

from memory.base.cron import BadCron, next_runs
from memory.base.problems import Problem

from .journal.model import JournalEntry
from .monitors.model import Monitor
from .snapshot import Snapshot
from .tasks.model import SECTIONS, Task

LAST_ENTRIES = 5
MAX_RUNS = 12
_MAX_EXPRESSIONS = 40


@dataclass(frozen=True, slots=True)
class NextRun:
    """Something that runs by a cron expression: its name, time (aware, in the workspace's zone), kind and ref."""

    label: str
    instant: datetime
    kind: str
    ref: str | None


@dataclass(frozen=True)
class Brief:
    """The result of `brief`: tasks by due date, the newest entries, alerts, and counts per file.

    `alerts` are the monitors whose last result was not healthy, or that are stale.

    `next_runs` and `problems` are computed on first use.
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

    def first_run(self, resting: Container[str | None]) -> NextRun | None:
        """Return the soonest run, without those of monitors with these refs."""
        return next((run for run in self.next_runs if run.kind != "monitor" or run.ref not in resting), None)

    def alerting(self, resting: Container[str | None]) -> tuple[Monitor, ...]:
        """Return the alerts without the monitors of these refs that were never measured: they may not run yet."""
        return tuple(one for one in self.alerts if one.last_check is not None or one.ref not in resting)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """All findings of `check_files`; this reads every file."""
        from .check import check_files

        return check_files(self.snapshot)


def brief(snapshot: Snapshot, now: datetime) -> Brief:
    """Return the overview at `now`; overdue tasks come most overdue first, the others in the order of due dates.

    `due_week` holds the tasks due within seven days, but not today. Tasks with an impossible date are in no list.
    """
    zone = snapshot.zone
    tasks = snapshot.tasks
    groups: dict[str | None, list[tuple[datetime, Task]]] = {"overdue": [], "today": [], "week": []}
    for task in tasks.open:
        due = task.due_moment(zone)  # None where a task only recurs: then it is among the next runs
        if due is not None and (group := groups.get(task.due_state(now, zone))) is not None:
            group.append((due.due_at(zone), task))
    overdue, due_today, due_week = [
        tuple([task for _, task in sorted(group, key=itemgetter(0))]) for group in groups.values()
    ]
    return Brief(
        snapshot,
        now,
        overdue,
        due_today,
        due_week,
        tasks.in_section("in-progress"),
        tuple(snapshot.journal.entries(limit=LAST_ENTRIES)),
        tuple(one for one in snapshot.monitors.monitors if one.healthy is False or one.stale(now, zone)),
        _counts(snapshot, {name: tasks.count(name) for name in SECTIONS}),
    )


def next_overdue(found: Brief) -> datetime:
    """Return when the next task becomes overdue if no file changes; at most seven days after the overview."""
    zone = found.snapshot.zone
    ahead = (task.due_moment(zone) for task in (*found.due_today, *found.due_week))
    return min([*(due.due_at(zone) for due in ahead if due is not None), found.now + timedelta(days=7)])


def _counts(snapshot: Snapshot, sections: dict[str, int]) -> dict[str, Mapping[str, int]]:
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
        "plans": snapshot.plans.counts,
        "monitors": {"monitors": len(snapshot.monitors.monitors)},
        "archive": {"files": len(snapshot.archive_names)},
    }


def _next_runs(snapshot: Snapshot, now: datetime) -> Iterator[NextRun]:
    zone, config = snapshot.zone, snapshot.config
    groups: dict[str, list[tuple[str, str | Task | Monitor]]] = {}
    heartbeat = config.setting("expression")
    if heartbeat is not None and config.get("expression"):
        groups.setdefault(heartbeat.value, []).append(("heartbeat", heartbeat.section or "Heartbeat"))
    if schedule := config.get("maintenanceSchedule"):
        groups.setdefault(schedule, []).append(("maintenance", "Maintenance"))
    for interval, monitor in snapshot.monitors.intervals:
        groups.setdefault(interval, []).append(("monitor", monitor))
    for task in snapshot.tasks.open:
        if task.recurring:
            groups.setdefault(task.recurring, []).append(("task", task))
    found = []
    for expression, items in islice(groups.items(), _MAX_EXPRESSIONS):
        with suppress(BadCron):
            instant = next_runs(expression, now, zone)[0]
            # What has one expression runs at the same time, and no more are shown.
            found += [(instant, kind, item) for kind, item in items[:MAX_RUNS]]
    for instant, kind, item in nsmallest(MAX_RUNS, found, key=itemgetter(0)):
        label, ref = (item, None) if isinstance(item, str) else (item.title, item.ref)
        yield NextRun(label, instant, kind, ref)
