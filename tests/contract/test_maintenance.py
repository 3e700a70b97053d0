"""The rules of upkeep, as the seed states them: what moves, what stays, and that nothing is lost."""

from __future__ import annotations

import pytest

from tests.contract.place import Place

FOLDER = ".aiter/memory/"
TASKS = FOLDER + "tasks.md"
JOURNAL = FOLDER + "journal.md"
NOW = "2024-03-01T12:00:00Z"


@pytest.fixture
def workspace(place: Place) -> Place:
    """Return a workspace that was made in the time of these tests."""
    assert place("init", now="2024-01-01T00:00:00Z").code == 0
    return place


def _completed(*days: tuple[str, str]) -> str:
    body = "".join(f"\n### [NORMAL] {title}\n- completed: {day}\n- outcome: done\n" for title, day in days)
    return f"---\ntype: task-list\n---\n## Pending\n\n## In Progress\n\n## Completed\n{body}"


@pytest.mark.parametrize(
    ("day", "moves"),
    [
        ("2024-03-01 11:00", False),
        ("2024-02-23 12:00", False),
        ("2024-02-22 11:59", True),
        ("2024-02-20", True),
        ("2024-01-31 23:00", True),
        ("2023-12-31", True),
        ("2024-03-09", False),
        ("whenever", False),
    ],
)
def test_tasks_completed_more_than_seven_days_ago_go_to_the_archive_of_their_month(
    workspace: Place, day: str, moves: bool
) -> None:
    """The entry moves byte for byte; a date that cannot be read stays and is named."""
    workspace.write(TASKS, _completed(("Old one", day)))
    report = workspace.json("archive", now=NOW)
    (rule,) = [one for one in report["rules"] if one["rule"] == "archive-completed-tasks"]
    assert (rule["archived"], rule["kept"]) == ((1, 0) if moves else (0, 1))
    entry = f"### [NORMAL] Old one\n- completed: {day}\n- outcome: done\n".encode()
    if moves:
        assert b"Old one" not in workspace.read(TASKS)
        assert entry in workspace.read(f"{FOLDER}archive/tasks-{day[:7]}.md")
        assert [move["to"] for move in rule["moves"]] == [f"archive/tasks-{day[:7]}.md"]
    else:
        assert entry in workspace.read(TASKS)
        if day == "whenever":
            assert [one["title"] for one in rule["skipped"]] == ["Old one"]


@pytest.mark.parametrize("days", ["0", "1", "30", "400"])
def test_the_setting_decides_after_how_many_days(workspace: Place, days: str) -> None:
    """`archiveCompletedAfterDays` of config.md counts, as a person sets it."""
    assert workspace("config", "set", "archiveCompletedAfterDays", days, now=NOW).code == 0
    workspace.write(TASKS, _completed(("Recent", "2024-02-28"), ("Old", "2024-01-10")))
    report = workspace.json("archive", now=NOW)
    assert report["rules"][0]["archived"] == {"0": 2, "1": 2, "30": 1, "400": 0}[days]


def test_a_dry_run_says_what_the_run_then_does(workspace: Place) -> None:
    """The moves are the same, and only the run writes."""
    workspace.write(TASKS, _completed(("Old", "2024-01-10"), ("New", "2024-02-28")))
    before = workspace.read(TASKS)
    dry = workspace.json("archive", "--dry-run", now=NOW)
    assert (dry["dry_run"], workspace.read(TASKS)) == (True, before)
    real = workspace.json("archive", now=NOW)
    assert [rule["moves"] for rule in real["rules"]] == [rule["moves"] for rule in dry["rules"]]
    assert workspace.json("archive", now=NOW)["rules"][0]["archived"] == 0
    assert workspace("undo", "--actor", "cli", now=NOW).code == 0
    assert workspace.read(TASKS) == before


def _journal(*days: tuple[str, int]) -> str:
    body = "".join(
        f"\n## {day}\n" + "".join(f"\n### {10 + n:02}:00 — Note {n} of {day}\n- x\n" for n in reversed(range(count)))
        for day, count in days
    )
    return f"---\ntype: activity-journal\n---\n{body}"


