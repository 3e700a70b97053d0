"""The full-text index of one database: which words occur in which entries.

`find` holds the words of titles and texts, not the texts themselves; an entry is a number that its user gives out.
`word` holds every word with its stem. A word that no entry has any more stays there, so its count decides.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memory.base.words import FORMAT, near, stem, terms, typos_allowed

VERSION = f"6/{FORMAT}"
TABLES = """
CREATE VIRTUAL TABLE find USING fts5(title, text, content='', tokenize='unicode61 remove_diacritics 0');
CREATE VIRTUAL TABLE known USING fts5vocab(find, 'row');
CREATE TABLE word (term TEXT PRIMARY KEY, stem TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX word_stem ON word (stem)
"""

_LONGEST = 64


class IndexedText(NamedTuple):
    """An entry for the index; to remove it, the same title and text are needed."""

    number: int
    title: str
    text: str


class Filter(NamedTuple):
    """A condition of SQL on entries, with its values; in it `@` is the number of the entry. Empty for none."""

    condition: str = "1"
    values: tuple[str | int, ...] = ()

    def on(self, column: str) -> str:
        """Return the condition for a column that holds the number."""
        return self.condition.replace("@", column)


class WordIndex:
    """The full-text index of one connection. Writing is in the transaction of the caller; sqlite3.Error."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Use the tables of `TABLES`; nothing is read yet."""
        self.connection = connection

    def add(self, entries: Iterable[IndexedText]) -> None:
        """Add entries whose numbers are free."""
        rows = [_row(entry) for entry in entries]
        self.connection.executemany("INSERT INTO find (rowid, title, text) VALUES (?, ?, ?)", rows)
        words = {word for _, title, text in rows for word in (*title.split(), *text.split()) if len(word) <= _LONGEST}
        stems = [(word, stem(word)) for word in sorted(words)]
        self.connection.executemany("INSERT OR IGNORE INTO word (term, stem) VALUES (?, ?)", stems)

    def remove(self, entries: Iterable[IndexedText]) -> None:
        """Remove entries that were added."""
        rows = [_row(entry) for entry in entries]
        self.connection.executemany("INSERT INTO find (find, rowid, title, text) VALUES ('delete', ?, ?, ?)", rows)

    # -- its words -----------------------------------------------------------------------------------------------------

    def total(self) -> int:
        """Return how many entries there are."""
        return int(self.connection.execute("SELECT count(*) FROM find_docsize").fetchone()[0])

    def count(self, word: str) -> int:
        """Return how many entries have a word."""
        row = self.connection.execute("SELECT doc FROM known WHERE term = ?", (word,)).fetchone()
        return 0 if row is None else int(row[0])

    def beginning(self, head: str, most: int) -> list[str]:
        """Return some words that are longer than `head` and begin with it, in alphabetical order."""
        return self._words("term > ? AND term < ? LIMIT ?", head, f"{head}\U0010ffff", most)

    def with_stem(self, root: str) -> list[str]:
        """Return the words of a stem."""
        return self._words("stem = ?", root)

    def like(self, word: str) -> list[tuple[str, int]]:
        """Return the words of which a word may be a typo, the nearest first, each with the number of typos."""
        most = typos_allowed(word)
        known = self._words("length(term) BETWEEN ? AND ?", len(word) - most, len(word) + most) if most else []
        return [one for one in near(word, known) if self.count(one[0])]

    def _words(self, condition: str, *values: str | int) -> list[str]:
        return [term for (term,) in self.connection.execute(f"SELECT term FROM word WHERE {condition}", values)]

    # -- its entries ---------------------------------------------------------------------------------------------------

    def matches(self, expression: str, only: Filter) -> int:
        """Return how many entries match an expression of FTS5."""
        text = f"SELECT count(*) FROM find WHERE find MATCH ? AND {only.on('find.rowid')}"
        return int(self.connection.execute(text, (expression, *only.values)).fetchone()[0])

    def newest(self, expression: str, only: Filter, most: int) -> list[int]:
        """Return the entries with the highest numbers that match an expression of FTS5."""
        text = f"SELECT rowid FROM find WHERE find MATCH ? AND {only.on('find.rowid')} ORDER BY rowid DESC LIMIT ?"
        return [number for (number,) in self.connection.execute(text, (expression, *only.values, most))]

    def best(self, expression: str, only: Filter, most: int) -> list[int]:
        """Return the entries that match an expression of FTS5, the best first: rare words and titles count more."""
        text = f"SELECT rowid FROM find WHERE find MATCH ? AND {only.on('find.rowid')} ORDER BY bm25(find, 4.0, 1.0)"
        rows = self.connection.execute(f"{text} LIMIT ?", (expression, *only.values, most))
        return [number for (number,) in rows]


def insert_rows(connection: sqlite3.Connection, table: str, rows: Sequence[Sequence[object]]) -> None:
    """Insert rows whose texts may hold bytes that are no UTF-8, as surrogates; see `storable`."""
    if rows:
        marks = ", ".join("CAST(? AS TEXT)" if isinstance(value, str) else "?" for value in rows[0])
        plain = [[storable(value) if isinstance(value, str) else value for value in row] for row in rows]
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", plain)


def storable(text: str) -> bytes:
    """Return a text as it is stored, which takes a cast to TEXT in SQL; `readable` reverses it."""
    return text.encode("utf-8", "surrogatepass")


def readable(stored: bytes) -> str:
    """Return a stored text: the `text_factory` of a connection."""
    return stored.decode("utf-8", "surrogatepass")


def _row(entry: IndexedText) -> tuple[int, str, str]:
    return entry.number, " ".join(terms(entry.title)), " ".join(terms(entry.text))


def either(words: Sequence[str]) -> str:
    """Return the expression of FTS5 for some expressions of which one suffices."""
    return words[0] if len(words) == 1 else f"({' OR '.join(words)})"


def quoted(words: str) -> str:
    """Return the expression of FTS5 for consecutive words."""
    return f'"{words}"'
