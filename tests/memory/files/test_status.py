"""Brief: what is late, due, running, recorded and not well."""

from __future__ import annotations

from datetime import UTC, datetime

from memory.base.clock import find_zone
from memory.files.status import brief
from tests.fixture_files import sample, sample_names
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


def test_agrees_with_the_tasks_themselves() -> None:
    """Every task is in the list that its own due state names."""
    for hour in (0, 11, 12, 23):
        now = datetime(2024, 1, 15, hour, 30, tzinfo=find_zone("Europe/Berlin"))
        snapshot = snapshot_of({"tasks.md": TASKS}, find_zone("Europe/Berlin"))
        found = brief(snapshot, now)
        groups = {"overdue": found.overdue, "today": found.due_today, "week": found.due_week}
        for name, group in groups.items():
            same = [t.title for t in snapshot.tasks if t.due and t.due_state(now, snapshot.zone) == name]
            assert sorted(same) == sorted(task.title for task in group)


def test_the_sample() -> None:
    """Newest entries, next runs soonest first, alerts only for what is not healthy, problems when asked for."""
    files = {name: sample(name) for name in sample_names()}
    found = brief(snapshot_of(files), NOW)
    assert [entry.title for entry in found.last_entries][:1]
    assert len(found.last_entries) == 5
    runs = [(run.label, run.kind) for run in found.next_runs]
    assert runs == [
        ("API Health Check", "monitor"),
        ("Database Connection", "monitor"),
        ("Heartbeat", "heartbeat"),
        ("Disk Space", "monitor"),
        ("Generate weekly report", "task"),
    ]
    assert [run.instant for run in found.next_runs] == sorted(run.instant for run in found.next_runs)
    assert {one.status_at(NOW, UTC)[0] for one in found.alerts} == {"stale"}
    assert {one.level for one in found.problems} == {"note"}
    files["monitors.md"] = files["monitors.md"].replace(b"lastStatus: healthy (72% used)", b"lastStatus: 97% used")
    fresh = datetime(2024, 1, 15, 10, 35, tzinfo=UTC)
    assert [one.name for one in brief(snapshot_of(files), fresh).alerts] == ["Disk Space"]


def test_bad_crons_and_many_of_them() -> None:
    """A bad expression is left out, and thousands of them do not take long."""
    text = "## Monitors\n" + "".join(f"### M{at}\n- interval: {at % 60} {at % 24} * * *\n" for at in range(3000))
    found = brief(snapshot_of({"monitors.md": text + "### Bad\n- interval: x\n"}), NOW)
    assert 0 < len(found.next_runs) <= 12
