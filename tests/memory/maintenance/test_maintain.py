"""Whole runs on real files: what is written, what is left alone, and when nothing is written at all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from memory.document import Document
from memory.errors import MemdeckError, RefusedError
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot
from memory.maintenance.plan import plan_maintenance
from memory.maintenance.rules import ALL_RULES, JOURNAL_RULES, TASK_RULES
from memory.maintenance.run import checked, maintain
from memory.workspace import Workspace
from tests.memory.maintenance.maintenance_files import (
    JOURNAL,
    NOW,
    TASKS,
    contents,
    day,
    make,
    task,
    titles,
)

OLD_TASKS = TASKS + task("new", "2024-01-14") + task("old", "2024-01-02 09:00") + task("older", "2023-12-30")
OLD_JOURNAL = JOURNAL + day("2024-01-15", "10:00 — now") + day("2023-12-01", "10:00 — a", "09:00 — b")
PLANS = "## Active Plans\n\n## Completed Plans\n\n### Shop\n- status: completed\n- completed: 2024-01-12 10:00\n"
FILES = {"tasks.md": OLD_TASKS, "journal.md": OLD_JOURNAL, "orchestration.md": PLANS}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return a workspace in which every rule but the cap has something to do."""
    return make(tmp_path, FILES)


def test_the_rules_can_be_chosen(workspace: Workspace) -> None:
    """Tasks alone, or the journal alone: the other files stay as they are."""
    before = contents(workspace)
    report = maintain(workspace, NOW, rules=TASK_RULES)
    assert [rule.rule for rule in report.rules] == list(TASK_RULES)
    assert contents(workspace)["journal.md"] == before["journal.md"]
    report = maintain(workspace, NOW, rules=JOURNAL_RULES)
    assert [rule.rule for rule in report.rules] == list(JOURNAL_RULES)
    assert contents(workspace)["orchestration.md"] == before["orchestration.md"]
    with pytest.raises(ValueError, match="no such rule"):
        maintain(workspace, NOW, rules=("empty-everything",))


def test_the_zone_of_the_workspace_counts(tmp_path: Path) -> None:
    """`timezone` in config.md decides when a day is over, else the machine's zone does."""
    tasks = TASKS + task("a", "2024-01-08")
    late = datetime(2024, 1, 15, 23, 30, tzinfo=UTC)
    config = "## Workspace\n- timezone: Europe/Berlin\n"
    assert maintain(make(tmp_path / "1", {"tasks.md": tasks}), late).moved == 0
    assert maintain(make(tmp_path / "2", {"tasks.md": tasks, "config.md": config}), late).moved == 1
    assert maintain(make(tmp_path / "3", {"tasks.md": tasks}, ZoneInfo("Europe/Berlin")), late).moved == 1


def test_a_section_that_was_empty_before_stays(tmp_path: Path) -> None:
    """Only a date that a run empties goes; one that somebody left empty is not the run's to remove."""
    workspace = make(tmp_path, {"journal.md": "## 2023-11-02\n\n## 2023-11-01\n\n### b\n- 2\n"})
    maintain(workspace, NOW)
    assert contents(workspace)["journal.md"] == b"## 2023-11-02\n\n"


def test_an_archive_with_an_open_fence_gets_nothing(tmp_path: Path) -> None:
    """Entries of that month stay with the reason, others move, and a warning says what to do."""
    shut = "## Completed\n\n### x\n```\n"
    workspace = make(tmp_path, {**FILES, "archive/tasks-2024-01.md": shut})
    report = maintain(workspace, NOW)
    found = contents(workspace)
    assert found["archive/tasks-2024-01.md"] == shut.encode()
    assert titles(found["tasks.md"]) == ["[NORMAL] new", "[NORMAL] old"]
    assert titles(found["archive/tasks-2023-12.md"]) == ["[NORMAL] older"]
    assert [skip.title for skip in report.rules[0].skipped] == ["old"]
    assert len(report.warnings) == 1
    assert "archive/tasks-2024-01.md" in report.warnings[0]


