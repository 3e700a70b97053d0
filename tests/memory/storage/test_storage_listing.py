"""Listings by pages, the state that a listing depends on, names through renames, and rehearsals that write nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.document import Entry
from memory.errors import ConflictError
from memory.files.tasks.edits import edit_task
from memory.files.tasks.operations import add_task
from memory.files.versions.merging import open_entry
from memory.history.changes import rehearse_revert
from memory.history.undo import revert_in
from memory.storage.merging import Written, taking_each
from memory.workspace import Workspace
from tests.reviewing import let_agents

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace with one task."""
    made, _ = Workspace.init(tmp_path / "shop", NOW, actor="test", state_home=tmp_path / "state", machine_zone=UTC)
    made.change("tasks.add", lambda look: add_task(look, "Deploy", notes="first", now=NOW), actor="cli", now=NOW)
    return made


def ref_of(workspace: Workspace) -> str:
    """The ref of the task."""
    (task,) = workspace.snapshot().tasks.items
    return task.ref


def edit(workspace: Workspace, actor: str = "agent:x", **fields: str) -> str:
    """Edit the task and return the id of the change."""
    let_agents(workspace.store)
    ref = ref_of(workspace)
    outcome = workspace.change(
        "tasks.edit", lambda look: edit_task(look, ref, set=fields, now=NOW), actor=actor, now=NOW
    )
    return outcome.change.id


def test_pages_join_to_the_whole_list(workspace: Workspace) -> None:
    """Pages that go on from the last place give every change once, in the order of the whole list."""
    for number in range(7):
        edit(workspace, notes=str(number))
    whole = workspace.store.history.list()
    pages: list[str] = []
    before = None
    while page := workspace.store.history.list(limit=2, before=before):
        pages += [one.id for one in page]
        before = page[-1].seq
    assert pages == [one.id for one in whole]


def test_an_entry_is_followed_to_its_newest_name(workspace: Workspace) -> None:
    """A ref leads to the one that the entry has after two renames; one that was never renamed leads nowhere."""
    old = ref_of(workspace)
    edit(workspace, title="Deploy v2")
    edit(workspace, title="Deploy v3")
    assert workspace.store.history.newer_name(old) == ref_of(workspace)
    assert workspace.store.history.newer_name(ref_of(workspace)) is None


def test_a_rehearsal_says_what_a_revert_does_and_writes_nothing(workspace: Workspace) -> None:
    """The views of a rehearsal are those of the revert that follows; until then files and log are as before."""
    change = edit(workspace, assigned="Alice")
    workspace.change("tasks.add", lambda look: add_task(look, "Newer", now=NOW), actor="cli", now=NOW)
    before = (workspace.memory / "tasks.md").read_bytes()
    state = workspace.store.history.state()
    _, (view,) = rehearse_revert(workspace.together, change, NOW)
    assert (view.kind, view.fields) == ("edited", (("assigned", "Alice", None),))
    assert (workspace.memory / "tasks.md").read_bytes() == before
    assert workspace.store.history.state() == state
    revert_in(workspace.together, change, actor="human", now=NOW)
    assert b"Alice" not in (workspace.memory / "tasks.md").read_bytes()
    with pytest.raises(ConflictError, match="already reverted"):
        rehearse_revert(workspace.together, change, NOW)


def test_a_refused_revert_can_be_settled_in_part(workspace: Workspace) -> None:
    """What somebody touched since is a difference with three sides; the rest of the change goes back by itself."""
    change = edit(workspace, assigned="Alice", notes="by the agent")
    edit(workspace, "cli", assigned="Bob")
    merged, _ = rehearse_revert(workspace.together, change, NOW)
    (clash,) = merged.clashes
    assert (clash.conflict.field, clash.conflict.theirs) == ("assigned", "- assigned: Bob")
    with pytest.raises(ConflictError):
        revert_in(workspace.together, change, actor="human", now=NOW)
    for choice, assigned in (("file", "Bob"), (Written("Carol"), "Carol"), ("before", "Alice"), ("proposal", None)):
        done = revert_in(
            workspace.store.together, change, actor="human", now=NOW, take=taking_each({clash.key: choice})
        )
        (task,) = workspace.snapshot().tasks.items
        assert (task.assigned, task.notes) == (assigned, "first")
        revert_in(workspace.together, done.id, actor="human", now=NOW)


SIDES = [
    ("- a: 1\n- b: 1\n", "- a: 2\n- b: 2\n", "- a: 3\n- b: 1\n", ["9"], "- a: 9\n- b: 2\n"),
    ("- a: 1\n", "- a: 2\n", "", ["2"], "- a: 2\n"),
    ("- a: 1\n- b: 1\n", "- b: 1\n", "- a: 3\n- b: 1\n", [None], "- b: 1\n"),
    ("one\n", "two\n", "three\n", ["four"], "four\n"),
]


@pytest.mark.parametrize(("base", "ours", "theirs", "answers", "wanted"), SIDES)
def test_answers_take_their_places(base: str, ours: str, theirs: str, answers: list[str | None], wanted: str) -> None:
    """An answer for each difference gives the entry that has it, and what did not differ from both sides."""
    merge = open_entry(*[Entry.from_text(f"### Title\n{body}") for body in (base, ours, theirs)])
    assert merge.settled(answers).text == f"### Title\n{wanted}"
