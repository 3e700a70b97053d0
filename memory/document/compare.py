"""What is different between two documents, in whole blocks, or between two files of lines, such as JSONL.

Documents that come from each other by an edit share what did not change, and only the rest is looked at. A difference
of lines can be taken back, or done to a third file.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from memory.named_tuple import NamedTuple

if TYPE_CHECKING:
    from .model import Document
    from .nodes import Entry, Section

Kind = Literal["top", "body", "entries", "sections", "lines", "bytes"]
Gap = tuple[int, int, int, int]
_CHUNK = 512


class Region(NamedTuple):
    """A stretch of a file that a change replaced, `start` in the old bytes; regions lie apart and in order.

    `top` is the BOM with the front matter, `body` the text of one section before its entries, `entries` are whole
    entries of one section, `sections` whole sections, `lines` whole lines of a file of lines, `bytes` a part of any
    other file. `section` is the title of the section that a body or entries stand in (None: before the first), `above`
    and `below` are the titles of the entries, or sections, right before and behind (None: there is none).
    """

    kind: Kind
    start: int
    before: bytes
    after: bytes
    section: str | None = None
    above: str | None = None
    below: str | None = None

    @property
    def size(self) -> int:
        """How many bytes it keeps."""
        return len(self.before) + len(self.after)


def compare(before: Document, after: Document) -> tuple[Region, ...]:
    """Return the regions that turn the bytes of one document into those of the other."""
    return tuple(differing(before, after))


def apply(regions: Sequence[Region], before: bytes) -> bytes:
    """Return the new bytes, given the old ones; ValueError where these are not what the regions were made from."""
    pieces: list[bytes] = []
    at = 0
    for region in regions:
        if before[region.start : region.start + len(region.before)] != region.before:
            raise ValueError("other bytes")
        pieces += (before[at : region.start], region.after)
        at = region.start + len(region.before)
    return b"".join((*pieces, before[at:]))


def inverted(regions: Sequence[Region]) -> tuple[Region, ...]:
    """Return the regions the other way round."""
    shift = 0
    turned = []
    for one in regions:
        turned.append(
            Region(one.kind, one.start + shift, one.after, one.before, one.section, one.above, one.below),
        )
        shift += len(one.after) - len(one.before)
    return tuple(turned)


def differing(before: Document, after: Document) -> Iterator[Region]:
    """Yield the regions of `compare` one by one, as they are found; none where the bytes are the same."""
    top, new_top = before.bom + before.front_raw, after.bom + after.front_raw
    if top != new_top:
        yield Region("top", 0, top, new_top)
    place = _Place(len(top))
    yield from _in_section(before.head, after.head, place)
    place.skip(before.head)
    old, new = before.sections, after.sections
    same = 0
    while same < min(len(old), len(new)) and _same(old[same], new[same]):
        place.skip(old[same])
        same += 1
    end = 0
    while end < min(len(old), len(new)) - same and _same(old[-1 - end], new[-1 - end]):
        end += 1
    old_mid, new_mid = old[same : len(old) - end], new[same : len(new) - end]
    at = 0
    for a0, a1, b0, b1 in (
        *differences([part.heading.rstrip() for part in old_mid], [part.heading.rstrip() for part in new_mid]),
        (len(old_mid), len(old_mid), len(new_mid), len(new_mid)),
    ):
        shift = b0 - a0
        while at < a0:
            yield from _in_section(old_mid[at], new_mid[at + shift], place)
            place.skip(old_mid[at])
            at += 1
        if a0 == a1 and b0 == b1:
            continue
        removed, added = _source(old_mid[a0:a1]), _source(new_mid[b0:b1])
        above, below = same + a0 - 1, same + a1
        yield Region(
            "sections",
            place.offset(),
            removed,
            added,
            None,
            old[above].title if above >= 0 else None,
            old[below].title if below < len(old) else None,
        )
        for part in old_mid[a0:a1]:
            place.skip(part)
        at = a1


def _source(sections: Sequence[Section]) -> bytes:
    """Return the source of sections in one piece, put together once."""
    chunks: list[bytes | memoryview] = []
    for section in sections:
        section.chunks(chunks)
    return b"".join(chunks)


class _Place:
    """An offset that is added up only when somebody asks: most sections are behind the last difference."""

    def __init__(self, offset: int) -> None:
        self._offset = offset
        self._skipped: list[Section] = []

    def skip(self, section: Section) -> None:
        self._skipped.append(section)

    def offset(self) -> int:
        for section in self._skipped:
            self._offset += section.size()
        self._skipped.clear()
        return self._offset


def _same(one: Section, other: Section) -> bool:
    if one is other:
        return True
    if len(one) != len(other) or one.heading != other.heading or one.lead != other.lead:
        return False
    return all(a is b or a.raw == b.raw for a, b in zip(one.entries, other.entries, strict=True))


def _in_section(old: Section, new: Section, place: _Place) -> Iterator[Region]:
    """Yield what is different in one section, which begins at `place`."""
    if old is new:
        return
    title = old.title if old.level else None
    if (old.heading, old.lead) != (new.heading, new.lead):
        yield Region("body", place.offset(), old.heading + old.lead, new.heading + new.lead, title)
    if not len(old) and not len(new):
        return
    before, after = old.entries, new.entries
    head, tail = ends(before, after)
    one, other = before[head : len(before) - tail], after[head : len(after) - tail]
    if not one and not other:
        return
    start, at = place.offset() + len(old.heading) + len(old.lead) + _length(before[:head]), 0
    for a0, a1, b0, b1 in differences([entry.raw for entry in one], [entry.raw for entry in other]):
        above, below = head + a0 - 1, head + a1
        start += _length(one[at:a0])
        at = a0
        yield Region(
            "entries",
            start,
            b"".join(entry.raw for entry in one[a0:a1]),
            b"".join(entry.raw for entry in other[b0:b1]),
            title,
            before[above].title if above >= 0 else None,
            before[below].title if below < len(before) else None,
        )


def _length(entries: Sequence[Entry]) -> int:
    return sum([len(entry.raw) for entry in entries])


def ends(one: tuple[Entry, ...], other: tuple[Entry, ...]) -> tuple[int, int]:
    """Count the entries that agree at the beginning, and at the end of the rest."""
    limit = min(len(one), len(other))
    head = 0
    while head < limit and one[head : head + _CHUNK] == other[head : head + _CHUNK]:
        head = min(head + _CHUNK, limit)
    while head < limit and (one[head] is other[head] or one[head].raw == other[head].raw):
        head += 1
    limit -= head
    tail = 0
    while tail < limit:
        size = min(_CHUNK, limit - tail)
        ends = len(one) - tail, len(other) - tail
        if one[ends[0] - size : ends[0]] != other[ends[1] - size : ends[1]]:
            break
        tail += size
    while tail < limit and (one[-1 - tail] is other[-1 - tail] or one[-1 - tail].raw == other[-1 - tail].raw):
        tail += 1
    return head, tail


def differences(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[Gap]:
    """Return the stretches `(from, to, from, to)` of two rows that are different, in order.

    Equal items are paired in their order, the most that can be without crossing.
    """
    head = 0
    limit = min(len(one), len(other))
    while head < limit and one[head] == other[head]:
        head += 1
    tail = 0
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
    gaps: list[Gap] = []
    at_one, at_other = head, head
    for index, place in (*_uncrossed(pairs), (end_one, end_other)):
        if index > at_one or place > at_other:
            gaps.append((at_one, index, at_other, place))
        at_one, at_other = index + 1, place + 1
    return gaps


def _uncrossed(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest row of pairs, ascending in the first, that ascends in the second too."""
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
"""What the name of a file ends in whose lines stand for themselves."""


