"""The words of entries that are all at hand, for a search without an index."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from .typos import SHORTEST, is_guessable, is_spelled
from .words import name_parts, tokens

if TYPE_CHECKING:
    from memory.search.records import Record


class HeldVocabulary:
    """The vocabulary of some records."""

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
        """Return how many entries hold a word."""
        return self._counts.get(word, 0)

    def holds(self, word: str) -> bool:
        """Tell whether an entry holds a word."""
        return word in self._counts

    def stands(self, head: str) -> bool:
        """Tell whether an entry holds a word that begins with `head`."""
        return any(word.startswith(head) for word in self._counts)

    @cached_property
    def _words(self) -> list[str]:
        return sorted(word for word in self._counts if len(word) >= SHORTEST and is_spelled(word))

    @cached_property
    def _backward(self) -> list[str]:
        return sorted(word[::-1] for word in self._words if is_guessable(word))

    def beginning(self, head: str, least: int, most: int) -> list[str]:
        """Return words of so many letters that begin with `head`."""
        return _between(self._words, head, least, most)

    def ending(self, tail: str, least: int, most: int) -> list[str]:
        """Return words of so many letters that end with `tail`."""
        return [word[::-1] for word in _between(self._backward, tail[::-1], least, most)]

    def names(self, head: str) -> list[str]:
        """Return names in camel case, as words, a part of which begins with `head`."""
        return sorted({word for part, word in self._parts if part.startswith(head)})[:12]

    def containing(self, part: str) -> list[str]:
        """Return the words that contain a part, the shortest first."""
        found = (word for word in self._words if part in word and is_guessable(word))
        return sorted(found, key=lambda word: (len(word), word))


def _between(words: Sequence[str], head: str, least: int, most: int) -> list[str]:
    at, end = bisect_left(words, head), bisect_left(words, f"{head}\U0010ffff")
    return [word for word in words[at:end] if least <= len(word) <= most]
