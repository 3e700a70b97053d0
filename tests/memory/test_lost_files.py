"""Memory files that are gone or empty: told from files that never were, counted, and brought back byte for byte."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.facts import FactStore
from memory.files import MEMORY_FILES
from memory.files.tasks.operations import add_task
from memory.history.outside import lost_files
from memory.history.undo import revert_in
from memory.systems import check_all
from memory.workspace import Workspace
from tests.fixture_files import sample

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
HELD = {
    "tasks.md": "5 tasks",
    "journal.md": "5 entries",
    "knowledge.md": "30 lines",
    "contacts.md": "19 lines",
    "orchestration.md": "2 plans",
    "monitors.md": "3 monitors",
    "config.md": "20 lines",
}


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count what is gone or empty at once: nobody can make the time of a change older than it is."""
    monkeypatch.setattr("memory.storage.log.PASSING", 0)


def workspace_in(folder: Path) -> Workspace:
    """A workspace with the format's own sample files, which were looked at once."""
    files = {name: sample(name).decode() for name in MEMORY_FILES}
    made = Workspace.init(
        folder / "shop", NOW, actor="test", state_home=folder / "state", machine_zone=UTC, files=files
    )
    made[0].notice(NOW)
    return made[0]


def lose(workspace: Workspace, name: str, data: bytes | None) -> bytes:
    """Let another program leave a file with these bytes, or without it; return what it held."""
    path = workspace.memory / name
    before = path.read_bytes()
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)
    return before


@pytest.mark.parametrize("name", MEMORY_FILES)
@pytest.mark.parametrize("data", [None, b"", b"\n  \n"], ids=["gone", "empty", "blank"])
def test_a_lost_file_is_told_and_comes_back(tmp_path: Path, name: str, data: bytes | None) -> None:
    """At once as an error of `check`, once noticed with the change that brings its very bytes back."""
    with workspace_in(tmp_path) as workspace:
        before = lose(workspace, name, data)
        (fresh,) = lost_files(workspace)
        assert (fresh.name, fresh.empty, fresh.held, fresh.change) == (name, data is not None, HELD[name], None)
        workspace.notice(LATER)
        (lost,) = lost_files(workspace)
        assert (lost.held, lost.time) == (HELD[name], LATER)
        assert (
            lost.sentence("11:30") == f"{name} is {'gone' if data is None else 'empty'} since 11:30, {HELD[name]} in it"
        )
        problem = check_all(workspace)[0]
        assert (problem.level, problem.file, problem.code) == (
            "error",
            name,
            "file.gone" if data is None else "file.empty",
        )
        revert_in(workspace.together, lost.change or "", actor="human", now=LATER)
        assert (workspace.memory / name).read_bytes() == before
        assert lost_files(workspace) == ()


def test_a_file_that_was_made_anew_gets_the_old_entries_beside_the_new(tmp_path: Path) -> None:
    """It is no longer gone; reverting the change that took it adds what it held."""
    with workspace_in(tmp_path) as workspace:
        lose(workspace, "tasks.md", b"")
        workspace.notice(NOW)
        (lost,) = lost_files(workspace)
        workspace.change("add", lambda s: add_task(s, "New", now=LATER), actor="cli", now=LATER)
        assert lost_files(workspace) == ()
        revert_in(workspace.together, lost.change or "", actor="cli", now=LATER)
        assert len(workspace.snapshot().tasks) == 6


def test_facts_and_an_aidefile_are_told_too(tmp_path: Path) -> None:
    """The files of other systems that are there for good."""
    with workspace_in(tmp_path) as workspace:
        store: FactStore = workspace.system("facts").store
        store.store("The first fact is here", actor="cli", now=NOW)
        workspace.notice(NOW)
        path = workspace.root / ".aegis/memory/memories.jsonl"
        before = path.read_bytes()
        path.write_bytes(b"")
        workspace.notice(NOW)
        (lost,) = lost_files(workspace)
        assert (lost.name, lost.held, lost.empty) == (".aegis/memory/memories.jsonl", "1 line", True)
        assert lost.change is not None
        revert_in(workspace.together, lost.change, actor="cli", now=LATER)
        assert path.read_bytes() == before
        assert os.stat(path).st_size > 0
