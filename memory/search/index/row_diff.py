"""What is different between two rows of things, for rows of many thousands that are mostly the same."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from typing import NamedTuple

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
