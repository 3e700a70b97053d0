"""Changing files: all or nothing, never over somebody else's bytes."""

from __future__ import annotations

import contextlib
import os
import resource
from datetime import datetime
from pathlib import Path

import pytest

from memory.errors import ConflictError, RefusedError
from memory.storage import Change, Store

NAME = "memory/tasks.md"


def write(store: Store, now: datetime, files: dict[str, bytes], **bases: bytes | None):
    """Write some files in one transaction, on what the store reads unless a base is given."""
    with store.transaction("test", actor="human", now=now) as transaction:
        for path, data in files.items():
            transaction.write(path, data, base=bases.get("base", transaction.read(path).base))
        return transaction.commit("a test")


def attempt(store: Store, now: datetime, *plans: tuple[str, bytes | None, bytes | None]) -> Change:
    """Write, or remove, files given as path, base and new bytes."""
    with store.transaction("t", actor="human", now=now) as transaction:
        for path, base, data in plans:
            if data is None:
                assert base is not None
                transaction.remove(path, base=base)
            else:
                transaction.write(path, data, base=base)
        return transaction.commit()


def test_without_commit_nothing_happens(store: Store, workspace: Path, tree, now: datetime) -> None:
    """What was only planned, or broke off, leaves every file as it was."""
    before = tree(workspace)
    with contextlib.suppress(KeyError), store.transaction("test", actor="human", now=now) as transaction:
        transaction.write("memory/new/a.md", b"x", base=None)
        raise KeyError
    assert tree(workspace) == before


def test_reading_again_returns_the_same(store: Store, tasks: Path, now: datetime) -> None:
    """A change is based on what it read first, whatever another program writes meanwhile, and is then refused."""
    with store.transaction("test", actor="human", now=now) as transaction:
        first = transaction.read(NAME).data
        tasks.write_bytes(b"# Tasks\n\n## Pending\n\n### Of another program\n")
        assert transaction.read(NAME).data == first
        transaction.write(NAME, first + b"\n### Mine\n", base=first)
        with pytest.raises(ConflictError):
            transaction.commit()


@pytest.mark.parametrize("base", [None, b"", b"something else", b"x" * 48])
def test_another_base_is_a_conflict(store: Store, workspace: Path, tree, now: datetime, base) -> None:
    """A file that is not what the caller started from stops the whole change, the other files too."""
    before = tree(workspace)
    with pytest.raises(ConflictError) as caught:
        attempt(store, now, ("memory/archive/a.md", None, b"moved"), (NAME, base, b"new"))
    assert caught.value.code == "document.conflict"
    assert caught.value.details["files"] == [".aiter/memory/tasks.md"]
    assert tree(workspace) == before


def test_a_change_of_many_files_opens_few_at_once(store: Store, now: datetime) -> None:
    """A process has only so many files open: hundreds are made, rewritten and removed with fifty to spare."""
    names = [f"memory/archive/{number}.md" for number in range(150)]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free + 50, hard))
    try:
        for before, after in ((None, b"one\n"), (b"one\n", b"two\n"), (b"two\n", None)):
            change = attempt(store, now, *[(name, before, after) for name in names])
            assert len(change.files) == len(names)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o750])
def test_the_mode_is_kept(store: Store, tasks: Path, now: datetime, mode: int) -> None:
    """A replaced file has the mode of the one before."""
    tasks.chmod(mode)
    write(store, now, {NAME: b"new"})
    assert tasks.stat().st_mode & 0o7777 == mode


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0, 0o644)])
def test_a_new_file_obeys_the_umask(store: Store, workspace: Path, now: datetime, umask: int, mode: int) -> None:
    """A new file is 0644 less what the user's umask takes away."""
    old = os.umask(umask)
    try:
        write(store, now, {"memory/a.md": b"x"})
    finally:
        os.umask(old)
    assert (workspace / ".aiter/memory/a.md").stat().st_mode & 0o7777 == mode


def test_extended_attributes_are_kept(store: Store, tasks: Path, now: datetime) -> None:
    """What a person attached to the file stays attached."""
    try:
        os.setxattr(tasks, "user.note", b"mine")
    except (OSError, AttributeError):
        pytest.skip("this file system has no extended attributes")
    write(store, now, {NAME: b"new"})
    assert os.getxattr(tasks, "user.note") == b"mine"


@pytest.mark.parametrize("path", ["../x.md", "/x.md", "a/../b.md", ".memdeck/lock", ".memdeck/stage/x", ""])
def test_refuses_paths_outside(store: Store, now: datetime, path: str) -> None:
    """No change reaches outside the system's folder, or into memdeck's own."""
    with store.transaction("t", actor="human", now=now) as transaction:
        with pytest.raises(RefusedError) as caught:
            transaction.write(path, b"x", base=None)
        assert caught.value.code == "file.outside"


def test_misuse(store: Store, now: datetime) -> None:
    """Planning a path twice, committing twice, outside its block or inside another is a bug in the caller."""
    transaction = store.transaction("t", actor="human", now=now)
    with pytest.raises(RuntimeError):
        transaction.commit()
    with transaction:
        transaction.write(NAME, b"x", base=None)
        with pytest.raises(ValueError, match="planned"):
            transaction.write(NAME, b"y", base=None)
        with pytest.raises(RuntimeError):
            attempt(store, now, (NAME, None, b"inner"))
        with pytest.raises(ConflictError):
            transaction.commit()
        with pytest.raises(RuntimeError):
            transaction.commit()


def test_leftovers_of_a_crash_are_cleared(store: Store, workspace: Path, tasks: Path, now: datetime) -> None:
    """What a killed process staged goes with the next change, second names of the target included."""
    write(store, now, {NAME: b"one"})
    stage = workspace / ".aiter/.memdeck/stage"
    (stage / "x.new").write_bytes(b"half")
    os.link(tasks, stage / "x.old")
    with store.transaction("test", actor="human", now=now):
        assert (tasks.read_bytes(), list(stage.iterdir())) == (b"one", [])


def test_a_store_without_a_gate_takes_no_change_of_an_agent(store: Store, now: datetime) -> None:
    """Where no rules were named for agents, none changes anything."""
    with store.transaction("edit", actor="agent:x", now=now) as transaction:
        transaction.write("memory/new.md", b"new", base=None)
        with pytest.raises(RefusedError) as caught:
            transaction.commit()
    assert caught.value.code == "review.denied"
    assert not store.read("memory/new.md").exists
