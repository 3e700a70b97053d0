"""The tables of the index, and how entries stand in them.

`find` is the full-text index: words only, no text (see `words.indexable`). The number of an entry is its day and a
number of its own, so that the newest come first when it is read backwards and a range of days is a range of numbers.
The entries themselves lie in `body`, some tens together in the order of their file, compressed; `chunk` says which they
are, and `line` from which line of the file the lines in it count: it changes with whatever is written above. `mark`
holds short marks of the same entries (see `file_diff`): they tell what is different in a file without its entries.
One index may hold several workspaces: `room` is the number of the one that a file belongs to, 0 where there is but
one. `place` is a kind in files of one name, whichever room they are in. `word` and `backward` hold all words, the
latter from the last letter to the first where it is not very long; `part` holds the parts of names in camel case, each
with the name as a word.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from json import JSONDecodeError, dumps, loads
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.search.hits import FoundEntry, body_of
from memory.search.match import day_number, tags_of
from memory.search.query.words import FORMAT, indexable

if TYPE_CHECKING:
    import sqlite3

VERSION = f"4/{FORMAT}"
CHUNK, LARGEST = 48, 64
"""Entries of a new chunk, and of one before it is divided."""
DAY_BITS = 17
_DATED = 1 << 32

TABLES = """
CREATE TABLE file (
    id INTEGER PRIMARY KEY,
    room INTEGER NOT NULL,
    name TEXT NOT NULL,
    stamp TEXT NOT NULL DEFAULT '',
    serial INTEGER NOT NULL DEFAULT 0,
    UNIQUE (room, name)
);
CREATE TABLE place (id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, UNIQUE (name, kind));
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    no INTEGER NOT NULL,
    line INTEGER NOT NULL,
    size INTEGER NOT NULL
);
CREATE TABLE body (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE mark (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE INDEX chunk_file ON chunk (file, no);
CREATE TABLE entry (id INTEGER PRIMARY KEY, chunk INTEGER NOT NULL);
CREATE TABLE word (word TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE backward (word TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE part (part TEXT, word TEXT, PRIMARY KEY (part, word)) WITHOUT ROWID;
CREATE VIRTUAL TABLE find USING fts5(text, title, marks, content='', tokenize='ascii')
"""


class DamagedIndex(Exception):
    """The database does not hold together."""


class IndexedEntry(NamedTuple):
    """One entry in the index with its number, and its mark where that is asked for."""

    number: int
    entry: FoundEntry
    mark: bytes = b""


def pack(held: Sequence[IndexedEntry], line: int) -> bytes:
    """Return the bytes of a chunk; lines are kept as their distance from `line`."""
    rows = [(one.number, *one.entry[:1], *one.entry[2:6], one.entry.line - line, one.entry.tags) for one in held]
    return zlib.compress(dumps(rows, separators=(",", ":")).encode(), 9)


def unpack(data: bytes, file: str, line: int, room: int = 0) -> list[IndexedEntry]:
    """Return the entries of a chunk; Damaged."""
    try:
        rows: list[list[Any]] = loads(zlib.decompress(data))
        return [
            IndexedEntry(number, FoundEntry(kind, file, title, text, date, ref, line + far, tuple(tags), room))
            for number, kind, title, text, date, ref, far, tags in rows
        ]
    except (zlib.error, JSONDecodeError, ValueError, TypeError) as error:
        raise DamagedIndex(str(error)) from error


Row = tuple[int, str, str, str]
"""The number of an entry, and the columns of the full-text index."""


def row_of(held: IndexedEntry, places: Mapping[str, int]) -> Row:
    """Return what the full-text index is given for an entry, and needs again to forget it.

    `places` are the numbers of the kinds in files of its name.
    """
    entry = held.entry
    mark = place_mark(places[entry.kind])
    marks = " ".join([mark, *(f"t{tag}" for tag in tags_of(entry.tags))]) if entry.tags else mark
    return held.number, indexable(body_of(entry.title, entry.text)), indexable(entry.title), marks


def place_mark(place: int) -> str:
    """Return the word that marks the entries of one kind in files of one name."""
    return f"p{place}"


def first_number(day: int) -> int:
    """Return the smallest number of a day; 0 is the day of what has no date."""
    return _DATED + (day << DAY_BITS) if day else 0


def day_of(number: int) -> int:
    """Return the day of a number."""
    return (number - _DATED) >> DAY_BITS if number >= _DATED else 0


class EntryNumbers:
    """Gives numbers to new entries, in one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Nothing is given yet."""
        self._connection = connection
        self._next: dict[int, int] = {}

    def give(self, date: str) -> int:
        """Return the next number of a day; a day that is full (131,072 entries) gives numbers without a date."""
        number = self._of(day_number(date))
        if number is None:
            number = self._of(0)
        if number is None:
            raise DamagedIndex("no number is left")
        return number

    def _of(self, day: int) -> int | None:
        end = first_number(day + 1)
        number = self._next.get(day)
        if number is None:
            (last,) = self._connection.execute(
                "SELECT max(id) FROM entry WHERE id >= ? AND id < ?", (first_number(day), end)
            ).fetchone()
            number = first_number(day) + 1 if last is None else last + 1
        if number >= end:
            return None
        self._next[day] = number + 1
        return number


def insert(connection: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Put entries into the full-text index."""
    connection.executemany("INSERT INTO find (rowid, text, title, marks) VALUES (?, ?, ?, ?)", rows)


def forget(connection: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Take entries out of it; the rows are those they were put in with."""
    connection.executemany("INSERT INTO find (find, rowid, text, title, marks) VALUES ('delete', ?, ?, ?, ?)", rows)
