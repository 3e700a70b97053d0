"""Words that are near a word: what its inflections begin with, and what it may be a typo of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memory.base.names import edit_distance

if TYPE_CHECKING:
    import sqlite3

_ENDINGS = (
    "izations", "ization", "ations", "ation", "ments", "ingly", "ition", "sions", "tions", "ment", "sion",
    "tion", "ings", "ers", "ing", "ies", "ied", "ive", "ity", "ed", "es", "er", "ly", "e", "s", "y",
)  # fmt: skip
_STEM = 4
_SHORT, _LONG = 4, 7
"""From so many letters on a word may have one typo, or two."""
_MOST = 3
_WORTH = 0.9


def stem(word: str) -> str:
    """Return what the inflections of an English word begin with."""
    if not word.isascii() or not word.isalpha():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > _STEM and word[-1] == word[-2] else word


def near(db: sqlite3.Connection, word: str) -> list[tuple[str, float, int]]:
    """Return the words of memories that a word may be a typo of: each with its worth (to 1) and how many have it.

    Typos are letters left out, doubled, exchanged or put in; the first letter, or the second one, is taken for right.
    """
    most = _allowed(word)
    if not most:
        return []
    text = "SELECT term FROM memory_terms WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?"
    found: list[tuple[int, str]] = []
    for start in dict.fromkeys((word[0], word[1])):
        rows = db.execute(text, (start, f"{start}\U0010ffff", len(word) - most, len(word) + most))
        found = _nearest(word, most, [term for (term,) in rows])
        if found:
            break
    least = min((distance for distance, _ in found), default=0)
    counted = []
    for distance, term in found:
        row = (
            db.execute("SELECT doc FROM memory_words WHERE term = ?", (term,)).fetchone() if distance == least else None
        )
        if row is not None:
            counted.append((-int(row[0]), term))
    return [(term, _WORTH * (1 - least / len(word)), -count) for count, term in sorted(counted)[:_MOST]]


def _allowed(word: str) -> int:
    if any(char.isdigit() for char in word) or len(word) < _SHORT:
        return 0
    return 1 if len(word) < _LONG else 2


def _nearest(word: str, most: int, known: Iterable[str]) -> list[tuple[int, str]]:
    """Return distance and word of those at most so many typos away."""
    letters = frozenset(word)
    found = []
    for term in known:
        if len(letters.symmetric_difference(term)) <= 2 * most:
            distance = edit_distance(word, term, most)
            if distance <= most:
                found.append((distance, term))
    return found
