"""Numbers the sections and names the entries of three versions of a file: the counterparts share a number."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from memory.document.match import EntryPlace, identity, match_entries, pair
from memory.document.model import Document
from memory.document.nodes import Section, bare

from .sequences import Three

_MANY = 40


def match_sections(base: Document, ours: Document, theirs: Document) -> Three[dict[int, Section]]:
    """Number the sections of three versions: 0 is the part before the first, equal sections have one number.

    Equal are those of one level and name, by occurrence, and renamed ones that hold the same.
    """
    found = [dict(enumerate((base.head, *base.sections)))]
    fresh = len(found[0])
    known: dict[Hashable, int] = {}
    for side in (ours, theirs):
        pairs = _pair_sections(base.sections, side.sections)
        numbered = {0: side.head}
        added: dict[Hashable, int] = {}
        for index, section in enumerate(side.sections):
            number = pairs[index] + 1 if index in pairs else -1
            if number < 0:
                added[_name(section)] = added.get(_name(section), 0) + 1
                number = known.setdefault((_name(section), added[_name(section)]), fresh + len(known))
            numbered[number] = section
        found.append(numbered)
    return Three(*found)


def _name(section: Section) -> Hashable:
    return section.level, section.name


def _pair_sections(base: Sequence[Section], side: Sequence[Section]) -> dict[int, int]:
    """Return which section of a side (by index) is which of base: equal ones, those of one name, renamed ones."""
    pairs = pair(base, side, [lambda part: (_name(part), part.raw)])
    if len(base) != len(side):
        # One came or went: among sections of one name, their contents tell which.
        pairs = pair(base, side, [_name], lambda one, other: bool(_content(one) & _content(other)), pairs)
    pairs = pair(base, side, [_name], known=pairs)
    if (len(base) - len(pairs)) * (len(side) - len(pairs)) > _MANY * _MANY:
        return pairs
    return pair(base, side, [lambda part: part.level], _hold_the_same, pairs)


def _hold_the_same(one: Section, other: Section) -> bool:
    mine, theirs = _content(one), _content(other)
    shared = len(mine & theirs)
    return bool(shared) and shared * 2 >= min(len(mine), len(theirs))


def _content(section: Section) -> set[bytes]:
    return {line for line in section.lead.splitlines() if line.strip()} | {bare(entry) for entry in section.entries}


def places(kind: str, numbered: dict[int, Section], known: dict[int, Section]) -> list[EntryPlace]:
    """Return all entries of a version; `known` are the sections of the version that all come from."""
    return [
        EntryPlace(number, entry, identity(kind, known.get(number, section), entry))
        for number, section in numbered.items()
        for entry in section.entries
    ]


def name_entries(kind: str, sides: Three[list[EntryPlace]], *, strict: bool) -> Three[dict[int, EntryPlace]]:
    """Name the entries of three versions in file order: by numbers, the same for the same entry.

    What both added in the same bytes is one entry; with `strict` also what both added under one identity.
    """
    base, ours, theirs = sides
    our_pairs, their_pairs = [match_entries(base, side, moves=kind != "journal") for side in (ours, theirs)]
    keys: list[Callable[[EntryPlace], Hashable]] = [lambda place: place.bare]
    if strict:
        keys.append(lambda place: place.identity)
    fresh = [index for index in range(len(theirs)) if index not in their_pairs]
    added = [index for index in range(len(ours)) if index not in our_pairs]
    both = pair([theirs[index] for index in fresh], [ours[index] for index in added], keys)
    twins = {added[one]: len(base) + fresh[other] for one, other in both.items()}
    names = Three(
        list(range(len(base))),
        [our_pairs.get(at, twins.get(at, len(base) + len(theirs) + at)) for at in range(len(ours))],
        [their_pairs.get(at, len(base) + at) for at in range(len(theirs))],
    )
    return Three(*[dict(zip(known, side, strict=True)) for known, side in zip(names, sides, strict=True)])
