"""Tasks sort and group by any field."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.document import parse
from memory.files.tasks.model import Task, TaskList
from memory.files.tasks.order import GROUPS, SORTS, grouped, sort_key

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)


def tasks_of(text: str) -> tuple[Task, ...]:
    """The tasks of a file."""
    return TaskList("tasks.md", parse(text.encode())).items


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
    "urgency": "bcade",
    "due": "bcade",
    "priority": "adebc",
    "title": "abcde",
    "assigned": "cbade",
    "created": "abcde",
    "started": "dbace",
    "progress": "dbace",
    "tags": "cbade",
    "unsorted": "bacde",
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
