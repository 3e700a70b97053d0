"""Three-way merge of sequences: of lines, where changes of the same line conflict, and of the order of kept keys.

A line may be any text that is taken as a whole: a bullet with its further lines, a fenced block, a line of prose.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Sequence
from heapq import merge
from itertools import groupby
from typing import Generic, NamedTuple, TypeVar

from memory.document.compare import differences, matches

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
U = TypeVar("U")


class Three(NamedTuple, Generic[T]):
    """Three versions: the common base, ours and theirs."""

    base: T
    ours: T
    theirs: T

    def map(self, change: Callable[[T], U]) -> Three[U]:
        """Return what `change` makes of each."""
        return Three(change(self.base), change(self.ours), change(self.theirs))

    @property
    def agreed(self) -> T | None:
        """The version that counts where only one side changed, or both made the same change; None where they differ."""
        if self.ours in (self.base, self.theirs):
            return self.theirs
        return self.ours if self.theirs == self.base else None


class Hunk(NamedTuple):
    """Base lines `start:stop` became the side's lines `first:last`."""

    start: int
    stop: int
    first: int
    last: int


class Overlap(NamedTuple):
    """A conflict: the ranges of lines in base, ours and theirs that contradict each other."""

    base: range
    ours: range
    theirs: range


class LineMerge(NamedTuple):
    """What becomes of the lines: names for those of each side, and which names stay.

    Lines of one name are the same line: `ours[i]` and `theirs[j]` are indexes of base lines (0 and up) where a line
    comes from there, changed or not, and negative, each its own, where it is new.
    """

    ours: tuple[int, ...]
    theirs: tuple[int, ...]
    keep: frozenset[int]
    overlaps: tuple[Overlap, ...]


def find_hunks(base: Sequence[Hashable], side: Sequence[Hashable]) -> list[Hunk]:
    """Return where a side differs from base, in order; a change of as many lines is one hunk for each line."""
    hunks: list[Hunk] = []
    for start, stop, first, last in differences(base, side):
        if stop - start == last - first:
            hunks += [Hunk(start + at, start + at + 1, first + at, first + at + 1) for at in range(stop - start)]
        else:
            hunks.append(Hunk(start, stop, first, last))
    return hunks


def merge_lines(base: Sequence[Hashable], ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> LineMerge:
    """Merge three sequences; where ours and theirs conflict, theirs is kept and an `Overlap` listed."""
    mine, other = find_hunks(base, ours), find_hunks(base, theirs)
    our_names = _names(len(base), len(ours), mine, -1)
    their_names = _names(len(base), len(theirs), other, -1 - len(ours))
    keep = set(range(len(base)))
    overlaps: list[Overlap] = []
    for left, right in _groups(mine, other):
        for hunk in right:
            keep.difference_update(range(hunk.start, hunk.stop))
            keep.update(their_names[hunk.first : hunk.last])
        if not right:
            for hunk in left:
                keep.difference_update(range(hunk.start, hunk.stop))
                keep.update(our_names[hunk.first : hunk.last])
        elif left and not _same(left, right, ours, theirs):
            if all(hunk.start == hunk.stop for hunk in (*left, *right)):
                one, two = left[0], right[0]
                # A line that both sides added at one place has one name.
                for at, other_at in matches(ours[one.first : one.last], theirs[two.first : two.last]):
                    our_names[one.first + at] = their_names[two.first + other_at]
                keep.update(our_names[one.first : one.last])
            else:
                overlaps.append(_overlap(left, right))
        elif left:
            for one, two in zip(left, right, strict=True):
                our_names[one.first : one.last] = their_names[two.first : two.last]
    return LineMerge(tuple(our_names), tuple(their_names), frozenset(keep), tuple(overlaps))


def merge_files(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return the merge of three versions of a file of lines; None where both sides changed the same lines.

    The last line has a newline where it has one in ours or theirs.
    """
    sides = Three(base, ours, theirs).map(lambda data: data.removesuffix(b"\n").split(b"\n") if data else [])
    merged = merge_lines(*sides)
    if merged.overlaps:
        return None
    names = Three[Sequence[int]](range(len(sides.base)), merged.ours, merged.theirs)
    old, mine, other = [dict(zip(known, side, strict=True)) for known, side in zip(names, sides, strict=True)]
    lines = []
    for name in merge_order(*names, merged.keep):
        is_ours = name not in other or (name in mine and other[name] == old.get(name))
        lines.append(mine[name] if is_ours else other[name])
    end = b"\n" if lines and b"\n" in (ours[-1:], theirs[-1:]) else b""
    return b"\n".join(lines) + end


def _names(base: int, side: int, hunks: Sequence[Hunk], fresh: int) -> list[int]:
    names: list[int] = []
    at = 0
    for hunk in hunks:
        names += range(at, hunk.start)
        # A line that became another one stays the same line, so that it keeps its place.
        became = hunk.stop - hunk.start == hunk.last - hunk.first == 1
        names += [hunk.start] if became else [fresh - index for index in range(hunk.first, hunk.last)]
        at = hunk.stop
    names += range(at, base)
    assert len(names) == side
    return names


def _groups(ours: Sequence[Hunk], theirs: Sequence[Hunk]) -> list[tuple[list[Hunk], list[Hunk]]]:
    """Put hunks of both sides together that share base lines or the point at which they add lines."""
    marked = sorted([(hunk.start, hunk.stop, 0, hunk) for hunk in ours] + [(h.start, h.stop, 1, h) for h in theirs],
                    key=lambda mark: mark[:3])  # fmt: skip
    groups: list[tuple[list[Hunk], list[Hunk]]] = []
    begin = end = -1
    for start, stop, side, hunk in marked:
        meets = start < end or (start == stop == begin == end)
        if not groups or not meets:
            groups.append(([], []))
            begin, end = start, stop
        end = max(end, stop)
        groups[-1][side].append(hunk)
    return groups


def _same(left: Sequence[Hunk], right: Sequence[Hunk], ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> bool:
    return len(left) == len(right) and all(
        (one.start, one.stop) == (two.start, two.stop) and ours[one.first : one.last] == theirs[two.first : two.last]
        for one, two in zip(left, right, strict=True)
    )


def _overlap(left: Sequence[Hunk], right: Sequence[Hunk]) -> Overlap:
    start = min(left[0].start, right[0].start)
    stop = max(left[-1].stop, right[-1].stop)
    return Overlap(range(start, stop), _side(left, start, stop), _side(right, start, stop))


def _side(hunks: Sequence[Hunk], start: int, stop: int) -> range:
    """Return the lines of a side that correspond to the base lines `start:stop`."""
    first, last = hunks[0], hunks[-1]
    return range(first.first - (first.start - start), last.last + (stop - last.stop))


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
        # The leading side may have keys of its own at the same place.
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
    for led, group in groupby([key for key in other if key in keep], key=lambda key: key in in_main):
        keys = list(group)
        if led:
            anchor = keys[-1]
        else:
            runs.append((anchor, keys))
    return runs


def _tied(first: list[K], second: list[K], rank: Callable[[K], str | None], around: list[K]) -> list[K]:
    """Interleave two runs at one place: descending as in a journal, unless the keys around them ascend."""
    ranks = {key: rank(key) for key in (*first, *second, *around)}
    if any(value is None for value in ranks.values()):
        return first + second
    rises = len(around) == 2 and (ranks[around[0]] or "") < (ranks[around[1]] or "")
    return list(merge(first, second, key=lambda key: ranks[key] or "", reverse=not rises))
