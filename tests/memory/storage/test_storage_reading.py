"""Reading beneath a workspace, whatever lies there."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import pytest

from memory.errors import BusyError, RefusedError
from memory.storage import MISSING, FileVersion, Store, safe_open
from memory.storage.safe_open import read_open
from tests.patience import join

PATH = ".aiter/memory/tasks.md"


def refused(path: str, beneath: Path) -> str:
    """Return the code with which reading is refused."""
    with pytest.raises(RefusedError) as caught:
        safe_open.read(path, beneath)
    assert caught.value.details["file"] == path
    return caught.value.code


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a\0b"])
def test_refuses_what_is_no_path_inside(workspace: Path, path: str) -> None:
    """A clone must not show what lies outside."""
    assert refused(path, workspace) == "file.outside"


def test_a_workspace_that_is_itself_a_link(workspace: Path, tasks: Path) -> None:
    """The folder that the user named may be a link; absolute links to its real place stay inside."""
    (workspace.parent / "alias").symlink_to("shop")
    target = workspace / "tasks.md"
    tasks.rename(target)
    tasks.symlink_to(target)
    assert safe_open.read(PATH, workspace.parent / "alias").exists


def test_a_file_that_changes_is_read_whole_or_not_at_all(workspace: Path, tasks: Path) -> None:
    """While another program appends without a pause, what is read is what stat said before and after."""
    stop = threading.Event()

    def append() -> None:
        with tasks.open("ab", buffering=0) as file:
            while not stop.is_set():
                for _ in range(1000):
                    file.write(b"0123456789")
                file.truncate(0)

    writer = threading.Thread(target=append)
    writer.start()
    noticed = 0
    try:
        with tasks.open("rb") as file:
            for _ in range(20_000):
                stored = read_open(file.fileno(), "tasks.md")
                if stored is None:
                    noticed += 1
                else:
                    assert len(stored.data) == stored.version.size
                if noticed == 5:
                    break
        with contextlib.suppress(BusyError):
            stored = safe_open.read(PATH, workspace)
            assert len(stored.data) == stored.version.size
    finally:
        stop.set()
        join(writer)
    assert noticed


@pytest.mark.parametrize(("age_ms", "settled"), [(-50, False), (0, False), (10, False), (30, True), (9e9, True)])
def test_a_young_version_is_not_settled(age_ms: float, settled: bool) -> None:
    """Within the tick of a file system's clock, equal versions do not prove equal bytes."""
    version = FileVersion(1, 2, 3, 10**20, 10**18)
    assert version.settled(10**18 + int(age_ms * 1e6)) is settled


def test_the_store_keeps_what_has_not_changed(store: Store, tasks: Path) -> None:
    """An unchanged file gives the same object; touching it without a change gives equal bytes."""
    first = store.read("memory/tasks.md")
    assert store.read("memory/tasks.md") is first
    tasks.touch()
    assert store.read("memory/tasks.md").data == first.data


def test_the_store_sees_a_change_of_the_same_size_at_once(store: Store, tasks: Path) -> None:
    """Two writes within one tick of the file system's clock are told apart by reading again."""
    for number in range(300):
        data = b"%03d" % number
        tasks.write_bytes(data)
        assert store.read("memory/tasks.md").data == data


def test_the_store_sees_files_come_and_go(store: Store, tasks: Path) -> None:
    """A removed file is absent, a new one is read, a replaced folder is noticed."""
    assert store.read("memory/tasks.md").exists
    tasks.unlink()
    assert store.read("memory/tasks.md") is MISSING
    tasks.parent.rename(tasks.parent.with_name("old"))
    assert store.read("memory/tasks.md") is MISSING
    tasks.parent.mkdir()
    tasks.write_bytes(b"new")
    assert store.read("memory/tasks.md").data == b"new"


def test_reading_writes_nothing(store: Store, tmp_path: Path) -> None:
    """Neither lock nor state nor anything else appears by reading."""
    before = sorted(tmp_path.rglob("*"))
    store.read("memory/tasks.md")
    store.state.last_maintenance()
    assert sorted(tmp_path.rglob("*")) == before
