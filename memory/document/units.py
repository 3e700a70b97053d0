"""The entries, sections and bodies inside of the regions that a change replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .compare import Region, differences
from .model import parse
from .nodes import Entry, Section


@dataclass(frozen=True, slots=True)
class Unit:
    """One entry (or body, with `before` and `after` as entries only) before and after: one of the two may be None.

    `section` is the title of the section where it stood, `new_section` where it stands (None: before the first).
    """

    before: Entry | None
    after: Entry | None
    section: str | None
    new_section: str | None


def bare(entry: Entry) -> bytes:
    """Return an entry's source without the blank lines behind it, which only keep entries apart."""
    return entry.raw.rstrip(b" \t\r\n")


def units_of(regions: Sequence[Region]) -> tuple[Unit, ...]:
    """Return what became of each entry in some regions, in file order; what only got blank lines is left out.

    An entry that has another place in the same regions is one unit. Bodies and front matter are none.
    """
    single: list[Unit] = []
    for region in regions:
        if region.kind == "entries":
            single += paired(entries_in(region.before), entries_in(region.after), region.section, region.section)
        elif region.kind == "sections":
            single += _in_sections(sections_in(region.before), sections_in(region.after))
    return tuple(joined(single))


def _in_sections(old: Sequence[Section], new: Sequence[Section]) -> Iterator[Unit]:
    by_heading: dict[bytes, list[Section]] = {}
    for part in new:
        by_heading.setdefault(part.heading.rstrip(), []).append(part)
    for part in old:
        same = by_heading.get(part.heading.rstrip())
        other = same.pop(0) if same else None
        yield from paired(part.entries, () if other is None else other.entries, part.title, part.title)
    for part in new:
        if part in by_heading[part.heading.rstrip()]:
            yield from paired((), part.entries, part.title, part.title)


def entries_in(raw: bytes) -> tuple[Entry, ...]:
    """Return the entries that a source consists of."""
    return parse(raw).head.entries if raw else ()


def sections_in(raw: bytes) -> tuple[Section, ...]:
    """Return the sections that a source consists of."""
    return parse(raw).sections if raw else ()


def paired(old: Sequence[Entry], new: Sequence[Entry], section: str | None, new_section: str | None) -> Iterator[Unit]:
    """Yield the entries of one stretch that are different, each with what it became if that has its title."""
    for a0, a1, b0, b1 in differences([bare(entry) for entry in old], [bare(entry) for entry in new]):
        gone, come = list(old[a0:a1]), list(new[b0:b1])
        if len(gone) == 1 and len(come) == 1:
            yield Unit(gone[0], come[0], section, new_section)
            continue
        titles: dict[str, list[Entry]] = {}
        for entry in come:
            titles.setdefault(entry.title, []).append(entry)
        taken = set()
        pairs: list[tuple[Entry, Entry | None]] = []
        for entry in gone:
            same = titles.get(entry.title)
            other = same.pop(0) if same else None
            taken.add(id(other))
            pairs.append((entry, other))
        for one, other in pairs:
            yield Unit(one, other, section, None if other is None else new_section)
        for entry in come:
            if id(entry) not in taken:
                yield Unit(None, entry, None, new_section)


def joined(units: Sequence[Unit]) -> Iterator[Unit]:
    """Yield units with what was taken out here and put in there as one: equal entries first, then equal titles."""
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
                found = next((place for place in places.get(key(unit.before), ()) if place not in used), None)
                if found is not None:
                    partner[index] = found
                    used.add(found)
    for index, unit in enumerate(units):
        if index in partner:
            other = units[partner[index]]
            yield Unit(unit.before, other.after, unit.section, other.new_section)
        elif index not in used:
            yield unit


def _name(entry: Entry) -> str:
    """Return a title without a mark in brackets: a task keeps its name when its priority changes."""
    title = entry.title
    if title[:1] == "[" and "] " in title:
        return title.partition("] ")[2]
    return title
