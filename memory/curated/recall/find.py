"""The ranked candidates of a recall, with every term of their score.

On each side these are the memories that either index finds for a query, with how well each matches it.
"""

from __future__ import annotations

import os
import sqlite3
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

from memory.curated.curated import Curated
from memory.curated.files.listing import read_file
from memory.curated.index.entries import COLUMNS, memory_of, roots_in, same_slug
from memory.curated.index.words import fold
from memory.curated.model import DREAM, Memory, Root, winners
from memory.curated.settings import CuratedSettings
from memory.curated.sides import Side

from .query import RecallQuery, RecallTerm, query_of

Key = TypeVar("Key")


NAME, DESCRIPTION, BODY = 1.25, 1.1, 1.0
"""The weight of a word by its field."""
_TIE = 0.1
"""Scores that are lower than another by less than this share have the same place; then the newer memory comes first."""
_OLD = 0.5
"""The factor for the score of a memory whose header says that another one replaces it."""
_LONG, _USUAL, _LETTERS = 0.04, 60, 6
"""How much a long memory loses; the usual number of words, and of letters in a word."""
_BM25 = "bm25(memory_chunks_fts, 6.0, 3.0, 1.0, 1.0)"
_FALLBACK = 40
_SELECT = ", ".join(f"e.{name}" for name in COLUMNS.split(", "))
_NO_DREAM = f"""e.filename NOT GLOB '{DREAM}[0-9]*' AND instr(e.header, '"source_actor": "dreaming"') = 0"""
"""The SQL condition of a memory that is recalled: a dream says again what its sources say, and would displace them."""
DAY = 86400.0
_RRF = 60
_TERMS = ("bm25_unicode", "bm25_trigram", "recency", "recall_signal")


class Scored(NamedTuple):
    """One memory with the terms of its score; each is from 0 to 1 and already weighted."""

    memory: Memory
    unicode: float
    trigram: float
    recency: float
    signal: float

    @property
    def score(self) -> float:
        """The sum of all terms."""
        return self.unicode + self.trigram + self.recency + self.signal

    @property
    def why(self) -> list[str]:
        """The terms as texts."""
        return [f"{name}={getattr(self, name):.3f}" for name in ("unicode", "trigram", "recency", "signal", "score")]


class RecallFound(NamedTuple):
    """The result of a search: `ranked` are the memories that count, `hidden` those shadowed by a deeper one."""

    terms: tuple[str, ...]
    ranked: tuple[Scored, ...]
    hidden: tuple[tuple[Scored, Scored], ...]
    candidates: int


class _Candidate:
    """A memory with the values of its places among the words and the letters; `key` is its type and slug."""

    __slots__ = ("key", "letters", "memory", "side", "words")

    def __init__(self, side: Side, memory: Memory, key: tuple[str, str], words: float, letters: float) -> None:
        """Keep the memory and its values."""
        self.side, self.memory, self.key, self.words, self.letters = side, memory, key, words, letters


def find(
    curated: Curated,
    text: str,
    roots: Sequence[Root],
    *,
    now: datetime,
    raw: int | None = None,
    skip: Sequence[str] = (),
) -> RecallFound:
    """Return the memories of some folders that match a text, the best first; `skip` are ids to leave out."""
    settings = curated.settings
    roots = curated.existing(roots)
    raw = settings["recall.raw_candidates"] if raw is None else raw
    rows: dict[tuple[str, int], CandidateRow] = {}
    words: dict[tuple[str, int], float] = {}
    letters: dict[tuple[str, int], float] = {}
    terms: tuple[str, ...] = ()
    for side, some in curated.by_side(roots):
        mine = {root.key: root for root in some}
        query, found = side.catalog.read(some, partial(_candidates, text=text, roots=mine, raw=raw))
        terms = tuple(term.text for term in query.terms)
        for row in found:
            rows[side.name, row.number] = row
            words[side.name, row.number] = _by_words(query, row)
            letters[side.name, row.number] = _by_letters(query, row)
    best = _best(settings, rows, words, letters, raw)
    known = {root.key: root for root in roots}
    listed = [
        _Candidate(curated.sides[key[0]], memory_of(rows[key].columns, known), rows[key].key, *worth)
        for key, worth in best
    ]
    if len(roots) > 1:
        listed += _hiding(curated, roots, listed)
    scored = _scored(listed, settings, now, skip)
    ranked, hidden = _shadow(scored)
    return RecallFound(terms, tuple(ranked), tuple(hidden), len(rows))


