"""Findings: their level, code and line; and none that the format's own sample would not deserve."""

from __future__ import annotations

import pytest

from app.demo.workspace import demo_files
from memory.files.check import check_files
from tests.fixture_files import sample, sample_names, variants
from tests.memory_files import NOW, snapshot_of

FILES = {name: sample(name) for name in sample_names()}


@pytest.mark.parametrize("form", list(variants(FILES["tasks.md"])))
def test_the_sample_has_no_errors(form: str) -> None:
    """The format's files are right in any form; only bytes that are no text are an error."""
    problems = check_files(snapshot_of({name: variants(data)[form] for name, data in FILES.items()}))
    errors = {one.code for one in problems if one.level == "error"}
    assert errors == ({"document.encoding"} if form == "invalid UTF-8" else set())
    assert list(problems) == sorted(problems, key=lambda one: (one.file, one.line, one.code, one.message))


def test_the_samples_notes() -> None:
    """Missing `created` and a channel nobody uses are notes; the demo has no warnings."""
    found = [(one.level, one.file, one.line, one.code) for one in check_files(snapshot_of(FILES))]
    assert found == [
        ("note", "contacts.md", 10, "link.unused"),
        *[("note", "tasks.md", line, "task.created_missing") for line in (13, 19, 25, 33)],
    ]
    zone = NOW.tzinfo
    assert zone is not None
    assert {one.level for one in check_files(snapshot_of(demo_files(NOW, zone)))} <= {"note"}
    assert {one.code for one in check_files(snapshot_of({}))} == {"file.missing"}


