"""The second reader notices every kind of loss, and lets nothing else stop a run."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from memory.errors import MemdeckError
from memory.maintenance.conservation import cut, imbalances, verify

ARCHIVE = "archive/tasks-2024-01.md"
DAYS = "archive/journal-2024-01.md"
PLANS = "archive/orchestration-2024-01.md"
BEFORE = {
    "tasks.md": b"---\ntype: task-list\nupdated: 1\n---\nwords\n\n## Completed (7)\n\nprose\n\n| a |\n|---|\n\n"
    b"### one\n- completed: x\n\n### two\n- n: 1\n\n### two\n- n: 1\n\n## Notes\n\n<!-- note -->\n",
    "journal.md": b"intro\n\n## 2024-01-02\n\n### a\n- 1\n\n### b\n- 2\n\n"
    b"## 2024-01-01\n\n### a\n- 1\n\n```\n# x\n```\n",
    DAYS: b"---\ntype: journal-archive\n---\n\n## 2024-01-03\n\n### z\n- 9\n",
}
AFTER = {
    ARCHIVE: b"---\ntype: task-archive\nupdated: 2\n---\n\n## Completed\n\n### two\n- n: 1\n",
    DAYS: b"---\ntype: journal-archive\n---\n\n## 2024-01-03\n\n### z\n- 9\n\n## 2024-01-02\n\n### b\n- 2\n\n"
    b"## 2024-01-01\n\n### a\n- 1\n\n```\n# x\n```\n",
    "tasks.md": b"---\ntype: task-list\nupdated: 2\n---\nwords\n\n## Completed (7)\n\nprose\n\n| a |\n|---|\n\n"
    b"### one\n- completed: x\n\n### two\n- n: 1\n\n## Notes\n\n<!-- note -->\n",
    "journal.md": b"intro\n\n## 2024-01-02\n\n### a\n- 1\n\n",
}


@dataclass(frozen=True)
class Count:
    """What a rule says about itself."""

    rule: str
    file: str
    before: int
    kept: int
    archived: int
    cleared: int = 0


RULES = (
    Count("archive-completed-tasks", "tasks.md", 3, 2, 1),
    Count("prune-old-journal", "journal.md", 3, 2, 1),
    Count("cap-journal", "journal.md", 2, 1, 1),
    Count("clear-completed-orchestration", "orchestration.md", 5, 5, 0),
)


def test_a_run_that_moves_everything_balances() -> None:
    """Nothing is said about a run that loses nothing; files that it does not touch are not asked for."""
    assert imbalances(BEFORE, AFTER, RULES) == []
    verify(BEFORE, AFTER, RULES)


MISTAKES = {
    "a lost entry": (ARCHIVE, b"### two\n- n: 1\n", b""),
    "a lost journal entry": (DAYS, b"### b\n- 2\n", b""),
    "a doubled entry": (ARCHIVE, b"### two\n- n: 1\n", b"### two\n- n: 1\n\n### two\n- n: 1\n"),
    "an entry that stays as well": ("journal.md", b"### a\n- 1\n", b"### a\n- 1\n\n### b\n- 2\n"),
    "another entry instead": (ARCHIVE, b"### two\n- n: 1\n", b"### one\n- completed: x\n"),
    "a changed byte in what moves": (DAYS, b"### b\n- 2\n", b"### b\n- 3\n"),
    "a changed title": (ARCHIVE, b"### two", b"### Two"),
    "a space more": (ARCHIVE, b"- n: 1\n", b"- n: 1 \n"),
    "a changed line end": (DAYS, b"### b\n- 2", b"### b\r\n- 2"),
    "a blank line inside": (DAYS, b"### b\n- 2", b"### b\n\n- 2"),
    "a changed byte in what stays": ("tasks.md", b"completed: x", b"completed: y"),
    "a lost field": ("tasks.md", b"- completed: x\n", b""),
    "a lost prose line": ("tasks.md", b"prose\n", b""),
    "a lost comment": ("tasks.md", b"<!-- note -->\n", b""),
    "a lost table row": ("tasks.md", b"|---|\n", b""),
    "a lost word before the sections": ("journal.md", b"intro\n", b""),
    "a lost section": ("tasks.md", b"## Notes\n", b""),
    "a lost front matter line": ("tasks.md", b"type: task-list\n", b""),
    "a new line": ("tasks.md", b"words\n", b"words\nmore\n"),
    "an entry that stays without its date": ("journal.md", b"## 2024-01-02\n\n### a", b"### a"),
    "a lost date": (DAYS, b"## 2024-01-02\n\n", b""),
    "a wrong date": (DAYS, b"## 2024-01-02\n", b"## 2024-01-04\n"),
    "a date of another month": (DAYS, b"## 2024-01-02\n", b"## 2024-02-02\n"),
    "entries under each other's date": (DAYS, b"### b\n- 2\n\n## 2024-01-01\n\n", b"## 2024-01-01\n\n### b\n- 2\n\n"),
    "words in an archive": (ARCHIVE, b"## Completed\n", b"## Completed\n\nwords\n"),
    "a section in an archive": (ARCHIVE, b"## Completed\n", b"## Pending\n\n## Completed\n"),
    "the wrong section": (ARCHIVE, b"## Completed\n", b"## Pending\n"),
    "a lost archived entry": (DAYS, b"### z\n- 9\n", b""),
    "a changed archive header": (DAYS, b"type: journal-archive", b"type: journal"),
    "an entry swallowed by a fence": (DAYS, b"### z\n- 9\n", b"### z\n- 9\n```\n"),
    "entries in another order": (
        "tasks.md",
        b"### one\n- completed: x\n\n### two\n- n: 1\n",
        b"### two\n- n: 1\n\n### one\n- completed: x\n",
    ),
    "everything gone": ("journal.md", AFTER["journal.md"], b""),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_is_noticed(mistake: str) -> None:
    """One planted mistake in the bytes about to be written is named, and verify refuses them."""
    name, old, new = MISTAKES[mistake]
    assert AFTER[name].count(old) >= 1
    after = {**AFTER, name: AFTER[name].replace(old, new, 1)}
    assert imbalances(BEFORE, after, RULES)
    with pytest.raises(MemdeckError) as caught:
        verify(BEFORE, after, RULES)
    assert caught.value.code == "maintenance.unbalanced"
    assert caught.value.exit_code == 1
    assert caught.value.details["problems"]


@pytest.mark.parametrize(
    ("index", "wrong"),
    [
        (0, Count("archive-completed-tasks", "tasks.md", 4, 3, 1)),
        (0, Count("archive-completed-tasks", "tasks.md", 3, 3, 0)),
        (0, Count("archive-completed-tasks", "tasks.md", 3, 2, 2)),
        (1, Count("prune-old-journal", "journal.md", 3, 1, 2)),
        (2, Count("cap-journal", "journal.md", 3, 2, 1)),
        (2, Count("cap-journal", "journal.md", 2, 2, 0)),
    ],
)
def test_counts_that_lie_are_noticed(index: int, wrong: Count) -> None:
    """What the rules say has to be what the bytes say, rule by rule and in their order."""
    rules = [*RULES[:index], wrong, *RULES[index + 1 :]]
    assert imbalances(BEFORE, AFTER, rules)


def test_files_that_vanish_or_do_not_belong_are_noticed() -> None:
    """A touched file has to be there afterwards, and no other file may be touched."""
    without = {name: data for name, data in AFTER.items() if name != DAYS}
    assert imbalances(BEFORE, without, RULES)
    assert imbalances(BEFORE, {**AFTER, "knowledge.md": b""}, RULES)
    assert imbalances(BEFORE, {**AFTER, "archive/tasks-2024-02.md": b"words\n"}, RULES)


def test_a_moved_entry_that_nobody_lost_is_noticed() -> None:
    """An archive that gets an entry while no file loses one would double it."""
    rules = (Count("archive-completed-tasks", "tasks.md", 3, 2, 1),)
    assert imbalances({}, {ARCHIVE: AFTER[ARCHIVE]}, rules)


def test_plans_may_leave_either_section() -> None:
    """A finished plan goes from Active Plans or Completed Plans to the one section of its archive."""
    before = {"orchestration.md": b"## Active Plans\n\n### p\n- status: completed\n\n### q\n\n## Completed Plans\n"}
    after = {
        PLANS: b"---\ntype: orchestration-archive\nupdated: 1\n---\n\n"
        b"## Completed Plans\n\n### p\n- status: completed\n",
        "orchestration.md": b"## Active Plans\n\n### q\n\n## Completed Plans\n",
    }
    rules = (Count("clear-completed-orchestration", "orchestration.md", 2, 1, 0, 1),)
    assert imbalances(before, after, rules) == []
    assert imbalances(before, {**after, PLANS: b"## Completed Plans\n\n### q\n"}, rules)


def test_the_cut_has_every_line() -> None:
    """Entries and the other lines that are not blank make up the whole file, whatever the line ends."""
    for end in (b"\n", b"\r\n", b"\r"):
        data = b"\xef\xbb\xbf" + BEFORE["tasks.md"].replace(b"\n", end)
        pieces = cut(data)
        words = b"\n".join(piece.text for piece in pieces).split()
        stamp = words.index(b"updated:")
        words.insert(stamp + 1, b"1")
        assert words == data.split()
        assert sum(piece.is_entry for piece in pieces) == 3
