"""The words by which facts and messages are compared."""

from __future__ import annotations

import re

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
_USABLE = re.compile(rf"[^\W_]{{{SHORTEST},}}")


def words_of(text: str) -> set[str]:
    """Return the words of a text that count: in lower case, of three characters or more, without the stop words."""
    if text.isascii():
        found = set(_USABLE.findall(text.lower()))
    else:
        found = {word for one in _WORD.findall(text) if len(word := one.lower()) >= SHORTEST}
    return found - STOP_WORDS


def all_words(text: str) -> set[str]:
    """Return every word of a text, in the case in which words are compared."""
    return {word.casefold() for word in _WORD.findall(text)}
