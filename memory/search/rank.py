"""The one ranking: how much of what a query needs an entry has, with the terms of its score.

A score is a share of what was asked for: 1 means that every word of the query is in the entry, near the others and in a
prominent place. Rare words count more than common ones. A word that no entry has counts as missing, so that a query
that nothing is about gets low scores and a floor is possible.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import NamedTuple

from memory.base.clock import MONTHS, month_number
from memory.base.dates import last_day
from memory.base.words import terms

from .needs import Need, rarity

FLOOR, TELLING = 0.295, 0.5
"""An entry is about a query if it has this share of it, and words that tell as much as this part of a unique word."""

WEIGHED = 64
"""How many of the likely best entries are weighed at least."""
LONGEST = 20_000
"""Characters of an entry that are weighed."""
_TITLE = 1.3
_OFTEN, _LENGTH_SHARE, _USUAL_LENGTH = 0.5, 0.3, 45
"""How soon more occurrences of a word add little; how much a long entry loses; the usual number of words."""
_NEAR, _NEXT, _NEAR_SHARE = 4, 1, 0.3
"""Words apart that are near each other, and next to each other; what nearness adds."""
_COVERAGE_SHARE = 0.6
_PASSAGE_SHARE, _BESIDE, _SHORT_ENTRY = 0.65, 0.6, 100
"""The part of the points that the best line of a long entry gives, how much of the lines beside it counts there, and
the words of an entry for which the part is half of that.
"""
_NEWNESS, _HALF_LIFE = 0.1, 120.0
_UNDATED = 0.5
_ON_THE_DAY, _TOLD_WITHIN = 1.6, timedelta(7)
"""What an entry of the days that a query names gains, and how much later people write about a day."""
_BEFORE_TEXT = 8
"""The distance in words between a title and the text."""


_EPOCH = date(1970, 1, 1).toordinal()
_NAMED_DAY = re.compile(
    rf"(?:\b(?P<first>\d{{1,2}})(?:st|nd|rd|th)?\.? (?:of )?)?\b(?P<month>{'|'.join(MONTHS)})\b"
    r"(?: (?P<second>\d{1,2})(?:st|nd|rd|th)?\b)?(?:,? (?P<year>\d{4})\b)?"
    r"|\b(?P<y>\d{4})-(?P<m>\d\d)(?:-(?P<d>\d\d))?\b|\bin (?P<alone>(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_ALSO_VERBS = ("march", "may")


class Days(NamedTuple):
    """Days that a text names: a year or any (0), a month or all (0), a day or all (0)."""

    year: int
    month: int
    day: int

    def hold(self, number: int) -> bool:
        """Return whether an entry of this day since 1970 may be about them: it is of those days or shortly after."""
        entry = date.fromordinal(number + _EPOCH)
        for year in (self.year,) if self.year else (entry.year - 1, entry.year):
            month = self.month or 12
            longest = last_day(year, month)
            if self.day > longest:
                continue
            first, last = date(year, self.month or 1, self.day or 1), date(year, month, self.day or longest)
            if first <= entry and entry - _TOLD_WITHIN <= last:
                return True
        return False


def named_days(text: str) -> tuple[Days, ...]:
    """Return the days that a text names: `2023-07-04`, `July 2023`, `3 May`, `in 2022`."""
    found = []
    for one in _NAMED_DAY.finditer(text[:LONGEST]):
        name = (one["month"] or "").lower()
        month = month_number(name) or int(one["m"] or 0)
        day = int(one["first"] or one["second"] or one["d"] or 0)
        year = int(one["year"] or one["y"] or one["alone"] or 0)
        if month > 12 or day > 31 or (one["y"] and not month) or (year and not 1970 <= year < 9999):
            continue
        if name in _ALSO_VERBS and not day and not year:
            continue
        found.append(Days(year, month, day))
    return tuple(found)


def day_number(text: str) -> int:
    """Return the days since 1970 of an ISO date, 1 for earlier dates, 0 if it is no date."""
    try:
        return max(date.fromisoformat(text[:10]).toordinal() - _EPOCH, 1)
    except ValueError:
        return 0


class Document(NamedTuple):
    """An entry to weigh; `day` are its days since 1970, 0 without a date. `factor` lowers or raises all its points."""

    number: int
    title: str
    text: str
    day: int = 0
    factor: float = 1.0


class Evidence(NamedTuple):
    """Why an entry was found.

    `score` orders the entries of one query by the needs found, title, nearness and age. `share` is the
    part of what was asked for that the entry has, `line` the line of its text that has the most of it, -1 for none.
    `telling` compares the worth of what it has with that of a word that no entry has.
    `found` maps the needs, by their position in the query, to `title`, `text` or both.
    """

    number: int
    score: float
    share: float
    telling: float
    found: dict[int, str]
    fits_all: bool
    line: int = -1

    @property
    def is_about(self) -> bool:
        """Whether the entry is about the query, and does not only share a common word with it."""
        return self.fits_all or (self.share >= FLOOR and self.telling >= TELLING)


_Seen = dict[int, list[tuple[int, float, bool]]]
"""For each need what serves it in an entry: the place in words, how well, and whether it is in the title."""


class Weigher:
    """Weighs entries by the needs of one query; `newest` is the day of the latest entry of all."""

    def __init__(self, needs: Sequence[Need], newest: int, total: int, days: Sequence[Days] = ()) -> None:
        """Prepare the values shared by all entries; `total` is their number, `days` are those that the query names."""
        self.needs = needs
        self._newest = newest
        self._days = days
        self._unique = rarity(0, total)
        self._total = sum(need.worth for need in needs) or 1.0
        self._served: dict[str, list[tuple[int, float]]] = {}
        self._phrases: dict[str, list[tuple[int, tuple[str, ...], float]]] = {}
        for at, need in enumerate(needs):
            for words, served in need.phrases.items():
                self._phrases.setdefault(words[0], []).append((at, words, served))
        self._wanted = {at for at, need in enumerate(needs) if not need.minor}

    def weigh(self, entry: Document) -> Evidence:
        """Return what an entry has of the needs."""
        title = terms(entry.title)
        lines = [terms(line) for line in entry.text[:LONGEST].splitlines()]
        text = [word for line in lines for word in line]
        line_of = [at for at, line in enumerate(lines) for _ in line]
        seen: _Seen = {}
        by_line: dict[int, dict[int, float]] = {}
        for words, in_title, start in ((title, True, 0), (text, False, len(title) + _BEFORE_TEXT)):
            for place, at, served in self._occurrences(words):
                seen.setdefault(at, []).append((start + place, served, in_title))
                line = by_line.setdefault(-1 if in_title else line_of[place], {})
                line[at] = max(line.get(at, 0.0), served)
        norm = _OFTEN * (1 - _LENGTH_SHARE + _LENGTH_SHARE * (len(title) + len(text)) / _USUAL_LENGTH)
        points = worth = 0.0
        found: dict[int, str] = {}
        for at, places in seen.items():
            mine = self.needs[at].worth * max(served for _, served, _ in places)
            parts = {in_title for *_, in_title in places}
            found[at] = "title and text" if len(parts) > 1 else "title" if True in parts else "text"
            often = len(places)
            points += (_TITLE if True in parts else 1.0) * mine * (1 + _OFTEN) * often / (often + norm)
            worth += mine
        share = worth / self._total
        points = (points + self._nearness(seen)) / self._total * (1 - _COVERAGE_SHARE + _COVERAGE_SHARE * share)
        passages = {number: self._passage(number, by_line) for number in by_line}
        passage_share = _PASSAGE_SHARE * len(text) / (len(text) + _SHORT_ENTRY)
        points += passage_share * (max(passages.values(), default=0.0) - points)
        best_line = max(sorted(passages), key=lambda one: (one >= 0, passages[one]), default=-1)
        fits = self._wanted <= found.keys()
        score = points * self._standing(entry)
        return Evidence(entry.number, score, share, worth / self._unique, found, fits, best_line)

    def _passage(self, line: int, lines: dict[int, dict[int, float]]) -> float:
        """Return the share of the needs that a line has, with its neighbours and the title (line -1)."""
        best: dict[int, float] = {}
        for other, counts in ((line, 1.0), (line - 1, _BESIDE), (line + 1, _BESIDE), (-1, 1.0)):
            for at, well in lines.get(other, {}).items():
                best[at] = max(best.get(at, 0.0), well * counts)
        return sum(self.needs[at].worth * well for at, well in best.items()) / self._total

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

    def _nearness(self, seen: _Seen) -> float:
        """Return the points for words that are near each other in both the query and the entry."""
        points = 0.0
        for one, other in pairwise(sorted(seen)):
            here, there = ([place for place, *_ in seen[at][:8]] for at in (one, other))
            far = min((abs(b - a) for a in here for b in there if a != b), default=_NEAR + 1)
            if far <= _NEAR:
                points += _NEAR_SHARE * min(self.needs[one].worth, self.needs[other].worth) * min(1.0, _NEXT / far)
        return points

    def _standing(self, entry: Document) -> float:
        """Return a factor: newer entries before older ones, those of the named days before others."""
        age = max(0, self._newest - entry.day)
        factor = 1 + _NEWNESS * (0.5 ** (age / _HALF_LIFE) if entry.day else _UNDATED)
        if entry.day and any(days.hold(entry.day) for days in self._days):
            factor *= _ON_THE_DAY
        return factor * entry.factor
