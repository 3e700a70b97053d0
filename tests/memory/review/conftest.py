"""A workspace with entries of every kind that a person wrote, and an agent that changes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memory.errors import BlockedError
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot
from memory.workspace import Outcome, Workspace
from tests.desks import AGENT, NOW, make_workspace

Build = Callable[[Snapshot], Edit]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return a workspace with all systems."""
    return Workspace.open(make_workspace(tmp_path), state_home=tmp_path / "records")


def allowed(workspace: Workspace, build: Build, actor: str = AGENT) -> Outcome:
    """Make a change in an agent's name that has to be made at once."""
    outcome = workspace.change("tasks.edit", build, actor=actor, now=NOW)
    assert outcome.change.files
    return outcome


def held(workspace: Workspace, build: Build, actor: str = AGENT) -> BlockedError:
    """Make a change in an agent's name that has to wait, and return what the agent is told."""
    with pytest.raises(BlockedError, match="is pending") as caught:
        workspace.change("tasks.edit", build, actor=actor, now=NOW)
    assert caught.value.code == "review.waiting"
    return caught.value
