"""The sample workspace: complete, dated relative to now, and in the format."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest

from app.demo.workspace import demo_files
from memory.document import parse
from memory.document.check import structure_problems

NOW = datetime(2024, 1, 15, 9, 30, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
MOMENTS = [
    (NOW, BERLIN),
    (datetime(2024, 3, 1, 0, 5, tzinfo=UTC), UTC),
    (datetime(2024, 3, 31, 1, 30, tzinfo=UTC), BERLIN),
    (datetime(2025, 12, 31, 23, 59, tzinfo=UTC), ZoneInfo("Pacific/Auckland")),
]


def _section(text: str, start: str) -> str:
    return text.split(f"\n## {start}", 1)[1].split("\n## ", 1)[0]


@pytest.mark.parametrize(("now", "zone"), MOMENTS, ids=str)
def test_no_placeholder_is_left(now: datetime, zone: tzinfo) -> None:
    """Every date is filled in, at month ends, year ends and when clocks change too."""
    for text in demo_files(now, zone).values():
        assert not re.search(r"\{[a-z]+[+-]?\d*\}|^### @", text, re.M)


def test_tasks_have_something_for_every_view() -> None:
    """Overdue, due in two hours, recurring, running, and completed ones that are old enough to archive."""
    tasks = demo_files(NOW, BERLIN)["tasks.md"]
    pending = _section(tasks, "Pending")
    due = re.findall(r"^- due: (\d{4}-\d\d-\d\d)", pending, re.M)
    assert "- due: 2024-01-15 12:30\n" in pending
    assert "- due: 2024-01-22 09:00 (recurring: 0 9 * * MON)\n" in pending
    assert sum(day < "2024-01-15" for day in due) >= 2
    running = _section(tasks, "In Progress")
    assert running.count("\n### ") == running.count("\n- started: ") == running.count("\n- progress: ") >= 3
    week_ago = (NOW - timedelta(days=8)).date().isoformat()
    completed = re.findall(r"^- completed: (\d{4}-\d\d-\d\d)", _section(tasks, "Completed"), re.M)
    assert sum(day < week_ago for day in completed) >= 3
    assert sum(day >= week_ago for day in completed) >= 3
    assert 20 <= tasks.count("\n### ") <= 26


def test_one_monitor_is_alerting() -> None:
    """Three monitors, each with its last check, one of them in alert."""
    monitors = demo_files(NOW, BERLIN)["monitors.md"]
    states = re.findall(r"^- lastStatus: (\w+)", monitors, re.M)
    assert sorted(states) == ["alert", "healthy", "healthy"]
    assert monitors.count("\n- lastCheck: 2024-01-15T0") == 3


def test_the_files_parse_without_problems() -> None:
    """No structural problem in any file, the same bytes back, and every section and entry found."""
    for text in demo_files(NOW, BERLIN).values():
        document = parse(text.encode("utf-8"))
        assert structure_problems(document) == []
        assert document.dump().decode("utf-8") == text
    tasks = parse(demo_files(NOW, BERLIN)["tasks.md"].encode("utf-8"))
    assert [section.name for section in tasks.sections] == ["pending", "in progress", "completed"]
    assert [len(section.entries) for section in tasks.sections] == [12, 4, 8]
