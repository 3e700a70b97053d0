"""Differences between two documents, in whole blocks, or between two files of lines, such as JSONL.

A document made by an edit shares unchanged parts with the original, and only the rest is compared. `Region` is a part
of a file that a change replaced.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from typing import Literal, NamedTuple

from .model import Document
from .nodes import Section

Kind = Literal["top", "body", "entries", "sections", "lines", "bytes"]
Gap = tuple[int, int, int, int]


class Region(NamedTuple):
    """A part of a file that a change replaced, from `start` in the old bytes; regions are in order and do not overlap.

    `top` is the BOM with the front matter, `body` the text of one section before its entries, `entries` are whole
    entries of one section, `sections` whole sections, `lines` whole lines of a file of lines, `bytes` a part of any
    other file. `section` is the title of the section of a body or entries (None: before the first).
    """

    kind: Kind
    start: int
    before: bytes
    after: bytes
    section: str | None = None

    @property
    def size(self) -> int:
        """How many bytes it holds."""
        return len(self.before) + len(self.after)


def compare(before: Document, after: Document) -> tuple[Region, ...]:
    """Return the regions that turn the bytes of one document into those of the other."""
    top, new_top = before.bom + before.front_raw, after.bom + after.front_raw
    regions = [Region("top", 0, top, new_top)] if top != new_top else []
    if before.head is not after.head:
        regions += _in_section(before.head, after.head, len(top))
    offset = len(top) + before.head.size
    old, new = before.sections, after.sections
    gaps = differences([part.heading.rstrip() for part in old], [part.heading.rstrip() for part in new])
    at = 0
    for a0, a1, b0, b1 in (*gaps, (len(old), len(old), len(new), len(new))):
        for one, other in zip(old[at:a0], new[b0 - (a0 - at) : b0], strict=True):
            if one is not other:
                regions += _in_section(one, other, offset)
            offset += one.size
        if a0 != a1 or b0 != b1:
            removed, added = (b"".join(part.raw for part in parts) for parts in (old[a0:a1], new[b0:b1]))
            regions.append(Region("sections", offset, removed, added))
            offset += len(removed)
        at = a1
    return tuple(regions)


def apply(regions: Sequence[Region], before: bytes) -> bytes:
    """Return the new bytes for the old ones; ValueError where the regions were not made from these."""
    pieces: list[bytes] = []
    at = 0
    for region in regions:
        if before[region.start : region.start + len(region.before)] != region.before:
            raise ValueError("other bytes")
        pieces += (before[at : region.start], region.after)
        at = region.start + len(region.before)
    return b"".join((*pieces, before[at:]))


def inverted(regions: Sequence[Region]) -> tuple[Region, ...]:
    """Return the regions of the opposite change."""
    shift = 0
    turned = []
    for one in regions:
        turned.append(
            Region(one.kind, one.start + shift, one.after, one.before, one.section),
        )
        shift += len(one.after) - len(one.before)
    return tuple(turned)


def _in_section(old: Section, new: Section, offset: int) -> Iterator[Region]:
    """Yield the differences in one section, which begins at `offset`."""
    title = old.title if old.level else None
    if (old.heading, old.lead) != (new.heading, new.lead):
        yield Region("body", offset, old.heading + old.lead, new.heading + new.lead, title)
    gone, come = [entry.raw for entry in old.entries], [entry.raw for entry in new.entries]
    start = offset + len(old.heading) + len(old.lead)
    at = 0
    for a0, a1, b0, b1 in differences(gone, come):
        start += sum(map(len, gone[at:a0]))
        at = a0
        yield Region("entries", start, b"".join(gone[a0:a1]), b"".join(come[b0:b1]), title)


def differences(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[Gap]:
    """Return the differing ranges `(from, to, from, to)` of two sequences, in order; the rest is `matches`."""
    gaps: list[Gap] = []
    at_one = at_other = 0
    for index, place in (*matches(one, other), (len(one), len(other))):
        if index > at_one or place > at_other:
            gaps.append((at_one, index, at_other, place))
        at_one, at_other = index + 1, place + 1
    return gaps


def matches(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return which item of one sequence is which of the other, by index, in order.

    Equal items are paired: all at both ends, and between them as many as possible without crossing.
    """
    limit = min(len(one), len(other))
    head = tail = 0
    while head < limit and one[head] == other[head]:
        head += 1
    while tail < limit - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    end_one, end_other = len(one) - tail, len(other) - tail
    places: dict[Hashable, list[int]] = {}
    for index in range(end_other - 1, head - 1, -1):
        places.setdefault(other[index], []).append(index)
    pairs = []
    for index in range(head, end_one):
        found = places.get(one[index])
        if found:
            pairs.append((index, found.pop()))
    return [
        *zip(range(head), range(head), strict=True),
        *_uncrossed(pairs),
        *zip(range(end_one, len(one)), range(end_other, len(other)), strict=True),
    ]


def _uncrossed(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of pairs that ascends in the second item; they ascend in the first."""
    ends: list[int] = []
    at: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(at[length - 1] if length else -1)
        if length == len(ends):
            ends.append(place)
            at.append(number)
        else:
            ends[length] = place
            at[length] = number
    row = []
    number = at[-1] if at else -1
    while number >= 0:
        row.append(pairs[number])
        number = before[number]
    return row[::-1]


SUFFIX = ".jsonl"
"""The name suffix of a file of independent lines."""


def is_lines(path: str) -> bool:
    """Return whether a file is one of lines."""
    return path.endswith(SUFFIX)


def lines_of(data: bytes) -> list[bytes]:
    """Split bytes into lines, each with its newline; only `\\n` ends one."""
    lines = data.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def compare_lines(before: bytes, after: bytes, kind: Kind = "lines") -> tuple[Region, ...]:
    """Return the regions of whole lines that turn one file into the other."""
    if after.startswith(before) and before[-1:] in (b"", b"\n"):
        return (Region(kind, len(before), b"", after[len(before) :]),) if len(after) > len(before) else ()
    old, new = lines_of(before), lines_of(after)
    regions = []
    start = at = 0
    for a0, a1, b0, b1 in differences(old, new):
        start += sum(map(len, old[at:a0]))
        at = a0
        regions.append(Region(kind, start, b"".join(old[a0:a1]), b"".join(new[b0:b1])))
    return tuple(regions)
