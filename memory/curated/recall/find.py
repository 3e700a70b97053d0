"""The ranked candidates of a recall, with every term of their score."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from memory.curated.files.listing import read_file
from memory.curated.index.catalog import COLUMNS, memory_of, roots_in
from memory.curated.index.words import fold
from memory.curated.model import Memory, Root
from memory.curated.places.settings import Settings

from .query import Query, query_of

if TYPE_CHECKING:
    import sqlite3

    from memory.curated.curated import Curated
    from memory.curated.sides import Side

DAY = 86400.0
_BM25 = "bm25(memory_chunks_fts, 6.0, 3.0, 1.0, 1.0)"
_FALLBACK = 40
_RRF = 60


@dataclass(frozen=True, slots=True)
class Scored:
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


@dataclass(frozen=True, slots=True)
class Found:
    """What a recall found: `ranked` are those that count, `hidden` those that a deeper one shadows."""

    terms: tuple[str, ...]
    ranked: tuple[Scored, ...]
    hidden: tuple[tuple[Scored, Scored], ...]
    candidates: int


def find(
    curated: Curated,
    text: str,
    roots: Sequence[Root],
    *,
    now: datetime,
    raw: int | None = None,
    skip: Sequence[str] = (),
) -> Found:
    """Return the memories of some folders that a text may mean, the best first; `skip` are ids to leave out."""
    settings = curated.settings
    raw = settings["recall.raw_candidates"] if raw is None else raw
    lists: tuple[list[tuple[float, Side, Memory]], ...] = ([], [])
    terms: tuple[str, ...] = ()
    for name, side in curated.sides.items():
        mine = {root.key: root for root in roots if root.side == name}
        if not mine:
            continue
        query, *found = side.catalog.read(
            list(mine.values()),
            lambda db, mine=mine: _search(db, text, mine, raw),  # type: ignore[misc]
        )
        terms = query.terms
        for ranked, more in zip(lists, found, strict=True):
            ranked += [(order, side, memory) for order, memory in more]
    shares: dict[str, tuple[Side, Memory, list[float]]] = {}
    for at, ranked in enumerate(lists):
        ranked.sort(key=lambda one: (one[0], -one[2].mtime_ns, one[2].id))
        for place, (_, side, memory) in enumerate(ranked[:raw]):
            entry = shares.setdefault(f"{memory.root.side}:{memory.id}", (side, memory, [0.0, 0.0]))
            entry[2][at] = max(entry[2][at], _share(settings, place))
    scored = _scored(shares, settings, now, skip)
    scored.sort(key=lambda one: (-one.score, -one.memory.root.depth, -one.memory.changed, one.memory.id))
    ranked_all, hidden = _shadow(scored)
    return Found(terms, tuple(ranked_all), tuple(hidden), len(shares))


def _share(settings: Settings, place: int) -> float:
    """Return what a place (from 0) in one list is worth, 1 for the first; `rrf` falls off much more slowly."""
    return (_RRF + 1) / (_RRF + 1 + place) if settings["recall.fusion"] == "rrf" else 1 / (place + 1)


def _search(
    db: sqlite3.Connection, text: str, roots: Mapping[str, Root], raw: int
) -> tuple[Query, list[tuple[float, Memory]], list[tuple[float, Memory]]]:
    query = query_of(db, text)
    inside = "" if set(roots_in(db)) <= set(roots) else f" AND e.root IN ({','.join('?' * len(roots))})"
    values = [*roots] if inside else []
    columns = ", ".join(f"e.{name}" for name in COLUMNS.split(", "))

    def listed(table: str, rank: str, match: str) -> list[tuple[float, Memory]]:
        if not match:
            return []
        if inside:
            numbers = (
                f"SELECT f.rowid AS number, {rank} AS value FROM {table} f JOIN memory_catalog_entries e"
                f" ON e.id = f.rowid WHERE {table} MATCH ?{inside} ORDER BY value LIMIT ?"
            )
        else:
            numbers = (
                f"SELECT rowid AS number, {rank} AS value FROM {table} WHERE {table} MATCH ? ORDER BY value LIMIT ?"
            )
        rows = db.execute(
            f"SELECT {columns}, m.value FROM ({numbers}) m JOIN memory_catalog_entries e ON e.id = m.number"
            " WHERE e.error IS NULL",
            [match, *values, raw],
        )
        return [(row[-1], memory_of(row, dict(roots))) for row in rows if row[1] in roots]

    first = listed("memory_chunks_fts", _BM25, query.unicode)
    second = listed("memory_chunks_fts_trigram", "bm25(memory_chunks_fts_trigram)", query.trigram)
    if query.pieces and not first and not second:
        second = _substrings(db, query, dict(roots), columns)
    return query, first, second


def _substrings(
    db: sqlite3.Connection, query: Query, roots: dict[str, Root], columns: str
) -> list[tuple[float, Memory]]:
    """Return the memories that hold any of the unspaced runs of a query as they are."""
    where = " OR ".join("instr(c.content, ?) > 0" for _ in query.pieces)
    rows = db.execute(
        f"SELECT {columns} FROM memory_chunks c JOIN memory_catalog_entries e ON e.id = c.entry WHERE {where}"
        " ORDER BY e.mtime_ns DESC LIMIT ?",
        [*map(fold, query.pieces), _FALLBACK],
    )
    return [(0.0, memory_of(row, roots)) for row in rows if row[1] in roots]


def _scored(
    shares: Mapping[str, tuple[Side, Memory, list[float]]], settings: Settings, now: datetime, skip: Sequence[str]
) -> list[Scored]:
    signals: dict[str, dict[str, tuple[int, float, int]]] = {}
    for side in {id(side): side for side, _, _ in shares.values()}.values():
        signals[side.name] = side.records.signals([memory.id for owner, memory, _ in shares.values() if owner is side])
    weights = [
        settings[f"recall.weights.{name}"] for name in ("bm25_unicode", "bm25_trigram", "recency", "recall_signal")
    ]
    half = settings["recall.freshness.half_life_days"]
    found = []
    for side, memory, (word, letter) in shares.values():
        if memory.id in skip:
            continue
        current = _as_it_is(side, memory)
        if current is None:
            continue
        age = max(now.timestamp() - current.changed, 0) / DAY
        signal = signals[side.name].get(memory.id, (0, 0.0, 0))[1]
        terms = (word, letter, 0.5 ** (age / half), min(max(signal, 0.0), 1.0))
        found.append(Scored(current, *(weight * term for weight, term in zip(weights, terms, strict=True))))
    return found


def _as_it_is(side: Side, memory: Memory) -> Memory | None:
    """Return a memory as its file is now: another program may have written into it since the catalogue was made."""
    try:
        found = os.lstat(f"{side.store.root}/{memory.root.folder}/{memory.filename}")
    except OSError:
        return None
    if found.st_mtime_ns == memory.mtime_ns:
        return memory
    now = read_file(side.store, memory.root, memory.filename)
    return now if isinstance(now, Memory) else None


def _shadow(scored: Sequence[Scored]) -> tuple[list[Scored], list[tuple[Scored, Scored]]]:
    """Return those that count, in their order, and pairs of one that is hidden and the deeper one that hides it."""
    winners: dict[tuple[str, str], Scored] = {}
    for one in scored:
        key = (one.memory.header.type, one.memory.slug)
        best = winners.get(key)
        if best is None or one.memory.root.depth > best.memory.root.depth:
            winners[key] = one
    ranked, hidden = [], []
    for one in scored:
        winner = winners[(one.memory.header.type, one.memory.slug)]
        if winner is one:
            ranked.append(one)
        else:
            hidden.append((one, winner))
    return ranked, hidden