def _best(
    settings: CuratedSettings,
    rows: Mapping[tuple[str, int], CandidateRow],
    words: Mapping[tuple[str, int], float],
    letters: Mapping[tuple[str, int], float],
    most: int,
) -> list[tuple[tuple[str, int], tuple[float, float]]]:
    """Return the best candidates of both lists together, each with the values of its places."""
    by_word, by_letter = _places(words, most), _places(letters, most)
    worth = {key: (_share(settings, by_word.get(key)), _share(settings, by_letter.get(key))) for key in rows}
    weights = [settings[f"recall.weights.{name}"] for name in _TERMS[:2]]
    listed = [one for one in worth.items() if any(one[1])]
    listed.sort(key=lambda one: -(weights[0] * one[1][0] + weights[1] * one[1][1]))
    return listed[:most]


def _share(settings: CuratedSettings, place: int | None) -> float:
    """Return the value of a place (from 0) in one list, 1 for the first; `rrf` decreases much more slowly."""
    if place is None:
        return 0.0
    return (_RRF + 1) / (_RRF + 1 + place) if settings["recall.fusion"] == "rrf" else 1 / (place + 1)


def _hiding(curated: Curated, roots: Sequence[Root], found: Sequence[_Candidate]) -> list[_Candidate]:
    """Return hidden memories that the query did not find, and raise the values of those that hide others.

    Hidden memories have the type and slug of a found one. A memory that hides another gets at least the other's values,
    because the query was for it.
    """
    by_key: dict[tuple[str, str], list[_Candidate]] = {}
    for one in found:
        by_key.setdefault(one.key, []).append(one)
    more: list[_Candidate] = []
    for side, mine in curated.by_side(roots) if by_key else ():
        known = {(one.memory.root.key, one.memory.filename) for one in found if one.side is side}
        for key, memory in side.catalog.read(mine, partial(same_slug, roots=mine, keys=list(by_key), found=known)):
            more.append(_Candidate(side, memory, key, 0.0, 0.0))
            by_key[key].append(more[-1])
    for some in by_key.values():
        some.sort(key=lambda one: one.memory.root.depth)
        for above, below in pairwise(some):
            below.words, below.letters = max(above.words, below.words), max(above.letters, below.letters)
    return more


def _scored(
    found: Sequence[_Candidate], settings: CuratedSettings, now: datetime, skip: Sequence[str]
) -> list[tuple[tuple[str, str], Scored]]:
    """Return the candidates with the terms of their score, the best first, each with its type and slug."""
    signals: dict[tuple[str, str], float] = {}
    for side in {one.side.name: one.side for one in found}.values():
        mine = side.records.signals([one.memory.id for one in found if one.side is side], light=True)
        signals |= {(side.name, key): score for key, (_, score, _) in mine.items()}
    weights = [settings[f"recall.weights.{name}"] for name in _TERMS]
    half = settings["recall.freshness.half_life_days"]
    scored = []
    for one in found:
        memory = None if one.memory.id in skip else _as_it_is(one.side, one.memory)
        if memory is None:
            continue
        changed = memory.changed
        age = max(now.timestamp() - changed, 0) / DAY
        signal = signals.get((one.side.name, one.memory.id), 0.0)
        terms = (one.words, one.letters, 0.5 ** (age / half), min(max(signal, 0.0), 1.0))
        entry = Scored(memory, *(weight * term for weight, term in zip(weights, terms, strict=True)))
        scored.append(
            ((-entry.score, -memory.root.depth, -changed, memory.id), (memory.header.type, one.key[1]), entry)
        )
    scored.sort(key=lambda entry: entry[0])
    return [(key, entry) for _, key, entry in scored]


