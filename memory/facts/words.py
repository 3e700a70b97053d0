"""The words by which facts and messages are compared, and the facts that are alike because they share most words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from memory.base import words

from .model import Fact

SHORTEST = 3
"""The fewest characters of a word that counts."""

# fmt: off
STOP_WORDS = frozenset(
    (
        "the", "and", "for", "are", "but", "not", "you", "all", "can", "has", "her", "was", "one", "our", "out",
        "its", "use", "how", "may", "who", "did", "get", "had", "him", "his", "let", "say", "she", "too", "own",
        "way", "about", "could", "from", "have", "into", "just", "like", "make", "many", "some", "than", "that",
        "them", "then", "this", "very", "when", "what", "with", "will", "would", "been", "each", "more", "most",
        "much", "must", "only", "also", "back", "being", "come", "every", "first", "here", "know", "made", "need",
        "over", "such", "take", "where", "which", "while", "work", "project", "please", "help", "want", "using",
        "thing", "file", "should",
    )
)
# fmt: on
"""Frequent words that say nothing about what a fact is about."""

# Letters and digits of any script; everything else is between words.
_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> set[str]:
    """Return the words of a text that count: in lower case, of three characters or more, without the stop words."""
    return set(long_words(text)) - STOP_WORDS


def long_words(text: str) -> list[str]:
    """Return the words of a text of three characters or more, in lower case, with the stop words."""
    return [word for one in _WORD.findall(text) if len(word := one.lower()) >= SHORTEST]


ALIKE = 0.8
"""The share of all words of two facts that both must have to be alike."""


def alike(facts: Sequence[Fact]) -> Mapping[Fact, Fact]:
    """Return each fact that is like an earlier one, with the most similar of those; of equal ones the first."""
    best: dict[Fact, tuple[float, Fact]] = {}
    for later, earlier, shared, union in words.alike([words.tokens(fact.text) for fact in facts], ALIKE):
        likeness = shared / union
        if likeness > best.get(facts[later], (0.0, None))[0]:
            best[facts[later]] = (likeness, facts[earlier])
    return {fact: other for fact, (_, other) in best.items()}
