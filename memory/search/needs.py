"""What a query needs: each of its words, with the words of the index that serve it and how well each does.

A word is served by itself, by its other forms and spellings, by longer words that begin with it, by abbreviations, by
two words that it is written together from, and, where nothing of that exists, by words of which it may be a typo.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from memory.base.word_lists import SHORT_FORMS, STOP_WORDS, SYNONYMS
from memory.base.words import (
    camel_parts,
    fold,
    is_function,
    is_request,
    is_unspaced,
    spellings,
    stem,
    tokens,
    typos_allowed,
    unspaced_runs,
)

from .query import SHORT as SHORTEST
from .query import Query, Term
from .word_index import Filter, WordIndex, either, quoted

MOST_NEEDS = 24
"""Words of a query that are used; those after them are ignored."""
SPELLED, FORM, SHORT, LONGER, PARTS, SYNONYM = 0.98, 0.9, 0.85, 0.8, 0.85, 0.6
"""How well another word serves: another spelling, another form, an abbreviation or its long form, a longer word that
begins with it, the words it is written together from, a word for the same thing.
"""
TYPOS = (1.0, 0.8, 0.62, 0.45)
"""How well a word serves, by the number of typos."""
MINOR = 0.08
"""The share of its value that a word has which says little, such as "the"."""
REQUEST = 0.5
"""The same for a word with which people say what to do, such as "explain"."""
_ASSUMED = 50
_MOST_LONGER, _MOST_NEAR = 12, 8
_LONGEST = 64
_BORDER = re.compile(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])")


def _synonyms(root: str) -> list[str]:
    """Return the stems of the words for the same thing as those of a stem, in alphabetical order."""
    # As in `is_request`: most words need no stem.
    groups = [group for group in SYNONYMS if any(one[0] == root[0] and stem(one) == root for one in group)]
    return sorted({stem(word) for group in groups for word in group})


class Need(NamedTuple):
    """A word of a query, or a quoted phrase; `worth` is larger the rarer the word is in the index.

    Each of `words`, each of the sequences `phrases`, and every word that begins with `head` serves it, from 0 (not at
    all) to 1. The last word of a phrase may be longer if `longer` is not 0. A `minor` need says little and finds
    nothing by itself. `guessed`: the word is in no entry, and others were taken for it.
    """

    text: str
    worth: float
    words: dict[str, float]
    phrases: dict[tuple[str, ...], float]
    head: str = ""
    longer: float = 0.0
    minor: bool = False
    strict: bool = False
    guessed: bool = False

    @property
    def known(self) -> bool:
        """Whether anything in the index serves it."""
        return bool(self.words or self.phrases or self.head)

    @property
    def expression(self) -> str:
        """The expression of FTS5 that finds what serves it."""
        ways = [quoted(word) for word in self.words]
        ways += [quoted(" ".join(words)) + (" *" if self.longer else "") for words in self.phrases]
        return either([*ways, f"{quoted(self.head)} *"] if self.head else ways)

    def serves_all(self, phrase: tuple[str, ...], words: Sequence[str]) -> bool:
        """Return whether consecutive words are one of its phrases."""
        if len(words) != len(phrase) or words[:-1] != list(phrase[:-1]):
            return False
        return words[-1] == phrase[-1] or (self.longer > 0 and words[-1].startswith(phrase[-1]))

    def serves(self, word: str) -> float:
        """Return how well a single word serves it."""
        served = self.words.get(word, 0.0)
        return max(served, self.longer) if self.head and word.startswith(self.head) else served


def needs_of(query: Query, index: WordIndex) -> list[Need]:
    """Return what a query needs, in its order: quoted parts, and its other words one by one.

    If all words say little, none is minor.
    """
    return _Reader(index).needs(query)


def rarity(count: int, total: int) -> float:
    """Return how much it says that an entry has a word which `count` of `total` entries have.

    Some entries without the word are assumed beside those: in a memory of three entries no word is common.
    """
    return math.log(1 + (total + _ASSUMED - count + 0.5) / (count + 0.5))


def exact_need(term: Term) -> Need:
    """Return the need for a term as it was typed, without a look at an index."""
    if len(term.words) > 1:
        return Need(term.text, 1.0, {}, {term.words: 1.0}, longer=float(term.open), strict=term.strict)
    word = term.words[0]
    return Need(term.text, 1.0, {word: 1.0}, {}, word if term.open else "", 1.0, strict=term.strict)


class _Word(NamedTuple):
    """A word of a query: folded, as it was typed, and its weight; an `open` one may be longer."""

    word: str
    typed: str
    weight: float
    open: bool


class _Reader:
    """Reads one query with the help of one index."""

    def __init__(self, index: WordIndex) -> None:
        self._index = index
        self._total = index.total()
        self._counts: dict[str, int] = {}

    def needs(self, query: Query) -> list[Need]:
        found = [self._quoted(term) for term in query.terms if term.strict]
        loose = [word for term in query.terms if not term.strict for word in _words_of(term)]
        loose = list(dict.fromkeys(loose))
        serious = any(one.weight >= REQUEST and one.word not in STOP_WORDS for one in loose)
        for at, one in enumerate(loose):
            if len(found) >= MOST_NEEDS:
                break
            if serious and (one.word in STOP_WORDS or one.weight < 0.3):
                held = {one.word: 1.0} if self._count(one.word) else {}
                found.append(Need(one.typed, MINOR * self._rarity(one.word), held, {}, minor=True))
            elif is_unspaced(one.word):
                found.append(self._unspaced(one))
            else:
                found.append(self._need(one, loose[max(at - 1, 0) : at + 2]))
        return found

    def _count(self, word: str) -> int:
        if word not in self._counts:
            self._counts[word] = self._index.count(word)
        return self._counts[word]

    def _rarity(self, *words: str) -> float:
        """Return how much it says that an entry has one of these words."""
        return rarity(min(sum(map(self._count, words)), self._total), self._total)

    def _quoted(self, term: Term) -> Need:
        return exact_need(term)._replace(worth=max(map(self._rarity, term.words)))

    def _unspaced(self, one: _Word) -> Need:
        worth = one.weight * self._rarity(one.word)
        if len(one.word) > 1:
            return Need(one.typed, worth, {one.word: 1.0} if self._count(one.word) else {}, {})
        longer = self._index.beginning(one.word, _MOST_LONGER)
        worth = one.weight * self._rarity(one.word, *longer)
        return Need(one.typed, worth, {}, {}, one.word if longer or self._count(one.word) else "", 1.0)

    def _need(self, one: _Word, around: Sequence[_Word]) -> Need:
        word = one.word
        words: dict[str, float] = {word: 1.0}
        for other in spellings(word, one.typed):
            words.setdefault(other, SPELLED)
        for other in self._index.with_stem(stem(word)):
            words.setdefault(other, FORM)
        for group in SHORT_FORMS:
            if word in group or stem(word) in group:
                words |= {other: SHORT for form in group for other in (form, f"{form}s") if other not in words}
        for root in _synonyms(stem(word)):
            words |= {other: SYNONYM for other in self._index.with_stem(root) if other not in words}
        words = {other: served for other, served in words.items() if self._count(other)}
        longer = self._index.beginning(word, _MOST_LONGER) if one.open else []
        head = word if any(map(self._count, longer)) else ""
        phrases = self._phrases(one, around)
        guessed = not words and not head and not phrases
        if guessed and typos_allowed(word):
            for other, typos in self._index.like(word)[:_MOST_NEAR]:
                words[other] = TYPOS[typos] - 0.05 * (other[0] != word[0])
        forms = [word] if self._count(word) else [*words, *longer]
        count = min(sum(map(self._count, forms)), self._total)
        if not count and phrases:
            count = sum(self._index.matches(quoted(" ".join(parts)), Filter()) for parts in phrases)
        worth = one.weight * rarity(count, self._total)
        return Need(one.typed, worth, words, phrases, head, LONGER, guessed=guessed and bool(words))

    def _phrases(self, one: _Word, around: Sequence[_Word]) -> dict[tuple[str, ...], float]:
        """Return the words that a word is written together from, and the one that it forms with a word beside it."""
        found: dict[tuple[str, ...], float] = {}
        if self._count(one.word) <= 3 and len(one.word) <= _LONGEST:
            for way in self._divided(one):
                found[way] = PARTS
        for first, second in pairwise(around):
            joined = first.word + second.word
            if one in (first, second) and self._count(joined):
                found[(joined,)] = FORM
        return dict(list(found.items())[:4])

    def _divided(self, one: _Word) -> list[tuple[str, ...]]:
        """Return the ways in which a word falls into words of the index: `orderApi`, `loadbalancer`, `tls04`."""
        word = one.word
        ways = [tuple(camel_parts(one.typed)), tuple(_BORDER.split(word))]
        ways += [(word[:at], word[at:]) for at in range(2, len(word) - 1)]
        parts = [way for way in ways if len(way) > 1 and "".join(way) == word and all(map(self._count, way))]
        parts = [way for way in parts if len(way) > 2 or max(map(len, way)) > 2]
        return sorted(dict.fromkeys(parts), key=lambda way: -min(map(len, way)))[:2]


def _words_of(term: Term) -> list[_Word]:
    found: list[_Word] = []
    words = tokens(term.text)
    for word in words:
        if not is_unspaced(word):
            alone = len(words) == 1
            weight = REQUEST if is_request(word) else 1.0
            found.append(
                _Word(word, term.text if alone else word, weight, term.open if alone else len(word) > SHORTEST)
            )
    for run in unspaced_runs(fold(term.text)):
        # Half of the pairs are no words, but the end of one and the beginning of the next; those of grammar say little.
        pairs = [run[at : at + 2] for at in range(len(run) - 1)]
        found += [_Word(pair, pair, 0.1 if all(map(is_function, pair)) else 1.0, False) for pair in pairs]
        if len(run) == 1:
            found.append(_Word(run, run, 0.6, True))
    return found
