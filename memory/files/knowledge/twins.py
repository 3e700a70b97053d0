"""Items of knowledge.md that say nearly the same as another one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from memory.base.words import alike, tokens

from .model import Knowledge, KnowledgeItem

_ALIKE = 0.75
"""The share of all their words that two items have in common at least where they say the same."""
_LONGEST = 2000
"""Characters of an item that is compared."""
_MOST = 5
"""So many others are named for one item."""
_TELLING = frozenset({"not", "no", "never", "none", "without", "cannot", "don", "doesn", "isn", "aren", "won"})
_FILLERS = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "by", "for", "in", "is", "it", "of", "on", "or", "our", "that", "the"}
    | {"this", "to", "was", "we", "were", "with"}
)


class Twin(NamedTuple):
    """Another item that says nearly the same: `shared` of `words` different words of both are the same."""

    item: KnowledgeItem
    shared: int
    words: int


@lru_cache(maxsize=2)
def near_twins(knowledge: Knowledge) -> Mapping[str, tuple[Twin, ...]]:
    """Return for each item that is said twice in nearly the same words the others by its ref, in file order.

    At most `_MOST` are named. Items whose numbers or negations differ are never called the same.
    """
    items = knowledge.items
    words = [
        [word for word in tokens(item.text) if word not in _FILLERS] if len(item.text) <= _LONGEST else []
        for item in items
    ]
    telling = [{word for word in one if word in _TELLING or any(map(str.isdigit, word))} for one in words]
    found: dict[int, list[Twin]] = defaultdict(list)
    # The pairs of one item come in the order of the others.
    for one, other, shared, union in alike(words, _ALIKE):
        for place, twin in ((one, other), (other, one)):
            if telling[one] == telling[other] and len(found[place]) < _MOST:
                found[place].append(Twin(items[twin], shared, union))
    return {items[place].ref: tuple(twins) for place, twins in found.items()}
