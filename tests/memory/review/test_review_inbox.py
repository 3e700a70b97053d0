"""What waits for a person: accepted, edited, rejected, also where the files moved on or a process was killed."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from memory.errors import ConflictError, MemdeckError, NotFoundError, RefusedError
from memory.files.find import find_task
from memory.files.tasks import edits as task_edits
from memory.files.tasks import operations as task_operations
from memory.history.undo import redo_in, undo_in
from memory.review import proposals
from memory.review.inbox import Inbox
from memory.storage.merging import taking
from memory.systems.entries import EntryAccess
from memory.workspace import Workspace
from tests.desks import AGENT, NOW
from tests.patience import join

from .conftest import held

TASK = "Deploy v2.1"


def _remove(workspace: Workspace, title: str = TASK) -> str:
    return str(held(workspace, lambda look: task_operations.remove_task(look, title, now=NOW)).details["proposal"])


def _set(workspace: Workspace, actor: str = "human", **values: str) -> None:
    workspace.change("edit", lambda look: task_edits.edit_task(look, TASK, set=values, now=NOW), actor=actor, now=NOW)


def _propose(workspace: Workspace, **values: str) -> str:
    return str(held(workspace, lambda look: task_edits.edit_task(look, TASK, set=values, now=NOW)).details["proposal"])


def test_what_is_accepted_is_one_change_of_the_agent_with_the_reviewer(workspace: Workspace) -> None:
    """The log has it under the agent's name, with who accepted it, and the person's undo takes it back."""
    before = (workspace.memory / "tasks.md").read_bytes()
    number = _remove(workspace)
    inbox = Inbox(workspace.together)
    (waiting,) = inbox.list()
    assert waiting.row()["ref"] == find_task(workspace.snapshot(), TASK).ref
    change = inbox.accept(number[:16], reviewer="human", now=NOW)
    assert TASK not in (workspace.memory / "tasks.md").read_text()
    record = workspace.store.history.get(change.id)
    assert (record.actor, record.reviewer, record.proposal) == (AGENT, "human", number)
    told = inbox.get(number).row()
    assert (told["state"], told["decidedBy"], told["change"]) == ("accepted", "human", change.id)
    assert inbox.list() == ()
    assert inbox.judged(inbox.get(number), NOW).views == ()
    undo_in(workspace.together, actor="cli", now=NOW)
    assert (workspace.memory / "tasks.md").read_bytes() == before
    redo_in(workspace.together, actor="human", now=NOW)
    assert TASK not in (workspace.memory / "tasks.md").read_text()


def test_what_was_rejected_waits_again_until_an_equal_one_does(workspace: Workspace) -> None:
    """Reopened, it can be accepted as before; it cannot be reopened once accepted, or beside an equal one."""
    inbox, number = Inbox(workspace.together), _remove(workspace)
    inbox.reject(number, reviewer="human", now=NOW, note="no")
    again = inbox.reopen(number)
    assert (again.state, again.decided_by, again.note) == ("waiting", None, "")
    inbox.reject(number, reviewer="human", now=NOW)
    other = _remove(workspace)
    with pytest.raises(ConflictError):
        inbox.reopen(number)
    inbox.accept(other, reviewer="human", now=NOW)
    assert TASK not in (workspace.memory / "tasks.md").read_text()
    with pytest.raises(ConflictError):
        inbox.reopen(other)


def test_what_an_agent_proposes_has_the_name_of_the_verb(workspace: Workspace) -> None:
    """A proposal is called as the change that the command line makes: `tasks.remove`."""
    access = EntryAccess(workspace, lambda: NOW)
    entry = access.read(find_task(workspace.snapshot(), TASK).ref)["entries"][0]
    assert "proposal" in access.remove(entry["ref"], entry["hash"], actor=AGENT)
    (waiting,) = Inbox(workspace.together).list()
    assert waiting.row()["operation"] == "tasks.remove"


def test_an_agent_sees_its_own_proposals_only(workspace: Workspace) -> None:
    """What another agent proposed is neither listed nor found by its id."""
    number = _propose(workspace, due="2024-02-02")
    desk = EntryAccess(workspace, lambda: NOW)
    assert len(desk.review(actor=AGENT)["proposals"]) == 1
    assert desk.review(actor="agent:other")["proposals"] == []
    with pytest.raises(NotFoundError):
        desk.review(number, actor="agent:other")


def test_who_asks_again_gets_the_same_proposal(workspace: Workspace) -> None:
    """An agent that repeats its call, also after the file moved on, does not fill the inbox."""
    first = _remove(workspace)
    workspace.change("add", lambda look: task_operations.add_task(look, "Other", now=NOW), actor="human", now=NOW)
    assert _remove(workspace) == first
    assert Inbox(workspace.together).count() == 1


def test_a_file_that_moved_on_is_merged(workspace: Workspace) -> None:
    """What others changed since stays: another entry, another field of the same entry."""
    number = _propose(workspace, due="2024-02-02")
    _set(workspace, assigned="Carol")
    workspace.change("add", lambda look: task_operations.add_task(look, "Other", now=NOW), actor="human", now=NOW)
    inbox = Inbox(workspace.together)
    assert inbox.judged(inbox.get(number), NOW).standing.state == "moved"
    inbox.accept(number, reviewer="human", now=NOW)
    task = find_task(workspace.snapshot(), TASK)
    assert (task.due, task.assigned) == ("2024-02-02", "Carol")
    assert find_task(workspace.snapshot(), "Other")


def test_an_entry_that_changed_since_is_not_removed_unseen(workspace: Workspace) -> None:
    """A removal of what a person went on writing is a conflict."""
    number = _remove(workspace)
    _set(workspace, notes="important")
    with pytest.raises(ConflictError) as caught:
        Inbox(workspace.together).accept(number, reviewer="human", now=NOW)
    assert caught.value.code == "review.conflict"
    Inbox(workspace.together).accept(number, reviewer="human", now=NOW, take=taking("proposal"))
    assert TASK not in (workspace.memory / "tasks.md").read_text()


def test_an_entry_that_is_gone_leaves_nothing_to_do(workspace: Workspace) -> None:
    """Who removes it meanwhile was faster: the proposal says so, and can be rejected."""
    number = _remove(workspace)
    workspace.change("x", lambda look: task_operations.remove_task(look, TASK, now=NOW), actor="human", now=NOW)
    inbox = Inbox(workspace.together)
    assert inbox.judged(inbox.get(number), NOW).standing.state == "gone"
    with pytest.raises(ConflictError) as caught:
        inbox.accept(number, reviewer="human", now=NOW)
    assert caught.value.code == "review.gone"
    assert inbox.reject(number, reviewer="human", now=NOW).state == "rejected"


def test_two_reviewers_at_once_make_one_change(workspace: Workspace, tmp_path: Path) -> None:
    """Of many who accept and reject at the same time one decides, and the others hear that."""
    number = _remove(workspace)
    done: list[str] = []

    def decide(index: int) -> None:
        inbox = Inbox(Workspace.open(workspace.root, state_home=tmp_path / "records").together)
        try:
            if index % 2:
                inbox.accept(number, reviewer="human", now=NOW)
            else:
                inbox.reject(number, reviewer="cli", now=NOW)
            done.append("accepted" if index % 2 else "rejected")
        except MemdeckError as error:
            done.append(error.code)

    threads = [threading.Thread(target=decide, args=(index,)) for index in range(6)]
    for thread in threads:
        thread.start()
    join(*threads)
    assert len(done) == len(threads)
    assert done.count("review.decided") == len(threads) - 1
    (decision,) = [one for one in done if one != "review.decided"]
    assert Inbox(workspace.together).get(number).state == decision
    assert (TASK in (workspace.memory / "tasks.md").read_text()) == (decision == "rejected")
    assert len(workspace.store.history.list(actor=AGENT)) == (decision == "accepted")


def test_a_process_killed_before_it_noted_the_decision(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The change log knows which proposal a change was: it is accepted for whoever looks next, and not made twice."""
    number = _remove(workspace)

    def killed(*_: object, **__: object) -> bool:
        raise MemdeckError("killed", "the process is gone")

    with monkeypatch.context() as patch:
        patch.setattr(proposals, "update", killed)
        Inbox(workspace.together).accept(number, reviewer="human", now=NOW)
    told = Inbox(workspace.together).get(number).row()
    assert (told["state"], told["decidedBy"]) == ("accepted", "human")
    with pytest.raises(ConflictError):
        Inbox(workspace.together).accept(number, reviewer="human", now=NOW)


