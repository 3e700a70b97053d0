"""Writing the index: the changes in a file are found, and only these are indexed again."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from memory.errors import MemdeckError
from memory.files.refs import SHORT
from memory.search.hits import FoundEntry
from memory.search.query.vocabulary import SHORTEST, is_guessable, is_spelled
from memory.search.query.words import LETTER, name_parts, tokens
from memory.search.scan import entry_of

from .file_diff import MARK, IndexedFile, Live, RowEdit, by_objects, edits
from .tables import CHUNK, LARGEST, DamagedIndex, EntryNumbers, IndexedEntry, Row, forget, insert, pack, row_of, unpack

if TYPE_CHECKING:
    import sqlite3

    from memory.search.records import Record

    from .inventory import EntryGroup, FileRecords

Chunk = tuple[int, int, int]
"""Id, position among those of the file, number of entries."""

_FEW, _MOST_TWINS = 64, 200
"""Up to how many changed entries twins are looked for, and how many twins at most."""

BATCH = 1024
"""Entries of one transaction during large updates."""

_WORD = re.compile(f"{LETTER}+")


class _Crossed(Exception):
    """Another process wrote the rows of the same file."""


class BrokenOff(Exception):
    """An error within `together`: nothing of what was to be written together was written."""


class IndexWriter:
    """Keeps the index of one database up to date; for one thread at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Know nothing of the files yet."""
        self.connection = connection
        self._known: dict[tuple[int, str], IndexedFile] = {}
        self._words: set[str] = set()
        self._chunks: dict[int, tuple[int, list[Chunk]]] = {}
        self._waiting: list[Row] | None = None
        self._numbers: EntryNumbers | None = None
        self.indexed = 0
        """Entries that were indexed so far."""

    @contextmanager
    def together(self) -> Iterator[None]:
        """Group the writes inside into few transactions, each of `BATCH` entries of any files.

        The full-text index begins a new segment with each transaction, and with each number smaller than the last;
        merging the segments costs more than creating them. sqlite3.Error, DamagedIndex, BrokenOff.
        """
        self._waiting = []
        try:
            yield
            self._commit()
        except BaseException:
            self.forget_files()
            self._words.clear()
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise
        finally:
            self._waiting = self._numbers = None

    def begin(self) -> None:
        """Begin a transaction if none is open."""
        if not self.connection.in_transaction:
            self.connection.execute("BEGIN IMMEDIATE")
            self._numbers = EntryNumbers(self.connection)

    def _end(self) -> None:
        """Commit, or leave it for later if files are written together."""
        if self._waiting is None or len(self._waiting) >= BATCH:
            self._commit()

    def _commit(self) -> None:
        self._insert_waiting()
        if self.connection.in_transaction:
            self.connection.execute("COMMIT")

    def _insert_waiting(self) -> None:
        if self._waiting:
            insert(self.connection, sorted(self._waiting))
            self._waiting.clear()

    def _undo(self, error: BaseException) -> None:
        """Roll back. Files written together are rolled back as a whole, so the next file is not written."""
        if self._waiting is None:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
        elif isinstance(error, (MemdeckError, _Crossed)):
            raise BrokenOff from error

    def update(
        self,
        sources: Iterable[FileRecords],
        refused: dict[str, MemdeckError],
        go_on: Callable[[], bool] = lambda: True,
        *,
        learn: bool = False,
        room: int = 0,
    ) -> bool:
        """Update one room of the index; False: `go_on` stopped it before everything was done.

        With `learn` unchanged files are read as well, so that the next edit of one is fast. Files that cannot be read
        are removed and added to `refused`. sqlite3.Error, DamagedIndex.
        """
        names: set[str] = set()
        for source in sources:
            names.add(source.file)
            if not go_on():
                return False
            for _ in range(3):
                try:
                    if not self._file(room, source, go_on, learn):
                        return False
                except _Crossed:
                    self._known.pop((room, source.file), None)
                    continue
                except MemdeckError as error:
                    refused[source.file] = error
                    self._drop(room, source.file)
                break
        for (name,) in self.connection.execute("SELECT name FROM file WHERE room = ?", (room,)).fetchall():
            if name not in names:
                self._drop(room, name)
        return True

    def forget_files(self) -> None:
        """Forget the remembered state of the files, for callers with more files than fit into memory."""
        self._known.clear()
        self._chunks.clear()

    def _file(self, room: int, source: FileRecords, go_on: Callable[[], bool], learn: bool) -> bool:
        if self._waiting is not None:
            self.begin()
        which = "SELECT id, stamp, serial FROM file WHERE room = ? AND name = ?"
        row = self.connection.execute(which, (room, source.file)).fetchone()
        known = self._known.get((room, source.file))
        if row is not None and known is not None and known.serial != row[2]:
            known = None
        same = row is not None and bool(source.stamp) and row[1] == source.stamp
        if same and (known is not None or not learn):
            return True
        groups = source.groups()
        if row is None:
            self.connection.execute("INSERT OR IGNORE INTO file (room, name) VALUES (?, ?)", (room, source.file))
            row = self.connection.execute(which, (room, source.file)).fetchone()
        file, _, serial = row
        live = Live(groups)
        if not (same and self._count(file) == live.size):
            found = self._different(known, groups, file, live)
            serial, done = self._apply(file, source, serial, found, live, go_on)
            if not done:
                self._known.pop((room, source.file), None)
                return False
        self._known[room, source.file] = IndexedFile(
            serial,
            [(one.token, one.name, one.size, None if one.items is None else one.items()) for one in groups],
        )
        return True

    def _count(self, file: int) -> int:
        return int(self.connection.execute("SELECT sum(size) FROM chunk WHERE file = ?", (file,)).fetchone()[0] or 0)

    # Finding the changes

    def _different(
        self, known: IndexedFile | None, groups: Sequence[EntryGroup], file: int, live: Live
    ) -> list[RowEdit]:
        """Return the edits of the rows of a file; by the objects if they are known, else by their marks."""
        found = None if known is None else by_objects(known, groups)
        # If much was read again, equal entries are new objects; comparing marks costs less than indexing them again.
        if found is not None and sum(edit.new_end - edit.new_start for edit in found) <= _FEW:
            return found
        rows = self.connection.execute(
            "SELECT data, size FROM chunk LEFT JOIN mark USING (id) WHERE file = ? ORDER BY no", (file,)
        )
        return edits([one for data, size in rows for one in _marks_in(data, size)], live.marks(0, live.size))

    # Writing

    def _apply(
        self,
        file: int,
        source: FileRecords,
        serial: int,
        found: Sequence[RowEdit],
        live: Live,
        go_on: Callable[[], bool],
    ) -> tuple[int, bool]:
        """Write the edits, the last one first so that the positions of the others stay; the stamp comes at the end."""
        titles: set[str] = set()
        small = sum(edit.new_end - edit.new_start for edit in found) <= _FEW
        for edit in reversed(found):
            # In batches, also from the end: each one goes before those that are already written.
            end, old_end = edit.new_end, edit.old_end
            shift = edit.new_start - edit.old_start
            while True:
                start = max(edit.new_start, end - BATCH)
                batch = RowEdit(edit.old_start, old_end, start, end)
                ends = len(found) == 1 and start == edit.new_start
                write = partial(self._edit, file, source.file, serial, batch, shift, live, titles, len(found) == 1)
                serial = self._transaction(
                    file,
                    source,
                    serial,
                    write,
                    lambda ends=ends: ends and not (small and titles),  # type: ignore[misc]
                )
                if start == edit.new_start:
                    break
                end, old_end = start, edit.old_start
                if not go_on():
                    return serial, False
        if len(found) != 1 or (small and titles):
            write = partial(self._finish, file, source.file, serial, live, titles if small else (), len(found) != 1)
            serial = self._transaction(file, source, serial, write, lambda: True)
        return serial, True

    def _transaction(
        self, file: int, source: FileRecords, serial: int, write: Callable[[], None], last: Callable[[], bool]
    ) -> int:
        """Write rows of a file if no other process wrote it since; the stamp covers them all, so it is written last."""
        connection = self.connection
        self.begin()
        try:
            row = connection.execute("SELECT serial FROM file WHERE id = ?", (file,)).fetchone()
            if row is None or row[0] != serial:
                raise _Crossed
            write()
            connection.execute(
                "UPDATE file SET serial = serial + 1, stamp = ? WHERE id = ?", (source.stamp if last() else "", file)
            )
            self._end()
        except BaseException as error:
            self._chunks.pop(file, None)
            self._undo(error)
            raise
        return serial + 1

    def _finish(self, file: int, name: str, serial: int, live: Live, titles: Collection[str], moved: bool) -> None:
        """Set what depends on other entries: the lines where they moved, and the refs of entries that got twins.

        The lines move with several edits, and with none too: by what was written above all entries.
        """
        connection = self.connection
        chunks = self._chunks_of(file, serial)
        starts: dict[int, int] = {}
        start = 0
        for chunk, _, size in chunks:
            starts[chunk] = start
            start += size
        if moved:
            connection.executemany(
                "UPDATE chunk SET line = ? WHERE id = ?",
                [(live.record(place).line, chunk) for chunk, place in starts.items()],
            )
        touched: set[int] = set()
        if titles:
            self._insert_waiting()
        for title in titles:
            if words := " ".join(tokens(title)):
                found = connection.execute(
                    "SELECT chunk FROM entry WHERE id IN (SELECT rowid FROM find WHERE find MATCH ? LIMIT ?)",
                    (f'title : "{words}"', _MOST_TWINS),
                )
                touched.update(chunk for (chunk,) in found if chunk in starts)
        for chunk in touched:
            held = self._chunk(chunk, name)
            new = [
                one._replace(entry=one.entry._replace(ref=live.record(starts[chunk] + at).ref))
                if one.entry.title in titles
                else one
                for at, one in enumerate(held)
            ]
            if new != held:
                (line,) = connection.execute("SELECT line FROM chunk WHERE id = ?", (chunk,)).fetchone()
                connection.execute("UPDATE body SET data = ? WHERE id = ?", (pack(new, line), chunk))
        self._chunks[file] = (serial + 1, chunks)

    def _edit(
        self,
        file: int,
        name: str,
        serial: int,
        edit: RowEdit,
        shift: int,
        live: Live,
        titles: set[str],
        alone: bool,
    ) -> None:
        """Write one edit; add the titles of entries that have or had twins to `titles`. `alone`: it is the only one."""
        connection = self.connection
        chunks = self._chunks_of(file, serial)
        # The chunks with the old positions; for an insertion, the one that ends there.
        first, start = 0, 0
        while first < len(chunks) - 1 and start + chunks[first][2] < max(edit.old_start, 1):
            start += chunks[first][2]
            first += 1
        last, end = first, start + (chunks[first][2] if chunks else 0)
        while last < len(chunks) - 1 and end < edit.old_end:
            last += 1
            end += chunks[last][2]
        touched = chunks[first : last + 1]
        held: list[IndexedEntry] = []
        for chunk, _, _ in touched:
            held += self._chunk(chunk, name)
        gone = held[edit.old_start - start : edit.old_end - start]
        self._forget(name, gone)
        numbers = self._numbers or EntryNumbers(connection)
        fresh = []
        refs = {one.entry.ref for one in gone}
        for place, mark in enumerate(live.marks(edit.new_start, edit.new_end), edit.new_start):
            entry = _entry(live.record(place), refs)
            fresh.append(IndexedEntry(numbers.give(entry.date), entry, mark))
        self._put(name, fresh)
        # The lines of the entries before and after have changed.
        before = _shifted(held[: edit.old_start - start], live, start + shift)
        behind = _shifted(held[edit.old_end - start :], live, edit.new_end)
        rows = [*before, *fresh, *behind]
        if alone:
            self._move(chunks, first, last, edit, live)
        titles.update(one.entry.title for one in (*fresh, *gone) if _has_twin(one.entry))
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

    def _chunk(self, chunk: int, name: str) -> list[IndexedEntry]:
        row = self.connection.execute(
            "SELECT body.data, line, mark.data FROM chunk JOIN body USING (id) JOIN mark USING (id) WHERE id = ?",
            (chunk,),
        ).fetchone()
        if row is None:
            raise DamagedIndex(f"no chunk {chunk}")
        held = unpack(row[0], name, row[1])
        return [one._replace(mark=mark) for one, mark in zip(held, _marks_in(row[2], len(held)), strict=True)]

    def _put(self, name: str, fresh: Sequence[IndexedEntry]) -> None:
        if not fresh:
            return
        places = self._places(name, {one.entry.kind for one in fresh})
        # Sorted by number: the full-text index begins a new segment whenever a number is smaller than the last.
        rows = sorted(row_of(one, places) for one in fresh)
        if self._waiting is None:
            insert(self.connection, rows)
        else:
            self._waiting += rows
        words = set(_WORD.findall(" ".join(chain.from_iterable(row[1:3] for row in rows)))) - self._words
        self._words |= words
        spelled = {
            "word": [word for word in words if len(word) >= SHORTEST and is_spelled(word)],
            "backward": [word[::-1] for word in words if is_guessable(word)],
        }
        for table, some in spelled.items():
            self.connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES (?)", [(word,) for word in sorted(some)])
        parts = {pair for one in fresh for pair in name_parts(f"{one.entry.title}\n{one.entry.text}")}
        self.connection.executemany("INSERT OR IGNORE INTO part VALUES (?, ?)", sorted(parts))
        self.indexed += len(fresh)

    def _forget(self, name: str, gone: Sequence[IndexedEntry]) -> None:
        """Remove entries of a file from the full-text index, and their numbers."""
        if gone:
            self._insert_waiting()
            places = self._places(name)
            forget(self.connection, [row_of(one, places) for one in gone])
            self.connection.executemany("DELETE FROM entry WHERE id = ?", [(one.number,) for one in gone])

    def _places(self, name: str, kinds: Iterable[str] = ()) -> dict[str, int]:
        """Return the numbers of the kinds in files of a name, with new numbers for new kinds."""
        for kind in sorted(kinds):
            self.connection.execute("INSERT OR IGNORE INTO place (name, kind) VALUES (?, ?)", (name, kind))
        return dict(self.connection.execute("SELECT kind, id FROM place WHERE name = ?", (name,)))

    def _move(self, chunks: Sequence[Chunk], first: int, last: int, edit: RowEdit, live: Live) -> None:
        """Update the lines from which the chunks before and after count."""
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

    def _store(self, file: int, touched: Sequence[Chunk], rows: Sequence[IndexedEntry], no: int) -> list[Chunk]:
        """Replace some chunks by rows, which include their old entries; return the new chunks."""
        connection = self.connection
        size = len(rows) if len(rows) <= LARGEST else CHUNK
        parts = [rows[at : at + size] for at in range(0, len(rows), size)] if rows else []
        more = len(parts) - len(touched)
        if more and touched:
            connection.execute("UPDATE chunk SET no = no + ? WHERE file = ? AND no > ?", (more, file, touched[-1][1]))
        ids = [chunk[0] for chunk in touched]
        for table in ("chunk", "body", "mark"):
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
            marks = b"".join(one.mark for one in part)
            connection.execute("INSERT OR REPLACE INTO mark VALUES (?, ?)", (chunk, marks))
            places += [(one.number, chunk) for one in part]
            stored.append((chunk, no + at, len(part)))
        connection.executemany("INSERT OR REPLACE INTO entry VALUES (?, ?)", sorted(places))
        return stored

    def _drop(self, room: int, name: str) -> None:
        """Remove a file from the index."""
        self._known.pop((room, name), None)
        connection = self.connection
        self.begin()
        try:
            row = connection.execute("SELECT id FROM file WHERE room = ? AND name = ?", (room, name)).fetchone()
            if row is not None:
                chunks = connection.execute(
                    "SELECT data, line FROM chunk JOIN body USING (id) WHERE file = ? ORDER BY no", (row[0],)
                )
                self._forget(name, [one for data, line in chunks for one in unpack(data, name, line)])
                for table in ("body", "mark"):
                    connection.execute(
                        f"DELETE FROM {table} WHERE id IN (SELECT id FROM chunk WHERE file = ?)", (row[0],)
                    )
                connection.execute("DELETE FROM chunk WHERE file = ?", (row[0],))
                connection.execute("DELETE FROM file WHERE id = ?", (row[0],))
                connection.execute(
                    "DELETE FROM place WHERE name = ? AND NOT EXISTS (SELECT 1 FROM file WHERE file.name = place.name)",
                    (name,),
                )
            self._end()
        except BaseException as error:
            self._undo(error)
            raise


def _entry(record: Record, refs: Container[str | None]) -> FoundEntry:
    """Return the entry of a record. If its predecessor had the plain ref (without twins), it is kept: computing the ref
    would search the whole file for twins.
    """
    ref = f"{record.kind}#{getattr(record.item, 'identity', '')}"
    return entry_of(record, ref if ref in refs else None)


def _has_twin(entry: FoundEntry) -> bool:
    """Return whether a ref has more digits than those of the identity."""
    return len((entry.ref or "").partition("#")[2]) > SHORT


def _shifted(held: Sequence[IndexedEntry], live: Live, place: int) -> Sequence[IndexedEntry]:
    """Return consecutive entries with their lines updated; the first of them is now at `place`."""
    far = live.record(place).line - held[0].entry.line if held and place < live.size else 0
    return [one._replace(entry=one.entry._replace(line=one.entry.line + far)) for one in held] if far else held


def _marks_in(data: bytes | None, count: int) -> list[bytes]:
    """Return the marks of a chunk of `count` entries; DamagedIndex."""
    if data is None or len(data) != MARK * count:
        raise DamagedIndex("the marks of a chunk are not those of its entries")
    return [data[at : at + MARK] for at in range(0, len(data), MARK)]
