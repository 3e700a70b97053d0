"""The history of a workspace: entries of every change, undo beside other writers, restoring what is archived."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.errors import ConflictError, NotFoundError
from memory.files import MEMORY_FILES
from memory.files.find import find_entry, find_task
from memory.files.tasks import edits as task_edits
from memory.files.tasks import operations as task_operations
from memory.history.changes import row, views_of
from memory.history.undo import revert_in, undo_in
from memory.maintenance.run import maintain
from memory.workspace import Workspace
from tests.fixture_files import sample
from tests.memory_files import restore
from tests.reviewing import let_agents

NOW = datetime(2024, 1, 15, 12, 0, tzinfo=UTC)


@pytest.fixture
def reopened(tmp_path: Path) -> Callable[[], Workspace]:
    """Return a function that opens the sample files as a new process would."""
    memory = tmp_path / "shop" / ".aiter" / "memory"
    memory.mkdir(parents=True)
    for name in MEMORY_FILES:
        (memory / name).write_bytes(sample(name))
    return lambda: Workspace.open(tmp_path / "shop", state_home=tmp_path / "state", machine_zone=UTC)


@pytest.fixture
def workspace(reopened: Callable[[], Workspace]) -> Workspace:
    """Return the workspace of the sample files, looked at once."""
    made = reopened()
    assert made.notice(NOW) == 0
    return made


def start(workspace: Workspace, ref: str, actor: str = "human") -> str:
    """Start a task and return the id of the change."""
    outcome = workspace.change(
        "start", lambda snapshot: task_operations.start_task(snapshot, ref, now=NOW), actor=actor, now=NOW
    )
    return outcome.change.id


def edit(workspace: Workspace, ref: str, actor: str = "human", at: datetime = NOW, **values: str) -> str:
    """Change fields of a task and return the id of the change."""
    let_agents(workspace.store)
    outcome = workspace.change(
        "edit", lambda snapshot: task_edits.edit_task(snapshot, ref, set=values, now=at), actor=actor, now=at
    )
    return outcome.change.id


def text(workspace: Workspace, name: str = "tasks.md") -> str:
    """Return the text of a file."""
    return (workspace.memory / name).read_text()


def test_a_change_names_its_entries(workspace: Workspace) -> None:
    """A move with new fields is one entry, under its ref, with the fields that differ."""
    ref = find_task(workspace.snapshot(), "Deploy").ref
    record = workspace.store.history.get(start(workspace, "Deploy"))
    assert [(one.ref, one.kind) for one in record.touched] == [(ref, "moved")]
    (view,) = views_of(workspace.store.history, record)
    assert (view.file, view.entry, view.kind, view.section) == ("tasks.md", ref, "moved", "In Progress")
    assert view.moved_from == "Pending"
    assert [key for key, before, after in view.fields if before is None] == ["started", "progress"]
    found = row(record)
    assert {key: found[key] for key in ("file", "entry", "actor", "operation", "undoneBy")} == {
        "file": "tasks.md",
        "entry": ref,
        "actor": "human",
        "operation": "start",
        "undoneBy": None,
    }
    assert found["time"] == "2024-01-15T12:00:00Z"


def test_an_agents_change_of_last_week_is_reverted(workspace: Workspace, reopened) -> None:
    """Whatever happened to other entries since; the revert is a change of who made it."""
    week = NOW - timedelta(days=7)
    removed = find_task(workspace.snapshot(), "Update README").entry.raw
    let_agents(reopened().store)
    outcome = reopened().change(
        "remove",
        lambda snapshot: task_operations.remove_task(snapshot, "Update README", now=week),
        actor="agent:a",
        now=week,
    )
    for hour in range(5):
        edit(reopened(), "Deploy", at=NOW + timedelta(hours=hour), notes=str(hour))
    revert_in(workspace.together, outcome.change.id, actor="human", now=NOW)
    assert find_task(workspace.snapshot(), "Update README").entry.raw.rstrip() == removed.rstrip()
    assert find_task(workspace.snapshot(), "Deploy").fields["notes"] == "4"
    newest, *_ = workspace.store.history.list()
    assert (newest.actor, newest.operation, newest.undoes) == ("human", "revert", outcome.change.id)


def test_an_archived_task_is_restored(workspace: Workspace) -> None:
    """It stands in Completed again with its bytes, is gone from the archive, and both come back by one undo."""
    task = find_task(workspace.snapshot(), "Set up")
    raw = task.entry.raw.rstrip()
    report = maintain(workspace, NOW + timedelta(days=60))
    assert report.change
    archived = find_task(workspace.snapshot(), "Set up", archived=True)
    assert archived.section == "archived"
    name, moved = archived.file, text(workspace, archived.file)
    outcome = restore(workspace, archived.ref, actor="cli", now=NOW)
    back = find_task(workspace.snapshot(), "Set up")
    assert (back.section, back.ref, back.entry.raw.rstrip()) == ("completed", archived.ref, raw)
    assert outcome.ref == back.ref
    assert "Set up" not in text(workspace, name)
    (view,) = [
        view for view in views_of(workspace.store.history, workspace.store.history.list()[0]) if view.entry == back.ref
    ]
    assert (view.kind, view.moved_from) == ("moved", f"{name}: Completed")
    undo_in(workspace.together, actor="human", now=NOW)
    assert text(workspace, name) == moved
    with pytest.raises(NotFoundError) as caught:
        restore(workspace, "no such thing", actor="cli", now=NOW)
    assert caught.value.code == "archive.not_found"


def test_archived_journal_entries_and_plans_are_restored(workspace: Workspace) -> None:
    """An entry goes to its day, which is made where it is gone; a plan to Completed Plans."""
    entries = {entry.ref: entry.entry.raw.rstrip() for entry in workspace.snapshot().journal.entries()}
    plans = {
        plan.ref: plan.entry.raw.rstrip() for plan in workspace.snapshot().plans.items if plan.section == "completed"
    }
    maintain(workspace, NOW + timedelta(days=60))
    assert not workspace.snapshot().journal.entries()
    for ref, raw in entries.items():
        restore(workspace, ref, actor="cli", now=NOW)
        assert find_entry(workspace.snapshot(), ref).entry.raw.rstrip() == raw
    restored = workspace.snapshot().journal.entries()
    assert {entry.ref for entry in restored} == set(entries)
    assert all(not journal.entries() for journal in workspace.snapshot().archived_journals())
    for ref, raw in plans.items():
        restore(workspace, ref, actor="cli", now=NOW)
        assert raw in [
            plan.entry.raw.rstrip() for plan in workspace.snapshot().plans.items if plan.section == "completed"
        ]


def test_a_note_in_the_journal_is_not_what_a_change_was_about(workspace: Workspace) -> None:
    """Where changes of tasks leave a note, the row still names the task, and both go back together."""
    config = workspace.memory / "config.md"
    config.write_text(config.read_text() + "\n## Workspace\n- journalTaskChanges: true\n")
    before = text(workspace, "journal.md")
    record = workspace.store.history.get(start(workspace, "Deploy"))
    assert len(record.paths) == 2
    found = row(record)
    assert (found["file"], found["entry"]) == ("tasks.md", find_task(workspace.snapshot(), "Deploy").ref)
    undo_in(workspace.together, actor="human", now=NOW)
    assert text(workspace, "journal.md") == before


def test_a_taking_back_that_was_taken_back_is_not_taken_back_again(workspace: Workspace) -> None:
    """However often an addition went and came back, no way leads to two of it."""

    def count() -> int:
        return text(workspace).count("### [NORMAL] Only once\n")

    add = workspace.change(
        "add", lambda s: task_operations.add_task(s, "Only once", now=NOW), actor="cli", now=NOW
    ).change
    first = undo_in(workspace.together, actor="cli", now=NOW)
    revert_in(workspace.together, first.id, actor="cli", now=NOW)
    assert count() == 1
    assert workspace.store.history.get(add.id).undone_by is None
    second = undo_in(workspace.together, actor="cli", now=NOW)
    assert count() == 0
    assert workspace.store.history.get(add.id).undone_by == first.id
    revert_in(workspace.together, second.id, actor="cli", now=NOW)
    assert count() == 1
    third = revert_in(workspace.together, add.id, actor="cli", now=NOW)
    again = revert_in(workspace.together, third.id, actor="cli", now=NOW)
    assert count() == 1
    for taken_back in (first, second, third):
        with pytest.raises(ConflictError) as caught:
            revert_in(workspace.together, taken_back.id, actor="cli", now=NOW)
        assert caught.value.code == "change.undone"
    assert count() == 1
    assert workspace.store.history.get(again.id).undone_by is None


def test_what_was_restored_from_the_archive_is_not_put_back_by_a_revert(workspace: Workspace) -> None:
    """Taking back the run that archived an entry, once it was restored, takes the rest back: it stands once."""
    run = maintain(workspace, NOW + timedelta(days=60)).change
    assert run is not None
    workspace.change("add", lambda s: task_operations.add_task(s, "Later", now=NOW), actor="cli", now=NOW)
    restore(workspace, "Set up", actor="cli", now=NOW)
    revert_in(workspace.together, run, actor="cli", now=NOW)
    assert [text(workspace).count(title) for title in ("Set up", "Later")] == [1, 1]
    assert "Set up" not in b"".join(path.read_bytes() for path in workspace.memory.glob("archive/*.md")).decode()


def test_a_change_of_which_one_file_went_back_is_refused_as_a_whole(workspace: Workspace, reopened) -> None:
    """Somebody took the archive's part of a run back by hand; the part of the tasks does not go back alone."""
    archive = workspace.memory / "archive"
    archive.mkdir()
    name = "tasks-2024-01.md"
    (archive / name).write_text("## Completed\n\n### [LOW] Older\n- completed: 2024-01-02\n")
    before = (archive / name).read_bytes()
    workspace.notice(NOW)
    run = maintain(workspace, NOW + timedelta(days=20)).change
    assert run is not None
    assert (archive / name).read_bytes() != before
    (archive / name).write_bytes(before)
    workspace.change("add", lambda s: task_operations.add_task(s, "Later", now=NOW), actor="cli", now=NOW)
    tasks = text(workspace)
    with pytest.raises(ConflictError) as caught:
        revert_in(reopened().together, run, actor="cli", now=NOW)
    assert caught.value.code == "document.conflict"
    assert text(workspace) == tasks
    assert (archive / name).read_bytes() == before
