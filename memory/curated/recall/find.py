"""The ranked candidates of a recall, with every term of their score."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from memory.curated.files.listing import read_file
from memory.curated.index.entries import memory_of, same_slug
from memory.curated.model import Memory, Root
from memory.curated.places.settings import CuratedSettings
from memory.curated.shadowing import winners
from memory.named_tuple import NamedTuple

from .candidates import CandidateRow, by_letters, by_words, candidates, places

if TYPE_CHECKING:
    from memory.curated.curated import Curated
    from memory.curated.sides import Side

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
    """What a recall found: `ranked` are those that count, `hidden` those that a deeper one shadows."""

    terms: tuple[str, ...]
    ranked: tuple[Scored, ...]
    hidden: tuple[tuple[Scored, Scored], ...]
    candidates: int


class _Candidate:
    """A memory with what its places among the words and the letters are worth; `key` is its type and slug."""

    __slots__ = ("key", "letters", "memory", "side", "words")

    def __init__(self, side: Side, memory: Memory, key: tuple[str, str], words: float, letters: float) -> None:
        """Keep what it is and what it is worth."""
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
    """Return the memories of some folders that a text may mean, the best first; `skip` are ids to leave out."""
    settings = curated.settings
    roots = curated.existing(roots)
    raw = settings["recall.raw_candidates"] if raw is None else raw
    rows: dict[tuple[str, int], CandidateRow] = {}
    words: dict[tuple[str, int], float] = {}
    letters: dict[tuple[str, int], float] = {}
    terms: tuple[str, ...] = ()
    for name, side in curated.sides.items():
        mine = {root.key: root for root in roots if root.side == name}
        if not mine:
            continue
        query, found = side.catalog.read(list(mine.values()), lambda db, mine=mine: candidates(db, text, mine, raw))  # type: ignore[misc]
        terms = tuple(term.text for term in query.terms)
        for row in found:
            rows[name, row.number] = row
            words[name, row.number] = by_words(query, row)
            letters[name, row.number] = by_letters(query, row)
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
    """Return the best candidates of both lists together, each with what its places are worth."""
    by_word, by_letter = places(words, most), places(letters, most)
    worth = {key: (_share(settings, by_word.get(key)), _share(settings, by_letter.get(key))) for key in rows}
    weights = [settings[f"recall.weights.{name}"] for name in _TERMS[:2]]
    listed = [one for one in worth.items() if any(one[1])]
    listed.sort(key=lambda one: -(weights[0] * one[1][0] + weights[1] * one[1][1]))
    return listed[:most]


def _share(settings: CuratedSettings, place: int | None) -> float:
    """Return what a place (from 0) in one list is worth, 1 for the first; `rrf` falls off much more slowly."""
    if place is None:
        return 0.0
    return (_RRF + 1) / (_RRF + 1 + place) if settings["recall.fusion"] == "rrf" else 1 / (place + 1)


def _hiding(curated: Curated, roots: Sequence[Root], found: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the memories of the same type and slug that the query did not find, and lift those that hide others.

    What hides a memory has its place at least: the question was for it.
    """
    by_key: dict[tuple[str, str], list[_Candidate]] = {}
    for one in found:
        by_key.setdefault(one.key, []).append(one)
    more: list[_Candidate] = []
    for name, side in curated.sides.items():
        mine = [root for root in roots if root.side == name]
        if not mine or not by_key:
            continue
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
    """Return a memory as its file is now: another program may have written into it since the catalogue was made."""
    try:
        found = os.lstat(f"{side.store.root}/{memory.root.folder}/{memory.filename}")
    except OSError:
        return None
    if found.st_mtime_ns == memory.mtime_ns:
        return memory
    now = read_file(side.store, memory.root, memory.filename)
    return now if isinstance(now, Memory) else None


def _shadow(scored: Sequence[tuple[tuple[str, str], Scored]]) -> tuple[list[Scored], list[tuple[Scored, Scored]]]:
    """Return those that count, in their order, and pairs of one that is hidden and the deeper one that hides it."""
    counting = winners(scored, lambda one: one.memory.root.depth)
    ranked = [one for key, one in scored if counting[key] is one]
    return ranked, [(one, counting[key]) for key, one in scored if counting[key] is not one]
