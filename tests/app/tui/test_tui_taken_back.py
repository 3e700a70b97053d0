"""What another program's save took back, in the application: said everywhere, brought back by one key."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.files.tasks.edits import add_task
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, make_workspace, press, running, settle
from tests.widgets.harness import screen_text

TASKS = "## Pending\n\n### [LOW] Old\n"
THEIRS = "## Pending\n\n### [NORMAL] Theirs\n"


def stale(folder: Path, config: str = "") -> Workspace:
    """A workspace in which a task of ours is about to be taken back; `save` does it."""
    workspace = make_workspace(folder, {"tasks.md": TASKS, "config.md": f"## Workspace\n{config}"})
    workspace.notice(NOW)
    workspace.change("add", lambda snapshot: add_task(snapshot, "Ours", now=NOW), actor="human", now=NOW)
    return workspace


def save(workspace: Workspace) -> None:
    """Save the older copy with an entry of the other program's own."""
    (workspace.memory / "tasks.md").write_text(TASKS.replace("## Pending\n", THEIRS))


def titles(workspace: Workspace) -> list[str]:
    """The titles of all tasks."""
    return sorted(task.title for task in workspace.snapshot().tasks)


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 10)])
async def test_one_key_brings_it_back(tmp_path: Path, size: tuple[int, int]) -> None:
    """Header, message and brief say it at once, while the pane is open, and `B` brings it back."""
    workspace = stale(tmp_path)
    app = make_app(workspace)
    async with running(app, size) as pilot:
        await press(pilot, "2")
        save(workspace)
        app.refresher.request()
        await settle(pilot)
        assert "1 taken back" in screen_text(app)
        assert any("'Ours' in tasks.md" in note.message for note in app._notifications)
        await press(pilot, "1")
        assert "Ours  in" in screen_text(app)
        await press(pilot, "B")
        assert titles(workspace) == ["Old", "Ours", "Theirs"]
        assert "taken back" not in screen_text(app)


async def test_it_can_be_left_as_it_is(tmp_path: Path) -> None:
    """`x` on its row asks, and then nothing reminds of it; the file stays."""
    workspace = stale(tmp_path)
    save(workspace)
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "1", "x")
        assert "Leave it as the other program saved it?" in screen_text(app)
        await press(pilot, "y")
        assert "taken back" not in screen_text(app)
        assert titles(workspace) == ["Old", "Theirs"]


async def test_it_comes_back_by_itself_where_that_was_chosen(tmp_path: Path) -> None:
    """With `reapplyUndone: true` the application brings it back and says so."""
    workspace = stale(tmp_path, "- reapplyUndone: true\n")
    save(workspace)
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "2")
        await settle(pilot)
        assert titles(workspace) == ["Old", "Ours", "Theirs"]
        assert "taken back" not in screen_text(app)


async def test_in_changes_the_key_means_the_row(tmp_path: Path) -> None:
    """`B` and `X` on the save in Changes bring back what it took, not what it added."""
    workspace = stale(tmp_path)
    save(workspace)
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "0", "g", "g", "X")
        assert titles(workspace) == ["Old", "Ours", "Theirs"]
