"""The report: what programs and people read of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.maintenance import maintain, render
from memory.maintenance.report import SHOWN, Report, RuleReport
from tests.memory.maintenance.maintenance_files import JOURNAL, NOW, TASKS, day, make, task


def test_entries_without_a_date_have_refs(tmp_path: Path) -> None:
    """An entry that stays because it stands under no date is reported with a ref that finds it, and its title."""
    workspace = make(tmp_path, {"journal.md": "### 10:00 — lost\n\n" + day("Notes", "mine")})
    skipped = maintain(workspace, NOW).rules[1].skipped
    assert [one.title for one in skipped] == ["lost", "mine"]
    assert [one.ref for one in skipped] == [one.ref for one in workspace.snapshot().journal.entries()]


def test_people_read_lines(tmp_path: Path) -> None:
    """One line for each rule with its sum, the moves and skipped entries below it, and a total."""
    tasks = TASKS + task("old", "2024-01-01") + task("odd")
    report = maintain(make(tmp_path, {"tasks.md": tasks}), NOW)
    assert render(report) == [
        "archive-completed-tasks: moved 1 of 2 in tasks.md (2 = 1 kept + 1 archived + 0 cleared, 1 skipped)",
        "    completed more than 7 days ago:",
        "    2024-01-01  old -> archive/tasks-2024-01.md",
        "    stays: odd (no completed date)",
        "prune-old-journal: moved 0 of 0 in journal.md (0 = 0 kept + 0 archived + 0 cleared)",
        "cap-journal: moved 0 of 0 in journal.md (0 = 0 kept + 0 archived + 0 cleared)",
        "clear-completed-orchestration: moved 0 of 0 in orchestration.md (0 = 0 kept + 0 archived + 0 cleared)",
        "archived 1 task",
    ]


def test_each_rule_says_what_it_goes_by(tmp_path: Path) -> None:
    """Above what moves stands the rule in words, and each entry has the date that counted."""
    files = {
        "config.md": "## Cleanup Policies\n\n- archiveCompletedAfterDays: 1\n- maxJournalEntries: 1\n",
        "tasks.md": TASKS + task("a", "2024-01-01 10:00"),
        "journal.md": JOURNAL
        + day("2024-01-15", "10:00 — new")
        + day("2024-01-14", "9:00 — cap")
        + day("2023-11-05", "x"),
        "orchestration.md": "## Completed Plans\n\n### p\n- completed: 2024-01-02T10:00:00Z\n",
    }
    report = maintain(make(tmp_path, files), NOW, dry_run=True)
    assert [(rule.why, [(move.date, move.title) for move in rule.moves]) for rule in report.rules] == [
        ("completed more than 1 day ago", [("2024-01-01", "a")]),
        ("dated more than 30 days ago", [("2023-11-05", "x")]),
        ("the oldest over 1 entry", [("2024-01-14", "cap")]),
        ("completed more than 24 hours ago", [("2024-01-02", "p")]),
    ]


def test_hostile_titles_are_made_visible(tmp_path: Path) -> None:
    """No control character of a title or a warning reaches the lines for people."""
    tasks = TASKS + task("a\x1b]52;c;x\x07\u202e", "2024-01-01") + task("b\x9b31m", "2024-\x1b1")
    text = "\n".join(render(maintain(make(tmp_path, {"tasks.md": tasks}), NOW)))
    assert "\\x1b]52;c;x\\x07\\u202e" in text
    assert not set(text) & {"\x1b", "\x07", "\u202e", "\x9b"}


def test_long_lists_are_cut_for_people_only(tmp_path: Path) -> None:
    """People see the first moves and how many more there are; programs get all of them."""
    tasks = TASKS + "".join(task(f"t{number}", "2024-01-01") for number in range(SHOWN + 5))
    report = maintain(make(tmp_path, {"tasks.md": tasks}), NOW)
    lines = render(report)
    assert sum("->" in line for line in lines) == SHOWN
    assert "    and 5 more" in lines
    assert sum("->" in line for line in render(report, limit=None)) == SHOWN + 5
    moves = tuple(report.rules[0].moves)
    assert [move.title for move in moves] == [f"t{number}" for number in range(SHOWN + 5)]
    assert moves[3].title == "t3"
    assert [move.title for move in moves[1:3]] == ["t1", "t2"]
    assert moves[-1].title == f"t{SHOWN + 4}"


@pytest.mark.parametrize(("dry_run", "last"), [(False, "recall: 2 events"), (True, "dry run, nothing is written")])
def test_a_run_that_moves_nothing_and_acts_is_not_idle(dry_run: bool, last: str) -> None:
    """Where a rule did, or would do, something beside moving entries, no line says that there was nothing to do."""
    rule = RuleReport("recall", "state.json", 0, 0, 0, 0, said="2 events", acts=True)
    report = Report(dry_run, NOW, (rule,))
    assert render(report)[-1] == last
    assert not [line for line in render(report) if "nothing to do" in line]
