"""What becomes of the entries of two versions: which is which, which stay, and in which section."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from memory.document.model import Document
from memory.document.nodes import Entry, Section, bare

from .bodies import BodyClash
from .match import EntryPlace, identity, match_entries, match_sections, places
from .merge_entry import merge_entry
from .sequences import Three

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME = re.compile(r"(\d{1,2}):(\d{2})", re.ASCII)


@dataclass(slots=True)
class Doubt:
    """A clash, before it is known where what it is about ends up.

    `name` is None for the text of a section, and for the front matter, which has no `section`. `places` are the
    sections that an entry was moved to, `stays` says that one side removed what the other changed.
    """

    name: int | None
    clash: BodyClash
    titles: tuple[Entry, ...] = ()
    places: tuple[int, int, int] | None = None
    stays: bool = False
    section: int | None = None


@dataclass(slots=True)
class MergePlan:
    """The entries of the merged file by name: a number for each, the same in all three versions.

    `order` has for base, ours and theirs the names in file order, with the number of the section; `result` says
    where each that stays ends up and what it is then.
    """

    numbers: Three[list[int]]
    order: Three[list[tuple[int, int]]]
    result: dict[int, EntryPlace] = field(default_factory=dict)
    doubts: list[Doubt] = field(default_factory=list)


def plan_entries(base: Document, ours: Document, theirs: Document, kind: str, strict: bool) -> MergePlan:
    """Decide about every entry; `strict` keeps theirs where one side removed what the other changed."""
    numbers = match_sections(base, ours, theirs)
    old, mine, other = [places(side, found) for side, found in zip((base, ours, theirs), numbers, strict=True)]
    titles = by_number(base, numbers.base)

    def names(place: EntryPlace) -> tuple[str, ...]:
        return identity(kind, titles.get(place.section, base.head), place.entry)

    our_pairs = match_entries(kind, old, mine, names)
    their_pairs = match_entries(kind, old, other, names)
    fresh = len(old)
    added: dict[tuple[int, bytes], list[int]] = {}
    their_names = []
    for index, place in enumerate(other):
        name = their_pairs.get(index, fresh + index)
        their_names.append(name)
        if index not in their_pairs:
            added.setdefault((place.section, bare(place.entry)), []).append(name)
    by_identity: dict[tuple[str, ...], list[int]] = {}
    if strict:
        for index, place in enumerate(other):
            if index not in their_pairs:
                by_identity.setdefault(names(place), []).append(fresh + index)
    fresh += len(other)
    our_names = []
    for index, place in enumerate(mine):
        twins = added.get((place.section, bare(place.entry))) if index not in our_pairs else None
        if strict and not twins and index not in our_pairs:
            twins = [name for name in by_identity.get(names(place), ()) if name not in our_names]
        our_names.append(our_pairs.get(index, twins.pop() if twins else fresh + index))
    plan = MergePlan(
        numbers,
        Three(
            [(name, place.section) for name, place in enumerate(old)],
            [(name, place.section) for name, place in zip(our_names, mine, strict=True)],
            [(name, place.section) for name, place in zip(their_names, other, strict=True)],
        ),
    )
    by_ours, by_theirs = dict(zip(our_names, mine, strict=True)), dict(zip(their_names, other, strict=True))
    newline = theirs.newline
    for name, place in enumerate(old):
        _decide(plan, name, place, by_ours.get(name), by_theirs.get(name), newline, strict)
    for name, place in (*by_ours.items(), *by_theirs.items()):
        if name >= len(old):
            plan.result[name] = place
    for name in (by_ours.keys() & by_theirs.keys()) - set(range(len(old))):
        ours_here, theirs_here = by_ours[name], by_theirs[name]
        if bare(ours_here.entry) != bare(theirs_here.entry):
            clash = BodyClash("entry", "", None, ours_here.entry.text, theirs_here.entry.text)
            plan.doubts.append(Doubt(name, clash, (ours_here.entry,), section=theirs_here.section))
    return plan


def _decide(
    plan: MergePlan,
    name: int,
    base: EntryPlace,
    ours: EntryPlace | None,
    theirs: EntryPlace | None,
    newline: str,
    strict: bool,
) -> None:
    """Say what becomes of an entry of base."""
    if ours is not None and theirs is not None:
        if ours.entry.raw == theirs.entry.raw and ours.section == theirs.section:
            plan.result[name] = theirs
            return
        _merge_both(plan, name, base, ours, theirs, newline)
        return
    left = theirs if ours is None else ours
    if left is None or (left.section == base.section and bare(left.entry) == bare(base.entry)):
        return
    sides: Three[EntryPlace | None] = Three(base, ours, theirs)
    texts = sides.map(lambda place: None if place is None else place.entry.text)
    plan.doubts.append(Doubt(name, BodyClash("entry", "", *texts), (left.entry,), stays=True, section=left.section))
    if not strict or theirs is not None:
        plan.result[name] = left


def _merge_both(
    plan: MergePlan, name: int, base: EntryPlace, ours: EntryPlace, theirs: EntryPlace, newline: str
) -> None:
    if base.section != ours.section != theirs.section != base.section:
        texts = Three(base, ours, theirs).map(lambda place: place.entry.text)
        sections = (base.section, ours.section, theirs.section)
        plan.doubts.append(
            Doubt(name, BodyClash("section", "", *texts), (ours.entry,), sections, section=theirs.section)
        )
        plan.result[name] = theirs
        return
    section = ours.section if theirs.section == base.section else theirs.section
    merged = merge_entry(base.entry, ours.entry, theirs.entry, newline)
    plan.result[name] = EntryPlace(section, merged.entry)
    plan.doubts += [Doubt(name, clash, (ours.entry, theirs.entry), section=section) for clash in merged.clashes]


def time_rank(entry: Entry) -> str | None:
    """Return the time of day that a journal entry's title begins with, in a form that sorts; None without one."""
    found = _TIME.match(entry.title)
    return f"{int(found[1]):02}:{found[2]}" if found else None


def date_rank(section: Section) -> str | None:
    """Return the date in a journal section's title, None without one."""
    found = _DATE.search(section.title)
    return found[0] if found else None


def by_section(order: list[tuple[int, int]]) -> dict[int, list[int]]:
    """Return the names of the entries of each section in order, by the number of the section."""
    groups: dict[int, list[int]] = {}
    for name, section in order:
        groups.setdefault(section, []).append(name)
    return groups


def by_number(document: Document, numbers: list[int]) -> dict[int, Section]:
    """Return the sections of a version by their numbers."""
    return {number: part for number, (_, part) in zip(numbers, document.all_sections(), strict=True)}
