"""The overview for the user: overdue and upcoming tasks, next runs, newest entries, and alerts."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from heapq import nsmallest
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from memory.base.cron import BadCron, next_runs
from memory.base.problems import Problem

from .journal.model import JournalEntry
from .monitors import Monitor
from .snapshot import Snapshot
from .tasks.model import SECTIONS, Task

LAST_ENTRIES = 5
MAX_RUNS = 12
_MAX_EXPRESSIONS = 40


class NextRun(NamedTuple):
    """Something that runs by a cron expression: its name, time (aware, in the workspace's zone), kind and ref."""

    label: str
    instant: datetime
    kind: str
    ref: str | None


class Attention(NamedTuple):
    """How many monitors fail, how many are stale, and how much needs the user's approval: three different things."""

    failing: int
    stale: int
    approval: int

    @property
    def words(self) -> dict[str, str]:
        """Each count that is not 0 in words, by its name: `1 failing`, `2 stale`, `3 need approval`."""
        words = {"approval": f"need{'s' if self.approval == 1 else ''} approval"}
        return {name: f"{count:,} {words.get(name, name)}" for name, count in self._asdict().items() if count}


@dataclass(frozen=True)
class Brief:
    """The result of `brief`: tasks by due date, the newest entries, monitors, and counts per file.

    `failing` are the monitors whose last result was not healthy, `stale` those without a result of their last two
    intervals, whatever it was.

    `next_runs` and `problems` are computed on first use.
    """

    snapshot: Snapshot
    now: datetime
    overdue: Sequence[Task]
    due_today: Sequence[Task]
    due_week: Sequence[Task]
    in_progress: Sequence[Task]
    last_entries: tuple[JournalEntry, ...]
    failing: tuple[Monitor, ...]
    stale: tuple[Monitor, ...]
    counts: Mapping[str, Mapping[str, int]]
    resting: Container[str | None] = frozenset()
    """The refs of monitors that may not run."""

    @cached_property
    def next_runs(self) -> tuple[NextRun, ...]:
        """The next runs of recurring tasks, monitors, heartbeat and maintenance, soonest first, at most `MAX_RUNS`."""
        return tuple(_next_runs(self.snapshot, self.now, self.resting))

    def without(self, resting: Container[str | None]) -> Brief:
        """Return the overview where monitors of these refs may not run: they are no next run, and stale only if they
        were measured before.
        """
        stale = tuple(one for one in self.stale if one.last_check is not None or one.ref not in resting)
        return replace(self, stale=stale, resting=resting)

    def attention(self, approvals: int) -> Attention:
        """Return the counts that the header, Brief and `status` tell, with the number of pending approvals."""
        return Attention(len(self.failing), len(self.stale), approvals)

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
    tasks, monitors = snapshot.tasks, snapshot.monitors.items
    stale = tuple(one for one in monitors if one.stale(now, zone))
    groups: dict[str | None, list[tuple[datetime, Task]]] = {"overdue": [], "today": [], "week": []}
    for task in tasks.open:
        due = task.due_moment(zone)  # None where a task only recurs: then it is among the next runs
        if due is not None and (group := groups.get(task.due_state(now, zone))) is not None:
            group.append((due.due_at(zone), task))
    overdue, due_today, due_week = [
        tuple(task for _, task in sorted(group, key=itemgetter(0))) for group in groups.values()
    ]
    in_progress = tasks.in_section("in-progress")
    newest = tuple(snapshot.journal.entries(limit=LAST_ENTRIES))
    failing = tuple(one for one in monitors if one.healthy is False and one not in stale)
    counts = _counts(snapshot, {name: tasks.count(name) for name in SECTIONS})
    return Brief(snapshot, now, overdue, due_today, due_week, in_progress, newest, failing, stale, counts)


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
        "contacts": {name: len(found) for name, found in contacts.lists.items()},
        "plans": snapshot.plans.counts,
        "monitors": {"monitors": len(snapshot.monitors.items)},
        "archive": {"files": len(snapshot.archive_names)},
    }


def _next_runs(snapshot: Snapshot, now: datetime, resting: Container[str | None]) -> Iterator[NextRun]:
    zone, config = snapshot.zone, snapshot.config
    groups: dict[str, list[tuple[str, str | Task | Monitor]]] = {}
    heartbeat = config.setting("expression")
    if heartbeat is not None and config.get("expression"):
        groups.setdefault(heartbeat.value, []).append(("heartbeat", heartbeat.section or "Heartbeat"))
    if schedule := config.get("maintenanceSchedule"):
        groups.setdefault(schedule, []).append(("maintenance", "Maintenance"))
    for interval, monitor in snapshot.monitors.intervals:
        if monitor.ref not in resting:
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
