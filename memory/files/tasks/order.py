"""How tasks are sorted, grouped and filtered: by any of their fields, and by what a person says of `due`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, tzinfo
from functools import lru_cache
from typing import Any

from memory.base.clock import read_moment
from memory.base.dates import parse_when, read_date
from memory.files.fields.values import moment_or_none

from .model import Task, TaskList
from .values import PRIORITIES

UNSORTED = "unsorted"
SORTS = (UNSORTED, "due", "priority", "title", "assigned", "created", "started", "progress", "tags")
"""What tasks can be sorted by; the first is the order of the file."""
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


def sort_key(name: str, zone: tzinfo) -> Callable[[Task], tuple[bool, Any]]:
    """Return the key that sorts tasks by one of `SORTS`, what comes first first: whether a task has no such value, and
    the value; tasks without one come last. Raises KeyError for another name.
    """

    def when(text: str | None) -> tuple[bool, float]:
        moment = moment_or_none(text, zone)
        return moment is None, moment.due_at(zone).timestamp() if moment else 0.0

    return {
        UNSORTED: lambda task: (False, 0),  # noqa: ARG005
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
    days = days_asked(words, now.astimezone(zone).date())
    if not days and (moment := read_moment(parse_when(text, now, zone), zone)) is not None:
        days = frozenset({moment.date})
    named = {one.isoformat() for one in days}
    return lambda task: day(task) in named
