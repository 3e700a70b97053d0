"""The report: what programs and people read of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.maintenance.report import Report, RuleReport, render
from memory.maintenance.run import maintain
from tests.memory.maintenance.maintenance_files import JOURNAL, NOW, TASKS, day, make, task


def test_entries_without_a_date_have_refs(tmp_path: Path) -> None:
    """An entry that stays because it is under no date is reported with a ref that finds it, and its title."""
    workspace = make(tmp_path, {"journal.md": "### 10:00 — lost\n\n" + day("Notes", "mine")})
    skipped = maintain(workspace, NOW).rules[1].skipped
    assert [one.title for one in skipped] == ["lost", "mine"]
    assert [one.ref for one in skipped] == [one.ref for one in workspace.snapshot().journal.entries()]


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


@pytest.mark.parametrize(("dry_run", "last"), [(False, "recall: 2 events"), (True, "dry run, nothing was written")])
def test_a_run_that_moves_nothing_and_acts_is_not_idle(dry_run: bool, last: str) -> None:
    """Where a rule did, or would do, something beside moving entries, no line says that there was nothing to do."""
    rule = RuleReport("recall", "state.json", 0, 0, 0, 0, said="2 events", acts=True)
    report = Report(dry_run, NOW, (rule,))
    assert render(report)[-1] == last
    assert not [line for line in render(report) if "nothing to do" in line]
