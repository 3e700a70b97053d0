"""The rules at their boundaries: what is more than so many days old, and why an entry stays."""

from __future__ import annotations

from datetime import UTC, date

import pytest

from memory.maintenance.rules import (
    RuleResult,
    Today,
    choose_old_journal,
    choose_plans,
    choose_surplus,
    choose_tasks,
    days,
)
from tests.memory.maintenance.maintenance_files import NOW, TASKS, day, document, task

TODAY = Today.of(NOW, UTC)


def never(month: date) -> str | None:
    """Tell that every archive can be added to."""
    return None if month else "no month"


def chosen(choice: RuleResult) -> list[tuple[int, int]]:
    """Return the places of what leaves."""
    return [(pick.section, number) for pick in choice.picks for number in pick.entries]


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
    choice = choose_tasks(document(TASKS + task("one", completed)), TODAY, days(7), never)
    assert choice.picks == ()
    assert [(left.section, left.entry, left.reason) for left in choice.left] == [(1, 0, reason)]


def test_the_first_of_two_completed_fields_counts() -> None:
    """A key that stands twice is read once, and a fence hides what is in it."""
    body = "- completed: 2024-01-14\n"
    assert chosen(choose_tasks(document(TASKS + task("a", "2023-01-01", body)), TODAY, days(7), never)) == [(1, 0)]
    fenced = "### a\n```\n- completed: 2023-01-01\n```\n"
    assert choose_tasks(document(TASKS + fenced), TODAY, days(7), never).left[0].reason == "no completed date"
    continued = "### a\n- completed: 2023-01-01\n  or so\n"
    assert choose_tasks(document(TASKS + continued), TODAY, days(7), never).picks == ()


def test_an_entry_that_is_never_closed_stays() -> None:
    """An entry that ends inside an open fence would swallow what follows it in the archive."""
    text = document(TASKS + task("fine", "2023-01-01") + task("open", "2023-01-01", "```sh\nls\n"))
    choice = choose_tasks(text, TODAY, days(7), never)
    assert chosen(choice) == [(1, 0)]
    assert choice.left[0][:2] == (1, 1)
    assert "never closed" in choice.left[0].reason


def test_a_closed_archive_keeps_its_entries_here() -> None:
    """Entries whose archive takes nothing stay with that reason, the others go."""
    text = document(TASKS + task("a", "2023-12-31") + task("b", "2023-11-30"))
    choice = choose_tasks(text, TODAY, days(7), lambda day: "it is shut" if day.month == 12 else None)
    assert chosen(choice) == [(1, 1)]
    assert choice.left == ((1, 0, "it is shut"),)


def test_journal_entries_without_a_usable_date_stay() -> None:
    """Entries before any date, under another heading, under a date that does not exist or in the future stay."""
    text = document(
        "### 10:00 — lost\n\n"
        + day("Notes", "a")
        + day("2023-02-30", "b")
        + day("2024-01-16", "c")
        + day("2024-01-15", "12:01 — d", "12:00 — e")
        + day("2023-11-01", "f")
    )
    choice = choose_old_journal(text, TODAY, days(30), never)
    assert chosen(choice) == [(4, 0)]
    assert [(left.section, left.entry, left.reason) for left in choice.left] == [
        (-1, 0, "it is under no date"),
        (0, 0, "its section 'Notes' is no date"),
        (1, 0, "its date 2023-02-30 does not exist"),
        (2, 0, "it is dated in the future"),
        (3, 0, "it is dated in the future"),
    ]


def test_the_oldest_go_over_the_cap() -> None:
    """The oldest entries go first whatever the order of the sections, equally old ones from the bottom."""
    text = document(
        day("2024-01-14", "09:00 — a", "10:00 — b")
        + day("2024-01-12", "10:00 — c", "08:00 — d", "08:00 — e", "f")
        + day("2024-01-13", "10:00 — g")
    )
    order = [(1, 3), (1, 2), (1, 1), (1, 0), (2, 0), (0, 0), (0, 1)]
    for most in range(8):
        choice = choose_surplus(text, TODAY, most, (), never)
        assert sorted(chosen(choice)) == sorted(order[: 7 - most])
        assert choice.before == 7


def test_the_cap_counts_after_the_prune() -> None:
    """What the rule before took is not counted again, and a section can lose entries to both rules."""
    text = document(day("2024-01-10", "1", "2") + day("2023-12-16", "13:00 — 3", "11:00 — 4") + day("2023-01-01", "5"))
    pruned = choose_old_journal(text, TODAY, days(30), never)
    assert chosen(pruned) == [(1, 1), (2, 0)]
    capped = choose_surplus(text, TODAY, 2, pruned.picks, never)
    assert (capped.before, chosen(capped)) == (3, [(1, 0)])
    assert choose_surplus(text, TODAY, 3, pruned.picks, never).picks == ()


def test_the_cap_never_takes_what_has_no_date() -> None:
    """Undated, future and unclosed entries count towards the number but stay, even if it is then exceeded."""
    text = document(
        day("Notes", "a", "b")
        + day("2024-02-01", "c")
        + day("2024-01-15", "13:00 — d")
        + day("2024-01-02", "e")
        + "### f\n```\n"
    )
    choice = choose_surplus(text, TODAY, 1, (), never)
    assert chosen(choice) == [(3, 0)]
    assert [left[:2] for left in choice.left] == [(0, 0), (0, 1), (1, 0), (2, 0), (3, 1)]
    assert choice.before == 6


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
    choice = choose_plans(document(f"## {section}\n\n### Shop\n{fields}"), TODAY, never)
    assert chosen(choice) == ([(0, 0)] if moves else [])
    assert [left.reason for left in choice.left] == ([reason] if reason else [])


def test_ages_beyond_the_calendar_move_nothing() -> None:
    """A number of days that reaches behind the first year keeps everything."""
    text = document(day("0001-01-01", "10:00 — x", "y"))
    assert choose_old_journal(text, TODAY, days(10**9), never).picks == ()
    assert choose_tasks(document(TASKS + task("a", "0001-01-01")), TODAY, days(10**9), never).picks == ()
