"""The rules at their boundaries: what is more than so many days old, and why an entry stays."""

from __future__ import annotations

import pytest

from memory.maintenance.plan import plan_maintenance
from memory.maintenance.report import RuleReport
from memory.maintenance.rules import ARCHIVE_TASKS, CAP_JOURNAL, CLEAR_PLANS, PRUNE_JOURNAL
from tests.memory.maintenance.maintenance_files import NOW, TASKS, day, task
from tests.memory_files import snapshot_of


def ruled(rule: str, text: str, config: str = "", **archives: str) -> RuleReport:
    """Return what one rule does to a file with this text."""
    kind = {ARCHIVE_TASKS: "tasks", CLEAR_PLANS: "orchestration"}.get(rule, "journal")
    files = {f"{kind}.md": text, "config.md": f"## Memory Maintenance\n{config}", **archives}
    return plan_maintenance(snapshot_of(files), NOW, (rule,)).rules[0]


def moved(found: RuleReport) -> list[str]:
    """Return the titles of what leaves."""
    return [one.title for one in found.moves]


def stays(found: RuleReport) -> list[tuple[str, str]]:
    """Return the titles of what stays, with the reasons."""
    return [(one.title, one.reason) for one in found.skipped]


@pytest.mark.parametrize(
    ("completed", "reason"),
    [
        (None, "no completed date"),
        ("", "no completed date"),
        ("null", "no completed date"),
        ("2023-02-30", "completed: '2023-02-30' does not exist"),
        ("2023-02-28 25:00", "completed: '2023-02-28 25:00' does not exist"),
        ("last week", "completed: 'last week' is not a date or time"),
        ("2023-01-01 (roughly)", "completed: '2023-01-01 (roughly)' is not a date or time"),
        ("2024-01-16", "completed is in the future"),
        ("2024-01-15 12:01", "completed is in the future"),
        ("9999-12-31", "completed is in the future"),
    ],
)
def test_tasks_without_a_usable_date_stay(completed: str | None, reason: str) -> None:
    """What has no date, an impossible one or one in the future stays and says why."""
    found = ruled(ARCHIVE_TASKS, TASKS + task("one", completed))
    assert (moved(found), stays(found)) == ([], [("one", reason)])


def test_the_first_of_two_completed_fields_counts() -> None:
    """A key that stands twice is read once, and a fence hides what is in it."""
    body = "- completed: 2024-01-14\n"
    assert moved(ruled(ARCHIVE_TASKS, TASKS + task("a", "2023-01-01", body))) == ["a"]
    fenced = "### a\n```\n- completed: 2023-01-01\n```\n"
    assert stays(ruled(ARCHIVE_TASKS, TASKS + fenced)) == [("a", "no completed date")]
    continued = "### a\n- completed: 2023-01-01\n  or so\n"
    assert moved(ruled(ARCHIVE_TASKS, TASKS + continued)) == []


def test_an_entry_that_is_never_closed_stays() -> None:
    """An entry that ends inside an open fence would swallow what follows it in the archive."""
    found = ruled(ARCHIVE_TASKS, TASKS + task("fine", "2023-01-01") + task("open", "2023-01-01", "```sh\nls\n"))
    assert moved(found) == ["fine"]
    assert stays(found) == [("open", "a code fence or HTML block in it is never closed")]


def test_a_closed_archive_keeps_its_entries_here() -> None:
    """Entries whose archive takes nothing stay with that reason, the others go."""
    name = "archive/tasks-2023-12.md"
    found = ruled(ARCHIVE_TASKS, TASKS + task("a", "2023-12-31") + task("b", "2023-11-30"), **{name: "```\nopen\n"})
    assert moved(found) == ["b"]
    assert stays(found) == [("a", f"{name} ends inside a code fence or HTML block that is never closed")]


def test_journal_entries_without_a_usable_date_stay() -> None:
    """Entries before any date, under another heading, under a date that does not exist or in the future stay."""
    text = (
        "### 10:00 — lost\n\n"
        + day("Notes", "a")
        + day("2023-02-30", "b")
        + day("2024-01-16", "c")
        + day("2024-01-15", "12:01 — d", "12:00 — e")
        + day("2023-11-01", "f")
    )
    found = ruled(PRUNE_JOURNAL, text)
    assert moved(found) == ["f"]
    assert stays(found) == [
        ("lost", "it is under no date"),
        ("a", "its section 'Notes' is not a date"),
        ("b", "its date 2023-02-30 does not exist"),
        ("c", "it is dated in the future"),
        ("d", "it is dated in the future"),
    ]


