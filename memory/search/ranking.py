"""The one ranking: how much of what a query needs an entry has, with the terms of its score.

A score is a share of what was asked for: 1 means that every word of the query is in the entry, near the others and in a
prominent place. Rare words count more than common ones. A word that no entry has counts as missing, so that a query
that nothing is about gets low scores and a floor is possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from memory.base.words import terms

from .needs import Need

FLOOR = 0.35
"""Below this score an entry is not about the query."""

LONGEST = 20_000
"""Characters of an entry that are weighed."""
_TITLE = 1.3
_OFTEN, _LENGTH_SHARE, _USUAL_LENGTH = 0.5, 0.3, 45
"""How soon more occurrences of a word add little; how much a long entry loses; the usual number of words."""
_NEAR, _NEXT, _NEAR_SHARE = 4, 1, 0.3
"""Words apart that are near each other, and next to each other; what nearness adds."""
_COVERAGE_SHARE = 0.6
_NEWNESS, _HALF_LIFE = 0.25, 120.0
_UNDATED = 0.5
_BEFORE_TEXT = 8
"""The distance in words between a title and the text."""
REPLACED = ("superseded", "obsolete", "deprecated", "outdated", "no longer used", "no longer valid")
"""Phrases of an entry that is no longer true."""
_REPLACED_FACTOR = 0.85


class Document(NamedTuple):
    """An entry to weigh; `day` are its days since 1970, 0 without a date. `factor` lowers or raises all its points."""

    number: int
    title: str
    text: str
    day: int = 0
    factor: float = 1.0


class Evidence(NamedTuple):
    """Why an entry was found.

    `score` orders the entries of one query: what is asked for and found, with title, nearness and age. `share` is the
    part of what was asked for that the entry has, `exact` the part that it has as it was typed or in another form.
    `found` maps the needs, by their position in the query, to `title`, `text` or both.
    """

    number: int
    score: float
    share: float
    exact: float
    found: dict[int, str]
    fits_all: bool


class Weigher:
    """Weighs entries by the needs of one query; `newest` is the day of the latest entry of all."""

    def __init__(self, needs: Sequence[Need], newest: int) -> None:
        """Prepare what is the same for all entries."""
        self.needs = needs
        self._newest = newest
        self._total = sum(need.worth for need in needs) or 1.0
        self._served: dict[str, list[tuple[int, float]]] = {}
        self._phrases: dict[str, list[tuple[int, tuple[str, ...], float]]] = {}
        for at, need in enumerate(needs):
            for words, served in need.phrases.items():
                self._phrases.setdefault(words[0], []).append((at, words, served))
        self._wanted = {at for at, need in enumerate(needs) if not need.minor}

    def weigh(self, entry: Document) -> Evidence:
        """Return what an entry has of the needs."""
        title, text = terms(entry.title), terms(entry.text[:LONGEST])
        best: dict[int, float] = {}
        counts: dict[int, float] = {}
        places: dict[int, list[int]] = {}
        found: dict[int, str] = {}
        for words, name, start in ((title, "title", 0), (text, "text", len(title) + _BEFORE_TEXT)):
            for place, at, served in self._occurrences(words):
                best[at] = max(best.get(at, 0.0), served)
                counts[at] = counts.get(at, 0.0) + 1.0
                places.setdefault(at, []).append(start + place)
                if found.get(at) != name:
                    found[at] = name if at not in found else "title and text"
        norm = _OFTEN * (1 - _LENGTH_SHARE + _LENGTH_SHARE * (len(title) + len(text)) / _USUAL_LENGTH)
        points = share = exact = 0.0
        for at, served in best.items():
            worth = self.needs[at].worth * served
            prominence = _TITLE if "title" in found[at] else 1.0
            points += prominence * worth * (1 + _OFTEN) * counts[at] / (counts[at] + norm)
            share += worth
            exact += worth if served > 0.84 else 0.0
        points = (points + self._nearness(places)) / self._total
        share /= self._total
        points *= (1 - _COVERAGE_SHARE + _COVERAGE_SHARE * share) * self._standing(entry)
        return Evidence(entry.number, points, share, exact / self._total, found, self._wanted <= found.keys())

    def _occurrences(self, words: Sequence[str]) -> list[tuple[int, int, float]]:
        """Return (place, need, how well it is served) for each word that serves a need."""
        found = []
        known = self._served
        for place, word in enumerate(words):
            served = known.get(word)
            if served is None:
                served = known[word] = [
                    (at, worth) for at, need in enumerate(self.needs) if (worth := need.serves(word))
                ]
            for at, worth in served:
                found.append((place, at, worth))
            for at, phrase, worth in self._phrases.get(word, ()):
                if self.needs[at].serves_all(phrase, words[place : place + len(phrase)]):
                    found.append((place, at, worth))
        return found

    def _nearness(self, places: dict[int, list[int]]) -> float:
        """Return the points for words that are near each other in both the query and the entry."""
        points = 0.0
        for one, other in pairwise(sorted(places)):
            far = min((abs(b - a) for a in places[one][:8] for b in places[other][:8] if a != b), default=_NEAR + 1)
            if far <= _NEAR:
                points += _NEAR_SHARE * min(self.needs[one].worth, self.needs[other].worth) * min(1.0, _NEXT / far)
        return points

    def _standing(self, entry: Document) -> float:
        """Return a factor: newer entries before older ones, current ones before replaced ones."""
        age = max(0, self._newest - entry.day)
        factor = 1 + _NEWNESS * (0.5 ** (age / _HALF_LIFE) if entry.day else _UNDATED)
        text = entry.text.lower()
        if any(phrase in text for phrase in REPLACED):
            factor *= _REPLACED_FACTOR
        return factor * entry.factor
