"""A crash in maintenance, and `git clean` or a fresh copy behind it: the stage folder is gone, the record is not."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.maintenance.run import maintain
from memory.storage.journal import Journal
from memory.workspace import Workspace

NOW = datetime(2024, 6, 1, 12, 0, tzinfo=UTC)
LINE = b"### [NORMAL] Old one\n"
TASKS = b"---\ntype: task-list\n---\n## Pending\n\n## Completed\n\n" + LINE + b"- completed: 2024-01-02\n"


class Crash(BaseException):
    """The process ends here."""


def _open(place: Path) -> Workspace:
    return Workspace.open(place, state_home=place.parent / "state", machine_zone=UTC)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return the folder of a workspace with one task to archive."""
    place = Workspace.init(tmp_path / "shop", NOW, actor="cli", state_home=tmp_path / "state")[0].root
    (place / ".aiter/memory/tasks.md").write_bytes(TASKS)
    return place


def _copies(place: Path) -> int:
    return sum(path.read_bytes().count(LINE) for path in (place / ".aiter/memory").rglob("*.md"))


@pytest.mark.parametrize("archive", [b"", b"## Completed\n"], ids=["new archive", "old archive"])
@pytest.mark.parametrize("saved", ["appended", "removed", "left"])
def test_recovery_without_the_stage_folder_takes_no_archive_back(
    place: Path, monkeypatch: pytest.MonkeyPatch, archive: bytes, saved: str
) -> None:
    """Where nobody can tell whether the file had lost its entries already, the archive keeps what it got."""
    memory = place / ".aiter/memory"
    if archive:
        (memory / "archive").mkdir(exist_ok=True)
        (memory / "archive/tasks-2024-01.md").write_bytes(archive)

    def ends(_self: Journal, *, durable: bool) -> None:
        raise Crash(durable)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "end", ends)
        with pytest.raises(Crash):
            maintain(_open(place), NOW)
    assert _copies(place) == 1
    shutil.rmtree(place / ".aiter/.memdeck")
    tasks = memory / "tasks.md"
    if saved == "appended":
        tasks.write_bytes(tasks.read_bytes() + b"\n### [NORMAL] New one\n")
    elif saved == "removed":
        tasks.unlink()
    maintain(_open(place), NOW + timedelta(hours=1))
    assert _copies(place) == 1
