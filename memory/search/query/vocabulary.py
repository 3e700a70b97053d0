"""The words of all entries, and those that a typed word may stand for if it occurs nowhere: longer words that contain
it, and similar spellings.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from memory.base.values import edit_distance

from .words import name_parts, tokens

if TYPE_CHECKING:
    from memory.search.records import Record

    from .query import Query

MOST = 8
"""Maximum number of suggestions."""
SHORTEST, LONGEST = 3, 32
"""Minimum and maximum letters of a word that is checked."""
_TWO_FROM = 8  # Words from this length may have two typos when they are replaced.
_WORTH = (1.0, 0.8, 0.62, 0.45)
"""The weight of a word by its number of typos."""


class Vocabulary(Protocol):
    """The words of all entries."""

    @property
    def total(self) -> int:
        """How many entries there are."""

    def count(self, word: str) -> int:
        """Return how many entries contain a word."""

    def holds(self, word: str) -> bool:
        """Return whether an entry contains a word: faster than `count`."""

    def stands(self, head: str) -> bool:
        """Return whether an entry contains a word that begins with `head`."""

    def beginning(self, head: str, least: int, most: int) -> Iterable[str]:
        """Return words of `least` to `most` letters that begin with `head`; they may no longer exist."""

    def ending(self, tail: str, least: int, most: int) -> Iterable[str]:
        """Return words of `least` to `most` letters that end with `tail`; they may no longer exist."""

    def names(self, head: str) -> Iterable[str]:
        """Return names in camel case, as words, that have a part beginning with `head`; they may no longer exist."""

    def containing(self, part: str) -> Iterable[str]:
        """Return words that contain a part, the shortest first; they may no longer exist."""


def is_guessable(word: str) -> bool:
    """Return whether a word is checked for typos: letters, not a number and not unspaced writing."""
    return SHORTEST <= len(word) <= LONGEST and is_spelled(word)


def is_spelled(word: str) -> bool:
    """Return whether a word has a letter."""
    return any(char.isalpha() for char in word)


class HeldVocabulary:
    """The vocabulary of some records, for a search without an index."""

    def __init__(self, records: Sequence[Record]) -> None:
        """Count their words."""
        self.total = len(records)
        self._counts: Counter[str] = Counter()
        self._parts: set[tuple[str, str]] = set()
        for record in records:
            words = set(tokens(f"{record.title}\n{record.text}"))
            self._counts.update(words)
            self._parts.update(name_parts(f"{record.title}\n{record.text}"))

    def count(self, word: str) -> int:
        """Return how many entries contain a word."""
        return self._counts.get(word, 0)

    def holds(self, word: str) -> bool:
        """Return whether an entry contains a word."""
        return word in self._counts

    def stands(self, head: str) -> bool:
        """Return whether an entry contains a word that begins with `head`."""
        return any(word.startswith(head) for word in self._counts)

    @cached_property
    def _words(self) -> list[str]:
        return sorted(word for word in self._counts if len(word) >= SHORTEST and is_spelled(word))

    @cached_property
    def _backward(self) -> list[str]:
        return sorted(word[::-1] for word in self._words if is_guessable(word))

    def beginning(self, head: str, least: int, most: int) -> list[str]:
        """Return words of `least` to `most` letters that begin with `head`."""
        return _between(self._words, head, least, most)

    def ending(self, tail: str, least: int, most: int) -> list[str]:
        """Return words of `least` to `most` letters that end with `tail`."""
        return [word[::-1] for word in _between(self._backward, tail[::-1], least, most)]

    def names(self, head: str) -> list[str]:
        """Return names in camel case, as words, that have a part beginning with `head`."""
        return sorted({word for part, word in self._parts if part.startswith(head)})[:12]

    def containing(self, part: str) -> list[str]:
        """Return the words that contain a part, the shortest first."""
        found = (word for word in self._words if part in word and is_guessable(word))
        return sorted(found, key=lambda word: (len(word), word))


def _between(words: Sequence[str], head: str, least: int, most: int) -> list[str]:
    at, end = bisect_left(words, head), bisect_left(words, f"{head}\U0010ffff")
    return [word for word in words[at:end] if least <= len(word) <= most]


def meant(word: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the words that `word` may stand for, the nearest first: those that contain it, else those with one typo,
    or up to two typos if it has eight letters or more.
    """
    if not is_guessable(word):
        return ()
    inside = (other for other in vocabulary.containing(word) if other != word) if len(word) > SHORTEST else ()
    found = _existing(inside, vocabulary)
    least = _WORTH[2] if len(word) < _TWO_FROM else _WORTH[3]
    return found or _existing((other for other, worth in near_words(word, vocabulary) if worth > least), vocabulary)


def forgiven(query: Query, vocabulary: Vocabulary) -> tuple[Query, tuple[tuple[str, tuple[str, ...]], ...]]:
    """Return the query with words that occur nowhere replaced by those probably meant, and the replacements."""
    also: dict[str, tuple[str, ...]] = {}
    for term in query.terms:
        if len(term.words) == 1 and term.open and is_guessable(term.words[0]):
            words = () if vocabulary.stands(term.words[0]) else meant(term.words[0], vocabulary)
            if words:
                also[term.text] = words
    terms = tuple(term._replace(instead=also.get(term.text, ())) for term in query.terms)
    return query._replace(terms=terms), tuple(also.items())


def near_words(word: str, vocabulary: Vocabulary) -> list[tuple[str, float]]:
    """Return the words with the fewest typos, the nearest first, and the weight of each, below 1.

    Either the beginning or the end of a word is assumed to be right. The longer the word, the more typos are forgiven:
    up to three.
    """
    size = len(word)
    if not is_guessable(word) or size <= SHORTEST:
        return []
    limit = 1 if size < 6 else 2 if size < 11 else 3
    right = 1 if size < 5 else 2
    least, most = size - limit, size + limit
    letters = _bag(word)
    found: dict[str, int] = {}
    for other in {*vocabulary.beginning(word[:right], least, most), *vocabulary.ending(word[-right:], least, most)}:
        if other != word and (_bag(other) ^ letters).bit_count() <= 2 * limit:
            steps = edit_distance(word, other, limit)
            if steps <= limit and vocabulary.count(other):
                found[other] = steps
    fewest = min(found.values(), default=0)
    best = sorted(other for other, steps in found.items() if steps == fewest)
    best.sort(key=lambda other: (other[0] != word[0], abs(len(other) - size)))
    return [(other, _WORTH[fewest] - (0.05 if other[0] != word[0] else 0)) for other in best[:MOST]]


def _existing(words: Iterable[str], vocabulary: Vocabulary) -> tuple[str, ...]:
    return tuple(islice((word for word in words if vocabulary.count(word)), MOST))


def _bag(word: str) -> int:
    bag = 0
    for char in word:
        bag |= 1 << (ord(char) & 63)
    return bag
