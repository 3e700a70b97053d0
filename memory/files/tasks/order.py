"""Ordering and grouping tasks by any of their fields: what lists of every face sort and group by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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

_DUE_WORDS = (
    ("overdue", "OVERDUE"),
    ("today", "TODAY"),
    ("week", "NEXT 7 DAYS"),
    ("later", "LATER"),
    (None, "NO DATE"),
    ("done", "COMPLETED"),
)


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

    A task with several tags stands under its first one, so that none is there twice. Raises KeyError for another name.
    """
    if name == "section":
        titles = {"pending": "PENDING", "in-progress": "IN PROGRESS", "completed": "COMPLETED"}
        places: dict[Any, str] = {(one,): title for one, title in titles.items()}

        def place(task: Task) -> tuple[str, ...]:
            heading = task.heading
            if heading is None:
                return (task.section,)
            key = ("", heading)
            places.setdefault(key, heading.strip() or "NO HEADING")
            return key

        # What stands under a heading of its own comes first, for it is in the wrong place.
        found = _by(tasks, place, list(places), places)
        return [one for one in found if one[1][0].heading is not None] + [
            one for one in found if one[1][0].heading is None
        ]
    if name == "due":

        def state(task: Task) -> Any:
            return "done" if task.section == "completed" else task.due_state(now, zone)

        return _by(tasks, state, [key for key, _ in _DUE_WORDS], dict(_DUE_WORDS))
    if name == "priority":
        return _by(tasks, lambda task: task.priority, [*PRIORITIES, None], {None: "NO PRIORITY"})
    if name == "none":
        return _by(tasks, lambda task: "", [], {"": "ALL"})  # noqa: ARG005
    values: Callable[[Task], str | None] = {
        "assigned": lambda task: task.assigned,
        "tag": lambda task: task.tags[0] if task.tags else None,
        "plan": lambda task: task.orchestration_id,
    }[name]
    nothing = {"assigned": "NOBODY", "tag": "NO TAG", "plan": "NO PLAN"}[name]
    return _by(tasks, values, [], {None: nothing})


def _by(
    tasks: Iterable[Task], value: Callable[[Task], Any], order: Sequence[Any], titles: dict[Any, str]
) -> list[tuple[str, list[Task]]]:
    """Group by a value: those of `order` first, others by their name, None last unless the order has it."""
    groups: dict[Any, list[Task]] = {key: [] for key in order}
    for task in tasks:
        groups.setdefault(value(task), []).append(task)
    known = set(order)
    others = sorted((key for key in groups if key not in known), key=lambda key: (key is None, str(key).casefold()))
    return [(titles.get(key, str(key)), groups[key]) for key in [*order, *others] if groups[key]]
