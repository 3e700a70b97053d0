"""The sample workspace: complete, dated relative to now, and in the format."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest

from app.demo.workspace import demo_files
from memory.document import parse
from memory.document.check import structure_problems

NOW = datetime(2024, 1, 15, 9, 30, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
TYPES = {
    "tasks.md": "task-list",
    "knowledge.md": "knowledge-base",
    "contacts.md": "contacts",
    "journal.md": "activity-journal",
    "orchestration.md": "orchestration-state",
    "monitors.md": "monitor-config",
    "config.md": "agent-config",
    "archive/tasks-2023-11.md": "task-archive",
    "archive/tasks-2023-10.md": "task-archive",
    "archive/journal-2023-11.md": "journal-archive",
    "archive/journal-2023-10.md": "journal-archive",
    "archive/orchestration-2023-10.md": "orchestration-archive",
}
MOMENTS = [
    (NOW, BERLIN),
    (datetime(2024, 3, 1, 0, 5, tzinfo=UTC), UTC),
    (datetime(2024, 3, 31, 1, 30, tzinfo=UTC), BERLIN),
    (datetime(2025, 12, 31, 23, 59, tzinfo=UTC), ZoneInfo("Pacific/Auckland")),
]


def _section(text: str, start: str) -> str:
    return text.split(f"\n## {start}", 1)[1].split("\n## ", 1)[0]


def test_every_file_begins_with_its_front_matter() -> None:
    """All seven files and five archives, each with its `type` first and one newline at the end."""
    files = demo_files(NOW, BERLIN)
    assert set(TYPES) == set(files)
    for name, kind in TYPES.items():
        assert files[name].startswith(f"---\ntype: {kind}\n")
        assert files[name].endswith("\n")
        assert not files[name].endswith("\n\n")


@pytest.mark.parametrize(("now", "zone"), MOMENTS, ids=str)
def test_no_placeholder_is_left(now: datetime, zone: tzinfo) -> None:
    """Every date is filled in, at month ends, year ends and when clocks change too."""
    for text in demo_files(now, zone).values():
        assert not re.search(r"\{[a-z]+[+-]?\d*\}|^### @", text, re.M)


def test_the_same_arguments_give_the_same_text() -> None:
    """Nothing depends on the machine's clock or on chance."""
    assert demo_files(NOW, BERLIN) == demo_files(NOW, BERLIN)


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


@pytest.mark.parametrize(("now", "zone"), MOMENTS, ids=str)
def test_the_journal_is_newest_first_and_never_in_the_future(now: datetime, zone: tzinfo) -> None:
    """Sixty entries under sorted dates, some of them older than thirty days."""
    journal = demo_files(now, zone)["journal.md"]
    day = ""
    stamps = []
    for line in journal.splitlines():
        if found := re.fullmatch(r"## (\d{4}-\d\d-\d\d)", line):
            day = found[1]
        elif found := re.fullmatch(r"### (\d\d:\d\d) — .+", line):
            stamps.append(f"{day} {found[1]}")
    assert 55 <= len(stamps) <= 65
    assert sorted(stamps, reverse=True) == stamps
    local = now.astimezone(zone)
    assert stamps[0] <= f"{local:%Y-%m-%d %H:%M}"
    old = [stamp for stamp in stamps if date.fromisoformat(stamp[:10]) < local.date() - timedelta(days=30)]
    assert len(old) >= 5


@pytest.mark.parametrize(("now", "zone"), MOMENTS, ids=str)
def test_archives_hold_entries_of_their_month(now: datetime, zone: tzinfo) -> None:
    """An archived entry lies in the month that its file is named after, and before the current one."""
    for name, text in demo_files(now, zone).items():
        if found := re.fullmatch(r"archive/\w+-(\d{4}-\d\d)\.md", name):
            days = re.findall(r"^(?:- completed: |## )(\d{4}-\d\d)-\d\d", text, re.M)
            assert {found[1]} == set(days)
            assert found[1] < f"{now.astimezone(zone):%Y-%m}"


def test_the_plan_and_its_progress_agree() -> None:
    """The JSON block names the table's tasks, each has a phase, and the progress is weighted by minutes."""
    plan = _section(demo_files(NOW, BERLIN)["orchestration.md"], "Active Plans")
    block = json.loads(plan.split("```json\n")[1].split("```")[0])
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in plan.splitlines() if line[:3] == "| t"]
    assert [row[0] for row in rows] == [task["id"] for task in block["tasks"]]
    assert [row[0] for row in rows] == [task for phase in block["executionOrder"] for task in phase]
    minutes = [task["estimatedMinutes"] for task in block["tasks"]]
    done = sum(weight * int(row[6].rstrip("%")) / 100 for row, weight in zip(rows, minutes, strict=True))
    assert f"- progress: {done / sum(minutes):.0%}\n" in plan


def test_links_between_the_files_hold() -> None:
    """Plans that tasks name exist, and channels that the settings name are in the directory."""
    files = demo_files(NOW, BERLIN)
    plans = set(re.findall(r"^- planId: (\S+)", files["orchestration.md"], re.M))
    assert set(re.findall(r"^- orchestrationId: (\S+)", files["tasks.md"], re.M)) <= plans
    channels = set(re.findall(r"channel-\w+", files["config.md"]))
    assert channels <= set(re.findall(r"channel-\w+", files["contacts.md"]))


def test_the_zone_is_named_where_it_has_a_name() -> None:
    """config.md holds the IANA name, and no line for a bare offset."""
    assert "- timezone: Europe/Berlin\n" in demo_files(NOW, BERLIN)["config.md"]
    assert "- timezone: UTC\n" in demo_files(NOW, UTC)["config.md"]
    assert "timezone" not in demo_files(NOW, timezone(timedelta(hours=2)))["config.md"]


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
