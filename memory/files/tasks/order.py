"""How tasks are sorted, grouped and filtered, by what a person says of `due` as well, and the tasks of each day."""

from __future__ import annotations

import re
from calendar import Calendar
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Any, Literal

from memory.base.clock import read_moment
from memory.base.cron import BadCron, next_runs
from memory.base.dates import last_day, parse_when, read_date
from memory.files.fields.values import moment_or_none
from memory.files.tasks.model import Task, TaskList
from memory.files.tasks.reading import PRIORITIES

URGENCY, UNSORTED = "urgency", "unsorted"
SORTS = (URGENCY, "due", "priority", "title", "assigned", "created", "started", "progress", "tags", UNSORTED)
"""What tasks can be sorted by, the usual order first; the last is the order of the file."""
GROUP_WORDS = {"tag": "first tag"}
"""What groups are called that are not called by their name: a task is under one of its tags only."""
GROUPS = ("section", "due", "priority", "assigned", "tag", "plan", "none")
"""What tasks can be grouped by; the first is their order in the file."""
STATES = {"today": ("today",), "overdue": ("overdue",), "week": ("today", "week"), "later": ("later",)}
"""Words for how near a due date is; what only recurs is due at its next run."""
_DUE = {
    "overdue": "OVERDUE",
    "today": "TODAY",
    "week": "NEXT 7 DAYS",
    "later": "LATER",
    None: "NO DATE",
    "done": "COMPLETED",
}
_SECTIONS = {("pending",): "PENDING", ("in-progress",): "IN PROGRESS", ("completed",): "COMPLETED"}
_PART = re.compile(r"[0-9]{4}(?:-[0-9]{2})?")


def sort_key(name: str, now: datetime, zone: tzinfo) -> Callable[[Task], tuple[bool, Any]]:
    """Return the key that sorts tasks by one of `SORTS`, what comes first first: whether a task has no such value, and
    the value; tasks without one come last. Raises KeyError for another name.

    By urgency, overdue tasks come first, then those due today, then the others; each of these by priority, then by
    date. Completed tasks are last, the newest first.
    """

    today = now.astimezone(zone).date()

    def when(text: str | None) -> tuple[bool, float]:
        moment = moment_or_none(text, zone)
        return moment is None, moment.due_at(zone).timestamp() if moment else 0.0

    def urgency(task: Task) -> tuple[bool, Any]:
        if task.section in ("completed", "archived"):
            lacks, at = when(task.completed)
            return False, (3, lacks, -at)
        parts, priority, at = task.due_parts, task.priority, 0.0
        moment = moment_or_none(parts.date, zone)
        if moment is not None:
            due = moment.due_at(zone)
            rank, at = 0 if due <= now else 1 if moment.date <= today else 2, due.timestamp()
        else:
            # What only recurs is due today if it runs today.
            rank = 1 if parts.recurring and task.due_state(now, zone) == "today" else 2
        return False, (rank, PRIORITIES.index(priority) if priority else 3, moment is None, at)

    return {
        URGENCY: urgency,
        UNSORTED: lambda task: (False, task.at),
        "due": lambda task: when(task.due),
        "priority": lambda task: (task.priority is None, PRIORITIES.index(task.priority) if task.priority else 0),
        "title": lambda task: (False, task.title.casefold()),
        "assigned": lambda task: (not task.assigned, (task.assigned or "").casefold()),
        # The oldest first, as with due dates: what waits longest is what is looked for.
        "created": lambda task: when(task.created),
        "started": lambda task: when(task.started),
        "progress": lambda task: (task.progress is None, -(task.progress or 0)),
        "tags": lambda task: (not task.tags, ", ".join(task.tags).casefold()),
    }[name]


