"""Tasks: every field of the format read from its entry, at whatever time and in whatever form."""

from __future__ import annotations

from datetime import UTC
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.document import parse
from memory.files.tasks import edits as task_edits
from memory.files.tasks import operations as task_operations
from memory.files.tasks.model import Task, TaskList
from memory.files.tasks.reading import DueValue, read_due
from tests.fixture_files import sample
from tests.memory_files import NOW, after, snapshot_of

KEYS = [
    *("ref", "section", "priority", "title", "due", "recurring", "assigned", "created", "started", "completed"),
    *("progress", "tags", "cronJobId", "orchestrationId", "action", "notes", "outcome", "lastUpdate", "extra", "line"),
]


def one(fields: str, section: str = "Pending") -> Task:
    """Return the only task of a file with these field lines."""
    return TaskList("tasks.md", parse(f"## {section}\n### T\n{fields}".encode())).items[0]


def test_the_sample_has_every_field_right() -> None:
    """All five tasks of the format's sample are read with the keys of the interface."""
    tasks = [task.json() for task in TaskList("tasks.md", parse(sample("tasks.md")))]
    assert [list(task) for task in tasks] == [KEYS] * 5
    nothing = dict.fromkeys(KEYS) | {"tags": [], "extra": {}}
    expected = [
        nothing
        | {
            "section": "pending",
            "priority": "HIGH",
            "title": "Deploy v2.1 to staging",
            "due": "2024-01-15 14:00",
            "assigned": "heartbeat",
            "created": "2024-01-14",
            "tags": ["deployment", "staging"],
            "notes": "Run tests first, then deploy via CI/CD",
            "action": "cd ecommerce-backend && npm test && npm run deploy:staging",
            "line": 6,
        },
        nothing
        | {
            "section": "pending",
            "priority": "NORMAL",
            "title": "Generate weekly report",
            "due": "2024-01-15 09:00",
            "recurring": "0 9 * * MON",
            "assigned": "heartbeat",
            "cronJobId": "cron-abc123",
            "tags": ["reporting", "weekly"],
            "action": "Gather git log, test results, metrics. Send to Slack.",
            "line": 13,
        },
        nothing
        | {
            "section": "pending",
            "priority": "LOW",
            "title": "Update README with new API docs",
            "due": "2024-01-20",
            "assigned": "user",
            "tags": ["documentation"],
            "notes": "Low priority, do when convenient",
            "line": 19,
        },
        nothing
        | {
            "section": "in-progress",
            "priority": "HIGH",
            "title": "Monitor API latency",
            "started": "2024-01-15 10:00",
            "assigned": "monitor-guardian",
            "orchestrationId": "orch-xyz789",
            "progress": 45,
            "tags": ["monitoring", "api"],
            "lastUpdate": "Checking endpoint response times",
            "line": 25,
        },
        nothing
        | {
            "section": "completed",
            "priority": "NORMAL",
            "title": "Set up CI pipeline",
            "completed": "2024-01-14 16:30",
            "assigned": "heartbeat",
            "tags": ["ci", "github-actions"],
            "outcome": "GitHub Actions workflow created, runs on push to main",
            "line": 33,
        },
    ]
    assert expected == [{**task, "ref": None} for task in tasks]
    assert len({task["ref"] for task in tasks}) == 5


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-01-15", DueValue("2024-01-15")),
        ("2024-01-15 09:00 (recurring: 0 9 * * MON)", DueValue("2024-01-15 09:00", "0 9 * * MON")),
        ("2024-01-15 (recurring: @daily) (stand-up)", DueValue("2024-01-15", "@daily", "stand-up")),
        ("2024-01-15 (stand-up) (recurring: @daily)", DueValue("2024-01-15", "@daily", "stand-up")),
        ("recurring: */5 * * * *", DueValue(None, "*/5 * * * *")),
        ("recurring: */5 * * * * (every 5 min)", DueValue(None, "*/5 * * * *", "every 5 min")),
        ("null (whenever there is time)", DueValue(None, None, "whenever there is time")),
        ("none", DueValue()),
        ("-", DueValue()),
        ("", DueValue()),
        ("2024-02-30", DueValue("2024-02-30")),
        ("soon", DueValue("soon")),
    ],
)
def test_due_is_a_date_a_recurrence_and_a_remark(value: str, expected: DueValue) -> None:
    """All forms of the value are taken apart, and written they read the same."""
    assert expected == read_due(value)
    assert expected == read_due(str(expected))