def test_the_oldest_go_over_the_cap() -> None:
    """The oldest entries go first whatever the order of the sections, equally old ones from the bottom."""
    text = (
        day("2024-01-14", "09:00 — a", "10:00 — b")
        + day("2024-01-12", "10:00 — c", "08:00 — d", "08:00 — e", "f")
        + day("2024-01-13", "10:00 — g")
    )
    for most in range(8):
        found = ruled(CAP_JOURNAL, text, f"- maxJournalEntries: {most}\n")
        assert sorted(moved(found)) == sorted("fedcgab"[: 7 - most])
        assert found.before == 7


def test_the_cap_counts_after_the_prune() -> None:
    """What the rule before took is not counted again, and a section can lose entries to both rules."""
    text = day("2024-01-10", "1", "2") + day("2023-12-16", "13:00 — 3", "11:00 — 4") + day("2023-01-01", "5")
    config = "## Memory Maintenance\n- maxJournalEntries: 2\n"
    snapshot = snapshot_of({"journal.md": text, "config.md": config})
    pruned, capped = plan_maintenance(snapshot, NOW, (PRUNE_JOURNAL, CAP_JOURNAL)).rules
    assert (moved(pruned), capped.before, moved(capped)) == (["4", "5"], 3, ["3"])


def test_the_cap_never_takes_what_has_no_date() -> None:
    """Undated, future and unclosed entries count towards the number but stay, even if it is then exceeded."""
    text = (
        day("Notes", "a", "b")
        + day("2024-02-01", "c")
        + day("2024-01-15", "13:00 — d")
        + day("2024-01-02", "e")
        + "### f\n```\n"
    )
    found = ruled(CAP_JOURNAL, text, "- maxJournalEntries: 1\n")
    assert (moved(found), [title for title, _ in stays(found)], found.before) == (["e"], ["a", "b", "c", "d", "f"], 6)


@pytest.mark.parametrize(
    ("section", "fields", "moves", "reason"),
    [
        ("Completed Plans", "- completed: 2024-01-14 12:00\n", False, None),  # exactly 24 hours
        ("Completed Plans", "- completed: 2024-01-14 11:59\n", True, None),
        ("Completed Plans", "- completed: 2024-01-14\n", False, None),
        ("Completed Plans", "- completed: 2024-01-13\n", True, None),
        ("completed plans (old)", "- completed: 2024-01-13\n", True, None),
        ("Completed Plans", "- status: failed\n- completed: 2024-01-13\n", False, "status is failed"),
        ("Completed Plans", "- status: Failed\n- completed: 2024-01-13\n", False, "status is failed"),
        ("Completed Plans", "- status: running\n- completed: 2024-01-13\n", False, "status is running"),
        ("Completed Plans", "- status: completed\n", False, "no completed date"),
        ("Completed Plans", "- completed: 2024-01-15 12:01\n", False, "completed is in the future"),
        ("Active Plans", "- status: completed\n- completed: 2024-01-13\n", True, None),
        ("Active Plans", "- status: Completed\n", False, "no completed date"),
        ("Active Plans", "- status: running\n- completed: 2024-01-13\n", False, None),
        ("Active Plans", "- status: failed\n- completed: 2024-01-13\n", False, None),
        ("Other", "- status: completed\n- completed: 2024-01-13\n", False, None),
    ],
)
def test_finished_plans_go_after_a_day(section: str, fields: str, moves: bool, reason: str | None) -> None:
    """A plan goes more than 24 hours after it was completed, wherever its section says that it is finished."""
    found = ruled(CLEAR_PLANS, f"## {section}\n\n### Shop\n{fields}")
    assert moved(found) == (["Shop"] if moves else [])
    assert [one.reason for one in found.skipped] == ([reason] if reason else [])


def test_ages_beyond_the_calendar_move_nothing() -> None:
    """A number of days that reaches behind the first year keeps everything."""
    most = "- pruneJournalAfterDays: 36500\n- archiveCompletedAfterDays: 36500\n"
    assert moved(ruled(PRUNE_JOURNAL, day("1950-01-01", "10:00 — x", "y"), most)) == []
    assert moved(ruled(ARCHIVE_TASKS, TASKS + task("a", "1950-01-01"), most)) == []
