"""Appending: a mode of the same transaction that adds to the end of a file in one write."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest

from memory.errors import RefusedError
from memory.history.undo import redo_in, undo_in
from memory.storage import Store

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
    undo_in(store.together, actor="human", now=now)
    assert notes.read_bytes() == b"1\n2\n"
    redo_in(store.together, actor="human", now=now)
    assert notes.read_bytes() == b"1\n2\n3\n"


def test_a_torn_tail_is_mended_first(store: Store, notes: Path, now: datetime) -> None:
    """A last line without a newline gets one, and an undo gives the torn file back as it was."""
    notes.write_bytes(b"1\nto")
    append(store, now)
    assert notes.read_bytes() == b"1\nto\n3\n"
    undo_in(store.together, actor="human", now=now)
    assert notes.read_bytes() == b"1\nto"


def test_a_link_is_refused(store: Store, notes: Path, now: datetime) -> None:
    """What a link or a second name leads to is not written to."""
    os.link(notes, notes.with_name("second"))
    with pytest.raises(RefusedError):
        append(store, now)


def test_a_mark_is_written_before_the_change(store: Store, notes: Path, now: datetime) -> None:
    """It grows in place, is no part of the change, and an undo leaves it."""
    for number in (1, 10):
        with store.transaction("add", actor="human", now=now) as transaction:
            transaction.mark("memory/notes.seq", number)
            transaction.append(NAME, b"%d\n" % number, base=transaction.read(NAME).data)
            transaction.commit("added")
    undo_in(store.together, actor="human", now=now)
    assert notes.with_name("notes.seq").read_bytes() == b"10\n"
    assert {record.paths for record in store.history.list()} == {(f".aiter/{NAME}",)}


def test_a_mark_of_a_new_folder(store: Store, workspace: Path, now: datetime) -> None:
    """Where the change makes the folder first the mark follows it."""
    with store.transaction("add", actor="human", now=now) as transaction:
        transaction.mark("memory/new/notes.seq", 3)
        transaction.write("memory/new/notes.jsonl", b"1\n", base=None)
        transaction.commit("made")
    assert (workspace / ".aiter/memory/new/notes.seq").read_bytes() == b"3\n"
