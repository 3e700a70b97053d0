"""The free functions: merge, promote, demote, expire, lock and unlock, as an agent calls them."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from memory.errors import BusyError, MemdeckError, NotFoundError, RefusedError
from memory.history.undo import undo_in
from memory.storage.own_folders import host_name
from memory.typed import ops
from memory.typed.registry import Holder
from memory.workspace import Workspace
from tests.memory.typed.conftest import NOW, Den, put
from tests.patience import PATIENCE

HOUSE = Path(__file__).parents[3]


@pytest.fixture
def ada(den: Den, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent, and a state folder that is not the person's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(den.state))
    monkeypatch.delenv("MEMDECK_ACTOR", raising=False)
    return den.add("ada", '[memory]\ncore_files = ["memory/rules.md"]\n')


def test_merge_creates_appends_and_is_undone(ada: Path, den: Den) -> None:
    """Parents and file are made; the change is in the history in the agent's name, and undo takes it back."""
    path = ada / "memory/procedural/deep/notes.md"
    assert ops.merge(path, "one\n").files
    assert ops.merge(path, "two\n", "line_hash").files
    assert not ops.merge(path, "one\ntwo\n", "line_hash").files
    assert path.read_text() == "one\ntwo\n"
    workspace = Workspace.open(ada, state_home=den.state)
    records = workspace.store.history.list()
    assert [(record.actor, record.operation) for record in records] == [("agent:ada", "typed.merge")] * 2
    undo_in(workspace.together, actor="agent:ada", now=NOW)
    assert path.read_text() == "one\n"


def test_promote_and_demote_are_moves(ada: Path, den: Den) -> None:
    """The file is at the new place with its bytes, mode and time, its parents are made, and undo moves it back."""
    source = put(ada, "memory/episodic/find.md", "found\n", days=3)
    source.chmod(0o600)
    was = source.stat()
    target = ada / "memory/core/find.md"
    ops.promote(source, target, now=NOW)
    assert (source.exists(), target.read_text()) == (False, "found\n")
    assert (target.stat().st_mode, target.stat().st_mtime_ns) == (was.st_mode, was.st_mtime_ns)
    ops.demote(target, source)
    assert (target.exists(), source.stat().st_mtime_ns) == (False, was.st_mtime_ns)
    workspace = Workspace.open(ada, state_home=den.state)
    undo_in(workspace.together, actor="agent:ada", now=NOW)
    assert (target.exists(), source.exists()) == (True, False)


def test_a_move_needs_a_source_and_a_free_place(ada: Path) -> None:
    """A missing source is an error, an existing destination refused unless forced, another agent's folder too."""
    with pytest.raises(NotFoundError, match="no file"):
        ops.promote(ada / "memory/none.md", ada / "memory/x.md")
    one, two = put(ada, "memory/one.md", "1\n"), put(ada, "memory/two.md", "2\n")
    with pytest.raises(RefusedError, match="exists already"):
        ops.promote(one, two)
    assert (one.read_text(), two.read_text()) == ("1\n", "2\n")
    ops.promote(one, two, force=True)
    assert (one.exists(), two.read_text()) == (False, "1\n")
    with pytest.raises(MemdeckError, match="outside"):
        ops.promote(two, ada.parent / "other.md")
    with pytest.raises(RefusedError):
        ops.promote(two, ada / "Aidefile", force=True)
    with pytest.raises(MemdeckError, match="already there"):
        ops.promote(two, two)


def test_expire_deletes_what_is_older(ada: Path, den: Den) -> None:
    """Strictly older goes, as old stays, a missing file is no error, a folder is; undo brings the bytes back."""
    path = put(ada, "memory/a.md", "text\n", days=2)
    assert not ops.expire(path, timedelta(days=2), now=NOW)
    assert ops.expire(path, "1d", now=NOW)
    assert not path.exists()
    assert not ops.expire(path, 1, now=NOW)
    with pytest.raises(RefusedError) as caught:
        ops.expire(ada / "memory", 1, now=NOW)
    assert caught.value.code == "typed.not_memory"
    with pytest.raises(MemdeckError) as caught:
        ops.expire(path, "-3d", now=NOW)
    assert (caught.value.code, caught.value.hint) == ("typed.age", "write an age such as 45s, 30m, 12h, 7d or 2w")
    undo_in(Workspace.open(ada, state_home=den.state).together, actor="agent:ada", now=NOW)
    assert path.read_text() == "text\n"


def test_lock_is_a_sentinel_that_one_caller_gets(ada: Path) -> None:
    """`<path>.lock` is made with pid, host and time; a second lock fails until unlock; the path need not exist."""
    path = ada / "memory/not/there.md"
    holder = ops.lock(path, now=NOW)
    sentinel = ada / "memory/not/there.md.lock"
    assert sentinel.read_text() == f"{os.getpid()} {host_name(os.environ)} 2026-04-18T12:00:00+00:00\n"
    assert (holder.pid, holder.dead) == (os.getpid(), False)
    with pytest.raises(BusyError) as caught:
        ops.lock(path)
    assert caught.value.code == "typed.locked"
    assert str(os.getpid()) in caught.value.message
    assert ops.unlock(path)
    assert not ops.unlock(path)
    assert not sentinel.exists()
    ops.lock(path)


def test_of_many_locks_at_once_one_wins(ada: Path) -> None:
    """O_EXCL decides: eight callers, one holder."""

    def attempt(_: int) -> bool:
        try:
            ops.lock(ada / "memory/x.md")
        except BusyError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(8))) == 1


def _foreign(path: Path) -> None:
    """Lock a file from a process of its own, which then ends."""
    code = "import sys; from memory.typed import ops; ops.lock(sys.argv[1])"
    environment = {**os.environ, "PYTHONPATH": str(HOUSE)}
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, env=environment, timeout=PATIENCE)


def test_writes_honour_the_lock_of_another(ada: Path) -> None:
    """Merge, promote, demote and expire stop at a foreign lock unless told otherwise; one's own is not in the way."""
    path = put(ada, "memory/a.md", "a\n", days=9)
    _foreign(path)
    calls = [
        lambda **more: ops.merge(path, "b\n", **more),
        lambda **more: ops.promote(path, ada / "memory/b.md", **more),
        lambda **more: ops.demote(path, ada / "memory/b.md", **more),
        lambda **more: ops.expire(path, 1, now=NOW, **more),
    ]
    for call in calls:
        with pytest.raises(BusyError, match="which is gone"):
            call()
    assert path.read_text() == "a\n"
    assert ops.merge(path, "b\n", ignore_lock=True).files
    ops.unlock(path)
    ops.lock(path)
    assert ops.merge(path, "c\n").files


def test_a_sentinel_of_any_kind_is_a_lock(ada: Path) -> None:
    """A link, an empty file and one with any words stand for a lock; what they hold is never followed or trusted."""
    path = put(ada, "memory/a.md", "a\n")
    (ada / "memory/a.md.lock").symlink_to("/etc/passwd")
    with pytest.raises(BusyError, match="unknown program"):
        ops.merge(path, "b\n")
    (ada / "memory/a.md.lock").unlink()
    (ada / "memory/a.md.lock").write_bytes(b"\x1b[31m \xff 99999999999999999999\n")
    with pytest.raises(BusyError):
        ops.merge(path, "b\n")
    assert not Holder("x", None, "", "").dead
