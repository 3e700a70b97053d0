"""Rows of the catalogue: put in and taken out many at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memory.curated.model import Invalid, Memory
from memory.named_tuple import NamedTuple
from memory.storage.files.version import sha256

from .schema import CATALOG
from .words import fold, grams, spaced

if TYPE_CHECKING:
    import sqlite3

    from memory.curated.files.listing import ListedFile

_LONGEST = 40
"""Letters of the longest word that a typo may have been made of."""
_DROPPED = (
    "memory_words", "memory_chunks_fts", "memory_chunks_fts_trigram", "memory_chunks", "memory_catalog_entries",
    "memory_terms", "memory_catalog_state",
)  # fmt: skip


class CatalogRow(NamedTuple):
    """One file as it is to be in the catalogue: under which number, what it says, and as what it was seen."""

    number: int
    found: Memory | Invalid
    seen: ListedFile


def body_hash(body: str) -> str:
    """Return what is equal for two bodies that differ in case and spaces only."""
    return str(sha256(" ".join(body.split()).casefold().encode("utf-8", "surrogatepass")).hexdigest())


def make_tables(db: sqlite3.Connection) -> None:
    """Make all tables of the catalogue."""
    for statement in CATALOG.split(";"):
        db.execute(statement)


def make_empty(db: sqlite3.Connection) -> None:
    """Throw all rows away, in the transaction of the caller; much faster than one by one."""
    for table in _DROPPED:
        db.execute(f"DROP TABLE {table}")
    make_tables(db)


def next_number(db: sqlite3.Connection) -> int:
    """Return the first number that no entry has."""
    (most,) = db.execute("SELECT max(id) FROM memory_catalog_entries").fetchone()
    return (most or 0) + 1


def take_out(db: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Remove some entries, in the transaction of the caller."""
    rows = [(number,) for number in numbers]
    for table, column in (
        ("memory_catalog_entries", "id"),
        ("memory_chunks", "entry"),
        ("memory_chunks_fts", "rowid"),
        ("memory_chunks_fts_trigram", "rowid"),
    ):
        db.executemany(f"DELETE FROM {table} WHERE {column} = ?", rows)


def put_in(db: sqlite3.Connection, entries: Sequence[CatalogRow]) -> None:
    """Insert some entries, in the transaction of the caller; their numbers are free."""
    rows: list[tuple[object, ...]] = []
    chunks: list[tuple[object, ...]] = []
    texts: list[tuple[object, ...]] = []
    letters: list[tuple[object, ...]] = []
    terms: set[str] = set()
    for number, found, seen in entries:
        head = (number, found.root.key, found.filename)
        if isinstance(found, Invalid):
            bad = (found.line, found.code, found.reason)
            rows.append((*head, *(None,) * 8, seen.mtime_ns, *seen[1:], *bad))
            continue
        header = found.header
        made = json.dumps(header.json(), ensure_ascii=False)
        about = (header.type, found.slug, header.name, header.description, found.body, made)
        rows.append((*head, *about, found.hash, body_hash(found.body), found.mtime_ns, *seen[1:], None, None, None))
        folded = (fold(header.name), fold(header.description), fold(found.body))
        said = "\n".join(map(spaced, folded))
        lines = 3 + header.name.count("\n") + header.description.count("\n") + found.body.count("\n")
        chunks.append((found.id, number, said, found.hash, lines))
        whole = "\n".join(folded)
        texts.append((number, *folded, grams(whole)))
        letters.append((number, whole))
        terms.update(said.split())
    db.executemany(f"INSERT INTO memory_catalog_entries VALUES ({','.join('?' * 18)})", rows)
    db.executemany("INSERT INTO memory_chunks VALUES (?, ?, ?, ?, 1, ?)", chunks)
    db.executemany(
        "INSERT INTO memory_chunks_fts (rowid, name, description, body, grams) VALUES (?, ?, ?, ?, ?)", texts
    )
    db.executemany("INSERT INTO memory_chunks_fts_trigram (rowid, content) VALUES (?, ?)", letters)
    found_terms = [(term,) for term in sorted(terms) if len(term) <= _LONGEST]
    db.executemany("INSERT OR IGNORE INTO memory_terms VALUES (?)", found_terms)