def is_lines(path: str) -> bool:
    """Tell whether a file is one of lines."""
    return path.endswith(SUFFIX)


def lines_of(data: bytes) -> list[bytes]:
    """Split bytes into lines, each with its newline; only `\\n` ends one."""
    lines = data.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def compare_lines(before: bytes, after: bytes) -> tuple[Region, ...]:
    """Return the regions of whole lines that turn one file into the other."""
    if after.startswith(before) and before[-1:] in (b"", b"\n"):
        return (Region("lines", len(before), b"", after[len(before) :]),) if len(after) > len(before) else ()
    old, new = lines_of(before), lines_of(after)
    regions = []
    start = at = 0
    for a0, a1, b0, b1 in differences(old, new):
        start += sum(map(len, old[at:a0]))
        at = a0
        regions.append(Region("lines", start, b"".join(old[a0:a1]), b"".join(new[b0:b1])))
    return tuple(regions)


def take_over(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Do to `theirs` what was done from `base` to `ours`, in whole lines; None where that is no longer possible.

    Lines that ours removed have to stand in theirs still; lines that ours put in come behind the same neighbour as in
    base, or before the same one where that is gone. A line of theirs is never changed.
    """
    old, new, now = lines_of(base), lines_of(ours), lines_of(theirs)
    place = _places(old, now)
    pieces: list[bytes] = []
    done = 0
    for a0, a1, b0, b1 in differences(old, new):
        found = [place.get(index) for index in range(a0, a1)]
        start = found[0] if found else _gap(a0, place, len(old), len(now))
        if start is None or found != list(range(start, start + len(found))) or start < done:
            return None
        pieces += [*now[done:start], *new[b0:b1]]
        done = start + len(found)
    pieces += now[done:]
    # Only the last line may be without its newline: no line grows together with the next one.
    ended = [line if line.endswith(b"\n") else line + b"\n" for line in pieces[:-1]]
    return b"".join((*ended, *pieces[-1:]))


def _places(old: Sequence[bytes], now: Sequence[bytes]) -> dict[int, int]:
    """Return where each line of the one stands in the other, as far as it does."""
    place: dict[int, int] = {}
    at = shift = 0
    for a0, a1, _, b1 in (*differences(old, now), (len(old), len(old), 0, 0)):
        place.update((index, index + shift) for index in range(at, a0))
        at, shift = a1, b1 - a1
    return place


def _gap(index: int, place: dict[int, int], count: int, end: int) -> int | None:
    """Return where lines belong that stood before the line `index`: by the nearest lines that are still there."""
    if index == 0 or count == 0:
        return 0
    for near in range(index - 1, -1, -1):
        if near in place:
            return place[near] + 1
    return next((place[near] for near in range(index, count) if near in place), end)
