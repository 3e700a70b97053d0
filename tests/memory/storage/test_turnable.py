"""Whether there is something to undo or to redo, as undo and redo themselves find it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory.files.tasks.edits import add_task
from memory.workspace import Workspace

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)


def test_what_can_be_turned_follows_changes(tmp_path: Path) -> None:
    """Nothing in a new workspace or by the changes of others; undo and redo take turns, and a new change ends redo."""
    workspace = Workspace.init(
        tmp_path / "shop", NOW, actor="human", state_home=tmp_path / "state", machine_zone=UTC, files={}
    )[0]
    history = workspace.store.history
    moments = iter(NOW + timedelta(minutes=minute) for minute in range(1, 20))

    def add(title: str, actor: str) -> None:
        now = next(moments)
        workspace.change("tasks.add", lambda snapshot: add_task(snapshot, title, now=now), actor=actor, now=now)

    assert history.undo_and_redo_available("human") == (False, False)
    add("Theirs", "agent")
    assert history.undo_and_redo_available("human") == (False, False)
    assert history.undo_and_redo_available("agent") == (True, False)
    add("Mine", "human")
    assert history.undo_and_redo_available("human") == (True, False)
    workspace.undo(actor="human", now=next(moments))
    assert history.undo_and_redo_available("human") == (False, True)
    workspace.redo(actor="human", now=next(moments))
    assert history.undo_and_redo_available("human") == (True, False)
    workspace.undo(actor="human", now=next(moments))
    add("Again", "human")
    assert history.undo_and_redo_available("human") == (True, False)
