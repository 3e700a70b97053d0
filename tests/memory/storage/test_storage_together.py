"""Several stores in one workspace: one change log, no collisions, taking back per store."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

import memory
from memory.history.undo import redo_in, revert_in, undo_in
from memory.storage import PrivateState, Store
from memory.storage.store import SharedLog
from tests.patience import PATIENCE

NAME = "memory/tasks.md"
LINES = "memory/notes.jsonl"


@pytest.fixture
def pair(workspace: Path, tmp_path: Path) -> tuple[Store, Store]:
    """Make two stores that share a change log, with files of the same name."""
    state = PrivateState(tmp_path / "state", workspace)
    together = SharedLog(state)
    stores = tuple(
        Store(workspace / name, state=state, workspace=workspace, together=together) for name in (".aiter", ".other")
    )
    for store in stores:
        together.add(store)
    return stores[0], stores[1]


def write(store: Store, now: datetime, data: bytes, path: str = NAME, *, undoes: str | None = None) -> str:
    """Write a file and return the id of the change."""
    with store.transaction("edit", actor="human", now=now, undoes=undoes) as transaction:
        transaction.write(path, data, base=transaction.read(path).base)
        return transaction.commit(f"wrote {path}").id


def test_equal_paths_of_two_stores_are_two_files(pair: tuple[Store, Store], now: datetime) -> None:
    """The log tells them apart by the folder, and each change is taken back where it was made."""
    one, other = pair
    write(one, now, b"first")
    write(other, now, b"second")
    write(other, now, b"third")
    assert [record.paths for record in one.history.list()] == [
        (".other/memory/tasks.md",),
        (".other/memory/tasks.md",),
        (".aiter/memory/tasks.md",),
    ]
    assert one.history is other.history
    undo_in(one.together, actor="human", now=now)
    undo_in(one.together, actor="human", now=now)
    assert (one.read(NAME).data, other.read(NAME).exists) == (b"first", False)
    redo_in(one.together, actor="human", now=now)
    assert other.read(NAME).data == b"second"


def test_stores_stay_known_while_another_one_is_added(pair: tuple[Store, Store], workspace: Path) -> None:
    """A thread that looks at this moment finds all that were there, and the same private files belong to one store."""
    one, other = pair
    together, seen = one.together, []

    class Watched(str):
        def __len__(self) -> int:
            seen.append(together.stores)
            return super().__len__()

    def make() -> Store:
        return Store(workspace / ".new", state=one.state, workspace=workspace, together=together)

    new = make()
    new.prefix = Watched(new.prefix)
    assert together.add(new) is new
    assert seen
    assert all(set(stores) == {one, other} for stores in seen)
    assert together.add(make()) is new
    assert (together.stores.count(new), len(together.stores)) == (1, 3)


def test_a_removal_comes_back_in_its_place(pair: tuple[Store, Store], now: datetime) -> None:
    """An undo of a removal puts the line behind its neighbour, also in a file that grew."""
    store = pair[1]
    write(store, now, b"1\n2\n3\n", LINES)
    change = write(store, now, b"1\n3\n", LINES)
    write(store, now, b"1\n3\n4\n", LINES)
    revert_in(store.together, change, actor="human", now=now)
    assert store.read(LINES).data == b"1\n2\n3\n4\n"


def test_an_open_change_of_another_store_is_left_alone(pair: tuple[Store, Store], now: datetime) -> None:
    """A change in one system does not decide about one that another system is in the middle of."""
    one, other = pair
    write(other, now, b"before")
    with other.transaction("edit", actor="cli", now=now) as transaction:
        transaction.write(NAME, b"after", base=b"before")
        write(one, now, b"in between")
        transaction.commit("in the middle")
    assert [record.summary for record in one.history.list(2)][::-1] == [f"wrote {NAME}", "in the middle"]


def test_stores_write_at_the_same_time(pair: tuple[Store, Store], workspace: Path, now: datetime) -> None:
    """Each has its own lock: processes that change different systems at once never stumble over each other."""
    one, other = pair
    code = (
        "import sys, datetime, pathlib\nfrom memory.storage import PrivateState, Store\n"
        f"root, home = pathlib.Path({str(workspace)!r}), pathlib.Path({str(one.state.folder.home)!r})\n"
        "store = Store(root / sys.argv[1], state=PrivateState(home, root), workspace=root,"
        " lock_timeout=120)\n"
        "for number in range(40):\n"
        "    with store.transaction('count', actor='cli', now=datetime.datetime.now(datetime.UTC)) as change:\n"
        "        change.write('memory/count.md', b'%d' % number, base=change.read('memory/count.md').base)\n"
        "        change.commit(str(number))\n"
        "print(store.history.warnings)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(memory.__file__).parents[1])}
    children = [
        subprocess.Popen([sys.executable, "-c", code, name], stdout=subprocess.PIPE, text=True, env=environment)
        for name in (".aiter", ".other")
    ]
    assert [child.communicate(timeout=PATIENCE)[0].strip() for child in children] == ["()", "()"]
    assert len(one.history.list()) == 80
    assert {one.read("memory/count.md").data, other.read("memory/count.md").data} == {b"39"}
