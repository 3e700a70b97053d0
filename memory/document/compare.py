"""Differences between two documents, in whole blocks, or between two files of lines, such as JSONL.

A document made by an edit shares unchanged parts with the original, and only the rest is compared. A difference of
lines can be undone, or applied to a third file. `Region` is a part of a file that a change replaced, `Unit` an entry in
it before and after.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence
from operator import eq
from typing import TYPE_CHECKING, NamedTuple

from memory import document

if TYPE_CHECKING:
    from typing import Literal, TypeVar

    from .model import Document
    from .nodes import Entry, Section

    Kind = Literal["top", "body", "entries", "sections", "lines", "bytes"]
    T = TypeVar("T")

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
    regions += _in_section(before.head, after.head, len(top))
    offset = len(top) + before.head.size
    old, new = before.sections, after.sections
    gaps = differences([part.heading.rstrip() for part in old], [part.heading.rstrip() for part in new])
    at = 0
    for a0, a1, b0, b1 in (*gaps, (len(old), len(old), len(new), len(new))):
        for one, other in zip(old[at:a0], new[b0 - (a0 - at) : b0], strict=True):
            regions += _in_section(one, other, offset)
            offset += one.size
        if a0 != a1 or b0 != b1:
            removed, added = (b"".join(part.raw for part in parts) for parts in (old[a0:a1], new[b0:b1]))
            regions.append(Region("sections", offset, removed, added))
            offset += len(removed)
        at = a1
    return tuple(regions)


def with_top(regions: Sequence[Region], before: Document, after: Document) -> tuple[Region, ...]:
    """Return the regions between two documents; `regions` are right but for the top, which changed once more since."""
    top, new_top = before.bom + before.front_raw, after.bom + after.front_raw
    first = (Region("top", 0, top, new_top),) if top != new_top else ()
    return (*first, *[region for region in regions if region.kind != "top"])


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
    if old is new:
        return
    title = old.title if old.level else None
    if (old.heading, old.lead) != (new.heading, new.lead):
        yield Region("body", offset, old.heading + old.lead, new.heading + new.lead, title)
    before, after = old.entries, new.entries
    head, tail = ends(before, after)
    gone = [entry.raw for entry in before[head : len(before) - tail]]
    come = [entry.raw for entry in after[head : len(after) - tail]]
    if not gone and not come:
        return
    start = offset + len(old.heading) + len(old.lead) + sum([len(entry.raw) for entry in before[:head]])
    at = 0
    for a0, a1, b0, b1 in differences(gone, come):
        start += sum(map(len, gone[at:a0]))
        at = a0
        yield Region("entries", start, b"".join(gone[a0:a1]), b"".join(come[b0:b1]), title)


def ends(one: Sequence[Entry], other: Sequence[Entry]) -> tuple[int, int]:
    """Return how many entries are equal at the beginning, and at the end of the rest."""
    return same_ends(one, other, lambda old, new: old.raw == new.raw)


def same_ends(one: Sequence[T], other: Sequence[T], equal: Callable[[T, T], bool] = eq) -> tuple[int, int]:
    """Return how many items are equal at the beginning, and at the end of the rest; the same object is equal."""
    limit = min(len(one), len(other))
    head = tail = 0
    while head < limit and (one[head] is other[head] or equal(one[head], other[head])):
        head += 1
    while tail < limit - head and (one[-1 - tail] is other[-1 - tail] or equal(one[-1 - tail], other[-1 - tail])):
        tail += 1
    return head, tail


def differences(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[Gap]:
    """Return the differing ranges `(from, to, from, to)` of two sequences, in order.

    Equal items are paired in order: as many as possible without crossing.
    """
    head, tail = same_ends(one, other)
    end_one, end_other = len(one) - tail, len(other) - tail
    if end_one == head or end_other == head:
        return [] if end_one == end_other else [(head, end_one, head, end_other)]
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


def take_over(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return `theirs` with the changes from `base` to `ours` applied, in whole lines; None where that is not possible.

    Lines that ours removed must still be in theirs. Lines that ours added go after the same neighbour as in base, or
    before the same one where that is gone. A line of theirs is never changed.
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
    # Only the last line may lack its newline, so that no two lines are joined.
    ended = [line if line.endswith(b"\n") else line + b"\n" for line in pieces[:-1]]
    return b"".join((*ended, *pieces[-1:]))


def _places(old: Sequence[bytes], now: Sequence[bytes]) -> dict[int, int]:
    """Return the index in `now` of each line of `old` that is still there."""
    place: dict[int, int] = {}
    at = shift = 0
    for a0, a1, _, b1 in (*differences(old, now), (len(old), len(old), 0, 0)):
        place.update((index, index + shift) for index in range(at, a0))
        at, shift = a1, b1 - a1
    return place


def _gap(index: int, place: dict[int, int], count: int, end: int) -> int | None:
    """Return the position for lines that were before the line `index`, by the nearest lines that still exist."""
    if index == 0 or count == 0:
        return 0
    for near in range(index - 1, -1, -1):
        if near in place:
            return place[near] + 1
    return next((place[near] for near in range(index, count) if near in place), end)


# -- the entries and sections in the regions that a change replaced ----------------------------------------------

Fits = Callable[["Entry", "Entry"], bool]
"""Returns whether a removed and an added entry may be the same entry."""
_SIMILAR = 0.6
_ALMOST = 0.85
_LONG_TITLES = 1_000
_NUMBER = re.compile(r"\d+")


class Unit(NamedTuple):
    """One entry (or body, with `before` and `after` as entries only) before and after: one of the two may be None.

    `section` is the title of its old section, `new_section` of its new one (None: before the first).
    """

    before: Entry | None
    after: Entry | None
    section: str | None
    new_section: str | None


def same_entry(one: Entry, other: Entry) -> bool:
    """Return whether two entries with the same title may be one entry before and after an edit.

    They may, unless both have a `created` field and differ in that and in half of their text. A priority in the title
    is ignored.
    """
    if _heading(one) != _heading(other) and plain_name(one) != plain_name(other):
        return False
    dates = [entry.fields.get("created") for entry in (one, other)]
    if None in dates or dates[0] == dates[1]:
        return True
    shared, most = _shared(one, other)
    return shared * 2 > most


def alike(one: Entry, other: Entry) -> bool:
    """Return whether two entries may be one before and after an edit that changed the title too, ignoring their place.

    They may if they are the same (`same_entry`); or if they were created at the same time and share at least two other
    lines and two thirds of all; or if they also have similar titles and either the same lines, or half of them and the
    same numbers in the title.
    """
    if same_entry(one, other):
        return True
    if one.fields.get("created") != other.fields.get("created"):
        return False
    shared, most = _shared(one, other)
    if shared >= 2 and shared * 3 >= most * 2:
        return True
    titles = plain_name(one), plain_name(other)
    if shared * 2 < most or sum(map(len, titles)) > _LONG_TITLES:
        return False
    if not (shared and shared == most) and _NUMBER.findall(titles[0]) != _NUMBER.findall(titles[1]):
        return False
    from difflib import SequenceMatcher

    return SequenceMatcher(None, *titles, autojunk=False).ratio() >= (_SIMILAR if shared else _ALMOST)


def _shared(one: Entry, other: Entry) -> tuple[int, int]:
    """Return how many lines two entries share, and the line count of the longer one."""
    mine, theirs = _lines(one), _lines(other)
    return len(mine & theirs), max(len(mine), len(theirs))


def _lines(entry: Entry) -> set[str]:
    """Return the lines that distinguish an entry from others: not blank, and without its `created` field."""
    rows = (line.strip() for line in entry.body.splitlines())
    return {row for row in rows if row and not row.startswith("- created:")}


def units_of(regions: Sequence[Region], *, by_place: bool = True) -> tuple[Unit, ...]:
    """Return each changed entry in some regions, in file order; changes of blank lines only are left out.

    An entry that moved within the regions is one unit. Bodies and front matter are not units. With `by_place`, an entry
    in the place of a removed one is that one with a new title, as after one operation. Without it (a save by another
    program), only entries that are `alike` are paired.
    """
    fits = None if by_place else alike
    single: list[Unit] = []
    for region in regions:
        if region.kind == "entries":
            old, new = entries_in(region.before), entries_in(region.after)
            single += paired(old, new, region.section, region.section, fits=fits)
        elif region.kind == "sections":
            single += _in_sections(sections_in(region.before), sections_in(region.after), fits)
    return tuple(joined(single, fits=fits))


def _in_sections(old: Sequence[Section], new: Sequence[Section], fits: Fits | None) -> Iterator[Unit]:
    by_heading: dict[bytes, list[Section]] = {}
    for part in new:
        by_heading.setdefault(part.heading.rstrip(), []).append(part)
    for part in old:
        same = by_heading.get(part.heading.rstrip())
        other = same.pop(0) if same else None
        entries = () if other is None else other.entries
        yield from paired(part.entries, entries, part.title, part.title, fits=fits)
    for part in new:
        if part in by_heading[part.heading.rstrip()]:
            yield from paired((), part.entries, part.title, part.title)


def entries_in(raw: bytes) -> tuple[Entry, ...]:
    """Return the entries of a source."""
    return document.parse(raw).head.entries if raw else ()


def sections_in(raw: bytes) -> tuple[Section, ...]:
    """Return the sections of a source."""
    return document.parse(raw).sections if raw else ()


def paired(
    old: Sequence[Entry],
    new: Sequence[Entry],
    section: str | None,
    new_section: str | None,
    *,
    fits: Fits | None = None,
) -> Iterator[Unit]:
    """Yield the entries of one range that differ, each paired with an added entry of the same title.

    A single added entry in the place of a single removed one is paired with it whatever its title. Pairs that `fits`
    rejects are not made.
    """
    for a0, a1, b0, b1 in differences([document.bare(entry) for entry in old], [document.bare(entry) for entry in new]):
        gone, come = list(old[a0:a1]), list(new[b0:b1])
        if not gone or not come:
            for entry in gone:
                yield Unit(entry, None, section, None)
            for entry in come:
                yield Unit(None, entry, None, new_section)
            continue
        if len(gone) == 1 and len(come) == 1 and (fits is None or fits(gone[0], come[0])):
            yield Unit(gone[0], come[0], section, new_section)
            continue
        titles: dict[str, list[Entry]] = {}
        for entry in come:
            titles.setdefault(entry.title, []).append(entry)
        taken = set()
        pairs: list[tuple[Entry, Entry | None]] = []
        for entry in gone:
            same = titles.get(entry.title, [])
            other = next((one for one in same if fits is None or fits(entry, one)), None)
            if other is not None:
                same.remove(other)
            taken.add(id(other))
            pairs.append((entry, other))
        for one, other in pairs:
            yield Unit(one, other, section, None if other is None else new_section)
        for entry in come:
            if id(entry) not in taken:
                yield Unit(None, entry, None, new_section)


def joined(units: Sequence[Unit], *, fits: Fits | None = None) -> Iterator[Unit]:
    """Yield units with removed and added entries joined into moves: equal entries first, then equal titles.

    `fits` as in `paired`.
    """
    keys = (lambda _, entry: document.bare(entry), lambda _, entry: plain_name(entry))
    pairs = partners(units, keys, lambda gone, come: _may_be(units[gone].before, units[come].after, fits))
    taken = set(pairs.values())
    for index, unit in enumerate(units):
        if index in pairs:
            other = units[pairs[index]]
            yield Unit(unit.before, other.after, unit.section, other.new_section)
        elif index not in taken:
            yield unit


def partners(
    units: Sequence[Unit],
    keys: Sequence[Callable[[int, Entry], Hashable | None]],
    fits: Callable[[int, int], bool],
) -> dict[int, int]:
    """Return the number of the added unit that belongs to each removed one: those of one key, key by key.

    A key is made of the number of a unit and its entry; None has no partner.
    """
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    removed = [
        (index, unit.before) for index, unit in enumerate(units) if unit.before is not None and unit.after is None
    ]
    added = [(index, unit.after) for index, unit in enumerate(units) if unit.before is None and unit.after is not None]
    for key in keys if removed and added else ():
        places: dict[Hashable | None, list[int]] = {}
        for index, entry in added:
            places.setdefault(key(index, entry), []).append(index)
        places.pop(None, None)
        for index, entry in removed:
            if index not in pairs:
                come = places.get(key(index, entry), ())
                found = next((place for place in come if place not in taken and fits(index, place)), None)
                if found is not None:
                    pairs[index] = found
                    taken.add(found)
    return pairs


def _may_be(one: Entry | None, other: Entry | None, fits: Fits | None) -> bool:
    return one is not None and other is not None and (fits is None or fits(one, other))


def _heading(entry: Entry) -> bytes:
    """Return the source up to the first line feed: the heading, or more."""
    end = entry.raw.find(b"\n")
    return entry.raw if end < 0 else entry.raw[:end]


def plain_name(entry: Entry) -> str:
    """Return a title without a leading mark in brackets: a task keeps its name when its priority changes."""
    title = entry.title
    if title[:1] == "[" and "] " in title:
        return title.partition("] ")[2]
    return title
