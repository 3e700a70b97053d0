"""Secrets are told when they are written and found by a check; what was found is shown nowhere."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.files.check import check_files
from memory.files.tasks.operations import add_task, done_task
from memory.workspace import Workspace

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
SECRET = "hunter2"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return a workspace made from the templates."""
    return Workspace.init(tmp_path / "shop", NOW, actor="cli", state_home=tmp_path / "state", machine_zone=UTC)[0]


def test_writing_one_is_told(workspace: Workspace) -> None:
    """The change is made, and the sentence names file, line and kind, never the secret."""
    outcome = workspace.change(
        "tasks.add",
        lambda snapshot: add_task(snapshot, "Log in", notes=f"password: {SECRET}", now=NOW),
        actor="cli",
        now=NOW,
    )
    (said,) = outcome.secrets
    name, line = said.split(" ")[0].split(":")
    assert SECRET in (workspace.memory / name).read_text().splitlines()[int(line) - 1]
    assert SECRET not in said
    assert "password or token" in said
    (problem,) = [one for one in check_files(workspace.snapshot()) if one.code == "secret.found"]
    assert (problem.level, problem.file, problem.line) == ("warning", "tasks.md", int(line))
    assert SECRET not in problem.message


def test_only_what_is_new_is_told(workspace: Workspace) -> None:
    """Moving an entry, or changing another one, says nothing again."""
    workspace.change(
        "tasks.add",
        lambda snapshot: add_task(snapshot, "Log in", notes=f"password: {SECRET}", now=NOW),
        actor="cli",
        now=NOW,
    )
    moved = workspace.change(
        "tasks.done", lambda snapshot: done_task(snapshot, "Log in", outcome=None, now=NOW), actor="cli", now=NOW
    )
    assert moved.change.files
    assert moved.secrets == ()
    other = workspace.change("tasks.add", lambda snapshot: add_task(snapshot, "Other", now=NOW), actor="cli", now=NOW)
    assert other.secrets == ()