@pytest.mark.parametrize(
    ("fields", "key", "expected"),
    [
        ("- progress: 45", "progress", 45),
        ("- progress: 45 %", "progress", 45),
        ("- progress: 100%", "progress", 100),
        ("- progress: 101%", "progress", None),
        ("- progress: -1%", "progress", None),
        ("- progress: half", "progress", None),
        ("- tags: a, b,,c ,", "tags", ["a", "b", "c"]),
        ("- tags: null", "tags", []),
        ("- assigned: null", "assigned", None),
        ("- assigned: None", "assigned", None),
        ("- assigned: -", "assigned", None),
        ("- assigned:", "assigned", None),
        ("- assigned: Bob (DevOps)", "assigned", "Bob (DevOps)"),
        ("- notes: one\n  two\n    three", "notes", "one\ntwo\n  three"),
        ("- notes: a\n- notes: b", "notes", "a"),
        ("- created: 2024-01-01\n", "created", "2024-01-01"),
        ("- created: 2024-01-01\n\n", "created", "2024-01-01"),
        ("-  created:   2024-01-01  \n", "created", "2024-01-01"),
        ("- created: null\n- x: y\n", "created", None),
        ("- created: a\n  b\n", "created", "a\nb"),
        ("- created: a\n- created: b\n", "created", "a"),
        ("```\n- created: a\n```\n", "created", None),
        ("- notes: x- created: 2024-01-01\n", "created", None),
        ("- color: red\n- dueDate: x", "extra", {"color": "red"}),
    ],
)
def test_values_are_read_as_the_format_has_them(fields: str, key: str, expected: object) -> None:
    """Odd forms are read, absent ones are None, unknown fields are kept."""
    assert expected == one(fields).json()[key]


def test_entries_under_other_headings_are_pending_tasks() -> None:
    """Sections match without case, with a remark, and twice; tasks elsewhere are pending and say where they stand."""
    text = (
        "### before\n# Pending\n### level one\n## PENDING\n### a\n## Pending review\n### no\n## In Progress (2)\n"
        "### b\n## pending\n### c\n## Completed (last 7 days)\n### d\n## Notes\n### no\n"
    )
    tasks = TaskList("tasks.md", parse(text.encode()))
    assert [(task.title, task.section, task.heading) for task in tasks] == [
        ("before", "pending", ""),
        ("level one", "pending", "Pending"),
        ("a", "pending", None),
        ("no", "pending", "Pending review"),
        ("b", "in-progress", None),
        ("c", "pending", None),
        ("d", "completed", None),
        ("no", "pending", "Notes"),
    ]
    assert [task.json()["extra"] for task in tasks][:3] == [{"heading": ""}, {"heading": "Pending"}, {}]
    assert tasks.count("pending") == len(tasks.in_section("pending")) == 6
    assert all(tasks.at(*task.at) is task for task in tasks)


def test_tasks_under_other_headings_can_be_moved_and_edited() -> None:
    """Each verb takes them out from under the wrong heading, and an edit leaves them where they stand."""
    text = "### Above\n- created: 2024-01-14\n\n## In Progres\n### [HIGH] Lost\n- created: 2024-01-14\n"
    snapshot = snapshot_of({"tasks.md": text})
    moved = after(snapshot, task_edits.edit_task(snapshot, "Above", set={"section": "pending"}, now=NOW))
    moved = after(moved, task_operations.done_task(moved, "Lost", outcome="well", now=NOW))
    assert [(task.title, task.section, task.heading) for task in moved.tasks] == [
        ("Above", "pending", None),
        ("Lost", "completed", None),
    ]
    noted = after(snapshot, task_edits.edit_task(snapshot, "Lost", set={"notes": "x"}, now=NOW))
    assert [(task.title, task.heading) for task in noted.tasks] == [("Above", ""), ("Lost", "In Progres")]


@pytest.mark.parametrize(
    ("due", "zone", "expected"),
    [
        ("2024-01-15 11:59", UTC, "overdue"),
        ("2024-01-15 12:00", UTC, "overdue"),
        ("2024-01-15 12:01", UTC, "today"),
        ("2024-01-15", UTC, "today"),
        ("2024-01-14", UTC, "overdue"),
        ("2024-01-16", UTC, "week"),
        ("2024-01-21", UTC, "week"),
        ("2024-01-22", UTC, "later"),
        ("2024-01-16", ZoneInfo("Pacific/Kiritimati"), "today"),
        ("2024-01-15", ZoneInfo("Pacific/Kiritimati"), "overdue"),
        ("2024-01-15 13:30", ZoneInfo("Europe/Berlin"), "today"),
        ("2024-01-15 12:30", ZoneInfo("Europe/Berlin"), "overdue"),
        ("2024-01-15T12:30:00+01:00", UTC, "overdue"),
        ("2024-02-30", UTC, None),
        ("2024-13-01 10:00", UTC, None),
        ("null", UTC, None),
        ("recurring: 0 18 * * *", UTC, "today"),
        ("recurring: 0 9 * * *", UTC, "week"),
        ("recurring: 0 9 1 * *", UTC, "later"),
        ("recurring: nonsense", UTC, None),
        ("2024-01-14 (recurring: 0 9 * * *)", UTC, "overdue"),
    ],
)
def test_due_states_count_in_the_zone(due: str, zone: ZoneInfo, expected: str | None) -> None:
    """A date alone is due at its end, a time at its instant, a recurrence alone at its next run."""
    assert expected == one(f"- due: {due}\n").due_state(NOW, zone)


@given(st.binary(max_size=200))
def test_reading_never_fails(data: bytes) -> None:
    """Any bytes give a task list whose every task has its JSON."""
    snapshot = snapshot_of({"tasks.md": b"## Pending\n### [HIGH] a\n- due: " + data})
    for task in snapshot.tasks:
        assert list(task.json()) == KEYS
        task.due_state(NOW, UTC)
