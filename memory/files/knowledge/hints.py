"""Hints about knowledge: what nobody confirmed for long, and what is said twice in nearly the same words.

Both say only what the file supports. A date on an item is when it was said or decided. `updated` of the file is when
anything in it was changed last: what has no date was not changed since then, but may be older. Items whose numbers or
negations differ are never called the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, tzinfo
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from memory.base.words import alike, tokens
from memory.files.tasks.values import moment_or_none

if TYPE_CHECKING:
    from memory.files.config import Config
    from memory.files.snapshot import Snapshot

    from .model import Knowledge, KnowledgeItem

KEY = "knowledgeStaleAfterDays"
"""The setting of config.md: after how many days something is stale; 0 is never."""
STALE_DAYS = 180
ALIKE = 0.75
"""The share of all their words that two items have in common at least."""
LONGEST = 2000
"""Characters of an item that is compared."""
MOST = 5
"""So many others are named for one item."""
_TELLING = frozenset({"not", "no", "never", "none", "without", "cannot", "don", "doesn", "isn", "aren", "won"})
_FILLERS = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "by", "for", "in", "is", "it", "of", "on", "or", "our", "that", "the"}
    | {"this", "to", "was", "we", "were", "with"}
)


class StaleHint(NamedTuple):
    """Why an item is stale: the day it was said (`date`) or its file was changed last (`file`), so many days ago."""

    since: date
    days: int
    by: Literal["date", "file"]


class Twin(NamedTuple):
    """Another item that says nearly the same: `shared` of `words` different words of both are the same."""

    item: KnowledgeItem
    shared: int
    words: int


@dataclass(frozen=True, slots=True)
class KnowledgeHints:
    """The hints of all items by their ref; `limit` is after how many days something is stale."""

    limit: int = STALE_DAYS
    stale: Mapping[str, StaleHint] = field(default_factory=dict)
    twins: Mapping[str, tuple[Twin, ...]] = field(default_factory=dict)

    def stale_of(self, item: KnowledgeItem) -> StaleHint | None:
        """Return why an item is stale; None: nothing says that it is."""
        return self.stale.get(item.ref)

    def twins_of(self, item: KnowledgeItem) -> tuple[Twin, ...]:
        """Return the items that say nearly the same, in the order of the file, at most `MOST`."""
        return self.twins.get(item.ref, ())


def hints_of(snapshot: Snapshot, now: datetime) -> KnowledgeHints:
    """Return the hints about knowledge.md."""
    knowledge, zone = snapshot.knowledge, snapshot.zone
    limit = stale_days(snapshot.config)
    updated = snapshot.document(knowledge.file).meta.get("updated")
    moment = moment_or_none(updated, zone) if isinstance(updated, str) else None
    today = now.astimezone(zone).date()
    stale = stale_items(knowledge, None if moment is None else moment.date, today, limit, zone)
    return KnowledgeHints(limit, stale, _twins_in(knowledge))


@lru_cache(maxsize=2)
def _twins_in(knowledge: Knowledge) -> dict[str, tuple[Twin, ...]]:
    return near_twins(knowledge.items)


def stale_days(config: Config) -> int:
    """Return after how many days knowledge is stale, as config.md says it."""
    value = config.get(KEY) or ""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 9 else STALE_DAYS


def stale_items(
    knowledge: Knowledge, updated: date | None, today: date, limit: int, zone: tzinfo
) -> dict[str, StaleHint]:
    """Return the items whose date, else whose file's last change, is more than `limit` days ago; 0: none ever is."""
    found: dict[str, StaleHint] = {}
    for item in knowledge.items if limit > 0 else ():
        moment = moment_or_none(item.date, zone)
        since = updated if item.date is None else moment and moment.date
        if since is not None and (today - since).days > limit:
            found[item.ref] = StaleHint(since, (today - since).days, "file" if item.date is None else "date")
    return found


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text as they are compared: without case, marks and fillers."""
    return tuple(word for word in tokens(text) if word not in _FILLERS)


def near_twins(items: Sequence[KnowledgeItem]) -> dict[str, tuple[Twin, ...]]:
    """Return for each item that is said twice the others, by its ref."""
    words = [words_of(item.text) if len(item.text) <= LONGEST else () for item in items]
    telling = [{word for word in one if word in _TELLING or any(map(str.isdigit, word))} for one in words]
    found: dict[int, list[Twin]] = defaultdict(list)
    # The pairs of one item come in the order of the others.
    for one, other, shared, union in alike(words, ALIKE):
        for place, twin in ((one, other), (other, one)):
            if telling[one] == telling[other] and len(found[place]) < MOST:
                found[place].append(Twin(items[twin], shared, union))
    return {items[place].ref: tuple(twins) for place, twins in found.items()}
