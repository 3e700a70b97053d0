"""Three-way merge of sequences of lines: changes of different lines go together, changes of the same conflict.

A line may be any text that is taken as a whole: a bullet with its further lines, a fenced block, a line of prose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_LARGE = 2_000


@dataclass(frozen=True, slots=True)
class Hunk:
    """Base lines `start:stop` became the side's lines `first:last`."""

    start: int
    stop: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Overlap:
    """A conflict: the ranges of lines in base, ours and theirs that stand against each other."""

    base: range
    ours: range
    theirs: range


@dataclass(frozen=True, slots=True)
class LineMerge:
    """What becomes of the lines: names for those of each side, and which names stay.

    Lines of one name are the same line: `ours[i]` and `theirs[j]` are indexes of base lines (0 and up) where a line
    comes from there, changed or not, and negative, each its own, where it is new.
    """

    ours: tuple[int, ...]
    theirs: tuple[int, ...]
    keep: frozenset[int]
    overlaps: tuple[Overlap, ...]


def find_hunks(base: Sequence[str], side: Sequence[str]) -> list[Hunk]:
    """Return where a side differs from base, in order; a change of as many lines is one hunk for each line."""
    head = 0
    least = min(len(base), len(side))
    while head < least and base[head] == side[head]:
        head += 1
    tail = 0
    while tail < least - head and base[len(base) - 1 - tail] == side[len(side) - 1 - tail]:
        tail += 1
    old, new = base[head : len(base) - tail], side[head : len(side) - tail]
    if not old and not new:
        return []
    from difflib import SequenceMatcher

    hunks: list[Hunk] = []
    for tag, start, stop, first, last in SequenceMatcher(None, old, new, len(old) > _LARGE).get_opcodes():
        if tag == "equal":
            continue
        if stop - start == last - first:
            hunks += [
                Hunk(head + start + at, head + start + at + 1, head + first + at, head + first + at + 1)
                for at in range(stop - start)
            ]
        else:
            hunks.append(Hunk(head + start, head + stop, head + first, head + last))
    return hunks


def merge_lines(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> LineMerge:
    """Merge three sequences; where they stand against each other theirs is kept and an `Overlap` listed."""
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
                _both_added(left[0], right[0], ours, theirs, our_names, their_names)
                keep.update(our_names[left[0].first : left[0].last])
            else:
                overlaps.append(_overlap(left, right))
        elif left:
            for one, two in zip(left, right, strict=True):
                our_names[one.first : one.last] = their_names[two.first : two.last]
    return LineMerge(tuple(our_names), tuple(their_names), frozenset(keep), tuple(overlaps))


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


def _same(left: Sequence[Hunk], right: Sequence[Hunk], ours: Sequence[str], theirs: Sequence[str]) -> bool:
    return len(left) == len(right) and all(
        (one.start, one.stop) == (two.start, two.stop) and ours[one.first : one.last] == theirs[two.first : two.last]
        for one, two in zip(left, right, strict=True)
    )


def _both_added(
    one: Hunk, two: Hunk, ours: Sequence[str], theirs: Sequence[str], our_names: list[int], their_names: list[int]
) -> None:
    """Give the lines that both sides added at one place one name."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, ours[one.first : one.last], theirs[two.first : two.last], False)
    for left, right, size in matcher.get_matching_blocks():
        for at in range(size):
            our_names[one.first + left + at] = their_names[two.first + right + at]


def _overlap(left: Sequence[Hunk], right: Sequence[Hunk]) -> Overlap:
    start = min(left[0].start, right[0].start)
    stop = max(left[-1].stop, right[-1].stop)
    return Overlap(range(start, stop), _side(left, start, stop), _side(right, start, stop))


def _side(hunks: Sequence[Hunk], start: int, stop: int) -> range:
    """Return the lines of a side that stand for the base lines `start:stop`."""
    first, last = hunks[0], hunks[-1]
    return range(first.first - (first.start - start), last.last + (stop - last.stop))
