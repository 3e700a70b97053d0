"""Brief: what is late, due, running, recorded and not well."""

from __future__ import annotations

from memory.files.status import brief
from tests.memory_files import NOW, snapshot_of

TASKS = """## Pending
### later
- due: 2024-02-20
### week end
- due: 2024-01-21
### eighth day
- due: 2024-01-22
### today
- due: 2024-01-15
### tonight
- due: 2024-01-15 20:00
### late
- due: 2024-01-15 11:00
### very late
- due: 2023-12-24 (recurring: 0 9 * * MON)
### impossible
- due: 2024-01-32
### never
### hidden
- notes: x
```
- due: 2030-01-01
```
- due: 2024-01-14
### recurs
- due: recurring: 0 9 * * TUE
## In Progress
### running
- progress: 40%
## Completed
### done
- due: 2024-01-01
"""


def test_groups_and_order() -> None:
    """Most overdue first, the others in the order they are due; today lasts to its end."""
    found = brief(snapshot_of({"tasks.md": TASKS}), NOW)
    assert [task.title for task in found.overdue] == ["very late", "hidden", "late"]
    assert [task.title for task in found.due_today] == ["tonight", "today"]
    assert [task.title for task in found.due_week] == ["week end"]
    assert [(task.title, task.progress) for task in found.in_progress] == [("running", 40)]
    assert found.counts["tasks"] == {"pending": 11, "in-progress": 1, "completed": 1}


def test_bad_crons_and_many_of_them() -> None:
    """A bad expression is left out, and thousands of them do not take long."""
    text = "## Monitors\n" + "".join(f"### M{at}\n- interval: {at % 60} {at % 24} * * *\n" for at in range(3000))
    found = brief(snapshot_of({"monitors.md": text + "### Bad\n- interval: x\n"}), NOW)
    assert 0 < len(found.next_runs) <= 12
