"""Long transactions of a database: written once, all or nothing, and never in the way of another process."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from memory.storage import PrivateState, Store
from memory.storage.log.damaged import move_aside
from memory.storage.log.database import BULK, NAME, LogFile
from memory.storage.own_folders import StateFolder

TASKS = "memory/tasks.md"
LONG = b"### [LOW] One of very many tasks, and each has a few words more\n" * (BULK // 60)
assert len(LONG) > BULK


@pytest.fixture
def folder(workspace: Path, tmp_path: Path) -> StateFolder:
    """Return the private folder of a workspace."""
    return StateFolder(tmp_path / "state", workspace)


def put(path: str, data: bytes) -> Callable[[sqlite3.Connection], None]:
    """Return work that keeps some bytes."""

    def work(db: sqlite3.Connection) -> None:
        db.execute("INSERT OR REPLACE INTO base_data VALUES (?, ?)", (path, data))

    return work


def kept(file: LogFile) -> dict[str, bytes]:
    """Return all bytes that are kept."""

    def work(db: sqlite3.Connection) -> dict[str, bytes]:
        return dict(db.execute("SELECT path, data FROM base_data"))

    return file.run(work, {}, make=False)


def mode(file: LogFile) -> str:
    """Return how the database is written."""
    with sqlite3.connect(file.folder.path / NAME) as db:  # type: ignore[union-attr]
        found = str(db.execute("PRAGMA journal_mode").fetchone()[0])
    db.close()
    return found


def test_another_process_may_have_it_open(folder: StateFolder) -> None:
    """Then it is written as usual: who looks meanwhile sees what was there, and afterwards all of it."""
    file, other = LogFile(folder), LogFile(folder)
    file.run(put("small", b"one"), None)
    assert kept(other) == {"small": b"one"}
    file.run(put("long", LONG), None, adds=len(LONG))
    assert mode(other) == "wal"
    other.run(put("small", b"two"), None)
    assert kept(file) == kept(other) == {"small": b"two", "long": LONG}
    assert file.warnings == other.warnings == []


def test_a_long_transaction_that_fails_leaves_nothing(folder: StateFolder) -> None:
    """What raises in the middle of it takes all of it back."""
    file = LogFile(folder)
    file.run(put("small", b"one"), None)

    def fail(db: sqlite3.Connection) -> None:
        put("small", b"two")(db)
        put("long", LONG)(db)
        raise MemoryError

    with pytest.raises(MemoryError):
        file.run(fail, None, adds=len(LONG))
    assert kept(file) == kept(LogFile(folder)) == {"small": b"one"}
    file.run(put("small", b"three"), None)
    assert kept(LogFile(folder)) == {"small": b"three"}
    assert mode(file) == "wal"


@pytest.mark.parametrize("committed", [False, True])
def test_a_process_that_is_killed_leaves_all_or_nothing(folder: StateFolder, committed: bool) -> None:
    """Pages that were written already are put back by whoever opens the database next."""
    first = LogFile(folder)
    first.run(put("small", b"one"), None)
    first.close()
    child = os.fork()
    if not child:
        try:
            file = LogFile(folder)

            def work(db: sqlite3.Connection) -> None:
                put("small", b"two")(db)
                put("long", LONG)(db)
                if not committed:
                    os.kill(os.getpid(), signal.SIGKILL)

            file.run(work, None, adds=len(LONG))
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    if not committed:
        assert (folder.path / NAME).stat().st_size > BULK // 4, "pages were written"
    after = LogFile(folder)
    assert kept(after) == ({"small": b"two", "long": LONG} if committed else {"small": b"one"})
    assert mode(after) == "wal"
    assert after.warnings == []


def test_what_a_crash_left_goes_with_a_damaged_database(tmp_path: Path) -> None:
    """What would put a damaged database back as it was is kept with it, never laid over the one that begins anew."""
    for name, data in (("a.sqlite", b"main"), ("a.sqlite-journal", b"before"), ("a.damaged.sqlite-journal", b"old")):
        (tmp_path / name).write_bytes(data)
    folder = os.open(tmp_path, os.O_RDONLY)
    assert move_aside(folder, "a.sqlite", "a.damaged.sqlite") == "a.damaged.sqlite"
    os.close(folder)
    found = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert found == {"a.damaged.sqlite": b"main", "a.damaged.sqlite-journal": b"before"}


def test_the_history_of_a_long_file_is_whole(workspace: Path, tmp_path: Path, now: datetime) -> None:
    """The first sight of a long file and a change of most of it are kept, and both can be taken back."""
    tasks = workspace / ".aiter" / TASKS
    before = b"## Pending\n\n" + LONG
    tasks.write_bytes(before)
    store = Store(workspace / ".aiter", state=PrivateState(tmp_path / "state", workspace))
    store.history.notice([f".aiter/{TASKS}"], now)
    assert store.state is not None
    assert not (store.state.folder.path / f"{NAME}-wal").exists()
    with store.transaction("edit", actor="human", now=now) as transaction:
        transaction.write(TASKS, b"## Pending\n", base=transaction.read(TASKS).base)
        transaction.commit("emptied")
    assert store.history.warnings == ()
    other = Store(workspace / ".aiter", state=PrivateState(tmp_path / "state", workspace))
    other.history.undo(actor="human", now=now)
    assert tasks.read_bytes() == before
