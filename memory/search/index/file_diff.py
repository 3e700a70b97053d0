"""Finding out what is different in a file: by its objects where they are known, else by marks of its entries.

`edits` compares two rows of many thousands of things that are mostly the same.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memory.search.records import Record

    from .inventory import EntryGroup


APART = 64
"""Differences with fewer equal things between them are one."""


class RowEdit(NamedTuple):
    """`old[old_start:old_end]` became `new[new_start:new_end]`."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def edits(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[RowEdit]:
    """Return what turns one row into the other, in order; nothing overlaps. What moved is removed and added."""
    start = 0
    shorter = min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < shorter - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    old_end, new_end = len(old) - tail, len(new) - tail
    found: list[RowEdit] = []
    at_old, at_new = start, start
    for here_old, here_new in [*_common(old, new, start, old_end, new_end), (old_end, new_end)]:
        if here_old > at_old or here_new > at_new:
            if found and at_old - found[-1].old_end < APART:
                found[-1] = RowEdit(found[-1].old_start, here_old, found[-1].new_start, here_new)
            else:
                found.append(RowEdit(at_old, here_old, at_new, here_new))
        at_old, at_new = here_old + 1, here_new + 1
    return found


def _common(
    old: Sequence[Hashable], new: Sequence[Hashable], start: int, old_end: int, new_end: int
) -> list[tuple[int, int]]:
    """Return the longest row of pairs (old, new) that are equal and go up in both."""
    places: dict[Hashable, list[int]] = {}
    for place in range(old_end - 1, start - 1, -1):
        places.setdefault(old[place], []).append(place)
    # The longest increasing row of places: `tops` holds the smallest end of rows of each length.
    tops: list[int] = []
    ends: list[int] = []
    pairs: list[tuple[int, int, int]] = []
    for place in range(start, new_end):
        held = places.get(new[place])
        if not held:
            continue
        there = held.pop()
        at = bisect_left(tops, there)
        pairs.append((there, place, ends[at - 1] if at else -1))
        if at == len(tops):
            tops.append(there)
            ends.append(len(pairs) - 1)
        else:
            tops[at], ends[at] = there, len(pairs) - 1
    found: list[tuple[int, int]] = []
    last = ends[-1] if ends else -1
    while last >= 0:
        there, place, last = pairs[last]
        found.append((there, place))
    found.reverse()
    return found


MARK = 12
"""Bytes of a mark. Of many thousands they are held at once, so they are short."""


class IndexedFile:
    """How a file looked when it was indexed last; `serial` is the state of its rows that this belongs to."""

    __slots__ = ("groups", "serial")

    def __init__(self, serial: int, groups: list[tuple[object, str, int, Sequence[object] | None]]) -> None:
        """Keep both."""
        self.serial = serial
        self.groups = groups


class Live:
    """The entries of a file as they are now, by their place in it."""

    def __init__(self, groups: Sequence[EntryGroup]) -> None:
        """Count the groups; no record is made."""
        self._groups = groups
        self._starts: list[int] = []
        start = 0
        for group in groups:
            self._starts.append(start)
            start += group.size
        self.size = start

    def record(self, place: int) -> Record:
        """Make the record at a place, from 0."""
        at = bisect_right(self._starts, place) - 1
        return self._groups[at].record(place - self._starts[at])

    def marks(self, start: int, end: int) -> list[bytes]:
        """Return what tells the entries at some places apart; no record is made where their bytes tell."""
        found: list[bytes] = []
        for first, group in zip(self._starts, self._groups, strict=True):
            low, high = max(start - first, 0), min(end - first, group.size)
            if low >= high:
                continue
            if group.items is None:
                found += [_mark_of(group.record(index)) for index in range(low, high)]
                continue
            begun = blake2b(group.name.encode("utf-8", "surrogatepass") + b"\n", digest_size=MARK)
            for item in group.items()[low:high]:
                digest = begun.copy()
                digest.update(item.raw)
                found.append(digest.digest())
        return found


def by_objects(known: IndexedFile, groups: Sequence[EntryGroup]) -> list[RowEdit] | None:
    """Return what is different by which objects stand where; None where that cannot tell."""
    if any(one[3] is None for one in known.groups) or any(one.items is None for one in groups):
        return None
    start = 0
    before, shorter = known.groups, min(len(known.groups), len(groups))
    while start < shorter and before[start][0] is groups[start].token and before[start][1] == groups[start].name:
        start += 1
    tail = 0
    while (
        tail < shorter - start
        and before[-1 - tail][0] is groups[-1 - tail].token
        and before[-1 - tail][1] == groups[-1 - tail].name
    ):
        tail += 1
    base = sum(one[2] for one in before[:start])
    old: list[Hashable] = [(id(item), one[1]) for one in before[start : len(before) - tail] for item in one[3] or ()]
    new: list[Hashable] = [
        (id(item), one.name)
        for one in groups[start : len(groups) - tail]
        for item in (one.items() if one.items is not None else ())
    ]
    return [RowEdit(*(place + base for place in edit)) for edit in edits(old, new)]


def _mark_of(one: Record) -> bytes:
    """Return what tells apart what a record says; its place and its ref do not count."""
    said = repr((one.kind, one.title, one.text, one.date, one.tags))
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=MARK).digest()
