"""The memories of one side that either index finds for a query, and how well each answers it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from memory.curated.index.entries import COLUMNS, roots_in
from memory.curated.index.words import fold
from memory.curated.model import Root
from memory.named_tuple import NamedTuple

from .query import RecallQuery, RecallTerm, query_of

if TYPE_CHECKING:
    import sqlite3


Key = TypeVar("Key")
NAME, DESCRIPTION, BODY = 1.25, 1.1, 1.0
"""What a word is worth by where it is."""
_TIE = 0.1
"""Scores that are less than this share below another one share its place: the newer one is first then."""
_OLD = 0.5
"""What is left of the score of a memory that says that another one replaces it."""
_LONG, _USUAL, _LETTERS = 0.04, 60, 6
"""How much a long memory loses; the usual number of words, and of letters in a word."""


def by_words(query: RecallQuery, row: CandidateRow) -> float:
    """Return how many words of a query a memory has, rare ones and those of its name counting more."""
    fields = ((NAME, row.name), (DESCRIPTION, row.description), (BODY, row.body))
    total = sum([_best(term, fields) for term in query.terms])
    size = (len(row.name) + len(row.description) + len(row.body)) / _LETTERS
    return total / (1 + _LONG * min(size / _USUAL, 5)) * (_OLD if row.outdated else 1)


def _best(term: RecallTerm, fields: Sequence[tuple[float, str]]) -> float:
    if term.sums:
        return max(weight * sum(form.worth for form in term.forms if form.needle in text) for weight, text in fields)
    best = 0.0
    for weight, text in fields:
        for form in term.forms:
            if form.needle in text:
                best = max(best, weight * form.worth)
                break
    return best


def by_letters(query: RecallQuery, row: CandidateRow) -> float:
    """Return how many pieces of the words of a query a memory has, those of rare words counting more."""
    text = f"{row.name}{row.description}{row.body}"
    total = 0.0
    for term in query.terms:
        if term.pieces:
            whole = term.forms[0].needle in text if not term.sums else term.text in text
            share = 1.0 if whole else sum([piece in text for piece in term.pieces]) / len(term.pieces)
            total += term.worth * share * share
    return total * (_OLD if row.outdated else 1)


def places(scores: Mapping[Key, float], most: int) -> dict[Key, int]:
    """Return the place of each of the best ones, from 0; those that are nearly equal share one."""
    ordered = sorted(((score, key) for key, score in scores.items() if score > 0), key=lambda one: -one[0])[:most]
    lowered = [-score for score, _ in ordered]
    return {key: bisect_left(lowered, -score * (1 + _TIE)) for score, key in ordered}


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
