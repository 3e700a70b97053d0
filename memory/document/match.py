"""Finds the same entry in two versions of a file, and tells by that what a change did to each entry.

An entry is known by title and `created` (a journal entry by date and title); equal ones are told apart by
`completed`, then by occurrence, counted from the end, for new entries go on top. They are counted, never folded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeVar

from memory.base.values import is_absent

from .compare import Region
from .model import parse
from .nodes import Entry, Section, bare

T = TypeVar("T")
Pairs = dict[int, int]
"""Which item of a version (by index) is which of the version before."""

_PRIORITY = re.compile(r"\[(?:HIGH|NORMAL|LOW)\](?:[ \t]+|$)")
_MARK = re.compile(r"\[[^\]]*\][ \t]+")
_NUMBER = re.compile(r"\d+")
_SIMILAR, _ALMOST = 0.6, 0.85
_LONG_TITLES = 1_000
_MOST_ALIKE = 1_600
"""The pairs of entries of which it is asked whether they are alike."""


def identity(kind: str, section: Section, entry: Entry) -> tuple[str, ...]:
    """Return what an entry of a file of that kind is known by."""
    if kind == "journal":
        return (section.name, entry.title)
    title = _PRIORITY.sub("", entry.title, count=1) if kind == "tasks" else entry.title
    created = entry.fields.get("created", "")
    return (title, "" if is_absent(created) else created)


def pair(
    old: Sequence[T],
    new: Sequence[T],
    keys: Sequence[Callable[[T], Hashable | None]],
    fits: Callable[[T, T], bool] = lambda _one, _other: True,
    known: Pairs | None = None,
) -> Pairs:
    """Return the pairs `known` with those that have the same key and fit, key by key, counted from the end.

    An item whose key is None has no partner.
    """
    pairs = dict(known or {})
    for key in keys:
        taken = set(pairs.values())
        groups: dict[Hashable, list[int]] = {}
        for index, item in enumerate(old):
            if index not in taken:
                groups.setdefault(key(item), []).append(index)
        groups.pop(None, None)
        for index in reversed(range(len(new))):
            group = groups.get(key(new[index]), []) if groups and index not in pairs else []
            for place in reversed(range(len(group))):
                if fits(old[group[place]], new[index]):
                    pairs[index] = group.pop(place)
                    break
    return pairs


def alike(one: Entry, other: Entry) -> bool:
    """Return whether two entries of other titles may be one before and after an edit.

    They may if they were created at the same time and share at least two other lines and two thirds of all; or if they
    also have similar titles and either the same lines, or half of them and the same numbers in the title. A title that
    only became longer is similar.
    """
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
    if shared and (titles[0].startswith(titles[1]) or titles[1].startswith(titles[0])):
        return True
    from difflib import SequenceMatcher

    return SequenceMatcher(None, *titles, autojunk=False).ratio() >= (_SIMILAR if shared else _ALMOST)


class EntryPlace(NamedTuple):
    """An entry of one version, its section (named alike in all versions), and what it is known by."""

    section: Any
    entry: Entry
    identity: tuple[str, ...] = ()

    @property
    def bare(self) -> tuple[Hashable, bytes]:
        """The place without what only separates entries."""
        return self.section, bare(self.entry)


def match_entries(
    old: Sequence[EntryPlace],
    new: Sequence[EntryPlace],
    fits: Callable[[EntryPlace, EntryPlace], bool] = lambda _one, _other: True,
    *,
    moves: bool = True,
) -> Pairs:
    """Return which entry of a version (by index) is which of the version before.

    Unchanged ones first, then those of the same identity that fit, in the same section before other ones, then those of
    one section that are alike. Without `moves` an entry in another section is another one, as in a journal.
    """
    here: Callable[[EntryPlace], Hashable] = lambda one: (one.section, one.identity)  # noqa: E731
    if not moves:
        return pair(old, new, [here], fits, pair(old, new, [lambda one: one.bare]))

    def completed(one: EntryPlace) -> str:
        return one.entry.fields.get("completed", "")

    equal = pair(old, new, [lambda one: one.bare, lambda one: one.bare[1]])
    keys: list[Callable[[EntryPlace], Hashable]] = [
        lambda one: (here(one), completed(one)),
        here,
        lambda one: (one.identity, completed(one)),
        lambda one: one.identity,
    ]
    pairs = pair(old, new, keys, fits, equal)
    if (len(old) - len(pairs)) * (len(new) - len(pairs)) > _MOST_ALIKE:
        return pairs
    return pair(old, new, [lambda one: one.section], lambda one, other: alike(one.entry, other.entry), pairs)


def _shared(one: Entry, other: Entry) -> tuple[int, int]:
    """Return how many lines two entries share, and the line count of the longer one."""
    mine, theirs = _lines(one), _lines(other)
    return len(mine & theirs), max(len(mine), len(theirs))


def _lines(entry: Entry) -> set[str]:
    """Return the lines that distinguish an entry from others: not blank, and without its `created` field."""
    rows = (line.strip() for line in entry.body.splitlines())
    return {row for row in rows if row and not row.startswith("- created:")}


def plain_name(entry: Entry) -> str:
    """Return a title without a leading mark in brackets: a task keeps its name when its priority changes."""
    found = _MARK.match(entry.title)
    return entry.title[found.end() :] if found else entry.title


class Unit(NamedTuple):
    """One entry before and after a change: one of the two may be None.

    `section` is the title of its old section, `new_section` of its new one (None: before the first).
    """

    before: Entry | None
    after: Entry | None
    section: str | None
    new_section: str | None


def units_of(regions: Sequence[Region], *, by_place: bool = True) -> tuple[Unit, ...]:
    """Return each changed entry in some regions, in file order; changes of blank lines only are left out.

    An entry that moved within the regions is one unit. Bodies and front matter are not units. With `by_place`, an entry
    in the place of a removed one is that one with a new title, as after one operation. Without it (a save by another
    program), only entries that are `alike` are paired.
    """
    old, new = _entries(regions, "before"), _entries(regions, "after")
    pairs = match_entries(old, new) if by_place else match_entries(old, new, _may_be_one)
    if by_place:
        left = Counter(one.section for index, one in enumerate(old) if index not in set(pairs.values()))
        come = Counter(one.section for index, one in enumerate(new) if index not in pairs)
        only = {place for place in left if left[place] == come[place] == 1}
        pairs = pair(old, new, [lambda one: one.section if one.section in only else None], known=pairs)
    became = {before: after for after, before in pairs.items()}
    units = []
    for index, one in enumerate(old):
        after = new[became[index]] if index in became else None
        region, section = one.section
        if after is None or (section, bare(one.entry)) != (after.section[1], bare(after.entry)):
            units.append((region, Unit(one.entry, after and after.entry, section, after and after.section[1])))
    for index, one in enumerate(new):
        if index not in pairs:
            units.append((one.section[0], Unit(None, one.entry, None, one.section[1])))
    return tuple(unit for _, unit in sorted(units, key=lambda unit: unit[0]))


def _may_be_one(one: EntryPlace, other: EntryPlace) -> bool:
    """Return whether two entries of one name may be one: not if both say when they were created, and share little."""
    dates = [place.entry.fields.get("created") for place in (one, other)]
    if None in dates or dates[0] == dates[1]:
        return True
    shared, most = _shared(one.entry, other.entry)
    return shared * 2 > most


def _entries(regions: Sequence[Region], side: str) -> list[EntryPlace]:
    """Return the entries before or after a change of some regions, each with the number of its region and its section.

    They are known by their names: an operation may change when an entry was created.
    """
    found = []
    for number, region in enumerate(regions):
        if region.kind in ("entries", "sections"):
            for index, part in parse(getattr(region, side)).all_sections():
                title = region.section if index < 0 else part.title
                found += [EntryPlace((number, title), entry, (plain_name(entry),)) for entry in part.entries]
    return found
