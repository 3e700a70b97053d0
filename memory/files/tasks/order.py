"""Ordering and grouping tasks by any of their fields: what lists of every face sort and group by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any

from memory.base.clock import Moment
from memory.files.values import moment_or_none

from .model import Task, TaskList
from .urgency import urgency_of
from .values import PRIORITIES

UNSORTED = "unsorted"
SORTS = (
    UNSORTED,
    "urgency",
    "due",
    "priority",
    "title",
    "assigned",
    "created",
    "started",
    "progress",
    "tags",
)
"""What tasks can be sorted by; the first is the order of the file."""

GROUP_WORDS = {"tag": "first tag"}
"""What groups are called that are not called by their name: a task stands under one of its tags only."""

GROUPS = ("section", "due", "priority", "assigned", "tag", "plan", "none")
"""What tasks can be grouped by; the first is how they stand in the file."""

_DUE = {
    "overdue": "OVERDUE",
    "today": "TODAY",
    "week": "NEXT 7 DAYS",
    "later": "LATER",
    None: "NO DATE",
    "done": "COMPLETED",
}
_SECTIONS = {("pending",): "PENDING", ("in-progress",): "IN PROGRESS", ("completed",): "COMPLETED"}


def sort_key(name: str, now: datetime, zone: tzinfo) -> Callable[[Task], tuple[bool, Any]]:
    """Return the key that sorts tasks by one of `SORTS`, what comes first first: whether a task has no such value, and
    the value; tasks without one come last. Raises KeyError for another name.
    """
    known: dict[str, Moment | None] = {}
    return {
        UNSORTED: lambda task: (False, 0),  # noqa: ARG005
        "urgency": lambda task: (False, -urgency_of(task, now, zone, known)),
        "due": lambda task: _date(task.due, zone, known),
        "priority": lambda task: (task.priority is None, PRIORITIES.index(task.priority) if task.priority else 0),
        "title": lambda task: (False, task.title.casefold()),
        "assigned": lambda task: (not task.assigned, (task.assigned or "").casefold()),
        # The oldest first, as with due dates: what waits longest is what is looked for.
        "created": lambda task: _date(task.created, zone, known),
        "started": lambda task: _date(task.started, zone, known),
        "progress": lambda task: (task.progress is None, -(task.progress or 0)),
        "tags": lambda task: (not task.tags, ", ".join(task.tags).casefold()),
    }[name]


def _date(text: str | None, zone: tzinfo, known: dict[str, Moment | None]) -> tuple[bool, float]:
    if not text:
        return True, 0.0
    if text not in known:
        known[text] = moment_or_none(text, zone)
    moment = known[text]
    return moment is None, moment.due_at(zone).timestamp() if moment else 0.0


def grouped(
    tasks: TaskList | Iterable[Task], name: str, now: datetime, zone: tzinfo
) -> Sequence[tuple[str, Sequence[Task]]]:
    """Return tasks under titles, by one of `GROUPS`; inside a group they keep their order, empty groups are left out.

    A task with several tags stands under its first one, so that none is there twice. Groups that are called as their
    value come first, by name: so does what stands under a heading of its own, for it is in the wrong place. Raises
    KeyError for another name.
    """
    by: dict[str, tuple[Callable[[Task], Any], Mapping[Any, str]]] = {
        "section": (lambda task: (task.section,) if task.heading is None else task.heading, _SECTIONS),
        "due": (lambda task: "done" if task.section == "completed" else task.due_state(now, zone), _DUE),
        "priority": (
            lambda task: task.priority,
            {one: one for one in PRIORITIES} | {None: "NO PRIORITY"},
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
