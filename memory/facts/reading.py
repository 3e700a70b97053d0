"""Read the file of facts line by line; a line that is not a fact is reported with its number."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from itertools import islice

from .model import DEFAULT_SCOPE, Fact, UnreadLine

_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_BOM = "\ufeff"
SEARCH_LIMIT = 20
"""How many facts a search returns at most."""


class FactsOfFile:
    """All facts of one version of the file; immutable.

    `facts` are in file order. `ranked` are the same from the oldest to the newest: by time, then by number, then by
    line; a fact whose time cannot be read counts as older than all others. `unread` are the lines that are not facts.
    """

    def __init__(self, data: bytes, facts: Sequence[Fact], unread: Sequence[UnreadLine]) -> None:
        """Keep what was read."""
        self.data, self.facts, self.unread = data, facts, unread

    @cached_property
    def highest(self) -> int:
        """The highest number of an id, 0 without any."""
        return max((fact.number for fact in self.facts if fact.number >= 0), default=0)

    @cached_property
    def ranked(self) -> Sequence[Fact]:
        """The facts from the oldest to the newest."""
        return sorted(self.facts, key=lambda fact: (time_key(fact.ts), fact.number))

    @property
    def newest(self) -> Sequence[Fact]:
        """The facts from the newest to the oldest."""
        return self.ranked[::-1]

    def over(self, most: int) -> Sequence[Fact]:
        """Return the oldest facts beyond a number of facts."""
        return self.ranked[: max(len(self.facts) - most, 0)]

    def find(self, query: str | None, tag: str | None, limit: int = SEARCH_LIMIT) -> tuple[Fact, ...]:
        """Return the newest facts whose text contains the query and that have the tag, in any case; `limit` 0 is all.

        A criterion that is not given matches every fact.
        """
        part, wanted = (query or "").casefold(), None if tag is None else tag.casefold()
        found = (
            fact
            for fact in self.newest
            if part in fact.text.casefold() and (wanted is None or wanted in map(str.casefold, fact.tags))
        )
        return tuple(islice(found, limit or None))

    def get(self, fact_id: str) -> Fact | None:
        """Return the first fact with an id, None where there is none."""
        return next((fact for fact in self.facts if fact.id == fact_id), None)


@lru_cache(maxsize=4)
def read_facts(data: bytes) -> FactsOfFile:
    """Return the facts of a file; the same object for the same bytes while it is one of the last few."""
    text = data.decode("utf-8", "surrogateescape").removeprefix(_BOM)
    facts: list[Fact] = []
    unread: list[UnreadLine] = []
    for number, line in enumerate(text.split("\n")):
        if _NOT_UTF8.search(line):
            unread.append(UnreadLine(number, "it is not valid UTF-8"))
        elif line.strip(" \t\r"):
            one = read_line(line, number)
            if isinstance(one, Fact):
                facts.append(one)
            else:
                unread.append(one)
    return FactsOfFile(data, facts, unread)


def read_line(line: str, number: int) -> Fact | UnreadLine:
    """Read one line with the JSON parser; it accepts escapes, any order of keys, and further keys."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return UnreadLine(number, "it is no JSON")
    if not isinstance(values, dict):
        return UnreadLine(number, "it is no JSON object")
    fact_id = values.get("id")
    if not isinstance(fact_id, str) or not fact_id:
        return UnreadLine(number, "it has no id")
    text, scope, ts = (values.get(key) for key in ("text", "scope", "ts"))
    tags = values.get("tags")
    return Fact(
        fact_id,
        scope if isinstance(scope, str) and scope else DEFAULT_SCOPE,
        text if isinstance(text, str) else "",
        tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        ts if isinstance(ts, str) else "",
        number,
    )


def time_key(ts: str) -> str:
    """Return a time in a form that sorts: UTC, with microseconds where it has any; empty where it is not a time."""
    try:
        moment = datetime.fromisoformat(ts)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC).isoformat().removesuffix("+00:00")
    except (ValueError, OverflowError):
        return ""
