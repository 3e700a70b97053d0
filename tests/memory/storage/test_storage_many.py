"""Thousands of files: what is looked at once for all of them, and what is passed over because it is gone."""

from __future__ import annotations

import os
import time
from datetime import datetime
from pathlib import Path

import pytest

from memory.storage import PrivateState, Store
from memory.storage.file_step import sweep
from memory.storage.intent_log import Displaced
from memory.storage.safe_open import Mark
from memory.storage.store import SharedLog
from tests.crash.calls import Calls, in_force

GONE = [f"memory/notes/{number:03}.md" for number in range(60)]


@pytest.fixture
def pruned(store: Store, now: datetime) -> Store:
    """Return a store that removed sixty files in one change."""
    with store.transaction("fill", actor="human", now=now) as transaction:
        for path in GONE:
            transaction.write(path, path.encode(), base=None)
        transaction.commit("filled")
    with store.transaction("prune", actor="human", now=now) as transaction:
        for path in GONE:
            transaction.remove(path, base=transaction.read(path).data)
        transaction.commit("pruned")
    return store


def test_what_is_known_as_gone_is_not_looked_at(pruned: Store, now: datetime) -> None:
    """The next look goes by the names in the folder, in one call, and the files that are there are still looked at."""
    calls = Calls(looking=True)
    with in_force(calls):
        assert pruned.history.to_look_at() == ()
    assert calls.names.count("listdir") == 1
    assert len(calls.names) < 30
    assert len(pruned.history.seen()) == len(GONE)
    pruned.history.notice([".aiter/memory/tasks.md"], now)
    assert pruned.history.to_look_at() == (".aiter/memory/tasks.md",)


def test_a_file_that_comes_back_is_noticed(pruned: Store, tasks: Path, now: datetime) -> None:
    """Another program writes one of them anew: that is a change from outside, and so is its going."""
    back = tasks.parent / "notes" / "007.md"
    back.write_bytes(b"again")
    assert pruned.history.to_look_at() == (".aiter/memory/notes/007.md",)
    assert pruned.history.notice(pruned.history.to_look_at(), now) == 1
    (found,) = pruned.history.list(1)
    assert (found.actor, found.paths) == ("outside", (".aiter/memory/notes/007.md",))
    back.unlink()
    old = time.time() - 60
    os.utime(back.parent, (old, old))  # not just now: that would be a state that passes
    assert pruned.history.notice(pruned.history.to_look_at(), now) == 1
    assert pruned.history.to_look_at() == ()


def test_a_folder_that_cannot_be_listed_hides_nothing(pruned: Store, tasks: Path) -> None:
    """Its files are asked for one by one."""
    folder = tasks.parent / "notes"
    folder.rmdir()
    folder.symlink_to(folder)
    assert len(pruned.history.to_look_at()) == len(GONE)


def test_the_folder_itself_may_be_gone_or_a_file(pruned: Store, tasks: Path) -> None:
    """Then none of its files has come back."""
    (tasks.parent / "notes").rmdir()
    assert pruned.history.to_look_at() == ()
    (tasks.parent / "notes").write_bytes(b"")
    assert pruned.history.to_look_at() == ()


def test_stores_are_looked_for_once_in_a_folder(workspace: Path, tmp_path: Path, now: datetime) -> None:
    """To take back a change of many files asks once for each folder what else there may be, and anew the next time."""
    asked: list[str] = []
    state = PrivateState(tmp_path / "state", workspace)
    together = SharedLog(state, asked.append)
    store = Store(workspace, state=state, workspace=workspace, together=together)
    together.add(store)
    with store.transaction("fill", actor="human", now=now) as transaction:
        for path in GONE:
            transaction.write(path, path.encode(), base=None)
        transaction.commit("filled")
    asked.clear()
    store.history.undo(actor="human", now=now)
    assert 0 < len(asked) < 10
    asked.clear()
    store.history.redo(actor="human", now=now)
    assert 0 < len(asked) < 10


def _displaced(folder: Path, count: int) -> tuple[Displaced, ...]:
    files = []
    for number in range(count):
        path = folder / f"{'0' * 26}.{number}.old"
        path.write_bytes(b"x")
        files.append(Displaced(path.name, "memory/x.md", "0" * 26, Mark.of(path.stat(), ctime=True)))
    return tuple(files)


def test_a_start_looks_at_all_that_was_displaced(tmp_path: Path) -> None:
    """Late bytes are found wherever they are in the list; what did not change goes when it is old enough."""
    files = _displaced(tmp_path, 6)
    late = {files[at].name for at in (1, 3, 5)}
    for name in late:
        (tmp_path / name).write_bytes(b"late bytes")
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        left = sweep(files, folder, 60)
        assert {one.name.removesuffix(".kept") for one in left if one.late} == late
        assert {one.name for one in left if not one.late} == {files[at].name for at in (0, 2, 4)}
        assert {one.name.removesuffix(".kept") for one in sweep(left, folder, 0)} == late
    finally:
        os.close(folder)


def test_bytes_that_came_late_do_not_hold_up_the_others(tmp_path: Path) -> None:
    """What waits for a person stays, and what stands behind it in the list goes."""
    files = _displaced(tmp_path, 3)
    (tmp_path / files[0].name).write_bytes(b"late bytes")
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        (kept,) = sweep(files, folder, 0)
        assert kept.late
        assert sweep((kept, *_displaced(tmp_path, 2)), folder, 0) == (kept,)
    finally:
        os.close(folder)
