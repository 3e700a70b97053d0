"""Entries that match some of the words: how much an entry gains by those it has, the same with and without an index."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from itertools import pairwise
from typing import TYPE_CHECKING

from memory.registry import kinds
from memory.search.hits import FoundEntry, Hit, body_of, hit_of
from memory.search.match import day_number

from .words import LETTER, NO_LETTER, fold, indexable

if TYPE_CHECKING:
    from .needs import Need
    from .query import Query

MOST = 100
"""Maximum entries with some of the words if there is no limit."""

_LONGEST = 8000
"""Characters of an entry that are searched."""
_SATURATION, _LENGTH_SHARE, _USUAL_LENGTH = 0.5, 0.3, 250
_TITLE = 1.3
_NEAR, _NEXT, _NEAR_SHARE = 28, 8, 0.3
"""Characters between the beginnings of words that are near each other, and of words that are next to each other."""
_COVERAGE_SHARE = 0.6
_NEWNESS, _HALF_LIFE = 0.25, 120.0
_UNDATED = 0.5
_ARCHIVED, _SUPERSEDED = 0.9, 0.85
_OVER = ("superseded", "obsolete", "deprecated", "outdated", "no longer used", "no longer valid")
"""Phrases of an entry that is no longer true."""

_APART = 40  # Distance in characters between a title and the text, for nearness.
_START, _END = f"(?<!{LETTER})", f"(?!{LETTER})"

Find = tuple[int, float]
"""The position of a need, and what an entry gains by it."""


class Weigher:
    """Weighs entries by the needs of one query; `newest` is the day number of the latest entry of all."""

    def __init__(self, needs: Sequence[Need], newest: int) -> None:
        """Prepare what is the same for all entries."""
        self.needs = needs
        self._newest = newest
        self._total = sum(need.worth for need in needs) or 1.0
        self._words: dict[str, list[Find]] = {}
        self._phrases: list[tuple[re.Pattern[str], Find]] = []
        for at, need in enumerate(needs):
            for form in need.forms:
                if len(form.words) == 1:
                    self._words.setdefault(form.words[0], []).append((at, form.worth))
                else:
                    between = f"{NO_LETTER}+".join(map(re.escape, form.words))
                    self._phrases.append((re.compile(f"{_START}{between}{_END}"), (at, form.worth)))
        self._heads = [(need.head, (at, need.longer)) for at, need in enumerate(needs) if need.head]
        wanted = sorted({*self._words, *(head for head, _ in self._heads)})
        heads = "|".join(re.escape(head) for head, _ in self._heads) or "(?!)"
        words = "|".join(map(re.escape, self._words)) or "(?!)"
        self._any = re.compile(f"{_START}(?:(?:{heads}){LETTER}*|(?:{words}){_END})") if wanted else None
        serious = {form.words[0] for need in needs if not need.minor for form in need.forms}
        serious |= {need.head for need in needs if need.head and not need.minor}
        self._quick = re.compile("|".join(map(re.escape, sorted(serious))) or "(?!)")

    def glance(self, entry: FoundEntry) -> int:
        """Return a quick estimate of how many different words of an entry may serve a need that is not minor."""
        return len(set(self._quick.findall(fold(f"{entry.title}\n{entry.text}"))))

    def weigh(self, entry: FoundEntry) -> tuple[float, frozenset[int]]:
        """Return what an entry gains, and the positions of the needs that it serves."""
        title = indexable(entry.title)
        body = indexable(body_of(entry.title, entry.text)[:_LONGEST])
        found: dict[int, list[tuple[int, float]]] = {}
        self._look(title, 0, _TITLE, found)
        self._look(body, len(title) + _APART, 1.0, found)
        if not found:
            return 0.0, frozenset()
        norm = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * (len(title) + len(body)) / _USUAL_LENGTH)
        points = served = 0.0
        for at, places in found.items():
            best = max(worth for _, worth in places)
            often = len(places)
            points += best * often / (often + norm) * (1 + _SATURATION)
            served += min(best, self.needs[at].worth)
        points += self._nearness(found)
        covered = min(1.0, served / self._total)
        points *= 1 - _COVERAGE_SHARE + _COVERAGE_SHARE * covered
        return points * self._standing(entry), frozenset(found)

    def _look(self, folded: str, start: int, factor: float, found: dict[int, list[tuple[int, float]]]) -> None:
        if self._any is not None:
            for match in self._any.finditer(folded):
                word = match[0]
                place = start + match.start()
                finds = self._words.get(word, ())
                for at, worth in finds:
                    found.setdefault(at, []).append((place, worth * factor))
                for head, (at, worth) in self._heads:
                    if word.startswith(head) and not any(at == other for other, _ in finds):
                        found.setdefault(at, []).append((place, worth * factor))
        for phrase, (at, worth) in self._phrases:
            for match in phrase.finditer(folded):
                found.setdefault(at, []).append((start + match.start(), worth * factor))

    def _nearness(self, found: dict[int, list[tuple[int, float]]]) -> float:
        """Return the gain for words that are near each other in both the query and the entry."""
        points = 0.0
        served = sorted(found)
        for one, other in pairwise(served):
            far = min((abs(b - a) for a, _ in found[one][:8] for b, _ in found[other][:8] if a != b), default=_NEAR + 1)
            if far <= _NEAR:
                points += _NEAR_SHARE * min(self.needs[one].worth, self.needs[other].worth) * min(1.0, _NEXT / far)
        return points

    def _standing(self, entry: FoundEntry) -> float:
        """Return a factor: newer entries before older ones, current ones before archived or replaced ones."""
        day = day_number(entry.date)
        age = max(0, self._newest - day)
        factor: float = 1 + _NEWNESS * (0.5 ** (age / _HALF_LIFE) if day else _UNDATED)
        if entry.file.startswith("archive/"):
            factor *= _ARCHIVED
        text = entry.text.lower()
        if any(word in text for word in _OVER):
            factor *= _SUPERSEDED
        return factor


def best_of(
    weigher: Weigher, entries: Iterable[FoundEntry], query: Query, above: Sequence[Hit], room: int
) -> tuple[Hit, ...]:
    """Return the best hits among entries that match some of the words, the best first, `room` at most.

    Their scores are below those of the hits `above`. Ties are ordered by the later day, then the kind, the file and the
    line.
    """
    weighed = []
    for entry in entries:
        points, served = weigher.weigh(entry)
        if any(not weigher.needs[at].minor for at in served):
            order = (-round(points, 6), -day_number(entry.date), kind_order(entry.kind), entry.file, entry.line)
            weighed.append((order, entry, served))
    chosen = nsmallest(room, weighed, key=lambda one: one[0])
    best = min((hit.score for hit in above), default=1.0) * 0.99
    strict = tuple(term for term in query.terms if term.strict)
    found = []
    for order, entry, served in chosen:
        loose = (weigher.needs[at] for at in sorted(served))
        terms = (need.term for need in loose if not need.quoted)
        asked = query._replace(terms=(*strict, *terms))
        score = max(0.001, round(best * order[0] / chosen[0][0][0], 3))
        found.append(hit_of(entry, asked, score)._replace(fits_all=False))
    return tuple(found)


def kind_order(kind: str) -> int:
    """Return the position of a kind among all; an unknown one comes last."""
    known = kinds()
    return known.index(kind) if kind in known else len(known)
