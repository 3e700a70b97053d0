"""Urgency: what each term is worth, that they add up, and that tasks sort and group by any field."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.document import parse
from memory.files.tasks.model import Task, TaskList
from memory.files.tasks.order import DUE_LEAST, DUE_POINTS, GROUPS, SORTS, grouped, sort_key, urgency_of

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)


def tasks_of(text: str) -> tuple[Task, ...]:
    """The tasks of a file."""
    return TaskList("tasks.md", parse(text.encode())).tasks


def task_of(text: str, section: str = "Pending") -> Task:
    """The one task of a file."""
    return tasks_of(f"## {section}\n\n{text}")[0]


TERMS = [
    ("### [HIGH] a\n", "Pending", {"priority": 6.0}),
    ("### [LOW] a\n", "Pending", {"priority": 1.0}),
    ("### a\n", "Pending", {"priority": 2.0}),
    ("### [NORMAL] a\n- due: 2023-12-01\n", "Pending", {"priority": 3.0, "due": 12.0}),
    ("### [NORMAL] a\n- due: 2024-03-01\n", "Pending", {"priority": 3.0, "due": 2.4}),
    ("### [NORMAL] a\n- due: 2024-01-15 10:30\n", "Pending", {"priority": 3.0, "due": 8.8}),
    ("### [NORMAL] a\n- due: 2024-02-31\n", "Pending", {"priority": 3.0}),
    ("### [NORMAL] a\n- due: (recurring: nonsense)\n", "Pending", {"priority": 3.0}),
    ("### [NORMAL] a\n- progress: 40%\n", "In Progress", {"priority": 3.0, "started": 4.0}),
    ("### [NORMAL] a\n- created: 2023-01-15\n", "Pending", {"priority": 3.0, "age": 2.0}),
    ("### [NORMAL] a\n- created: 2024-01-14\n", "Pending", {"priority": 3.0}),
    ("### [NORMAL] a\n- tags: Urgent, x\n", "Pending", {"priority": 3.0, "tags": 5.0}),
    ("### [NORMAL] a\n- tags: someday\n", "Pending", {"priority": 3.0, "tags": -3.0}),
    ("### [NORMAL] a\n- tags: waiting\n", "Pending", {"priority": 3.0, "blocked": -5.0}),
    ("### [HIGH] a\n- due: 2023-12-01\n", "Completed", {}),
]


@pytest.mark.parametrize(("text", "section", "terms"), TERMS, ids=range(len(TERMS)))
def test_terms(text: str, section: str, terms: dict[str, float]) -> None:
    """The number is the sum of the terms on the page."""
    assert urgency_of(task_of(text, section), NOW, UTC) == round(sum(terms.values()), 1)


@settings(deadline=None)
@given(st.integers(-400, 400), st.integers(1, 200))
def test_a_nearer_date_is_never_less_urgent(days: int, more: int) -> None:
    """The points of a date grow with time and stay within their bounds."""
    task = task_of(f"### a\n- due: {(NOW + timedelta(days=days)).date()}\n")
    now, later = (urgency_of(task, NOW + timedelta(hours=hours), UTC) for hours in (0, more))
    assert round(2 + DUE_POINTS * DUE_LEAST, 1) <= now <= later <= 2 + DUE_POINTS


MANY = """\
## Pending

### [LOW] b
- due: 2024-01-12
- assigned: zoe
- tags: ops

### [HIGH] a
- created: 2024-01-02

### c
- due: 2024-01-15
- assigned: Alice
- tags: api, ops

## In Progress

### [NORMAL] d
- progress: 40%
- started: 2024-01-10

## Completed

### [NORMAL] e
- completed: 2024-01-14
"""

ORDERS = {
    "unsorted": "bacde",
    "urgency": "bcdae",
    "due": "bcade",
    "priority": "adebc",
    "title": "abcde",
    "assigned": "cbade",
    "created": "abcde",
    "started": "dbace",
    "progress": "dbace",
    "tags": "cbade",
}


def test_every_sort_has_its_order() -> None:
    """Each name sorts as a person expects; what has no value comes last."""
    tasks = tasks_of(MANY)
    found = {name: "".join(task.title for task in sorted(tasks, key=sort_key(name, NOW, UTC))) for name in SORTS}
    assert found == ORDERS


GROUPED = {
    "section": [("PENDING", "bac"), ("IN PROGRESS", "d"), ("COMPLETED", "e")],
    "due": [("OVERDUE", "b"), ("TODAY", "c"), ("NO DATE", "ad"), ("COMPLETED", "e")],
    "priority": [("HIGH", "a"), ("NORMAL", "de"), ("LOW", "b"), ("NO PRIORITY", "c")],
    "assigned": [("Alice", "c"), ("zoe", "b"), ("NOBODY", "ade")],
    "tag": [("api", "c"), ("ops", "b"), ("NO TAG", "ade")],
    "plan": [("NO PLAN", "bacde")],
    "none": [("ALL", "bacde")],
}


@pytest.mark.parametrize("name", GROUPS)
def test_every_group_holds_each_task_once(name: str) -> None:
    """Groups have titles that can be read, and no task is lost or there twice."""
    found = grouped(tasks_of(MANY), name, NOW, UTC)
    assert [(title, "".join(task.title for task in tasks)) for title, tasks in found] == GROUPED[name]
