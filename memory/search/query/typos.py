"""Words that were probably meant, where the word that was typed stands nowhere: longer ones, and misspelled ones."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from memory.base.names import edit_distance

if TYPE_CHECKING:
    from .query import Query

MOST = 8
"""How many words are offered at most."""
SHORTEST, LONGEST = 3, 32
"""Letters of a word that is looked at."""
_TWO_FROM = 8  # Letters from which two typos are forgiven where a word is taken for another.
_WORTH = (1.0, 0.8, 0.62, 0.45)
"""How much a word counts by its typos."""


class Vocabulary(Protocol):
    """The words of all entries."""

    @property
    def total(self) -> int:
        """How many entries there are."""

    def count(self, word: str) -> int:
        """Return how many entries hold a word."""

    def holds(self, word: str) -> bool:
        """Tell whether an entry holds a word: quicker than to count it."""

    def stands(self, head: str) -> bool:
        """Tell whether an entry holds a word that begins with `head`."""

    def beginning(self, head: str, least: int, most: int) -> Iterable[str]:
        """Return words of so many letters that begin with `head`; they may be gone by now."""

    def ending(self, tail: str, least: int, most: int) -> Iterable[str]:
        """Return words of so many letters that end with `tail`; they may be gone by now."""

    def names(self, head: str) -> Iterable[str]:
        """Return names in camel case, as words, a part of which begins with `head`; they may be gone by now."""

    def containing(self, part: str) -> Iterable[str]:
        """Return words that contain a part, the shortest first; they may be gone by now."""


def is_guessable(word: str) -> bool:
    """Tell whether a word takes part: letters, not a number and not unspaced writing."""
    return SHORTEST <= len(word) <= LONGEST and is_spelled(word)


def is_spelled(word: str) -> bool:
    """Tell whether a word has a letter."""
    return any(char.isalpha() for char in word)


def meant(word: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the words that `word` stands for, the nearest first: those that contain it, else those with one typo, in
    a word of eight letters or more two.
    """
    if not is_guessable(word):
        return ()
    inside = (other for other in vocabulary.containing(word) if other != word) if len(word) > SHORTEST else ()
    found = _existing(inside, vocabulary)
    least = _WORTH[2] if len(word) < _TWO_FROM else _WORTH[3]
    return found or _existing((other for other, worth in near_words(word, vocabulary) if worth > least), vocabulary)


def forgiven(query: Query, vocabulary: Vocabulary) -> tuple[Query, tuple[tuple[str, tuple[str, ...]], ...]]:
    """Return the query with words that were probably meant instead of those that stand nowhere, and which are which."""
    also: dict[str, tuple[str, ...]] = {}
    for term in query.terms:
        if len(term.words) == 1 and term.open and is_guessable(term.words[0]):
            words = () if vocabulary.stands(term.words[0]) else meant(term.words[0], vocabulary)
            if words:
                also[term.text] = words
    terms = tuple(term._replace(instead=also.get(term.text, ())) for term in query.terms)
    return query._replace(terms=terms), tuple(also.items())


def near_words(word: str, vocabulary: Vocabulary) -> list[tuple[str, float]]:
    """Return the words with the fewest typos, the nearest first, and how much each counts, below 1.

    One of both ends of a word is taken to be right. The longer the word, the more typos are forgiven: up to three.
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
