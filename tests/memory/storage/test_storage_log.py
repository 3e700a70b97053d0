"""The change log on disk: kept over restarts, shared by processes, never in the way of a change."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from memory.errors import MemdeckError
from memory.history.undo import revert_in, undo_in
from memory.storage import PrivateState, Store
from memory.storage.records import CHANGES
from tests.memory.storage.conftest import write
from tests.patience import reap

TASKS = "memory/tasks.md"
SHOWN = f".aiter/{TASKS}"


@pytest.fixture
def reopened(workspace: Path, tmp_path: Path) -> Callable[[], Store]:
    """Return a function that opens the workspace as another process would."""
    return lambda: Store(workspace / ".aiter", state=PrivateState(tmp_path / "state", workspace))


def log_path(store: Store) -> Path:
    """Return the database."""
    return store.state.folder.path / CHANGES.name


def test_a_deleted_state_folder_loses_history_only(reopened, tasks: Path, now: datetime) -> None:
    """Also while the log is open: the next change begins a new one."""
    store = reopened()
    write(store, now, b"one")
    shutil.rmtree(store.state.folder.path)
    assert store.history.list() == ()
    assert tasks.read_bytes() == b"one"
    write(store, now, b"two")
    assert [record.summary for record in reopened().history.list()] == ["wrote memory/tasks.md"]
    undo_in(store.together, actor="human", now=now)
    assert tasks.read_bytes() == b"one"


@pytest.mark.parametrize("content", [b"", b"no database" * 1000, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_log_is_moved_aside(reopened, tasks: Path, now: datetime, content: bytes) -> None:
    """The change is made and recorded in a new log; an empty file is simply a new one."""
    store = reopened()
    write(store, now, b"one")
    store.history.close()
    log_path(store).write_bytes(content)
    aside = log_path(store).with_name(CHANGES.aside)
    aside.with_name(f"{aside.name}-journal").write_bytes(b"of one that was moved aside before")
    store = reopened()
    write(store, now, b"two")
    assert tasks.read_bytes() == b"two"
    assert len(store.history.list()) == 1
    assert bool(store.history.warnings) == bool(content)
    assert aside.exists() == bool(content)
    if content:
        assert aside.read_bytes() == content
        assert not aside.with_name(f"{aside.name}-journal").exists()


def test_a_log_of_another_version_is_left_alone(reopened, tasks: Path, now: datetime) -> None:
    """The change is made without it, with a warning."""
    store = reopened()
    write(store, now, b"one")
    store.history.close()
    with sqlite3.connect(log_path(store)) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    size = log_path(store).stat().st_size
    store = reopened()
    write(store, now, b"two")
    assert tasks.read_bytes() == b"two"
    assert "newer memdeck" in store.history.warnings[0]
    assert log_path(store).stat().st_size == size


def test_a_log_that_is_locked_does_not_stop_a_change(reopened, tasks: Path, now: datetime) -> None:
    """Another program that holds the database only costs the record of the change."""
    store = reopened()
    write(store, now, b"one")
    store.history.close()
    holder = sqlite3.connect(log_path(store), isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    write(store, now, b"two")
    holder.close()
    assert tasks.read_bytes() == b"two"
    assert "cannot be used" in store.history.warnings[0]


def test_a_log_that_another_process_begins_is_waited_for(reopened, tasks: Path, now: datetime) -> None:
    """Of two that begin the log at once neither loses the record of its change; SQLite alone refuses one of them."""
    store = reopened()
    log_path(store).parent.mkdir(parents=True, exist_ok=True)
    holder = sqlite3.connect(log_path(store), isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.1, holder.close)
    release.start()
    write(store, now, b"one")
    release.join()
    assert [change.summary for change in store.history.list()] == [f"wrote {TASKS}"]
    assert store.history.warnings == ()


def test_what_the_log_cannot_tell_is_not_taken_back(reopened, tasks: Path, now: datetime) -> None:
    """A change of which the log lost a part is refused as a whole, with a code of its own."""
    store = reopened()
    change = write(store, now, b"one")
    store.history.close()
    with sqlite3.connect(log_path(store)) as database:
        database.execute("DELETE FROM region")
    database.close()
    store = reopened()
    with pytest.raises(MemdeckError) as caught:
        revert_in(store.together, change.id, actor="human", now=now)
    assert caught.value.code == "change.log_failed"
    assert tasks.read_bytes() == b"one"


# -- what other programs did ------------------------------------------------------------------------------------


def look(store: Store, now: datetime, *paths: str) -> int:
    """Look at files as an application does again and again."""
    return store.together.notice(paths or (SHOWN,), now)


def test_a_change_of_ours_notes_what_was_there_before(reopened, tasks: Path, now: datetime) -> None:
    """An edit that another program made between two of ours is a change of its own, and stays when ours goes."""
    start = b"## Pending\n\n### A\n- n: 1\n\n### B\n- n: 2\n"
    write(reopened(), now, start)
    tasks.write_bytes(start.replace(b"n: 2", b"n: 3"))
    store = reopened()
    write(store, now, tasks.read_bytes().replace(b"n: 1", b"n: 9"))
    assert [record.actor for record in store.history.list(2)] == ["human", "outside"]
    undo_in(store.together, actor="human", now=now)
    assert tasks.read_bytes() == start.replace(b"n: 2", b"n: 3")


@pytest.mark.parametrize("state", [None, b"", b"## Pending\n\n### [HI"])
def test_a_passing_state_is_nobodys_change(store: Store, tasks: Path, now: datetime, state: bytes | None) -> None:
    """A file that is missing, empty or cut off for a moment and comes back was not emptied."""
    whole = tasks.read_bytes()
    look(store, now)
    if state is None:
        tasks.unlink()
    else:
        tasks.write_bytes(state)
    assert look(store, now) == 0
    tasks.write_bytes(whole + b"\n### New\n")
    assert look(store, now) == 1
    assert [one.title for one in store.history.list()[0].touched] == ["New"]


def test_a_state_that_stays_is_a_change(store: Store, tasks: Path, now: datetime, monkeypatch) -> None:
    """What is still gone some seconds later is gone, and comes back by a revert."""
    whole = tasks.read_bytes()
    look(store, now)
    tasks.unlink()
    assert look(store, now) == 0
    later = time.time_ns() + 6_000_000_000
    monkeypatch.setattr("time.time_ns", lambda: later)
    assert look(store, now) == 1
    monkeypatch.undo()
    (record,) = store.history.list()
    assert (record.actor, record.files[0].after) == ("outside", None)
    revert_in(store.together, record.id, actor="human", now=now)
    assert tasks.read_bytes() == whole


def test_a_removed_file_is_kept_for_thirty_days(reopened, tasks: Path, now: datetime) -> None:
    """Whole files that were removed keep their bytes over the budget, and lose them after a month."""
    store = reopened()
    store.history.keep_bytes = 1000
    write(store, now, b"x" * 5000, "memory/gone.md")
    removed = write(store, now, None, "memory/gone.md")
    for number in range(8):
        write(store, now, b"%d" % number, "memory/gone.md")
    write(store, now + timedelta(days=29), b"a", "memory/gone.md")
    assert store.history.get(removed.id).kept
    for number in range(8):
        write(store, now + timedelta(days=31 + number), b"b%d" % number, "memory/gone.md")
    assert not store.history.get(removed.id).kept


@pytest.mark.parametrize("files", [1, 2])
def test_a_killed_process_leaves_a_true_log(reopened, tasks: Path, now: datetime, files: int, monkeypatch) -> None:
    """Killed before any call that changes files: afterwards a change is listed if and only if its file has it."""
    other = "memory/other.md"
    write(reopened(), now, b"start")
    write(reopened(), now, b"start", other)
    outcomes = set()
    for step in range(60):
        store = reopened()
        known = {record.id for record in store.history.list()}
        before = tasks.read_bytes()
        after = b"turn %d" % step
        child = os.fork()
        if not child:
            _die_at(step, monkeypatch)
            mine = reopened()
            with mine.transaction("edit", actor="human", now=now) as transaction:
                transaction.write(TASKS, after, base=mine.read(TASKS).base)
                if files == 2:
                    transaction.write(other, after, base=mine.read(other).base)
                transaction.commit()
            os._exit(0)
        done = reap(child) == 0
        store = reopened()
        store.together.notice([SHOWN, store.shown(other)], now)
        new = [record for record in store.history.list() if record.id not in known]
        moved = {store.shown(path) for path in (TASKS, other) if store.read(path).data == after}
        assert {path for record in new for path in record.paths} == moved
        assert {record.actor for record in new} <= {"human", "outside"}
        assert not store.history.warnings
        outcomes.add((bool(moved), done))
        for record in new:
            revert_in(store.together, record.id, actor="human", now=now)
        if new:
            assert tasks.read_bytes() == before
        if done:
            break
    assert outcomes == {(False, False), (True, False), (True, True)}


def _die_at(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this process end right before the call of that number that changes a file."""
    left = [step]

    def dying(function: Callable[..., object]) -> Callable[..., object]:
        def call(*values: object, **named: object) -> object:
            if left[0] == 0:
                os._exit(9)
            left[0] -= 1
            return function(*values, **named)

        return call

    for name in ("rename", "link", "unlink", "fsync", "write", "mkdir", "ftruncate", "pwrite"):
        monkeypatch.setattr(os, name, dying(getattr(os, name)))
    real = sqlite3.connect

    class Dying(sqlite3.Connection):
        """A connection that counts its commits too."""

        def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
            if sql == "COMMIT":
                dying(lambda: None)()
            return super().execute(sql, *values)  # type: ignore[arg-type]

    monkeypatch.setattr(sqlite3, "connect", lambda *values, **named: real(*values, factory=Dying, **named))
