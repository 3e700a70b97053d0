"""Hints about knowledge: what nobody confirmed for long, and what is said twice in nearly the same words.

Both say only what the file supports. A date on an item is when it was said or decided. `updated` of the file is when
anything in it was changed last: what has no date was not changed since then, but may be older. Words that are
the same make no statement true or false; items whose numbers or negations differ are never called the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import TYPE_CHECKING, Literal

from memory.files.tasks.values import moment_or_none

if TYPE_CHECKING:
    from memory.files.config import Config
    from memory.files.snapshot import Snapshot

    from .model import Knowledge, KnowledgeItem

KEY = "knowledgeStaleAfterDays"
"""The setting of config.md: after how many days something is stale; 0 is never."""

STALE_DAYS = 180
"""What counts where config.md does not say it, or says no number."""

ALIKE = 0.75
"""The share of their words, all words of both counted, that two items have in common at least."""

FEWEST = 3
"""Items of fewer words are the same only where they have the same words in the same order."""

LONGEST = 2000
"""Characters of an item that is compared; longer ones are texts of their own."""

MOST = 5
"""So many others are named for one item."""

CANDIDATES = 200
"""So many items are compared with one; those of the file's beginning first."""

QUICK = 500
"""So many items are compared in no time."""

_WORD = re.compile(r"[^\W_]+")
_WIDE = re.compile(r"[぀-ヿ㐀-鿿가-힯豈-﫿]")
_FILLERS = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "by", "for", "in", "is", "it", "of", "on", "or", "our", "that", "the"}
    | {"this", "to", "was", "we", "were", "with"}
)
_TELLING = frozenset({"not", "no", "never", "none", "without", "cannot", "don", "doesn", "isn", "aren", "won"})


@dataclass(frozen=True, slots=True)
class StaleHint:
    """Why an item is stale: the day it was said (`date`) or its file was changed last (`file`), so many days ago."""

    since: date
    days: int
    by: Literal["date", "file"]


@dataclass(frozen=True, slots=True)
class Twin:
    """Another item that says nearly the same: `shared` of `words` different words of both are the same."""

    item: KnowledgeItem
    shared: int
    words: int


@dataclass(frozen=True, slots=True)
class KnowledgeHints:
    """The hints of all items by their ref; `limit` is after how many days something is stale."""

    limit: int = STALE_DAYS
    stale: Mapping[str, StaleHint] | None = None
    twins: Mapping[str, tuple[Twin, ...]] | None = None

    def stale_of(self, item: KnowledgeItem) -> StaleHint | None:
        """Return why an item is stale; None: nothing says that it is."""
        return (self.stale or {}).get(item.ref)

    def twins_of(self, item: KnowledgeItem) -> tuple[Twin, ...]:
        """Return the items that say nearly the same, in the order of the file, at most `MOST`."""
        return (self.twins or {}).get(item.ref, ())


def hints_of(snapshot: Snapshot, now: datetime, *, quick: bool = False) -> KnowledgeHints:
    """Return the hints about knowledge.md; what is said twice is looked for once per state of the file.

    `quick` leaves that out where there are more than `QUICK` items and nobody looked before.
    """
    knowledge, zone = snapshot.knowledge, snapshot.zone
    limit = stale_days(snapshot.config)
    updated = snapshot.document(knowledge.file).meta.get("updated")
    moment = moment_or_none(updated, zone) if isinstance(updated, str) else None
    today = now.astimezone(zone).date()
    stale = stale_items(knowledge, None if moment is None else moment.date, today, limit, zone)
    known = _LAST.get("twins")
    if known is None or known[0] is not knowledge:
        if quick and len(knowledge.items) > QUICK:
            return KnowledgeHints(limit, stale)
        known = _LAST["twins"] = (knowledge, near_twins(knowledge.items))
    return KnowledgeHints(limit, stale, known[1])


_LAST: dict[str, tuple[Knowledge, Mapping[str, tuple[Twin, ...]]]] = {}


def stale_days(config: Config) -> int:
    """Return after how many days knowledge is stale, as config.md says it."""
    value = config.get(KEY) or ""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 9 else STALE_DAYS


