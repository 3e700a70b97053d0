"""Proposals about memory that lies outside of the workspace: the person's own, and that of agents elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memory.curated.sides import person_store
from memory.errors import BlockedError
from memory.history.undo import undo_in
from memory.review.inbox import Inbox
from memory.storage import Store
from memory.storage.own_folders import short_path
from memory.typed.registry import store_of
from memory.workspace import Workspace
from tests.desks import AGENT, NOW, make_workspace

PERSON = "human"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home folder with curated memory and an agent, neither in any workspace."""
    monkeypatch.delenv("AGH_HOME", raising=False)
    home = tmp_path / "home"
    (home / ".agh" / "memory").mkdir(parents=True)
    (home / ".agh" / "memory" / "user_editor.md").write_text("---\nname: Editor\n---\nUses vim\n")
    (home / "ada" / "memory").mkdir(parents=True)
    (home / "ada" / "Aidefile").write_text('[memory]\ncore_files = ["memory/core.md"]\n')
    (home / "ada" / "memory" / "core.md").write_text("# Persona\n\nKind.\n")
    (home / ".aide").mkdir()
    (home / ".aide" / "config.toml").write_text('[[agents]]\nname = "ada"\npath = "~/ada"\n')
    return home


@pytest.fixture
def workspace(tmp_path: Path, home: Path) -> Iterator[Workspace]:
    """Return a workspace of the person with that home."""
    with Workspace.open(make_workspace(tmp_path), state_home=tmp_path / "records", home=home) as workspace:
        yield workspace


def _curated(home: Path) -> tuple[Store, str]:
    return person_store(home, home.parent / "records"), "memory/user_editor.md"


def _typed(home: Path) -> tuple[Store, str]:
    return store_of(home / "ada", home.parent / "records", home), "memory/core.md"


Made = Callable[[Path], tuple[Store, str]]
BOTH = pytest.mark.parametrize(("made", "place"), [(_curated, "~/.agh"), (_typed, "~/ada")])


def _propose(store: Store, path: str, data: bytes | None = None) -> str:
    """Let an agent rewrite or remove a file of a store; return the id of what it proposed."""
    with pytest.raises(BlockedError) as told:
        _write(store, path, data)
    store.together.close()
    return str(told.value.details["proposal"])


def _write(store: Store, path: str, data: bytes | None) -> None:
    with store.transaction("test.rewrite", actor=AGENT, now=NOW) as transaction:
        base = transaction.read(path).base
        assert base is not None
        if data is None:
            transaction.remove(path, base=base)
        else:
            transaction.write(path, data, base=base)
        transaction.commit("rewrote it")


@BOTH
def test_it_is_listed_with_its_store_and_accepted(workspace: Workspace, home: Path, made: Made, place: str) -> None:
    """The inbox of any workspace shows it, counts it, says where it is, and accepting it writes there."""
    store, path = made(home)
    before = (store.root / path).read_bytes()
    inbox = Inbox(workspace.together)
    assert (inbox.list(), inbox.count()) == ((), 0)
    stamp = inbox.stamp()
    proposed = _propose(store, path, b"Other words\n")
    (found,) = inbox.list()
    assert (found.id, inbox.count()) == (proposed, 1)
    assert inbox.stamp() != stamp
    assert found.row()["store"] == str(store.root)
    assert replace(found, place=short_path(found.place, home)).files == (f"{place}/{path}",)
    judged = inbox.judged(found, NOW)
    assert (judged.standing.state, len(judged.views)) == ("ready", 1)
    assert (store.root / path).read_bytes() == before
    change = inbox.accept(proposed[:12], reviewer=PERSON, now=NOW)
    assert (store.root / path).read_bytes() == b"Other words\n"
    (decided,) = inbox.list(())
    assert (decided.state, decided.change_id, inbox.count()) == ("accepted", change.id, 0)
    record = inbox.log_of(decided).history.get(change.id)
    assert (record.actor, record.reviewer) == (AGENT, PERSON)
    # It is taken back where it was made.
    undo_in(store.together, actor=PERSON, now=NOW)
    assert (store.root / path).read_bytes() == before
    store.together.close()


def test_all_are_listed_together_and_found_by_id(workspace: Workspace, home: Path) -> None:
    """What waits inside and outside is one list; each id is found, and a beginning that fits several is ambiguous."""
    inside = _propose(workspace.store, "memory/knowledge.md")
    ids = {inside, *(_propose(*made(home)) for made in (_curated, _typed))}
    inbox = Inbox(workspace.together)
    assert {one.id for one in inbox.list()} == ids
    assert {inbox.get(one).id for one in ids} == ids
    assert len(inbox.list(limit=2)) == 2
    with pytest.raises(Exception, match="begin with"):
        inbox.get(inside[:3])
    with pytest.raises(Exception, match="no proposal has the id"):
        inbox.get("ZZZ")
    assert [one.place for one in inbox.list() if one.id == inside] == [""]


def test_another_workspace_keeps_its_own(workspace: Workspace, home: Path, tmp_path: Path) -> None:
    """Of a workspace in which an agent lives only what concerns that agent is listed, and nothing twice."""
    (home / ".aiter" / "memory").mkdir(parents=True)
    (home / ".aiter" / "memory" / "knowledge.md").write_text("## Technical Facts\n\n- Port 80\n")
    with Workspace.open(home, state_home=tmp_path / "records", home=home) as around:
        own = _propose(around.store, "memory/knowledge.md")
        agents = _propose(*_typed(home))
        assert {one.id for one in Inbox(around.together).list()} == {own, agents}
        assert [one.id for one in Inbox(workspace.together).list()] == [agents]


def test_a_registry_that_cannot_be_read_hides_nothing_else(workspace: Workspace, home: Path) -> None:
    """Where nobody can tell which agents there are, the rest of the inbox is there."""
    inside, own = _propose(workspace.store, "memory/knowledge.md"), _propose(*_curated(home))
    (home / ".aide" / "config.toml").write_text("[[agents]\n")
    assert {one.id for one in Inbox(workspace.together).list()} == {inside, own}
