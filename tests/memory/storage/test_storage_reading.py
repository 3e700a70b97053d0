"""Reading beneath a workspace, whatever lies there."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
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


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a\0b", "a/"])
def test_paths_stay_beneath(workspace: Path, path: str) -> None:
    """A path that is absolute, climbs or has empty parts is refused before anything is opened."""
    assert refused(path, workspace) == "file.outside"


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


@pytest.mark.parametrize("target", ["../../../secret", "{top}/secret", "../../../../../../../{top}/secret"])
def test_refuses_a_link_that_leads_out(workspace: Path, tasks: Path, target: str) -> None:
    """A clone must not show what lies outside: such links are not even read."""
    (workspace.parent / "secret").write_text("key")
    tasks.unlink()
    tasks.symlink_to(target.format(top=workspace.parent))
    assert refused(PATH, workspace) == "file.link_outside"


def test_refuses_a_folder_link_that_leads_out(workspace: Path) -> None:
    """The same for a folder on the way."""
    (workspace / ".aiter").rename(workspace.parent / "elsewhere")
    (workspace / ".aiter").symlink_to("../elsewhere")
    assert refused(PATH, workspace) == "file.link_outside"


def test_refuses_a_sibling_with_the_same_beginning(workspace: Path, tasks: Path) -> None:
    """`shop-secrets` does not lie inside `shop`."""
    other = workspace.parent / "shop-secrets"
    other.write_text("key")
    tasks.unlink()
    tasks.symlink_to(other)
    assert refused(PATH, workspace) == "file.link_outside"


def test_a_workspace_that_is_itself_a_link(workspace: Path, tasks: Path) -> None:
    """The folder that the user named may be a link; absolute links to its real place stay inside."""
    (workspace.parent / "alias").symlink_to("shop")
    target = workspace / "tasks.md"
    tasks.rename(target)
    tasks.symlink_to(target)
    assert safe_open.read(PATH, workspace.parent / "alias").exists


def test_links_in_a_circle_end(workspace: Path, tasks: Path) -> None:
    """A link that leads to itself is an error, not a hang."""
    tasks.unlink()
    tasks.symlink_to("tasks.md")
    with pytest.raises(RefusedError, match="ELOOP") as caught:
        safe_open.read(PATH, workspace)
    assert caught.value.code == "file.link_loop"


def test_a_folder_that_is_a_link_to_itself_ends(workspace: Path) -> None:
    """The same for a folder on the way."""
    (workspace / ".aiter").rename(workspace / "moved")
    (workspace / ".aiter").symlink_to(".aiter")
    assert refused(PATH, workspace) == "file.link_loop"


def test_a_file_too_large_for_the_memory_is_refused(workspace: Path, tasks: Path) -> None:
    """A terabyte of holes is not read."""
    os.truncate(tasks, 1 << 40)
    assert refused(PATH, workspace) == "file.too_large"


def test_a_dangling_link_is_absent(workspace: Path, tasks: Path) -> None:
    """A link inside the workspace that leads to nothing is a missing file."""
    tasks.unlink()
    tasks.symlink_to("gone.md")
    assert safe_open.read(PATH, workspace) is MISSING


@pytest.mark.parametrize("kind", ["folder", "FIFO", "socket"])
def test_only_regular_files(workspace: Path, tasks: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no regular file is refused at once and called by its name; a FIFO does not hang."""
    tasks.unlink()
    if kind == "folder":
        tasks.mkdir()
    elif kind == "FIFO":
        os.mkfifo(tasks)
    else:
        monkeypatch.chdir(tasks.parent)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("tasks.md")
    with pytest.raises(RefusedError, match=f"is a {kind}") as caught:
        safe_open.read(PATH, workspace)
    assert caught.value.code == "file.not_regular"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a device")
def test_refuses_a_device(workspace: Path, tasks: Path) -> None:
    """A device is named as one."""
    tasks.unlink()
    os.mknod(tasks, 0o20666, os.makedev(1, 5))
    with pytest.raises(RefusedError, match="a device"):
        safe_open.read(PATH, workspace)


def test_a_file_where_a_folder_should_be(workspace: Path) -> None:
    """A path through a file is refused with that reason."""
    assert refused(f"{PATH}/x.md", workspace) == "file.not_folder"


def test_unreadable(open_folder: Path, ordinary_user) -> None:
    """A file without read permission is refused, not taken for missing."""
    with ordinary_user():
        (open_folder / "a.md").write_text("x")
        (open_folder / "a.md").chmod(0)
        assert refused("a.md", open_folder) == "file.unreadable"


def test_never_half_of_a_replaced_file(workspace: Path, tasks: Path) -> None:
    """While another program replaces the file over and over, every read gives one whole version."""
    done = threading.Event()

    def replace() -> None:
        other = tasks.with_name("other")
        try:
            for number in range(400):
                other.write_bytes(b"%d" % (number % 10) * 50_000)
                other.replace(tasks)
        finally:
            done.set()

    tasks.write_bytes(b"0" * 50_000)
    writer = threading.Thread(target=replace)
    writer.start()
    while not done.is_set():
        data = safe_open.read(PATH, workspace).data
        assert (len(data), len(set(data))) == (50_000, 1)
    join(writer)


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
    assert store.state is not None
    store.state.read()
    assert sorted(tmp_path.rglob("*")) == before
