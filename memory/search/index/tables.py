"""The tables of the index, and how entries are stored in them.

`find` is the full-text index: words only, no text (see `words.indexable`). The number of an entry is its day and a
serial number, so that reading backwards gives the newest first and a range of days is a range of numbers. The entries
themselves are in `body`, some tens together in the order of their file, compressed; `chunk` lists these blocks. Its
`line` is the line of the file from which the lines in the block count: it changes with any edit above. `mark` holds
short hashes of the same entries (see `file_diff`), which show changes in a file without its entries. One index may hold
several workspaces: `room` is the number of the one that a file belongs to, 0 if there is only one. `place` is a kind in
files of one name, in any room. `word` and `backward` hold all words, `backward` spelled from the last letter to the
first and without very long ones; `part` holds the parts of names in camel case, each with the name as a word.
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
"""Entries of a new chunk, and of a chunk before it is divided."""
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
    """The database is inconsistent."""


class IndexedEntry(NamedTuple):
    """One entry in the index with its number, and its mark if that was requested."""

    number: int
    entry: FoundEntry
    mark: bytes = b""


def pack(held: Sequence[IndexedEntry], line: int) -> bytes:
    """Return the bytes of a chunk; lines are stored relative to `line`."""
    rows = [(one.number, *one.entry[:1], *one.entry[2:6], one.entry.line - line, one.entry.tags) for one in held]
    return zlib.compress(dumps(rows, separators=(",", ":")).encode(), 9)


def unpack(data: bytes, file: str, line: int, room: int = 0) -> list[IndexedEntry]:
    """Return the entries of a chunk; DamagedIndex."""
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
    """Return the row of an entry in the full-text index; the same row is needed to remove it.

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
    """Return the smallest number of a day; day 0 is for entries without a date."""
    return _DATED + (day << DAY_BITS) if day else 0


def day_of(number: int) -> int:
    """Return the day of a number."""
    return (number - _DATED) >> DAY_BITS if number >= _DATED else 0


class EntryNumbers:
    """Assigns numbers to new entries, in one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Assign nothing yet."""
        self._connection = connection
        self._next: dict[int, int] = {}

    def give(self, date: str) -> int:
        """Return the next number of a day; for a full day (131,072 entries), a number without a date."""
        number = self._of(day_number(date)) or self._of(0)
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


def newest(connection: sqlite3.Connection, text: str, low: int, high: int, most: int) -> list[int]:
    """Return the numbers of the entries that match, from `low` to before `high`, the newest first."""
    found = connection.execute(
        "SELECT rowid FROM find WHERE find MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC LIMIT ?",
        (text, low, high, most),
    )
    return [number for (number,) in found]


def insert(connection: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Add entries to the full-text index."""
    connection.executemany("INSERT INTO find (rowid, text, title, marks) VALUES (?, ?, ?, ?)", rows)


def forget(connection: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Remove entries from the full-text index; the rows are those that were inserted."""
    connection.executemany("INSERT INTO find (find, rowid, text, title, marks) VALUES ('delete', ?, ?, ?, ?)", rows)
