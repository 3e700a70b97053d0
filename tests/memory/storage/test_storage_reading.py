"""Reading beneath a workspace, whatever lies there."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memory.errors import BusyError, RefusedError
from memory.storage import ABSENT, MISSING, FileVersion, Store, Stored, safe_open
from memory.storage.safe_open import read_open
from tests.patience import join

PATH = ".aiter/memory/tasks.md"


def refused(path: str, beneath: Path) -> str:
    """Return the code with which reading is refused."""
    with pytest.raises(RefusedError) as caught:
        safe_open.read(path, beneath)
    assert caught.value.details["file"] == path
    return caught.value.code


def test_reads_bytes_and_version(workspace: Path, tasks: Path) -> None:
    """The bytes come with the version that stat tells of the same file."""
    assert safe_open.read(PATH, workspace) == Stored(tasks.read_bytes(), FileVersion.of(tasks.stat()))


@pytest.mark.parametrize("data", [b"", b"\0", b"\xff\r\n" * 3, b"x" * 3_000_000])
def test_reads_any_bytes(workspace: Path, tasks: Path, data: bytes) -> None:
    """Empty, binary and large files are read as they are."""
    tasks.write_bytes(data)
    assert data == safe_open.read(PATH, workspace).data


@pytest.mark.parametrize("path", [".aiter/memory/journal.md", ".aiter/elsewhere/x.md", "no/where"])
def test_missing_is_absent(workspace: Path, path: str) -> None:
    """A file or folder that is not there is no error."""
    stored = safe_open.read(path, workspace)
    assert stored is MISSING
    assert (stored.data, stored.version, stored.exists, stored.base) == (b"", ABSENT, False, None)


def linked(target: str) -> Callable[[Path], object]:
    """Return what puts a link in the place of the file."""
    return lambda tasks: (tasks.unlink(), tasks.symlink_to(target.format(top=tasks.parents[3])))


def folder_linked(target: str) -> Callable[[Path], object]:
    """Return what moves the system's folder away and puts a link in its place."""

    def make(tasks: Path) -> None:
        system = tasks.parents[1]
        system.rename(system.parents[1] / "elsewhere")
        system.symlink_to(target)

    return make


REFUSED: list[tuple[str, str, Callable[[Path], object]]] = [
    *[("file.outside", path, Path.touch) for path in ("", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a\0b")],
    ("file.link_outside", PATH, linked("../../../secret")),
    ("file.link_outside", PATH, linked("{top}/secret")),
    ("file.link_outside", PATH, linked("../../../../../../../{top}/secret")),
    ("file.link_outside", PATH, linked("{top}/shop-secrets")),  # a sibling with the same beginning
    ("file.link_outside", PATH, folder_linked("../elsewhere")),
    ("file.link_loop", PATH, linked("tasks.md")),
    ("file.link_loop", PATH, folder_linked(".aiter")),
    ("file.too_large", PATH, lambda tasks: os.truncate(tasks, 1 << 40)),
    ("file.not_folder", f"{PATH}/x.md", Path.touch),
    ("file.not_regular", PATH, lambda tasks: (tasks.unlink(), tasks.mkdir())),
    ("file.not_regular", PATH, lambda tasks: (tasks.unlink(), os.mkfifo(tasks))),
]


@pytest.mark.parametrize(("code", "path", "make"), REFUSED)
def test_refuses_what_is_no_file_inside(
    workspace: Path, tasks: Path, code: str, path: str, make: Callable[[Path], object]
) -> None:
    """A clone must not show what lies outside, fill the memory or make a reader hang: each is refused by its code."""
    for name in ("secret", "shop-secrets"):
        (workspace.parent / name).write_text("key")
    make(tasks)
    assert refused(path, workspace) == code


@pytest.mark.parametrize("absolute", [False, True])
def test_follows_a_link_that_stays_inside(workspace: Path, tasks: Path, absolute: bool) -> None:
    """A link to another file of the workspace is read through, be it relative or absolute."""
    target = workspace / "docs" / "tasks.md"
    target.parent.mkdir()
    tasks.rename(target)
    tasks.symlink_to(target if absolute else "../../docs/tasks.md")
    assert safe_open.read(PATH, workspace).version == FileVersion.of(target.stat())


def test_follows_a_folder_link_that_stays_inside(workspace: Path) -> None:
    """A linked folder is read through, chains of links and detours over the parent included."""
    (workspace / ".aiter" / "memory").rename(workspace / "notes")
    (workspace / "again").symlink_to("notes/../notes")
    (workspace / ".aiter" / "memory").symlink_to("../again/")
    assert safe_open.read(PATH, workspace).exists


def test_a_workspace_that_is_itself_a_link(workspace: Path, tasks: Path) -> None:
    """The folder that the user named may be a link; absolute links to its real place stay inside."""
    (workspace.parent / "alias").symlink_to("shop")
    target = workspace / "tasks.md"
    tasks.rename(target)
    tasks.symlink_to(target)
    assert safe_open.read(PATH, workspace.parent / "alias").exists


def test_unreadable(open_folder: Path, ordinary_user) -> None:
    """A file without read permission is refused, not taken for missing."""
    with ordinary_user():
        (open_folder / "a.md").write_text("x")
        (open_folder / "a.md").chmod(0)
        assert refused("a.md", open_folder) == "file.unreadable"


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