T = "## Pending\n### [LOW] A\n- created: 2024-01-01\n"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("tasks.md", T + "- due: 2024-02-30\n", ("error", 4, "task.due")),
        ("tasks.md", T + "- due: 2024-02-03 (recurring: often)\n", ("error", 4, "task.due")),
        ("tasks.md", T + "- due: recurring: 61 * * * *\n", ("error", 4, "task.due")),
        ("tasks.md", T + "- recurring: 0 9 * * *\n", ("warning", 4, "task.recurring")),
        ("tasks.md", T + "- started: soon\n", ("error", 4, "task.started")),
        ("tasks.md", T + "- progress: 140%\n", ("error", 4, "task.progress")),
        ("tasks.md", T.replace("LOW", "SOON"), ("warning", 2, "task.priority")),
        ("tasks.md", T.replace("[LOW] ", ""), ("note", 2, "task.priority_missing")),
        ("tasks.md", T + T[11:], ("note", 4, "task.twin")),
        ("tasks.md", T + "## Ideas\n### B\n", ("error", 5, "task.unknown_section")),
        ("tasks.md", "### B\n", ("error", 1, "document.loose_entry")),
        ("tasks.md", "---\ntype: journal\n---\n" + T, ("warning", 2, "front.type")),
        ("tasks.md", "---\ntype: task-list\nupdated: 2024-13-01\n---\n", ("error", 3, "front.updated")),
        ("tasks.md", "---\ntype: task-list\n" + T, ("error", 1, "front.unclosed")),
        ("tasks.md", T + "- orchestrationId: orch-9\n", ("warning", 4, "link.dangling")),
        ("tasks.md", T + "- due: 2024-01-01\n- due: 2024-01-02\n", ("warning", 5, "field.twice")),
        ("tasks.md", T + "```\nnever closed\n", ("error", 4, "document.unclosed")),
        ("tasks.md", T + "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n", ("error", 4, "document.conflict_markers")),
        ("archive/tasks-2024-01.md", "## Completed\n### A\n- completed: never\n", ("error", 3, "task.completed")),
        ("archive/tasks-2024-01.md", "## Completed\n### A\n", ("note", 2, "task.completed_missing")),
        ("journal.md", "## 2024-02-30\n### 10:00 — A\n", ("error", 1, "journal.date")),
        ("journal.md", "## Notes\n### 10:00 — A\n", ("error", 1, "journal.section")),
        ("journal.md", "## 2024-02-03\n### 25:00 — A\n", ("error", 2, "journal.time")),
        ("archive/journal-2024-01.md", "## 2024-02-03\n### A\n", ("note", 2, "journal.time_missing")),
        ("knowledge.md", "## Decisions Made\n- 2024-02-30: x\n", ("error", 2, "knowledge.date")),
        ("contacts.md", "## People\n- Bob\n", ("warning", 2, "contact.form")),
        ("contacts.md", "## Message Routes\n| Channel |\n|--|\n| Bot |\n", ("warning", 4, "link.dangling")),
        ("contacts.md", "## People\n- **A**\n- **a**\n", ("warning", 3, "link.twice")),
        ("contacts.md", "## Channels\n| Name | ID |\n| Bot | c-1 |\n", ("warning", 2, "line.unread")),
        ("contacts.md", "## Channels\n\n| ID |\n|--|\n| c-1 |\n", ("warning", 3, "line.unread")),
        ("contacts.md", "## Routes\n| Channel | x | x |\n|--|--|--|\n", ("warning", 2, "contact.column")),
        ("monitors.md", "## Monitors\n### A\n- type: http\n- interval: x\n", ("error", 4, "monitor.interval")),
        ("monitors.md", "## Monitors\n### A\n### a\n", ("warning", 3, "link.twice")),
        ("monitors.md", "## Monitors\n### A\n- cronJobId: c\n### B\n- cronJobId: c\n", ("warning", 5, "link.twice")),
        ("monitors.md", "## Others\n### A\n", ("error", 2, "monitor.unknown_section")),
        ("config.md", "## W\n- timezone: Nowhere\n", ("error", 2, "config.value")),
        ("config.md", "## W\n- maxJournalEntries: x\n", ("error", 2, "config.value")),
        ("config.md", "## W\n- target: a\n## X\n- target: b\n", ("warning", 4, "config.twice")),
        ("config.md", "## W\n- archiveCompletedAfterDay: 3\n", ("error", 2, "config.malformed")),
        ("config.md", "## W\n- journalTaskChange: true\n", ("warning", 2, "config.unknown_key")),
        ("config.md", "## W\n- TimeZone: UTC\n", ("error", 2, "config.malformed")),
        ("config.md", "## W\n- channelId: nope (Bot)\n", ("warning", 2, "link.dangling")),
        ("orchestration.md", "## Active Plans\n### A\n- created: x\n", ("error", 3, "plan.date")),
        ("orchestration.md", "## Active Plans\n### A\n- status: odd\n", ("warning", 3, "plan.status")),
        ("orchestration.md", "## Plans\n### A\n", ("error", 2, "plan.unknown_section")),
    ],
)
def test_findings(name: str, text: str, expected: tuple[str, int, str]) -> None:
    """Each finding has its level, its line (from 1) and its code; the same line in CRLF."""
    for form in (text, text.replace("\n", "\r\n")):
        found = [(one.level, one.line, one.code) for one in check_files(snapshot_of({name: form}), [name])]
        assert expected in found


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("journal.md", "## 2024-01-15\n### 10:00 \u2014 Heartbeat\n"),
        ("archive/journal-2024-01.md", "## 2024-01-15\n### 10:00 \u2014 Heartbeat\n"),
        ("knowledge.md", "## Notes\n"),
    ],
)
def test_lists_in_text_are_no_fields(name: str, heading: str) -> None:
    """What a heartbeat writes, a line for each overdue task, is no finding where entries are text."""
    lines = '- Overdue: "a" (due 2024-01-14)\n- Overdue: "b" (due 2024-01-13)\n* Drift: c\n-tight:x\n'
    found = check_files(snapshot_of({name: heading + lines}), [name])
    assert [one.code for one in found if one.code.startswith("field.")] == []


def test_settings_of_other_programs_are_no_finding() -> None:
    """A key that memdeck does not know is left alone unless it is nearly the name of one that it knows."""
    keys = ("owner", "targets", "archiveAfterDays", "tertiaryChannel", "priorities", "updated", "x")
    text = "## W\n" + "".join(f"- {key}: 1\n" for key in keys)
    problems = check_files(snapshot_of({"config.md": text}), ["config.md"])
    assert [one for one in problems if one.level != "note"] == []


def test_a_setting_that_stands_twice_is_one_finding() -> None:
    """It is told at the second line, in the same section or in another one."""
    for text in ("## W\n- a: 1\n- a: 2\n", "## W\n- a: 1\n## X\n- a: 2\n"):
        problems = check_files(snapshot_of({"config.md": text}), ["config.md"])
        assert [one.code for one in problems if one.level != "note"] == ["config.twice"]
