"""How tasks are sorted, grouped and filtered: by any of their fields, by urgency, and by what a person says of `due`.

Urgency is one number that says which task comes first: the sum of the parts below, which `docs/views.md` lists. A
completed task has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, tzinfo
from functools import lru_cache
from typing import Any

from memory.base.clock import BadMoment, read_moment
from memory.base.cron import BadCron, next_runs
from memory.base.dates import parse_when, read_date
from memory.files.values import moment_or_none

from .model import Task, TaskList
from .values import PRIORITIES

UNSORTED = "unsorted"
SORTS = (UNSORTED, "urgency", "due", "priority", "title", "assigned", "created", "started", "progress", "tags")
"""What tasks can be sorted by; the first is the order of the file."""
GROUP_WORDS = {"tag": "first tag"}
"""What groups are called that are not called by their name: a task is under one of its tags only."""
GROUPS = ("section", "due", "priority", "assigned", "tag", "plan", "none")
"""What tasks can be grouped by; the first is their order in the file."""
STATES = {"today": ("today",), "overdue": ("overdue",), "week": ("today", "week"), "later": ("later",)}
"""Words for how near a due date is; what only recurs is due at its next run."""
DUE_POINTS = 12.0
"""The points of a date that passed a week ago or more; they grow evenly from `DUE_LEAST` of it, two weeks before."""
DUE_LEAST = 0.2
_AHEAD, _LATE = 14.0, 7.0
_PRIORITY_POINTS: dict[str | None, float] = {"HIGH": 6.0, "NORMAL": 3.0, None: 2.0, "LOW": 1.0}
_STARTED_POINTS = 4.0
_AGE_POINTS = 2.0
"""The points of a year since `created`, less for less."""
_TAG_POINTS = {
    **dict.fromkeys(("urgent", "critical", "next"), 5.0),
    **dict.fromkeys(("someday", "later", "maybe"), -3.0),
    **dict.fromkeys(("blocked", "waiting", "on-hold"), -5.0),
}
"""The points of tags, casefolded; of several with the same points one counts."""
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


def urgency_of(task: Task, now: datetime, zone: tzinfo) -> float:
    """Return how urgent a task is at a moment, in points with one decimal."""
    if task.section not in ("pending", "in-progress"):
        return 0.0
    points = _PRIORITY_POINTS[task.priority] + sum({_TAG_POINTS.get(tag.casefold(), 0.0) for tag in task.tags})
    if task.section == "in-progress":
        points += _STARTED_POINTS
    if created := moment_or_none(task.created, zone):
        points += round(_AGE_POINTS * min(1.0, max(0, (now.astimezone(zone).date() - created.date).days) / 365), 1)
    due = moment_or_none(task.due, zone)
    instant = None if due is None else due.due_at(zone)
    if task.recurring and not task.due:
        try:
            instant = next_runs(task.recurring, now, zone)[0]
        except BadCron:
            instant = None
    if instant is not None:
        late = (now - instant).total_seconds() / 86400
        share = (late + _AHEAD) / (_AHEAD + _LATE) * (1 - DUE_LEAST) + DUE_LEAST
        points += round(DUE_POINTS * min(1.0, max(DUE_LEAST, share)), 1)
    return round(points, 1)


def sort_key(name: str, now: datetime, zone: tzinfo) -> Callable[[Task], tuple[bool, Any]]:
    """Return the key that sorts tasks by one of `SORTS`, what comes first first: whether a task has no such value, and
    the value; tasks without one come last. Raises KeyError for another name.
    """

    def when(text: str | None) -> tuple[bool, float]:
        moment = moment_or_none(text, zone)
        return moment is None, moment.due_at(zone).timestamp() if moment else 0.0

    return {
        UNSORTED: lambda task: (False, 0),  # noqa: ARG005
        "urgency": lambda task: (False, -urgency_of(task, now, zone)),
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
def days_asked(text: str, today: date) -> frozenset[date]:
    """Return the days that a text may mean: what is due lies ahead, what is overdue behind; none for other texts."""
    return frozenset(day for past in (False, True) if (day := read_date(text, today, past=past)) is not None)


def due_when(text: str, now: datetime, zone: tzinfo) -> Callable[[Task], bool]:
    """Return a function that tells whether a task is due when a text says.

    That is one of `STATES`; a year or month (`2024-01`); else a date as people type it, where one without a year, or
    a weekday, is the next such and the latest such. With a time it is that minute. Raises BadMoment for other texts.
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
    if days := days_asked(words, now.astimezone(zone).date()):
        named = {one.isoformat() for one in days}
        return lambda task: day(task) in named
    times = _times_asked(text, now, zone)

    def at(task: Task) -> bool:
        moment = task.due_moment(zone)
        return moment is not None and moment.instant is not None and _minute(moment.instant) in times

    return at


def _minute(instant: datetime) -> datetime:
    return instant.replace(second=0, microsecond=0)


def _times_asked(text: str, now: datetime, zone: tzinfo) -> set[datetime]:
    """Return the next and the latest time that a text means; it may be one of them only (`Fri 27 Nov 9:00`)."""
    found = set()
    refused = None
    for past in (False, True):
        try:
            moment = read_moment(parse_when(text, now, zone, past=past), zone)
        except BadMoment as error:
            refused = refused or error
        else:
            if moment is not None and moment.instant is not None:
                found.add(_minute(moment.instant))
    if refused is not None and not found:
        raise refused
    return found
