"""The rows of the catalogue: its tables, what is read from them, and files inserted and removed many at a time."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from memory.curated.files.index_file import IndexLine
from memory.curated.files.listing import ListedFile
from memory.curated.model import Header, Invalid, Json, Memory, Provenance, Root, changed_at
from memory.storage.safe_open import sha256

from .words import fold, grams, spaced

CATALOG_VERSION = "4"
CATALOG = """
CREATE TABLE memory_catalog_entries (
    id INTEGER PRIMARY KEY, root TEXT NOT NULL, filename TEXT NOT NULL, type TEXT, slug TEXT, name TEXT,
    description TEXT, body TEXT, header TEXT, content_hash TEXT, body_hash TEXT, mtime_ns INTEGER NOT NULL,
    seen_mtime INTEGER NOT NULL, seen_size INTEGER NOT NULL, seen_inode INTEGER NOT NULL,
    error_line INTEGER, error_code TEXT, error TEXT, UNIQUE (root, filename));
CREATE INDEX entries_by_body ON memory_catalog_entries (body_hash);
CREATE INDEX entries_by_time ON memory_catalog_entries (root, mtime_ns);
CREATE INDEX entries_by_slug ON memory_catalog_entries (type, slug);
CREATE TABLE memory_chunks (
    id TEXT PRIMARY KEY, entry INTEGER NOT NULL UNIQUE, content TEXT NOT NULL, content_hash TEXT NOT NULL,
    start_line INTEGER NOT NULL, end_line INTEGER NOT NULL);