def grouped(
    tasks: TaskList | Iterable[Task], name: str, now: datetime, zone: tzinfo
) -> Sequence[tuple[str, Sequence[Task]]]:
    """Return tasks under titles, by one of `GROUPS`; inside a group they keep their order, empty groups are left out.

    A task with several tags is under its first one, so that none is there twice. Groups that are called as their
    value come first, by name: so do tasks under a heading of their own, which are in the wrong place. Raises KeyError
    for another name.
    """
    by: dict[str, tuple[Callable[[Task], Any], Mapping[Any, str]]] = {
        "section": (lambda task: (task.section,) if task.heading is None else task.heading, _SECTIONS),
        "due": (lambda task: "done" if task.section == "completed" else task.due_state(now, zone), _DUE),
        "priority": (
            lambda task: task.priority,
            {**dict(zip(PRIORITIES, PRIORITIES, strict=True)), None: "NO PRIORITY"},
        ),
        "assigned": (lambda task: task.assigned, {None: "NOBODY"}),
        "tag": (lambda task: task.tags[0] if task.tags else None, {None: "NO TAG"}),
        "plan": (lambda task: task.orchestration_id, {None: "NO PLAN"}),
        "none": (lambda task: "", {"": "ALL"}),  # noqa: ARG005
    }
    value, titles = by[name]
    groups: dict[Any, list[Task]] = {}
    for task in tasks:
        groups.setdefault(value(task), []).append(task)
    others = sorted((key for key in groups if key not in titles), key=lambda key: str(key).casefold())
    keys = [*others, *(key for key in titles if key in groups)]
    return [(titles.get(key) or str(key).strip() or "NO HEADING", groups[key]) for key in keys]


# -- due when a person says ------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _days_asked(text: str, today: date) -> frozenset[date]:
    """Return the days that a text may mean: what is due lies ahead, what is overdue behind; none for other texts."""
    return frozenset(day for past in (False, True) if (day := read_date(text, today, past=past)) is not None)


def due_when(text: str, now: datetime, zone: tzinfo) -> Callable[[Task], bool]:
    """Return a function that tells whether a task is due when a text says.

    That is one of `STATES`; a year or month (`2024-01`); else a date as people type it, where one without a year, or
    a weekday, is the next such and the latest such. Of a time its day counts. Raises BadMoment for other texts.
    """
    words = " ".join(text.lower().split())
    states = STATES.get(words)
    if states is not None:
        return lambda task: task.due_state(now, zone) in states

    def day(task: Task) -> str:
        moment = task.due_moment(zone)
        return "" if moment is None else moment.date.isoformat()

    if _PART.fullmatch(words):
        return lambda task: day(task)[: len(words)] == words
    days = _days_asked(words, now.astimezone(zone).date())
    if not days and (moment := read_moment(parse_when(text, now, zone), zone)) is not None:
        days = frozenset({moment.date})
    named = {one.isoformat() for one in days}
    return lambda task: day(task) in named