def stale_items(
    knowledge: Knowledge, updated: date | None, today: date, limit: int, zone: tzinfo
) -> dict[str, StaleHint]:
    """Return the items whose date, else whose file's last change, is more than `limit` days ago; 0: none ever is."""
    found: dict[str, StaleHint] = {}
    if limit <= 0:
        return found
    whole = None if updated is None else (today - updated).days
    for item in knowledge.items:
        if item.date is not None:
            moment = moment_or_none(item.date, zone)
            days = 0 if moment is None else (today - moment.date).days
            if moment is not None and days > limit:
                found[item.ref] = StaleHint(moment.date, days, "date")
        elif updated is not None and whole is not None and whole > limit:
            found[item.ref] = StaleHint(updated, whole, "file")
    return found


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text as they are compared: without case, marks and fillers; Chinese and such in pairs."""
    found: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if _WIDE.search(word) and len(word) > 1:
            found.extend(word[at : at + 2] for at in range(len(word) - 1))
        elif word not in _FILLERS:
            found.append(word)
    return tuple(found)


def _telling(words: Sequence[str]) -> frozenset[str]:
    """Return the words in which items must agree: numbers and negations."""
    return frozenset(word for word in words if word in _TELLING or any(char.isdigit() for char in word))


@dataclass(frozen=True, slots=True)
class _Group:
    """Items of the same words: their places in the file, the words, and those that must agree."""

    places: list[int]
    words: frozenset[str]
    telling: frozenset[str]


def near_twins(items: Sequence[KnowledgeItem]) -> dict[str, tuple[Twin, ...]]:
    """Return for each item that is said twice the others, by its ref; the same items always give the same answer.

    Two sets of words that share three quarters of them also share one of their few rarest words, so only items that do
    are compared: ten thousand items take a moment.
    """
    groups: dict[object, _Group] = {}
    for place, item in enumerate(items):
        if len(item.text) > LONGEST:
            continue
        words = words_of(item.text)
        if not words:
            continue
        unique = frozenset(words)
        key: object = unique if len(unique) >= FEWEST else words
        group = groups.get(key)
        if group is None:
            groups[key] = _Group([place], unique, _telling(words))
        else:
            group.places.append(place)
    listed = list(groups.values())
    near: dict[int, list[tuple[int, int, int]]] = {}
    for one, other, shared, union in _pairs([group for group in listed if len(group.words) >= FEWEST]):
        near.setdefault(one.places[0], []).extend((place, shared, union) for place in other.places[:MOST])
        near.setdefault(other.places[0], []).extend((place, shared, union) for place in one.places[:MOST])
    found: dict[str, tuple[Twin, ...]] = {}
    for group in listed:
        count = len(group.words)
        same = group.places[: MOST + 1]
        for place in group.places:
            others = [(other, count, count) for other in same if other != place] + near.get(group.places[0], [])
            if others:
                others.sort()
                found[items[place].ref] = tuple(
                    Twin(items[other], shared, union) for other, shared, union in others[:MOST]
                )
    return found


def _pairs(groups: Sequence[_Group]) -> Iterator[tuple[_Group, _Group, int, int]]:
    """Yield the pairs of groups that are alike, with how many words they share and how many they have together."""
    frequency = Counter(word for group in groups for word in group.words)
    index: dict[tuple[frozenset[str], str], list[_Group]] = {}
    for group in groups:
        size = len(group.words)
        rarest = sorted(group.words, key=lambda word: (frequency[word], word))[: size - _least(size) + 1]
        candidates: dict[int, _Group] = {}
        for word in rarest:
            for other in index.get((group.telling, word), ())[:CANDIDATES]:
                if len(candidates) < CANDIDATES:
                    candidates[id(other)] = other
        for other in candidates.values():
            shared = len(group.words & other.words)
            union = size + len(other.words) - shared
            if shared >= ALIKE * union:
                yield other, group, shared, union
        for word in rarest:
            index.setdefault((group.telling, word), []).append(group)


def _least(size: int) -> int:
    """Return how many words of a set of this size another one must have at least to be alike."""
    return -(-3 * size // 4)