CREATE VIRTUAL TABLE memory_chunks_fts USING fts5(
    name, description, body, grams, tokenize = 'unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE memory_chunks_fts_trigram USING fts5(content, tokenize = 'trigram');
CREATE VIRTUAL TABLE memory_words USING fts5vocab(memory_chunks_fts, 'row');
CREATE TABLE memory_terms (term TEXT PRIMARY KEY) WITHOUT ROWID
"""
_LONGEST = 40
"""The most letters of a word that may be the right spelling of a typo."""
_DROPPED = (
    "memory_words", "memory_chunks_fts", "memory_chunks_fts_trigram", "memory_chunks", "memory_catalog_entries",
    "memory_terms",
)  # fmt: skip
COLUMNS = "id, root, filename, header, body, content_hash, mtime_ns"


def memory_of(row: Sequence[object], roots: dict[str, Root]) -> Memory:
    """Return the memory of a row of `COLUMNS`."""
    header = header_of(json.loads(str(row[3])))
    return Memory(roots[str(row[1])], str(row[2]), header, str(row[4]), str(row[5]), int(row[6]))  # type: ignore[call-overload]


def header_of(values: Json) -> Header:
    """Return the header from the result of `Header.json`."""
    source = values["provenance"]
    return Header(
        values["name"],
        values["description"],
        values["type"],
        values["scope"],
        values["agent_name"],
        values["agent_tier"],
        Provenance(
            source["source_actor"],
            tuple(source["source_session_ids"]),
            source["confidence"],
            source["superseded_by"],
            source["created_at"],
            source["updated_at"],
        ),
    )


def memories(
    db: sqlite3.Connection, roots: Iterable[Root], where: str = "1", values: Sequence[object] = ()
) -> list[Memory]:
    """Return the memories of some folders that match a condition, the newest first, then by name."""
    known = {root.key: root for root in roots}
    # A folder holds many memories and few match a condition: the plus keeps SQLite from scanning the folder.
    inside = f"{'root' if where == '1' else '+root'} IN ({','.join('?' * len(known))})"
    rows = db.execute(
        f"SELECT {COLUMNS} FROM memory_catalog_entries WHERE error IS NULL AND {inside}"
        f" AND {where} ORDER BY mtime_ns DESC, filename",
        [*known, *values],
    )
    return [memory_of(row, known) for row in rows]


def stamps(db: sqlite3.Connection, roots: Iterable[Root]) -> list[tuple[Root, str, str]]:
    """Return folder, file name and a change stamp of the memories of some folders."""
    known = {root.key: root for root in roots}
    rows = db.execute(
        "SELECT root, filename, content_hash, mtime_ns FROM memory_catalog_entries WHERE error IS NULL"
        f" AND root IN ({','.join('?' * len(known))}) ORDER BY root, filename",
        [*known],
    )
    return [(known[root], name, f"{digest}-{time}") for root, name, digest, time in rows]


def same_slug(
    db: sqlite3.Connection, roots: Iterable[Root], keys: Sequence[tuple[str, str]], found: Container[tuple[str, str]]
) -> list[tuple[tuple[str, str], Memory]]:
    """Return the memories of some folders that have one of these types and slugs, each with both.

    Those in `found` (key of the folder, file name) are left out.
    """
    known = {root.key: root for root in roots}
    columns = ", ".join(f"e.{name}" for name in COLUMNS.split(", "))
    rows = db.execute(
        f"WITH k(type, slug) AS (VALUES {','.join(['(?, ?)'] * len(keys))}) SELECT e.type, e.slug, {columns} FROM k"
        " JOIN memory_catalog_entries e ON e.type = k.type AND e.slug = k.slug WHERE e.error IS NULL"
        f" AND e.root IN ({','.join('?' * len(known))})",
        [*(part for key in keys for part in key), *known],
    )
    return [((row[0], row[1]), memory_of(row[2:], known)) for row in rows if (row[3], row[4]) not in found]


def index_lines(db: sqlite3.Connection, root: Root, most: int = -1) -> list[IndexLine]:
    """Return the index lines of a folder's memories, the newest first; `most` of them, -1 for all."""
    rows = db.execute(
        "SELECT name, filename, description FROM memory_catalog_entries WHERE error IS NULL AND root = ?"
        " ORDER BY mtime_ns DESC, filename LIMIT ?",
        (root.key, most),
    )
    return [IndexLine(*row) for row in rows]


def newest_change(db: sqlite3.Connection, root: Root) -> float:
    """Return when a memory of a folder was last changed, in seconds as in `Memory.changed`; 0 without memories."""
    rows = db.execute(
        "SELECT mtime_ns, json_extract(header, '$.provenance.updated_at') FROM memory_catalog_entries"
        " WHERE error IS NULL AND root = ? ORDER BY mtime_ns DESC",
        (root.key,),
    )
    newest = 0.0
    for mtime_ns, updated in rows:
        # An older file cannot have been changed later.
        if mtime_ns / 1e9 <= newest:
            break
        newest = max(newest, changed_at(mtime_ns, updated))
    return newest


def roots_in(db: sqlite3.Connection) -> list[str]:
    """Return the keys of all folders in the catalogue, without a look at each row: every recall asks."""
    found: list[str] = []
    while True:
        after = found[-1] if found else ""
        (key,) = db.execute("SELECT min(root) FROM memory_catalog_entries WHERE root > ?", (after,)).fetchone()
        if key is None:
            return found
        found.append(key)


def invalid_files(db: sqlite3.Connection, roots: Iterable[Root]) -> list[Invalid]:
    """Return the files of some folders that are not memories."""
    known = {root.key: root for root in roots}
    rows = db.execute(
        "SELECT root, filename, error_line, error_code, error FROM memory_catalog_entries WHERE error IS NOT NULL"
        f" AND root IN ({','.join('?' * len(known))}) ORDER BY root, filename",
        [*known],
    )
    return [Invalid(known[row[0]], *row[1:]) for row in rows]


# -- writing --------------------------------------------------------------------------------------------------------


class CatalogRow(NamedTuple):
    """One file for the catalogue: its number, its content, and its listing."""

    number: int
    found: Memory | Invalid
    seen: ListedFile


def body_hash(body: str) -> str:
    """Return a hash that is equal for two bodies that differ only in case and spaces."""
    return str(sha256(" ".join(body.split()).casefold().encode("utf-8", "surrogatepass")).hexdigest())


def make_tables(db: sqlite3.Connection) -> None:
    """Make all tables of the catalogue."""
    for statement in CATALOG.split(";"):
        db.execute(statement)


def make_empty(db: sqlite3.Connection) -> None:
    """Delete all rows, in the transaction of the caller; much faster than one by one."""
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
