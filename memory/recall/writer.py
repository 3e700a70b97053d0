"""Writing the index: what is different in a file is found out, and only that is indexed again."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.errors import MemdeckError

from .differ import Edit, edits
from .hits import Entry
from .scan import entry_of
from .shelves import Group, Shelf
from .tables import CHUNK, LARGEST, Damaged, Held, Numbers, forget, insert, pack, row_of, unpack
from .typos import is_guessable

if TYPE_CHECKING:
    import sqlite3

    from .records import Record

Chunk = tuple[int, int, int]
"""Id, place among those of the file, number of entries."""

BATCH = 1024
"""Entries of one transaction while much is indexed."""

_WORD = re.compile("[a-z0-9\x80-\U0010ffff]+")


@dataclass(slots=True)
class _Known:
    """How a file looked when it was indexed last; `serial` is the state of its rows that this belongs to."""

    serial: int
    groups: list[tuple[object, str, int, Sequence[object] | None]]


class _Crossed(Exception):
    """Another process wrote about the same file."""


class _Live:
    """The entries of a file as they are now, by their place in it."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self._groups = groups
        self._starts: list[int] = []
        start = 0
        for group in groups:
            self._starts.append(start)
            start += group.size
        self.size = start

    def record(self, place: int) -> Record:
        from bisect import bisect_right

        at = bisect_right(self._starts, place) - 1
        return self._groups[at].record(place - self._starts[at])


