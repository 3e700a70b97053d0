"""Search: facts whose text contains a string and which have a tag, the newest first."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from .model import Fact
from .reading import FactsOfFile

LIMIT = 20
"""How many facts a search returns at most."""


def find_facts(reading: FactsOfFile, query: str | None, tag: str | None, limit: int = LIMIT) -> tuple[Fact, ...]:
    """Return the newest facts that contain the query and have exactly the tag, both ignoring case; `limit` 0 is all.

    A criterion that is not given matches every fact.
    """
    facts: Iterable[Fact] = reading.newest
    if query:
        part = query.casefold()
        facts = (fact for fact in facts if part in fact.text.casefold())
    if tag is not None:
        wanted = tag.casefold()
        facts = (fact for fact in facts if any(one.casefold() == wanted for one in fact.tags))
    return tuple(islice(facts, limit or None))
