"""The order of what a merge keeps: theirs, with what only ours has put behind the neighbour that it stood behind."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def merge_order(
    base: Sequence[K],
    ours: Sequence[K],
    theirs: Sequence[K],
    keep: Container[K],
    rank: Callable[[K], str | None] | None = None,
) -> list[K]:
    """Return the keys of `ours` and `theirs` that are in `keep`, each once; no sequence has a key twice.

    Theirs leads, unless only ours changed the order of what all three have. What both put at one place keeps its
    order, theirs first; with `rank` the two runs are interleaved in the direction that the neighbours run.
    """
    in_ours, in_theirs = set(ours), set(theirs)
    common = in_ours & in_theirs & set(base)
    main, other = theirs, ours
    if len(common) > 1:
        known = [key for key in base if key in common]
        if [key for key in theirs if key in common] == known != [key for key in ours if key in common]:
            main, other = ours, theirs
    in_main, in_other = (in_theirs, in_ours) if main is theirs else (in_ours, in_theirs)
    lead = [key for key in main if key in keep]
    late = [key for key in other if key in keep and key not in in_main]
    if not late:
        return lead
    places = {key: index for index, key in enumerate(lead)}
    slots: dict[int, list[K]] = {}
    for anchor, group in _anchored(other, in_main, keep):
        slots.setdefault(0 if anchor is None else places[anchor] + 1, []).extend(group)
    merged: list[K] = []
    position = 0
    for start in sorted(slots):
        merged += lead[position:start]
        # What only the leading side put there stands at the same place.
        stop = start
        while stop < len(lead) and lead[stop] not in in_other:
            stop += 1
        own, group = lead[start:stop], slots[start]
        first, second = (own, group) if main is theirs else (group, own)
        merged += _tied(first, second, rank, merged[-1:] + lead[stop : stop + 1]) if rank else first + second
        position = stop
    return merged + lead[position:]


def _anchored(other: Sequence[K], in_main: Container[K], keep: Container[K]) -> list[tuple[K | None, list[K]]]:
    """Return the runs of `other` that the leading side lacks, each with the kept key before it."""
    runs: list[tuple[K | None, list[K]]] = []
    anchor: K | None = None
    fresh = True
    for key in other:
        if key not in keep:
            continue
        if key in in_main:
            anchor, fresh = key, True
            continue
        if fresh:
            runs.append((anchor, []))
            fresh = False
        runs[-1][1].append(key)
    return runs


def _tied(first: list[K], second: list[K], rank: Callable[[K], str | None], around: list[K]) -> list[K]:
    """Interleave two runs that stand at one place, falling as a journal does unless what is around rises."""
    ranks = {key: rank(key) for key in (*first, *second, *around)}
    if any(value is None for value in ranks.values()):
        return first + second
    rises = len(around) == 2 and (ranks[around[0]] or "") < (ranks[around[1]] or "")
    merged: list[K] = []
    left, right = list(first), list(second)
    while left and right:
        one, two = ranks[left[0]] or "", ranks[right[0]] or ""
        merged.append(right.pop(0) if (two < one if rises else two > one) else left.pop(0))
    return merged + left + right
