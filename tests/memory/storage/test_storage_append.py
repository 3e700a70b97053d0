"""Appending: a mode of the same transaction that adds to the end of a file in one write."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest

from memory.errors import ConflictError, MemdeckError, RefusedError
from memory.storage import Store, fsio
from tests.patience import PATIENCE, reap

NAME = "memory/notes.jsonl"


@pytest.fixture
def notes(tasks: Path) -> Path:
    """Make a file of lines."""
    path = tasks.with_name("notes.jsonl")
    path.write_bytes(b"1\n2\n")
    return path


def append(store: Store, now: datetime, data: bytes = b"3\n", base: bytes | None = None) -> None:
    """Add a line in a transaction."""
    with store.transaction("add", actor="human", now=now) as transaction:
        found = transaction.read(NAME).data if base is None else base
        transaction.append(NAME, data, base=found)
        transaction.commit("added")


def test_an_append_adds_to_the_file_that_is_there(store: Store, notes: Path, now: datetime) -> None:
    """The file keeps its inode, its other bytes and its mode; the change is recorded and can be undone."""
    notes.chmod(0o640)
    before = os.stat(notes)
    append(store, now)
    after = os.stat(notes)
    assert notes.read_bytes() == b"1\n2\n3\n"
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert store.read(NAME).data == b"1\n2\n3\n"
    store.history.undo(actor="human", now=now)
    assert notes.read_bytes() == b"1\n2\n"
    store.history.redo(actor="human", now=now)
    assert notes.read_bytes() == b"1\n2\n3\n"


def test_a_torn_tail_is_mended_first(store: Store, notes: Path, now: datetime) -> None:
    """A last line without a newline gets one, and an undo gives the torn file back as it was."""
    notes.write_bytes(b"1\nto")
    append(store, now)
    assert notes.read_bytes() == b"1\nto\n3\n"
    store.history.undo(actor="human", now=now)
    assert notes.read_bytes() == b"1\nto"


def test_a_file_that_moved_on_is_a_conflict(store: Store, notes: Path, now: datetime) -> None:
    """Nothing is added to bytes that the caller did not start from, nor noted as a change."""
    with pytest.raises(ConflictError) as caught:
        append(store, now, base=b"1\n")
    assert caught.value.details["crossed"]
    assert notes.read_bytes() == b"1\n2\n"
    assert store.history.list() == ()


def test_a_link_is_refused(store: Store, notes: Path, now: datetime) -> None:
    """What a link or a second name leads to is not written to."""
    os.link(notes, notes.with_name("second"))
    with pytest.raises(RefusedError):
        append(store, now)


@pytest.mark.parametrize("moment", ["replaced", "grown", "removed"])
def test_who_comes_between_loses_nothing(
    store: Store, notes: Path, now: datetime, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """A file that is replaced, added to or removed between the check and the write keeps the other's bytes."""
    open_append = fsio.open_append

    def between(name: str, folder: int) -> int:
        if moment == "replaced":
            notes.with_name("new").write_bytes(b"theirs\n")
            notes.with_name("new").replace(notes)
        elif moment == "grown":
            with open(notes, "ab") as file:
                file.write(b"theirs\n")
        else:
            notes.unlink()
        return open_append(name, folder)

    monkeypatch.setattr(fsio, "open_append", between)
    with pytest.raises(ConflictError) as caught:
        append(store, now)
    assert caught.value.details["crossed"]
    expected = {"replaced": b"theirs\n", "grown": b"1\n2\ntheirs\n", "removed": None}[moment]
    assert (notes.read_bytes() if notes.exists() else None) == expected