def _as_it_is(side: Side, memory: Memory) -> Memory | None:
    """Return a memory as its file is now: another program may have changed it since the catalogue was updated."""
    try:
        found = os.lstat(f"{side.store.root}/{memory.root.folder}/{memory.filename}")
    except OSError:
        return None
    if found.st_mtime_ns == memory.mtime_ns:
        return memory
    now = read_file(side.store, memory.root, memory.filename)
    return now if isinstance(now, Memory) else None


def _shadow(scored: Sequence[tuple[tuple[str, str], Scored]]) -> tuple[list[Scored], list[tuple[Scored, Scored]]]:
    """Return the memories that count, in their order, and pairs of a hidden one and the deeper one that hides it."""
    counting = winners(scored, lambda one: one.memory.root.depth)
    ranked = [one for key, one in scored if counting[key] is one]
    return ranked, [(one, counting[key]) for key, one in scored if counting[key] is not one]


# -- the candidates of one side -------------------------------------------------------------------------------------


class CandidateRow(NamedTuple):
    """A candidate: its number in the catalogue, type and slug, its row of `COLUMNS`, and its words separated by spaces.

    `outdated`: its header says that another memory replaces it.
    """

    number: int
    key: tuple[str, str]
    columns: tuple[Any, ...]
    name: str
    description: str
    body: str
    outdated: bool


def _candidates(
    db: sqlite3.Connection, text: str, roots: Mapping[str, Root], raw: int
) -> tuple[RecallQuery, list[CandidateRow]]:
    """Return the query of a text, and for each index up to `raw` memories that it finds in some folders."""
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
        numbers = (
            f"SELECT {table}.rowid AS number, {rank} AS value FROM {table} JOIN memory_catalog_entries e"
            f" ON e.id = {table}.rowid WHERE {table} MATCH ?{inside} AND {_NO_DREAM} ORDER BY value LIMIT ?"
        )
        found.update(
            _rows(db, f"({numbers}) m JOIN memory_catalog_entries e ON e.id = m.number", [match, *values, raw])
        )
    if query.pieces and not found:
        where = " OR ".join("instr(c.content, ?) > 0" for _ in query.pieces)
        some = (
            "(SELECT entry FROM memory_chunks c JOIN memory_catalog_entries e ON e.id = c.entry"
            f" WHERE ({where}) AND {_NO_DREAM} ORDER BY entry DESC LIMIT ?) m"
        )
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


def _by_words(query: RecallQuery, row: CandidateRow) -> float:
    """Return the score of a memory by the words of a query that it has; rare words and words of its name count more."""
    fields = ((NAME, row.name), (DESCRIPTION, row.description), (BODY, row.body))
    total = sum([_best_of(term, fields) for term in query.terms])
    size = (len(row.name) + len(row.description) + len(row.body)) / _LETTERS
    return total / (1 + _LONG * min(size / _USUAL, 5)) * (_OLD if row.outdated else 1)


def _best_of(term: RecallTerm, fields: Sequence[tuple[float, str]]) -> float:
    if term.sums:
        return max(weight * sum(form.worth for form in term.forms if form.needle in text) for weight, text in fields)
    best = 0.0
    for weight, text in fields:
        for form in term.forms:
            if form.needle in text:
                best = max(best, weight * form.worth)
                break
    return best


def _by_letters(query: RecallQuery, row: CandidateRow) -> float:
    """Return the score of a memory by the pieces of the query's words that it has; pieces of rare words count more."""
    text = f"{row.name}{row.description}{row.body}"
    total = 0.0
    for term in query.terms:
        if term.pieces:
            whole = term.forms[0].needle in text if not term.sums else term.text in text
            share = 1.0 if whole else sum([piece in text for piece in term.pieces]) / len(term.pieces)
            total += term.worth * share * share
    return total * (_OLD if row.outdated else 1)


def _places(scores: Mapping[Key, float], most: int) -> dict[Key, int]:
    """Return the places of the best ones, from 0; nearly equal scores share one place."""
    ordered = sorted(((score, key) for key, score in scores.items() if score > 0), key=lambda one: -one[0])[:most]
    lowered = [-score for score, _ in ordered]
    return {key: bisect_left(lowered, -score * (1 + _TIE)) for score, key in ordered}