Kind = Literal["overdue", "due", "again", "done"]
_MOST_EXPRESSIONS = 60
"""So many different cron expressions are worked out; more would take longer than a person waits."""
_MOST_DAYS = 62
"""The longest span that recurrences are worked out for."""
_OFTEN_DAYS = 3.5
"""A task recurs often if it comes round again within fewer days, on the average."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """A task on a day: `kind` is overdue, due, again (a later run of what recurs) or done; `at` its time, if it has."""

    day: date
    at: time | None
    kind: Kind
    task: Task


@dataclass(frozen=True, slots=True)
class AgendaSpan:
    """The tasks of some days, in their order: `often` has the first further run of each task that recurs often.

    Those would be on nearly every day and hide what is due; `often_days` are the days that they run on.
    """

    occasions: list[Occasion]
    often: list[Occasion]
    often_days: frozenset[date]


class Agenda:
    """All dates of the tasks of a file, read once; `span` answers for a month in no time."""

    def __init__(self, tasks: Iterable[Task], now: datetime, zone: tzinfo) -> None:
        """Read the dates; those that do not exist are left out."""
        self.tasks, self.now, self.zone = tasks, now, zone
        self.today = now.astimezone(zone).date()
        self._days: dict[date, list[Occasion]] = {}
        self._recurring: list[tuple[str, Task, date]] = []
        for task in tasks:
            if task.section == "completed":
                self._add(task, task.completed, "done")
                continue
            due = task.due_parts
            day = self._add(task, due.date, "due")
            if due.recurring is not None:
                self._recurring.append((due.recurring, task, day or date.min))
        every = (one for day in self._days.values() for one in day)
        self.overdue = sorted((one for one in every if one.kind == "overdue"), key=_place)

    def _add(self, task: Task, text: str | None, kind: Kind) -> date | None:
        """Add a task to the day of a date, and return the day; None for no date."""
        moment = moment_or_none(text, self.zone)
        if moment is None:
            return None
        at = None
        if moment.instant is not None:
            at = moment.instant.astimezone(self.zone).time().replace(second=0, microsecond=0)
        kind = "overdue" if kind == "due" and moment.is_overdue(self.now, self.zone) else kind
        self._days.setdefault(moment.date, []).append(Occasion(moment.date, at, kind, task))
        return moment.date

    def span(self, first: date, last: date) -> AgendaSpan:
        """Return the tasks of the days from `first` to `last`, in their order; those that recur often by themselves.

        Recurrences only come after now.
        """
        found = [one for day, held in self._days.items() if first <= day <= last for one in held]
        often: list[Occasion] = []
        days: set[date] = set()
        runs_of: dict[str, list[datetime]] = {}
        for expression, task, due in self._recurring:
            if expression not in runs_of and len(runs_of) >= _MOST_EXPRESSIONS:
                continue
            if expression not in runs_of:
                runs_of[expression] = self._runs(expression, first, min(last, first + timedelta(days=_MOST_DAYS)))
            runs = runs_of[expression]
            ahead = [run for run in runs if run.date() > due]
            again = [Occasion(run.date(), run.time(), "again", task) for run in ahead]
            if len(runs) > 2 and (runs[-1].date() - runs[0].date()).days <= _OFTEN_DAYS * (len(runs) - 1):
                often += again[:1]
                days.update(run.date() for run in ahead)
            else:
                found += again
        found.sort(key=_place)
        return AgendaSpan(found, often, frozenset(days))

    def _runs(self, expression: str, first: date, last: date) -> list[datetime]:
        """Return the first run of each day, in the zone; none where the expression is wrong."""
        found: list[datetime] = []
        after = max(self.now, _before(first, self.zone))
        try:
            while (run := next_runs(expression, after, self.zone)[0]).date() <= last:
                if run.date() >= first:
                    found.append(run)
                # What runs every five minutes is one line a day.
                after = _before(run.date() + timedelta(days=1), self.zone)
        except BadCron:
            pass  # It runs no more.
        return found


def _before(day: date, zone: tzinfo) -> datetime:
    """Return the second before a day."""
    return datetime.combine(day, time(), zone).astimezone(UTC) - timedelta(seconds=1)


def _place(occasion: Occasion) -> tuple[date, bool, time]:
    """By day; what has no time comes first."""
    return occasion.day, occasion.at is not None, occasion.at or time()


def month_bounds(day: date) -> tuple[date, date]:
    """Return the first and the last day of a day's month."""
    return day.replace(day=1), day.replace(day=last_day(day.year, day.month))


def month_of(day: date, months: int = 0) -> date:
    """Return the same day so many months later or (negative) earlier, or the last one that month has."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        return day
    return date(year, month + 1, min(day.day, last_day(year, month + 1)))


def weeks_of(day: date) -> list[list[date | None]]:
    """Return the weeks of a month, Monday first; days of other months are None."""
    weeks = Calendar().monthdayscalendar(day.year, day.month)
    return [[day.replace(day=number) if number else None for number in week] for week in weeks]