class Writer:
    """Keeps the index of one database up to date; for one thread at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Nothing is known of the files yet."""
        self.connection = connection
        self._known: dict[str, _Known] = {}
        self._words: set[str] = set()
        self._chunks: dict[int, tuple[int, list[Chunk]]] = {}
        self.indexed = 0
        """Entries that were indexed so far."""

    def update(
        self,
        shelves: Iterable[Shelf],
        refused: dict[str, MemdeckError],
        go_on: Callable[[], bool] = lambda: True,
        *,
        learn: bool = False,
    ) -> bool:
        """Bring the index up to date; False: `go_on` ended it before everything was done.

        With `learn` files that are not different are looked at as well, so that the next edit of one is quick.
        Files that cannot be read are taken out and put into `refused`. sqlite3.Error, Damaged.
        """
        names: set[str] = set()
        for shelf in shelves:
            names.add(shelf.file)
            if not go_on():
                return False
            for _ in range(3):
                try:
                    if not self._file(shelf, go_on, learn):
                        return False
                except _Crossed:
                    self._known.pop(shelf.file, None)
                    continue
                except MemdeckError as error:
                    refused[shelf.file] = error
                    self._drop(shelf.file)
                break
        for (name,) in self.connection.execute("SELECT name FROM file").fetchall():
            if name not in names:
                self._drop(name)
        return True

    def _file(self, shelf: Shelf, go_on: Callable[[], bool], learn: bool) -> bool:
        row = self.connection.execute("SELECT id, stamp, serial FROM file WHERE name = ?", (shelf.file,)).fetchone()
        known = self._known.get(shelf.file)
        if row is not None and known is not None and known.serial != row[2]:
            known = None
        same = row is not None and bool(shelf.stamp) and row[1] == shelf.stamp
        if same and (known is not None or not learn):
            return True
        groups = shelf.groups()
        if row is None:
            self.connection.execute("INSERT OR IGNORE INTO file (name) VALUES (?)", (shelf.file,))
            row = self.connection.execute("SELECT id, stamp, serial FROM file WHERE name = ?", (shelf.file,)).fetchone()
        file, _, serial = row
        live = _Live(groups)
        if not (same and self._count(file) == live.size):
            found = self._different(known, groups, file, shelf.file, live)
            serial, done = self._apply(file, shelf, serial, found, live, go_on)
            if not done:
                self._known.pop(shelf.file, None)
                return False
        self._known[shelf.file] = _Known(
            serial,
            [(one.token, one.name, one.size, None if one.items is None else one.items()) for one in groups],
        )
        return True

    def _count(self, file: int) -> int:
        count: int = self.connection.execute("SELECT sum(size) FROM chunk WHERE file = ?", (file,)).fetchone()[0] or 0
        return count

    # What is different

    def _different(
        self, known: _Known | None, groups: Sequence[Group], file: int, name: str, live: _Live
    ) -> list[Edit]:
        """Return the edits of the rows of a file; by the objects where they are known, else by what they say."""
        if known is None or any(one[3] is None for one in known.groups) or any(one.items is None for one in groups):
            old: list[Hashable] = [_value(one) for one in self._held(file, name)]
            new: list[Hashable] = [_said(live.record(place)) for place in range(live.size)]
            return edits(old, new)
        start = 0
        before, shorter = known.groups, min(len(known.groups), len(groups))
        while start < shorter and before[start][0] is groups[start].token and before[start][1] == groups[start].name:
            start += 1
        tail = 0
        while (
            tail < shorter - start
            and before[-1 - tail][0] is groups[-1 - tail].token
            and before[-1 - tail][1] == groups[-1 - tail].name
        ):
            tail += 1
        base = sum(one[2] for one in before[:start])
        old = [(id(item), one[1]) for one in before[start : len(before) - tail] for item in one[3] or ()]
        new = [
            (id(item), one.name)
            for one in groups[start : len(groups) - tail]
            for item in (one.items() if one.items is not None else ())
        ]
        return [Edit(*(place + base for place in edit)) for edit in edits(old, new)]

    def _held(self, file: int, name: str) -> list[Held]:
        rows = self.connection.execute(
            "SELECT data, line FROM chunk JOIN body USING (id) WHERE file = ? ORDER BY no", (file,)
        )
        return [one for data, line in rows for one in unpack(data, name, line)]

    # What is written

    def _apply(
        self, file: int, shelf: Shelf, serial: int, found: Sequence[Edit], live: _Live, go_on: Callable[[], bool]
    ) -> tuple[int, bool]:
        """Write the edits, the last one first so that the places of the others stay; the stamp comes at the end."""
        for edit in reversed(found):
            # In batches, again from the end: each one comes to stand before those that are written already.
            end, old_end = edit.new_end, edit.old_end
            while True:
                start = max(edit.new_start, end - BATCH)
                last = edit is found[0] and start == edit.new_start
                batch = Edit(edit.old_start, old_end, start, end)
                shift = edit.new_start - edit.old_start
                serial = self._transaction(file, shelf, serial, batch, shift, live, last)
                if start == edit.new_start:
                    break
                end, old_end = start, edit.old_start
                if not go_on():
                    return serial, False
        if not found:
            serial = self._transaction(file, shelf, serial, None, 0, live, True)
        return serial, True

    def _transaction(
        self, file: int, shelf: Shelf, serial: int, edit: Edit | None, shift: int, live: _Live, last: bool
    ) -> int:
        connection = self.connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            row = connection.execute("SELECT serial FROM file WHERE id = ?", (file,)).fetchone()
            if row is None or row[0] != serial:
                raise _Crossed
            if edit is not None:
                self._edit(file, shelf.file, serial, edit, shift, live)
            connection.execute(
                "UPDATE file SET serial = serial + 1, stamp = ? WHERE id = ?", (shelf.stamp if last else "", file)
            )
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return serial + 1

    def _edit(self, file: int, name: str, serial: int, edit: Edit, shift: int, live: _Live) -> None:
        connection = self.connection
        chunks = self._chunks_of(file, serial)
        # The chunks that hold the old places; where nothing was, the one that ends there.
        first, start = 0, 0
        while first < len(chunks) - 1 and start + chunks[first][2] < max(edit.old_start, 1):
            start += chunks[first][2]
            first += 1
        last, end = first, start + (chunks[first][2] if chunks else 0)
        while last < len(chunks) - 1 and end < edit.old_end:
            last += 1
            end += chunks[last][2]
        touched = chunks[first : last + 1]
        held: list[Held] = []
        for chunk, _, _ in touched:
            held += self._chunk(chunk, name)
        gone = held[edit.old_start - start : edit.old_end - start]
        places = self._places(file)
        forget(connection, [row_of(one, places) for one in gone])
        connection.executemany("DELETE FROM entry WHERE id = ?", [(one.number,) for one in gone])
        numbers = Numbers(connection)
        fresh = []
        refs = {one.entry.ref for one in gone}
        for place in range(edit.new_start, edit.new_end):
            entry = _entry(live.record(place), refs)
            fresh.append(Held(numbers.give(entry.date), entry))
        self._put(file, fresh)
        # The lines of those beside them are others now.
        before = _shifted(held[: edit.old_start - start], live, start + shift)
        behind = _shifted(held[edit.old_end - start :], live, edit.new_end)
        rows = [*before, *fresh, *behind]
        self._move(chunks, first, last, edit, live)
        new = self._store(file, touched, rows, chunks[first][1] if chunks else 0)
        if len(new) == len(touched):
            self._chunks[file] = (serial + 1, [*chunks[:first], *new, *chunks[last + 1 :]])

    def _chunks_of(self, file: int, serial: int) -> list[Chunk]:
        known = self._chunks.get(file)
        if known is None or known[0] != serial:
            self._chunks.clear()
            found = self.connection.execute("SELECT id, no, size FROM chunk WHERE file = ? ORDER BY no", (file,))
            return found.fetchall()
        return known[1]

    def _chunk(self, chunk: int, name: str) -> list[Held]:
        row = self.connection.execute(
            "SELECT data, line FROM chunk JOIN body USING (id) WHERE id = ?", (chunk,)
        ).fetchone()
        if row is None:
            raise Damaged(f"no chunk {chunk}")
        return unpack(row[0], name, row[1])

    def _put(self, file: int, fresh: Sequence[Held]) -> None:
        if not fresh:
            return
        places = self._places(file, {one.entry.kind for one in fresh})
        # In the order of their numbers: the full-text index begins a new part whenever one is smaller than the last.
        rows = sorted(row_of(one, places) for one in fresh)
        insert(self.connection, rows)
        words = {
            word for row in rows for text in (row[1], row[2]) for word in _WORD.findall(text) if word not in self._words
        }
        self._words |= words
        self.connection.executemany(
            "INSERT OR IGNORE INTO word VALUES (?)", [(word,) for word in sorted(words) if is_guessable(word)]
        )
        self.indexed += len(fresh)

    def _places(self, file: int, kinds: Iterable[str] = ()) -> dict[str, int]:
        """Return the numbers of the kinds in a file, new ones for kinds that it did not hold."""
        for kind in sorted(kinds):
            self.connection.execute("INSERT OR IGNORE INTO place (file, kind) VALUES (?, ?)", (file, kind))
        return dict(self.connection.execute("SELECT kind, id FROM place WHERE file = ?", (file,)))

    def _move(self, chunks: Sequence[Chunk], first: int, last: int, edit: Edit, live: _Live) -> None:
        """Let the lines of the chunks before and behind count from where they are now."""
        for some, place in ((chunks[:first], 0), (chunks[last + 1 :], None)):
            if not some:
                continue
            if place is None:
                place = edit.new_end + sum(chunk[2] for chunk in chunks[: last + 1]) - edit.old_end
            if place >= live.size:
                continue
            far = live.record(place).line - self._chunk(some[0][0], "")[0].entry.line
            if far:
                self.connection.execute(
                    "UPDATE chunk SET line = line + ? WHERE file = (SELECT file FROM chunk WHERE id = ?)"
                    " AND no BETWEEN ? AND ?",
                    (far, some[0][0], some[0][1], some[-1][1]),
                )

    def _store(self, file: int, touched: Sequence[Chunk], rows: Sequence[Held], no: int) -> list[Chunk]:
        """Put rows into the place of some chunks, which held what is in them; return the chunks as they are now."""
        connection = self.connection
        size = len(rows) if len(rows) <= LARGEST else CHUNK
        parts = [rows[at : at + size] for at in range(0, len(rows), size)] if rows else []
        more = len(parts) - len(touched)
        if more and touched:
            connection.execute("UPDATE chunk SET no = no + ? WHERE file = ? AND no > ?", (more, file, touched[-1][1]))
        ids = [chunk[0] for chunk in touched]
        for table in ("chunk", "body"):
            connection.executemany(f"DELETE FROM {table} WHERE id = ?", [(chunk,) for chunk in ids[len(parts) :]])
        places: list[tuple[int, int]] = []
        stored: list[Chunk] = []
        for at, part in enumerate(parts):
            line = part[0].entry.line
            values = (file, no + at, line, len(part))
            if at < len(ids):
                chunk = ids[at]
                connection.execute(
                    "UPDATE chunk SET file = ?, no = ?, line = ?, size = ? WHERE id = ?", (*values, chunk)
                )
            else:
                made = connection.execute("INSERT INTO chunk (file, no, line, size) VALUES (?, ?, ?, ?)", values)
                chunk = made.lastrowid or 0
            connection.execute("INSERT OR REPLACE INTO body VALUES (?, ?)", (chunk, pack(part, line)))
            places += [(one.number, chunk) for one in part]
            stored.append((chunk, no + at, len(part)))
        connection.executemany("INSERT OR REPLACE INTO entry VALUES (?, ?)", sorted(places))
        return stored

    def _drop(self, name: str) -> None:
        """Take a file out of the index."""
        self._known.pop(name, None)
        connection = self.connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            row = connection.execute("SELECT id FROM file WHERE name = ?", (name,)).fetchone()
            if row is not None:
                held = self._held(row[0], name)
                places = self._places(row[0])
                forget(connection, [row_of(one, places) for one in held])
                connection.execute("DELETE FROM place WHERE file = ?", (row[0],))
                connection.executemany("DELETE FROM entry WHERE id = ?", [(one.number,) for one in held])
                connection.execute("DELETE FROM body WHERE id IN (SELECT id FROM chunk WHERE file = ?)", (row[0],))
                connection.execute("DELETE FROM chunk WHERE file = ?", (row[0],))
                connection.execute("DELETE FROM file WHERE id = ?", (row[0],))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _entry(record: Record, refs: Container[str | None]) -> Entry:
    """Return the entry of a record. A ref that its predecessor had, and no twin, stays: to ask for it means to look
    for twins in the whole file.
    """
    ref = f"{record.kind}#{getattr(record.item, 'identity', '')}"
    if ref not in refs:
        return entry_of(record)
    return Entry(record.kind, record.file, record.title, record.text, record.date, ref, record.line, record.tags)


def _shifted(held: Sequence[Held], live: _Live, place: int) -> Sequence[Held]:
    """Return entries that stand together with their lines as they are now; the first of them is at a place."""
    far = live.record(place).line - held[0].entry.line if held and place < live.size else 0
    return [Held(one.number, one.entry._replace(line=one.entry.line + far)) for one in held] if far else held


def _value(held: Held) -> Hashable:
    entry = held.entry
    return (entry.kind, entry.title, entry.text, entry.date, entry.tags)


def _said(record: Record) -> Hashable:
    return (record.kind, record.title, record.text, record.date, record.tags)
