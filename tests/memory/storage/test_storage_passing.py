"""A file that another program is in the midst of writing is waited for: nobody plans a change on half of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.files.tasks import operations as task_operations
from memory.workspace import Workspace
from tests.patience import Stopwatch, join, until

NOW = datetime(2024, 1, 16, 10, 0, tzinfo=UTC)


def _add(workspace: Workspace, title: str) -> None:
    workspace.change("add", lambda s: task_operations.add_task(s, title, now=NOW), actor="cli", now=NOW)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Make a workspace with two tasks, which the history knows."""
    made, _ = Workspace.init(tmp_path / "shop", NOW, actor="cli", state_home=tmp_path / "state", machine_zone=UTC)
    _add(made, "First")
    _add(made, "Second")
    return made


def _half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


@pytest.mark.parametrize("pass_through", [Path.unlink, _half, _cut, lambda path: path.write_bytes(b"")])
def test_a_change_waits_for_the_rest(workspace: Workspace, pass_through: Callable[[Path], object]) -> None:
    """Another program leaves half a file, or none, and completes it a moment later: both sides are there."""
    path = workspace.memory / "tasks.md"
    whole = path.read_text()
    pass_through(path)

    def complete() -> None:
        with (workspace.store.folder / "lock").open() as lock:
            # The change is under way once its holder is written there.
            until(lambda: lock.seek(0) or lock.read())
        path.write_text(whole.replace("## In Progress", "### [LOW] Theirs\n- created: 2024-01-16\n\n## In Progress"))

    other = threading.Thread(target=complete)
    other.start()
    _add(workspace, "Third")
    join(other)
    text = path.read_text()
    assert [title for title in ("First", "Second", "Third", "Theirs") if title not in text] == []


def test_a_file_that_stays_away_is_given_up(workspace: Workspace) -> None:
    """Nobody waits longer than the patience; a file that was removed for good is made anew."""
    workspace.store.patience = 0.1
    path = workspace.memory / "tasks.md"
    path.unlink()
    watch = Stopwatch()
    _add(workspace, "Third")
    assert watch.seconds() < 5
    assert "Third" in path.read_text()
    assert "First" not in path.read_text()


def test_who_cuts_a_file_long_ago_is_believed(workspace: Workspace) -> None:
    """A file that is shorter since longer than the patience is what somebody wanted."""
    workspace.store.patience = 0.2
    path = workspace.memory / "tasks.md"
    _cut(path)
    time.sleep(0.25)  # The age of the file is what is tested.
    assert not workspace.store.history.passing(".aiter/memory/tasks.md", workspace.store.read("memory/tasks.md"), 0.2)