@pytest.mark.parametrize(
    ("day", "moves"),
    [("2024-03-01", False), ("2024-02-01", False), ("2024-01-31", True), ("2024-01-30", True), ("2023-06-05", True)],
)
def test_journal_entries_older_than_thirty_days_are_kept_in_the_archive(
    workspace: Place, day: str, moves: bool
) -> None:
    """Pruned from journal.md, with the same bytes in the archive of their month."""
    workspace.write(JOURNAL, _journal((day, 2)))
    report = workspace.json("prune", now=NOW)
    (rule,) = [one for one in report["rules"] if one["rule"] == "prune-old-journal"]
    assert (rule["before"], rule["archived"]) == (2, 2 if moves else 0)
    where = f"{FOLDER}archive/journal-{day[:7]}.md" if moves else JOURNAL
    for number in range(2):
        assert f"### {10 + number:02}:00 — Note {number} of {day}\n- x\n".encode() in workspace.read(where)


def test_a_journal_beyond_its_limit_loses_its_oldest_to_the_archive(workspace: Place) -> None:
    """With `maxJournalEntries: 3` of five entries the two oldest move."""
    assert workspace("config", "set", "maxJournalEntries", "3", now=NOW).code == 0
    workspace.write(JOURNAL, _journal(("2024-02-28", 2), ("2024-02-27", 3)))
    report = workspace.json("prune", now=NOW)
    (rule,) = [one for one in report["rules"] if one["rule"] == "cap-journal"]
    assert (rule["before"], rule["kept"], rule["archived"]) == (5, 3, 2)
    titles = [move["title"] for move in rule["moves"]]
    assert len(titles) == 2
    assert all(
        any(title.endswith(name) for title in titles) for name in ("Note 0 of 2024-02-27", "Note 1 of 2024-02-27")
    )
    assert len(workspace.json("journal", "list", "--limit", "0", now=NOW)["entries"]) == 3


def test_an_archived_task_comes_back(workspace: Place) -> None:
    """`restore` puts it where it came from, with its bytes, and takes it out of the archive."""
    workspace.write(TASKS, _completed(("Old", "2024-01-10")))
    assert workspace("archive", now=NOW).code == 0
    (task,) = workspace.json("tasks", "list", "--section", "archived", now=NOW)["tasks"]
    assert workspace("restore", task["ref"], now=NOW).code == 0
    assert b"### [NORMAL] Old\n- completed: 2024-01-10\n- outcome: done\n" in workspace.read(TASKS)
    assert b"### [NORMAL] Old" not in workspace.read(f"{FOLDER}archive/tasks-2024-01.md")


def test_an_archived_task_is_named_by_its_file_where_two_are_equal(workspace: Place) -> None:
    """The file in front of the digits decides between two archives; a file that has no such entry finds none."""
    archive = "---\ntype: task-archive\n---\n\n## Completed\n\n### [NORMAL] Old\n- completed: 2024-01-10\n"
    files = [f"{FOLDER}archive/tasks-2024-{month}.md" for month in ("01", "02")]
    for name in files:
        workspace.write(name, archive)
    tasks = workspace.json("tasks", "list", "--section", "archived", now=NOW)["tasks"]
    (digits,) = {task["ref"].partition("#")[2] for task in tasks}
    for scope, code in (("tasks", "archive.ambiguous"), ("archive/tasks-2023-12", "archive.not_found")):
        assert workspace("restore", f"{scope}#{digits}", now=NOW).error == code
    assert workspace("restore", f"archive/tasks-2024-02#{digits}", now=NOW).code == 0
    assert [b"Old" in workspace.read(name) for name in files] == [True, False]


@pytest.mark.parametrize("name", ["knowledge.md", "contacts.md", "monitors.md", "config.md"])
def test_what_is_never_deleted_stays(workspace: Place, name: str) -> None:
    """Knowledge, contacts and monitors are never touched by upkeep, however old."""
    before = workspace.read(FOLDER + name)
    assert workspace("--maintain", "--no-exec", now="2034-03-01T12:00:00Z").code == 0
    assert workspace.read(FOLDER + name) == before
