"""Search: facts whose text contains a string and which have a tag, the newest first."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice

from .model import Fact
from .reading import FactsOfFile

LIMIT = 20
"""How many facts a search returns at most."""


class Haystack:
    """The case-folded texts of all facts, joined into one string."""

    def __init__(self, facts: Sequence[Fact] = ()) -> None:
        """Join the texts of facts, given from the oldest to the newest."""
        self._facts: list[Fact] = []
        self._text = ""
        self._starts = [0]
        self.extend(facts)

    @property
    def count(self) -> int:
        """The number of facts."""
        return len(self._facts)

    def extend(self, facts: Sequence[Fact]) -> None:
        """Add facts that are newer than all so far."""
        # Each text ends with a newline and contains no other, so every match is inside one fact.
        texts = [f"{_searchable(fact.text)}\n" for fact in facts]
        self._text += "".join(texts)
        self._starts += list(accumulate(map(len, texts), initial=self._starts.pop()))
        self._facts += facts

    def find(self, query: str) -> Iterator[Fact]:
        """Yield the facts that contain a string, ignoring case, the newest first."""
        wanted = _searchable(query)
        end = len(self._text)
        while (at := self._text.rfind(wanted, 0, end)) >= 0:
            rank = bisect_right(self._starts, at) - 1
            yield self._facts[rank]
            end = self._starts[rank]


def _searchable(text: str) -> str:
    return text.casefold().replace("\n", "\r")


def find_facts(
    reading: FactsOfFile, query: str | None, tag: str | None, haystack: Haystack | None = None, limit: int = LIMIT
) -> tuple[Fact, ...]:
    """Return the newest facts that contain the query and have exactly the tag, both ignoring case; `limit` 0 is all.

    A criterion that is not given matches every fact.
    """
    facts: Iterable[Fact] = reading.newest
    if query and haystack is not None:
        facts = haystack.find(query)
    elif query:
        part = query.casefold()
        facts = (fact for fact in facts if part in fact.text.casefold())
    if tag is not None:
        wanted = tag.casefold()
        facts = (fact for fact in facts if any(one.casefold() == wanted for one in fact.tags))
    return tuple(islice(facts, limit or None))
