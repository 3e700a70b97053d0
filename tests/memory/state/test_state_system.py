"""Project state among the other systems: its store beside theirs, its records, and one look at it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.state.files.model import EVENTS, STATE
from memory.state.recall.recall import preview, scope_of_recall
from memory.systems import check_all, records_of_all

from .states import ACTOR, NOW, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return a small repository with a fresh state."""
    return Repository(tmp_path)


def test_two_stores_of_one_folder_share_no_private_file(repository: Repository) -> None:
    """An agent in the workspace itself has a store of the same folder, with its own lock and its own intent."""
    (repository.root / "Aidefile").write_text('[memory]\ncore_files = ["rules.md"]\n')
    (repository.root / "rules.md").write_text("# Rules\n")
    repository.open()
    mine = repository.store.files
    assert {system.name for system in repository.workspace.systems()} == {"state", "typed"}
    typed = repository.workspace.system("typed")
    theirs = typed.store(typed.agents()[0])
    assert (mine.root, mine.shown("")) == (theirs.root, theirs.shown(""))
    assert mine.journal is not None
    assert theirs.journal is not None
    assert mine.journal.where != theirs.journal.where
    assert mine.private == ".agent-memory/.memdeck"
    found = repository.workspace.together
    for path, store in ((STATE, mine), (EVENTS, mine), ("README.md", mine), ("rules.md", theirs), ("Aidefile", theirs)):
        assert found.store_of(path) is store, path
    with found.glance():
        assert found.store_of("README.md") is mine
        assert found.store_of("rules.md") is theirs
    with mine.transaction("one", actor=ACTOR, now=NOW), theirs.transaction("other", actor=ACTOR, now=NOW):
        pass


def test_a_look_is_the_same_as_long_as_its_files_are(repository: Repository) -> None:
    """The pane's look is one object until a file changes, and shows bundle, events, checkpoints, backlog and diffs."""
    look = repository.system.look()
    assert repository.system.look() is look
    assert look.bundle == repository.memory.bundle
    assert look.backlog == ()
    repository.imported("one", "GOTCHA: Lock: two writers")
    newer = repository.system.look()
    assert [event["id"] for event in newer.backlog] == ["evt-000002"]
    assert len(newer.groups) == 1
    assert newer is not look
    assert preview(newer.memory, scope_of_recall(newer.memory.config)).digest.gotchas[0] == ("Lock",)
    repository.recall()
    third = repository.system.look()
    assert [one.id for one in third.checkpoints] == ["chk-000002", "chk-000001"]
    assert [one.section for one in third.diff("chk-000001", "chk-000002") if one.changed] == ["gotchas"]
    assert third.status(repository.at).next.command is None
    assert third.problem is None


def test_what_search_finds(repository: Repository) -> None:
    """The parts of the bundle and the events, those of the archive too, each with ref and line."""
    from memory.state.retention import prune

    repository.imported("one", "GOTCHA: Lock: two writers")
    repository.recall()
    repository.later(days=100)
    prune(repository.store, actor=ACTOR, now=repository.at)
    repository.update()
    found = {record.ref: record for record in records_of_all(repository.workspace, ("state",))}
    assert {"state#project", "state#gotcha-1", "state#evt-000002", "state#evt-000004"} <= found.keys()
    assert found["state#evt-000002"].file.startswith(".agent-memory/archive/")
    lines = repository.path(EVENTS).read_text().splitlines()
    assert "evt-000004" in lines[found["state#evt-000004"].line]


def test_check_knows_its_files(repository: Repository) -> None:
    """Files of the format, projections and the entry file are its own; what only waits is a note."""
    system = repository.system
    assert all(map(system.owns, (STATE, "docs/agent-memory/gotchas.md", "README.md")))
    assert not system.owns("AGENTS.md")
    assert not system.owns("shop/cache.py")
    assert {problem.level for problem in check_all(repository.workspace)} <= {"note"}
    repository.path(STATE).write_text("{")
    assert "state.state.json" in {problem.code for problem in system.check([STATE])}


def test_a_change_of_another_program_is_noticed(repository: Repository) -> None:
    """A projection and an event that another program wrote are changes in the history."""
    repository.workspace.notice(NOW)
    gotchas = repository.path("docs/agent-memory/gotchas.md")
    gotchas.write_text(gotchas.read_text() + "\nA line by hand.\n")
    with repository.path(EVENTS).open("ab") as file:
        file.write(repository.event_lines()[0].replace(b"evt-000001", b"evt-000002"))
    repository.workspace.notice(repository.later())
    noticed = [one for one in repository.workspace.store.history.list(5) if one.actor == "outside"]
    assert {path for one in noticed for path in one.paths} == {"docs/agent-memory/gotchas.md", EVENTS}
    assert "state#evt-000002" in {unit.ref for one in noticed for unit in one.touched}
