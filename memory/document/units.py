"""The entries, sections and bodies inside of the regions that a change replaced."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from memory.base.patterns import late
from memory.named_tuple import NamedTuple

from .compare import Region, differences
from .model import parse
from .nodes import bare

if TYPE_CHECKING:
    from .nodes import Entry, Section

Fits = Callable[["Entry", "Entry"], bool]
"""Tells whether an entry that went and one that came may be one and the same."""
_SIMILAR = 0.6
_ALMOST = 0.85
_LONG_TITLES = 1_000
_NUMBER = late(r"\d+")
_UPDATED = late(rb"^updated:[ \t]*(\S+)", re.MULTILINE)


class Unit(NamedTuple):
    """One entry (or body, with `before` and `after` as entries only) before and after: one of the two may be None.

    `section` is the title of the section where it stood, `new_section` where it stands (None: before the first).
    """

    before: Entry | None
    after: Entry | None
    section: str | None
    new_section: str | None


def same_entry(one: Entry, other: Entry) -> bool:
    """Tell whether two entries of one title may be one before and after an edit.

    They are unless both say when they were created and differ in that and in half of their text. A priority in the
    title does not count.
    """
    if _heading(one) != _heading(other) and _name(one) != _name(other):
        return False
    dates = [entry.fields.get("created") for entry in (one, other)]
    if None in dates or dates[0] == dates[1]:
        return True
    shared, most = _shared(one, other)
    return shared * 2 > most


def alike(one: Entry, other: Entry) -> bool:
    """Tell whether two entries may be one before and after an edit that changed the title too: place says nothing.

    They are the same (`same_entry`), or were created at the same time and at least two other lines and most of all
    agree, or they have similar titles and the same lines, or half of them and the same numbers in the title.
    """
    if same_entry(one, other):
        return True
    if one.fields.get("created") != other.fields.get("created"):
        return False
    shared, most = _shared(one, other)
    if shared >= 2 and shared * 3 >= most * 2:
        return True
    titles = _name(one), _name(other)
    if shared * 2 < most or sum(map(len, titles)) > _LONG_TITLES:
        return False
    if not (shared and shared == most) and _NUMBER.findall(titles[0]) != _NUMBER.findall(titles[1]):
        return False
    from difflib import SequenceMatcher

    return SequenceMatcher(None, *titles, autojunk=False).ratio() >= (_SIMILAR if shared else _ALMOST)


def _shared(one: Entry, other: Entry) -> tuple[int, int]:
    """Return how many lines two entries share, and how many the longer one has."""
    mine, theirs = _lines(one), _lines(other)
    return len(mine & theirs), max(len(mine), len(theirs))


def _lines(entry: Entry) -> set[str]:
    """Return the lines of an entry that tell it from others: those with words, without the date of its creation."""
    rows = (line.strip() for line in entry.body.splitlines())
    return {row for row in rows if row and not row.startswith("- created:")}


def units_of(
    regions: Sequence[Region], *, by_place: bool = True, known: dict[bytes, Entry] | None = None
) -> tuple[Unit, ...]:
    """Return what became of each entry in some regions, in file order; what only got blank lines is left out.

    An entry that has another place in the same regions is one unit. Bodies and front matter are none. `by_place` says
    that an entry which stands where another one went is that one with a new title, as after one operation; of what
    another program saved only entries that are `alike` are one, and only those of one title where it is older by its
    own front matter, so that what it lacks was never seen by that program. `known` keeps entries by their sources, so
    that who asks for many regions of the same entries reads each entry once.
    """
    fits = None if by_place else same_entry if _went_back(regions) else alike
    single: list[Unit] = []
    for region in regions:
        if region.kind == "entries":
            old, new = _known(entries_in(region.before), known), _known(entries_in(region.after), known)
            single += paired(old, new, region.section, region.section, fits=fits)
        elif region.kind == "sections":
            single += _in_sections(sections_in(region.before), sections_in(region.after), fits, known)
    return tuple(joined(single, fits=fits))


def updated_of(top: bytes) -> bytes | None:
    """Return the value of `updated` in the source of a front matter, None where there is none."""
    found = _UPDATED.search(top)
    return None if found is None else found[1]


def _went_back(regions: Sequence[Region]) -> bool:
    tops = [(updated_of(one.before), updated_of(one.after)) for one in regions if one.kind == "top"]
    return any(old is not None and new is not None and new < old for old, new in tops)


def _known(entries: Sequence[Entry], known: dict[bytes, Entry] | None) -> Sequence[Entry]:
    """Return entries as those objects that are known already, and note the others."""
    return entries if known is None else [known.setdefault(entry.raw, entry) for entry in entries]


def _in_sections(
    old: Sequence[Section], new: Sequence[Section], fits: Fits | None, known: dict[bytes, Entry] | None
) -> Iterator[Unit]:
    by_heading: dict[bytes, list[Section]] = {}
    for part in new:
        by_heading.setdefault(part.heading.rstrip(), []).append(part)
    for part in old:
        same = by_heading.get(part.heading.rstrip())
        other = same.pop(0) if same else None
        entries = () if other is None else _known(other.entries, known)
        yield from paired(_known(part.entries, known), entries, part.title, part.title, fits=fits)
    for part in new:
        if part in by_heading[part.heading.rstrip()]:
            yield from paired((), _known(part.entries, known), part.title, part.title)


def entries_in(raw: bytes) -> tuple[Entry, ...]:
    """Return the entries that a source consists of."""
    return parse(raw).head.entries if raw else ()


def sections_in(raw: bytes) -> tuple[Section, ...]:
    """Return the sections that a source consists of."""
    return parse(raw).sections if raw else ()


def paired(
    old: Sequence[Entry],
    new: Sequence[Entry],
    section: str | None,
    new_section: str | None,
    *,
    fits: Fits | None = None,
) -> Iterator[Unit]:
    """Yield the entries of one stretch that are different, each with what it became if that has its title.

    One that stands alone where another one went is that one, unless `fits` says otherwise; so it is with titles.
    """
    for a0, a1, b0, b1 in differences([bare(entry) for entry in old], [bare(entry) for entry in new]):
        gone, come = list(old[a0:a1]), list(new[b0:b1])
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
    """Yield units with what was taken out here and put in there as one: equal entries first, then equal titles.

    `fits` as in `paired`.
    """
    places: dict[bytes | str, list[int]] = {}
    for index, unit in enumerate(units):
        if unit.before is None and unit.after is not None:
            places.setdefault(bare(unit.after), []).append(index)
            places.setdefault(_name(unit.after), []).append(index)
    partner: dict[int, int] = {}
    used: set[int] = set()
    for key in (bare, _name):
        for index, unit in enumerate(units):
            if unit.before is not None and unit.after is None and index not in partner:
                found = next(
                    (
                        place
                        for place in places.get(key(unit.before), ())
                        if place not in used and _may_be(unit.before, units[place].after, fits)
                    ),
                    None,
                )
                if found is not None:
                    partner[index] = found
                    used.add(found)
    for index, unit in enumerate(units):
        if index in partner:
            other = units[partner[index]]
            yield Unit(unit.before, other.after, unit.section, other.new_section)
        elif index not in used:
            yield unit


def _may_be(one: Entry, other: Entry | None, fits: Fits | None) -> bool:
    return other is not None and (fits is None or fits(one, other))


def _heading(entry: Entry) -> bytes:
    """Return the source of the heading, or more."""
    end = entry.raw.find(b"\n")
    return entry.raw if end < 0 else entry.raw[:end]


def _name(entry: Entry) -> str:
    """Return a title without a mark in brackets: a task keeps its name when its priority changes."""
    title = entry.title
    if title[:1] == "[" and "] " in title:
        return title.partition("] ")[2]
    return title
