"""The list of memory systems, and what the first of them does."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from memory.files import MEMORY_FILES
from memory.maintenance import Report
from memory.systems import check_all, maintain_all, records_of_all
from memory.workspace import Workspace
from tests.fixture_files import sample

NOW = datetime(2024, 1, 15, 12, 0, tzinfo=UTC)


def workspace(folder: Path) -> Workspace:
    """Return a workspace with the sample files."""
    files = {name: sample(name).decode() for name in MEMORY_FILES}
    return Workspace.init(folder, NOW, actor="cli", machine_zone=UTC, files=files)[0]


def test_a_workspace_holds_the_memory_files(tmp_path: Path) -> None:
    """The first system is there as soon as its folder is."""
    assert [system.name for system in workspace(tmp_path).systems()] == ["files"]
    assert Workspace(tmp_path / "elsewhere", state_home=None).systems() == ()


def test_every_system_can_be_asked_the_same(tmp_path: Path) -> None:
    """Check, maintenance, records and status answer without knowing which system it is."""
    for system in workspace(tmp_path).systems():
        assert [problem for problem in system.check() if problem.level == "error"] == []
        assert system.maintain(NOW, actor="maintain", dry_run=True).dry_run
        assert "Deploy v2.1 to staging" in {record.title for record in system.records()}
        assert system.status(NOW)["in_progress"] == 1


def test_faces_go_over_all_systems(tmp_path: Path) -> None:
    """What check, search and maintenance show is what the systems say, in their order."""
    place = workspace(tmp_path)
    assert check_all(place) == tuple(problem for system in place.systems() for problem in system.check())
    assert {record.kind for record in records_of_all(place, ("tasks",))} == {"tasks"}
    report = maintain_all(place, NOW, actor="maintain", dry_run=True)
    assert report.rules[0].rule == "archive-completed-tasks"


def test_reports_join(tmp_path: Path) -> None:
    """Two reports become one: rules and warnings in order, durations added, off balance if one is."""
    one = maintain_all(workspace(tmp_path), NOW, actor="maintain", dry_run=True)
    other = Report(False, NOW, one.rules[:1], ("slow",), 2.0, balanced=False, change="01")
    both = Report.joined([one, other])
    assert both.rules == one.rules + one.rules[:1]
    assert (both.dry_run, both.warnings, both.balanced, both.change) == (True, ("slow",), False, "01")
    assert both.duration_ms == one.duration_ms + 2.0