def test_a_record_that_cannot_be_kept_changes_nothing(workspace: Workspace) -> None:
    """Where the proposal cannot be kept the agent hears of it, and the entry stays."""
    assert workspace.state is not None
    _remove(workspace)
    workspace.close()
    path = workspace.state.folder.path / "proposals.sqlite"
    for one in path.parent.glob("proposals.sqlite*"):
        one.unlink()
    path.mkdir()
    with pytest.raises(MemdeckError) as caught:
        workspace.change("x", lambda look: task_operations.remove_task(look, TASK, now=NOW), actor=AGENT, now=NOW)
    assert caught.value.code == "review.unrecorded"
    assert TASK in (workspace.memory / "tasks.md").read_text()


def test_a_row_that_names_another_file_writes_nothing(workspace: Workspace) -> None:
    """No path is taken from the record: one that is no memory file is refused, and can be rejected."""
    number = _remove(workspace)
    workspace.close()
    assert workspace.state is not None
    victim = workspace.root / "victim.txt"
    with sqlite3.connect(workspace.state.folder.path / "proposals.sqlite") as database:
        database.execute("UPDATE proposal SET about = json_set(about, '$.paths[0]', 'victim.txt')")
    database.close()
    inbox = Inbox(workspace.together)
    with pytest.raises(RefusedError) as caught:
        inbox.accept(number, reviewer="human", now=NOW)
    assert caught.value.code == "review.path"
    assert not victim.exists()
    assert inbox.reject(number, reviewer="human", now=NOW).state == "rejected"
