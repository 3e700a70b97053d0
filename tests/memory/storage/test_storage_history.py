"""Taking changes back, and bringing them back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memory.errors import ConflictError, MemdeckError, NotFoundError, RefusedError
from memory.history.undo import redo_in, revert_in, undo_in
from memory.storage import PrivateState, Store
from tests.memory.storage.conftest import write


def test_of_two_at_once_each_takes_another_change(
    store: Store, workspace: Path, tmp_path: Path, tasks: Path, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another process undid or redid while this one waited for the lock is no conflict."""
    states = [tasks.read_bytes(), b"one", b"two two"]
    for data in states[1:]:
        write(store, now, data)
    other = Store(workspace / ".aiter", state=PrivateState(tmp_path / "state", workspace))
    whole = Store.transaction
    for turn, left in ((undo_in, states[0]), (redo_in, states[2])):
        waiting = [turn]

        def after_another(self: Store, operation: str, waiting: list[Any] = waiting, **more: Any) -> Any:
            if waiting:
                waiting.pop()(other.together, actor="human", now=now)
            return whole(self, operation, **more)

        monkeypatch.setattr(Store, "transaction", after_another)
        turn(store.together, actor="human", now=now)
        assert tasks.read_bytes() == left
    newest = store.history.list(1)[0].redoes
    assert newest is not None
    waiting.append(lambda log, **more: revert_in(log, newest, **more))
    with pytest.raises(ConflictError) as caught:
        revert_in(store.together, newest, actor="human", now=now)
    assert caught.value.code == "change.undone"


def test_a_new_change_ends_redo(store: Store, tasks: Path, now: datetime) -> None:
    """After something new, what was undone before does not come back; the new change can be undone."""
    first = tasks.read_bytes()
    write(store, now, b"one")
    undo_in(store.together, actor="human", now=now)
    write(store, now, b"two")
    with pytest.raises(NotFoundError):
        redo_in(store.together, actor="human", now=now)
    undo_in(store.together, actor="human", now=now)
    assert tasks.read_bytes() == first


def test_a_row_that_names_another_file_takes_nothing_back(store: Store, tasks: Path, now: datetime) -> None:
    """No path is taken from the log: a change of a file that is no memory file is refused, and the file stays."""
    change = write(store, now, b"one")
    store.together.close()
    victim = store.workspace / "victim.txt"
    victim.write_bytes(b"one")
    with closing(sqlite3.connect(store.state.folder.path / "changes.sqlite")) as database, database:
        database.execute("UPDATE file SET path = 'victim.txt'")
    for turn in (undo_in, lambda log, **how: revert_in(log, change.id, **how)):
        with pytest.raises(RefusedError) as caught:
            turn(store.together, actor="human", now=now)
        assert caught.value.code == "change.path"
    assert (victim.read_bytes(), tasks.read_bytes()) == (b"one", b"one")


def test_undo_of_a_created_and_of_a_removed_file(store: Store, tasks: Path, now: datetime) -> None:
    """A created file goes, a removed one comes back; redo does the opposite."""
    new = tasks.with_name("new.md")
    before = tasks.read_bytes()
    write(store, now, b"created", "memory/new.md")
    undo_in(store.together, actor="human", now=now)
    assert not new.exists()
    redo_in(store.together, actor="human", now=now)
    assert new.read_bytes() == b"created"
    write(store, now, None)
    undo_in(store.together, actor="human", now=now)
    assert tasks.read_bytes() == before
    redo_in(store.together, actor="human", now=now)
    assert not tasks.exists()


def test_old_bytes_are_thinned(store: Store, tasks: Path, now: datetime) -> None:
    """Over the budget the oldest changes lose their bytes and say so, but never the newest ten of a file."""
    store.history.keep_bytes = 100_000
    for number in range(60):
        write(store, now, bytes([65 + number]) * 200_000)
    records = store.history.list()
    assert [record.kept for record in records[:10]] == [True] * 10
    assert not records[-1].kept
    assert sum(record.size for record in records) < sum(len(b"x") * 400_000 for _ in records)
    with pytest.raises(MemdeckError) as caught:
        revert_in(store.together, records[-1].id, actor="human", now=now)
    assert caught.value.code == "change.thinned"
    for number in range(58, 54, -1):
        undo_in(store.together, actor="human", now=now)
        assert tasks.read_bytes() == bytes([65 + number]) * 200_000


@pytest.mark.parametrize("mode", [0o600, 0o755, 0o660])
def test_a_file_that_comes_back_has_its_mode(store: Store, tasks: Path, now: datetime, mode: int) -> None:
    """It is given the permissions with which it was removed, by a change or by an undo, and no others."""
    script = tasks.with_name("script.md")
    write(store, now, b"one", "memory/script.md")
    script.chmod(mode)
    write(store, now, None, "memory/script.md")
    undo_in(store.together, actor="human", now=now)
    assert (script.read_bytes(), script.stat().st_mode & 0o7777) == (b"one", mode)
    script.chmod(0o640)
    undo_in(store.together, actor="human", now=now)
    assert not script.exists()
    redo_in(store.together, actor="human", now=now)
    assert (script.read_bytes(), script.stat().st_mode & 0o7777) == (b"one", 0o640)


def test_no_file_comes_back_that_runs_as_somebody_else(store: Store, tasks: Path, now: datetime) -> None:
    """The bits that give a program the rights of its owner are not brought back."""
    tasks.chmod(0o6755)
    write(store, now, None)
    undo_in(store.together, actor="human", now=now)
    assert tasks.stat().st_mode & 0o7777 == 0o755
