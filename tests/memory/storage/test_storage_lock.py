"""The workspace's lock, with real processes."""

from __future__ import annotations

import threading
from datetime import datetime
from pathlib import Path

import pytest

from memory.errors import BusyError
from memory.storage import PrivateState, Store
from tests.patience import PATIENCE, join

HOLD = """
with store.transaction("archive", actor="cli", now=now):
    say("held")
    sys.stdin.readline()
"""
COUNT = """
for _ in range(25):
    with store.transaction("count", actor="cli", now=now) as transaction:
        stored = transaction.read("memory/count.md")
        transaction.write("memory/count.md", b"%d" % (int(stored.data or b"0") + 1), base=stored.base)
        transaction.commit()
say("done")
"""


def test_busy_names_the_holder(store: Store, child, now: datetime) -> None:
    """Who waits in vain is told which process holds the lock, for what and since when."""
    other = child(HOLD)
    assert other.hear() == "held"
    with pytest.raises(BusyError) as caught, store.transaction("t", actor="human", now=now):
        pass
    holder = caught.value.details["holder"]
    assert (caught.value.code, caught.value.exit_code) == ("file.locked", 75)
    assert (holder["pid"], holder["command"]) == (str(other.process.pid), "archive")
    assert holder["since"] == "2024-01-15T00:00:00+00:00"
    assert str(other.process.pid) in str(caught.value)


def test_a_killed_holder_leaves_no_lock(store: Store, workspace: Path, child, now: datetime) -> None:
    """After kill -9 the lock is free at once; the lock file stays, and stays the same."""
    other = child(HOLD)
    other.hear()
    inode = (workspace / ".aiter/.memdeck/lock").stat().st_ino
    other.process.kill()
    assert other.end() == -9
    with store.transaction("t", actor="human", now=now):
        pass
    assert (workspace / ".aiter/.memdeck/lock").stat().st_ino == inode


def test_waiting_ends_when_the_holder_is_done(workspace: Path, child, now: datetime) -> None:
    """A transaction that has to wait goes on as soon as it can."""
    other = child(HOLD)
    other.hear()
    entered = threading.Event()

    def wait() -> None:
        store = Store(workspace / ".aiter", state=PrivateState(None, workspace), lock_timeout=PATIENCE)
        with store.transaction("t", actor="human", now=now):
            entered.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert not entered.is_set()
    other.tell()
    join(waiting)
    assert entered.is_set()


def test_processes_and_threads_lose_nothing(workspace: Path, child, now: datetime) -> None:
    """Three processes and four threads that share a store count together without losing one."""
    children = [child(COUNT) for _ in range(3)]
    store = Store(workspace / ".aiter", state=PrivateState(None, workspace), lock_timeout=PATIENCE)

    def count() -> None:
        for _ in range(25):
            with store.transaction("count", actor="human", now=now) as transaction:
                stored = transaction.read("memory/count.md")
                number = int(stored.data or b"0") + 1
                transaction.write("memory/count.md", b"%d" % number, base=stored.base)
                transaction.commit()

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        join(thread)
    assert [one.hear() for one in children] == ["done"] * 3
    assert store.read("memory/count.md").data == b"175"
    assert len(store.history.list(actor="human")) == 100


@pytest.mark.parametrize("clean", ["file", "folder"])
def test_a_lock_that_was_cleaned_away(store: Store, workspace: Path, now: datetime, clean: str) -> None:
    """A lock whose file somebody removed locks nobody out: the change is not made."""
    with store.transaction("t", actor="human", now=now) as transaction:
        folder = workspace / ".aiter/.memdeck"
        (folder / "lock").unlink()
        if clean == "file":
            (folder / "lock").touch()
        transaction.write("memory/a.md", b"x", base=None)
        with pytest.raises(BusyError) as caught:
            transaction.commit()
    assert caught.value.code == "file.lock_lost"
    assert not (workspace / ".aiter/memory/a.md").exists()
