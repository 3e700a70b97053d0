"""Search: facts whose text holds a string and which have a tag, the newest first."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .model import Fact
    from .reading import FactsOfFile

LIMIT = 20
"""How many facts a search returns at most."""
_BETWEEN = "\n"


class Haystack:
    """The texts of all facts one behind the other, in the case in which they are compared."""

    def __init__(self, reading: FactsOfFile) -> None:
        """Join them, from the oldest to the newest."""
        self._facts = reading.ranked
        # A newline stands between two facts and in none: what is looked for lies inside of one.
        texts = [fact.text.casefold().replace(_BETWEEN, "\r") for fact in self._facts]
        self._text = _BETWEEN.join(texts)
        self._starts = list(accumulate((len(text) + 1 for text in texts), initial=0))

    def follow(self, reading: FactsOfFile) -> None:
        """Take in the facts of a longer reading of the same line."""
        new = [fact.text.casefold().replace(_BETWEEN, "\r") for fact in reading.ranked[len(self._facts) :]]
        if new:
            self._text = _BETWEEN.join((*([self._text] if self._facts else []), *new))
            starts = accumulate((len(text) + 1 for text in new), initial=self._starts[-1])
            self._starts += list(starts)[1:]
        self._facts = reading.ranked

    def find(self, query: str) -> Iterator[Fact]:
        """Yield the facts that hold a string, in any case, the newest first."""
        wanted = query.casefold().replace(_BETWEEN, "\r")
        end = len(self._text)
        while (at := self._text.rfind(wanted, 0, end)) >= 0:
            rank = bisect_right(self._starts, at) - 1
            yield self._facts[rank]
            end = self._starts[rank]


def find_facts(
    reading: FactsOfFile, query: str | None, tag: str | None, haystack: Haystack | None = None, limit: int = LIMIT
) -> tuple[Fact, ...]:
    """Return the newest facts that hold the query and have the tag, whole, both in any case; `limit` 0 is all.

    What is not given fits every fact.
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
