"""The memories of one side that either index finds for a query, before they are ranked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memory.curated.index.entries import COLUMNS, roots_in
from memory.curated.index.words import fold
from memory.curated.model import Root
from memory.named_tuple import NamedTuple

from .query import RecallQuery, query_of

if TYPE_CHECKING:
    import sqlite3

_BM25 = "bm25(memory_chunks_fts, 6.0, 3.0, 1.0, 1.0)"
_FALLBACK = 40
_SELECT = ", ".join(f"e.{name}" for name in COLUMNS.split(", "))


class CandidateRow(NamedTuple):
    """A candidate: its number in the catalogue, type and slug, its row of `COLUMNS`, and its words with spaces between.

    `outdated`: its header says that another memory replaces it.
    """

    number: int
    key: tuple[str, str]
    columns: tuple[Any, ...]
    name: str
    description: str
    body: str
    outdated: bool


def candidates(
    db: sqlite3.Connection, text: str, roots: Mapping[str, Root], raw: int
) -> tuple[RecallQuery, list[CandidateRow]]:
    """Return the query of a text and up to `raw` memories that each index finds for it in some folders."""
    query = query_of(db, text)
    inside = "" if set(roots_in(db)) <= set(roots) else f" AND e.root IN ({','.join('?' * len(roots))})"
    values = [*roots] if inside else []
    found: dict[int, CandidateRow] = {}
    for table, rank, match in (
        ("memory_chunks_fts", _BM25, query.unicode),
        ("memory_chunks_fts_trigram", "bm25(memory_chunks_fts_trigram)", query.trigram),
    ):
        if not match:
            continue
        joined = f" JOIN memory_catalog_entries e ON e.id = {table}.rowid" if inside else ""
        numbers = (
            f"SELECT {table}.rowid AS number, {rank} AS value FROM {table}{joined} WHERE {table} MATCH ?{inside}"
            " ORDER BY value LIMIT ?"
        )
        found.update(
            _rows(db, f"({numbers}) m JOIN memory_catalog_entries e ON e.id = m.number", [match, *values, raw])
        )
    if query.pieces and not found:
        where = " OR ".join("instr(c.content, ?) > 0" for _ in query.pieces)
        some = f"(SELECT entry FROM memory_chunks c WHERE {where} ORDER BY entry DESC LIMIT ?) m"
        pieces = [*map(fold, query.pieces), _FALLBACK]
        found = _rows(db, f"{some} JOIN memory_catalog_entries e ON e.id = m.entry", pieces)
    return query, [row for row in found.values() if row.columns[1] in roots]


def _rows(db: sqlite3.Connection, source: str, values: list[Any]) -> dict[int, CandidateRow]:
    rows = db.execute(
        f"SELECT e.id, e.type, e.slug, c.content, {_SELECT} FROM {source} JOIN memory_chunks c ON c.entry = e.id"
        " WHERE e.error IS NULL",
        values,
    )
    found = {}
    for number, kind, slug, content, *columns in rows:
        name, description, body = content.split("\n")
        found[number] = CandidateRow(
            number, (kind, slug), tuple(columns), name, description, body, '"superseded_by": "' in columns[3]
        )
    return found