def test_an_archive_that_is_a_link_stops_the_run(workspace: Workspace, tmp_path: Path) -> None:
    """A link in place of an archive, out of the workspace or inside it, is an error, and nothing is written."""
    archive = workspace.memory / "archive"
    archive.mkdir()
    (tmp_path / "away.md").write_text("## Completed\n")
    (workspace.root / "mine.md").write_text("## Completed\n")
    for target in (tmp_path / "away.md", workspace.root / "mine.md"):
        (archive / "tasks-2024-01.md").symlink_to(target)
        before = {name: (workspace.memory / name).read_bytes() for name in FILES}
        with pytest.raises(RefusedError):
            maintain(workspace, NOW)
        assert {name: (workspace.memory / name).read_bytes() for name in FILES} == before
        assert target.read_text() == "## Completed\n"
        (archive / "tasks-2024-01.md").unlink()
    assert list(archive.iterdir()) == []


def test_an_archive_that_cannot_be_read_stops_the_run(workspace: Workspace) -> None:
    """A folder in place of an archive is an error, and nothing is written."""
    (workspace.memory / "archive" / "journal-2023-12.md").mkdir(parents=True)
    before = contents_of_files(workspace)
    with pytest.raises(MemdeckError):
        maintain(workspace, NOW)
    assert contents_of_files(workspace) == before


def contents_of_files(workspace: Workspace) -> dict[str, bytes]:
    """Return the bytes of the three files that rules empty."""
    return {name: (workspace.memory / name).read_bytes() for name in FILES}


def test_line_ends_of_both_sides_stay(tmp_path: Path) -> None:
    """Entries keep their line ends in an archive of other ones, also without a last one, with BOM and odd bytes."""
    tasks = OLD_TASKS.replace("\n", "\r\n").encode().rstrip() + b"\r\n- odd: \xff\x00"
    workspace = make(
        tmp_path, {"tasks.md": b"\xef\xbb\xbf" + tasks, "archive/tasks-2023-12.md": "## Completed\n\n### x"}
    )
    maintain(workspace, NOW)
    found = contents(workspace)
    moved = b"### [NORMAL] older\r\n- completed: 2023-12-30\r\n- odd: \xff\x00\n"
    assert found["archive/tasks-2023-12.md"] == b"## Completed\n\n### x\n\n" + moved
    assert found["archive/tasks-2024-01.md"].count(b"\n") == found["archive/tasks-2024-01.md"].count(b"\r\n")
    assert found["tasks.md"].startswith(b"\xef\xbb\xbf---\r\n")


def test_the_clock_that_jumped_back(workspace: Workspace) -> None:
    """More than a day before the last recorded run the run only looks and warns, unless it is forced."""
    maintain(workspace, NOW, rules=ALL_RULES)
    assert workspace.state is not None
    assert workspace.state.last_maintenance() == NOW
    (workspace.memory / "tasks.md").write_text(OLD_TASKS)
    before = contents(workspace)
    early = NOW - timedelta(days=1, seconds=1)
    report = maintain(workspace, early)
    assert report.dry_run
    assert "--force" in report.warnings[0]
    assert contents(workspace) == before
    assert workspace.state.last_maintenance() == NOW
    assert not maintain(workspace, NOW - timedelta(days=1), dry_run=False).dry_run
    assert titles(contents(workspace)["tasks.md"]) == ["[NORMAL] new"]


def test_a_wrong_date_in_an_entry_is_no_jump(tmp_path: Path) -> None:
    """Entries dated in the far future stay, and the run goes on."""
    tasks = OLD_TASKS + task("far", "2999-01-01")
    workspace = make(tmp_path, {**FILES, "tasks.md": tasks, "journal.md": OLD_JOURNAL + day("2999-01-01", "z")})
    for _ in range(2):
        report = maintain(workspace, NOW)
        assert not report.dry_run
        assert report.warnings == ()
    assert {skip.title for rule in report.rules for skip in rule.skipped} == {"far", "z"}


def test_a_lost_entry_stops_the_run(workspace: Workspace) -> None:
    """When a plan would lose an entry the second reader refuses it, with exit 1, and nothing is written."""
    before = contents(workspace)

    def build(snapshot: Snapshot) -> Edit:
        plan = plan_maintenance(snapshot, NOW)
        documents: dict[str, Document] = dict(plan.documents)
        name = "archive/tasks-2024-01.md"
        documents[name] = documents[name].remove_entry(0, 0)
        return Edit(checked(plan._replace(documents=documents), NOW), "")

    with pytest.raises(MemdeckError) as caught:
        workspace.change("maintain", build, actor="maintain", now=NOW)
    assert caught.value.code == "maintenance.unbalanced"
    assert caught.value.exit_code == 1
    assert "old" in caught.value.message
    assert contents(workspace) == before
