"""The inverted index: the facts that have a word as bits of one number, so that thousands are counted in one step.

The bit of a fact is its rank from the oldest to the newest. Counts are kept in planes: one number holds the same binary
digit of the count of every fact. Adding a word's bits to all counts at once takes a few operations on such numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from .model import Fact
from .words import words_of


class FactIndex:
    """An index of the words of facts by their ranks; newer facts can be added."""

    def __init__(self, facts: Sequence[Fact] = ()) -> None:
        """Index facts, given from the oldest to the newest."""
        self._ranks: defaultdict[str, list[int]] = defaultdict(list)
        self._bits: dict[str, int] = {}
        self.count = 0
        self.extend(facts)

    def extend(self, facts: Sequence[Fact]) -> None:
        """Add facts that are newer than all so far."""
        ranks, bits = self._ranks, self._bits
        for rank, fact in enumerate(facts, self.count):
            for word in words_of(fact.text):
                ranks[word].append(rank)
                if word in bits:
                    bits[word] |= 1 << rank
        self.count += len(facts)

    def best(self, words: Collection[str], limit: int) -> list[tuple[int, int]]:
        """Return (number of matching words, rank) of the facts that match most of the words, newer ones first.

        At most `limit` facts, and only those that match at least one word.
        """
        planes: list[int] = []
        for word in words:
            if word in self._ranks:
                _add(planes, self._bits_of(word))
        found: list[tuple[int, int]] = []
        for count, bits in _by_count(planes):
            while bits and len(found) < limit:
                rank = bits.bit_length() - 1
                found.append((count, rank))
                bits ^= 1 << rank
            if len(found) >= limit:
                break
        return found

    def _bits_of(self, word: str) -> int:
        bits = self._bits.get(word)
        if bits is None:
            row = bytearray((self.count >> 3) + 1)
            for rank in self._ranks[word]:
                row[rank >> 3] |= 1 << (rank & 7)
            bits = self._bits[word] = int.from_bytes(row, "little")
        return bits


def _add(planes: list[int], carry: int) -> None:
    """Add one to the count of every fact whose bit is set."""
    for place, plane in enumerate(planes):
        planes[place] = plane ^ carry
        carry &= plane
        if not carry:
            return
    planes.append(carry)


def _by_count(planes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield each count above 0 with the bits of the facts that have it, the highest first."""
    every = 0
    for plane in planes:
        every |= plane
    waiting = [(len(planes), every, 0)]
    while waiting:
        place, bits, count = waiting.pop()
        if not bits:
            continue
        if not place:
            yield count, bits
            continue
        place -= 1
        plane = planes[place]
        waiting.append((place, bits & ~plane, count))
        waiting.append((place, bits & plane, count | 1 << place))