def test_a_file_replaced_while_it_is_written_to(
    store: Store, notes: Path, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What went into a file that lost its name in that moment is not taken for done."""
    add = fsio.append

    def meanwhile(fd: int, data: bytes) -> None:
        add(fd, data)
        notes.with_name("new").write_bytes(b"theirs\n")
        notes.with_name("new").replace(notes)

    monkeypatch.setattr(fsio, "append", meanwhile)
    with pytest.raises(ConflictError):
        append(store, now)
    monkeypatch.undo()
    append(store, now)
    assert notes.read_bytes() == b"theirs\n3\n"


def test_a_full_disk_leaves_no_part(store: Store, notes: Path, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    """What went in before an error is cut off again, and the change is no change."""
    write, calls = os.write, []

    def full(fd: int, data: bytes) -> int:
        if bytes(data[:4]) == b"long" or calls:
            calls.append(fd)
            if len(calls) > 1:
                raise OSError(28, "No space left on device")
            return write(fd, bytes(data)[:3])
        return write(fd, data)

    monkeypatch.setattr(fsio.os, "write", full)
    with pytest.raises(MemdeckError) as caught:
        append(store, now, b"long line\n")
    monkeypatch.undo()
    assert caught.value.code == "file.io"
    assert notes.read_bytes() == b"1\n2\n"
    append(store, now)
    assert [record.summary for record in store.history.list()] == ["added"]


def test_a_killed_process_leaves_a_whole_or_a_torn_line(store: Store, notes: Path, now: datetime) -> None:
    """Killed anywhere in an append, all older lines stand, the next append follows on its own line, the log is true."""
    lines = [b"1\n", b"2\n"]
    for stop in range(1, 60):
        before = notes.read_bytes()
        child = os.fork()
        if child == 0:
            _die_at(stop)
            append(Store(store.root, state=store.state, lock_timeout=PATIENCE), now, b"n%d\n" % stop)
            os._exit(0)
        done = reap(child) == 0
        after = notes.read_bytes()
        assert after.startswith(before)
        assert b"n%d\n" % stop in after or not done
        if after != before:
            lines.append(after[len(before) :].lstrip(b"\n"))
        again = Store(store.root, state=store.state, lock_timeout=PATIENCE)
        append(again, now, b"x\n")
        lines.append(b"x\n")
        assert notes.read_bytes().split() == [line.strip() for line in lines]
        assert again.history.warnings == ()
        if done:
            break
    else:
        pytest.fail("the append never came to its end")


def _die_at(stop: int) -> None:
    """End this process at the n-th call that changes a file; a write of a line gets half of its bytes in."""
    count = 0
    real = {name: getattr(os, name) for name in ("write", "pwrite", "fsync", "fdatasync", "rename", "unlink", "open")}

    def wrap(name: str):
        def call(*args, **more):
            nonlocal count
            if name == "open" and not args[1] & (os.O_WRONLY | os.O_RDWR):
                return real[name](*args, **more)
            count += 1
            if count == stop:
                if name == "write":
                    real[name](args[0], bytes(args[1])[: len(args[1]) // 2])
                os._exit(9)
            return real[name](*args, **more)

        return call

    for name in real:
        setattr(os, name, wrap(name))


def test_a_mark_is_written_before_the_change(store: Store, notes: Path, now: datetime) -> None:
    """It grows in place, is no part of the change, and an undo leaves it."""
    for number in (1, 10):
        with store.transaction("add", actor="human", now=now) as transaction:
            transaction.mark("memory/notes.seq", number)
            transaction.append(NAME, b"%d\n" % number, base=transaction.read(NAME).data)
            transaction.commit("added")
    store.history.undo(actor="human", now=now)
    assert notes.with_name("notes.seq").read_bytes() == b"10\n"
    assert {record.paths for record in store.history.list()} == {(f".aiter/{NAME}",)}


def test_a_mark_of_a_new_folder(store: Store, workspace: Path, now: datetime) -> None:
    """Where the change makes the folder first the mark follows it."""
    with store.transaction("add", actor="human", now=now) as transaction:
        transaction.mark("memory/new/notes.seq", 3)
        transaction.write("memory/new/notes.jsonl", b"1\n", base=None)
        transaction.commit("made")
    assert (workspace / ".aiter/memory/new/notes.seq").read_bytes() == b"3\n"
