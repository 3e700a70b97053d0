"""The list of memory systems, and what the first of them does."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from memory.files.snapshot import MEMORY_FILES
from memory.systems import systems_of
from memory.workspace import Workspace
from tests.fixture_files import sample

NOW = datetime(2024, 1, 15, 12, 0, tzinfo=UTC)


def workspace(folder: Path) -> Workspace:
    """Return a workspace with the sample files."""
    files = {name: sample(name).decode() for name in MEMORY_FILES}
    return Workspace.init(folder, NOW, actor="cli", machine_zone=UTC, files=files)[0]


def test_a_workspace_holds_the_memory_files(tmp_path: Path) -> None:
    """The first system is there as soon as its folder is."""
    assert [system.name for system in systems_of(workspace(tmp_path))] == ["files"]
    assert systems_of(Workspace(tmp_path / "elsewhere", state_home=None)) == ()


def test_every_system_can_be_asked_the_same(tmp_path: Path) -> None:
    """Check, maintenance, records and status answer without knowing which system it is."""
    for system in systems_of(workspace(tmp_path)):
        assert [problem for problem in system.check() if problem.level == "error"] == []
        assert system.maintain(NOW, actor="maintain", dry_run=True).dry_run
        assert "Deploy v2.1 to staging" in {record.title for record in system.records()}
        assert system.status(NOW)["in_progress"] == 1
