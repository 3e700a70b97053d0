"""Finding the changes in a file: by object identity if the objects are known, else by hashes (marks) of its entries.

`edits` compares two sequences of many thousands of items that are mostly the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from hashlib import blake2b
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from memory.document.compare import differences

if TYPE_CHECKING:
    from memory.search.records import Record

    from .inventory import EntryGroup


APART = 64
"""Differences with fewer equal items between them are merged into one."""


class RowEdit(NamedTuple):
    """`old[old_start:old_end]` became `new[new_start:new_end]`."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def edits(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[RowEdit]:
    """Return the edits that turn one sequence into the other, in order, not overlapping. A move is removed and
    added.
    """
    found: list[RowEdit] = []
    for one in map(RowEdit._make, differences(old, new)):
        if found and one.old_start - found[-1].old_end < APART:
            found[-1] = RowEdit(found[-1].old_start, one.old_end, found[-1].new_start, one.new_end)
        else:
            found.append(one)
    return found


MARK = 12
"""Bytes of a mark. Many thousands are in memory at once, so they are short."""


class IndexedFile(NamedTuple):
    """The groups of a file when it was last indexed; `serial` is the version of its rows that they belong to."""

    serial: int
    groups: list[tuple[object, str, int, Sequence[object] | None]]


class Live:
    """The current entries of a file, by their position in it."""

    def __init__(self, groups: Sequence[EntryGroup]) -> None:
        """Count the groups; no record is created."""
        self._groups = groups
        *self._starts, self.size = accumulate((group.size for group in groups), initial=0)

    def record(self, place: int) -> Record:
        """Create the record at a position, from 0."""
        at = bisect_right(self._starts, place) - 1
        return self._groups[at].record(place - self._starts[at])

    def marks(self, start: int, end: int) -> list[bytes]:
        """Return the marks of the entries from `start` to `end`; no record is created if their bytes suffice."""
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
    """Return the edits found by comparing object identities; None if the groups have no items to compare."""
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
    """Return a hash of a record's content; its line and its ref do not count."""
    said = repr((one.kind, one.title, one.text, one.date, one.tags))
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=MARK).digest()
