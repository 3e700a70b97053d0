"""Finds the same section and the same entry in two versions of a file.

An entry is known by title and `created` (a journal entry by date and title); equal ones are told apart by
`completed`, then by occurrence, counted from the end, for new entries go on top. They are counted, never folded.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from memory.base.values import is_absent
from memory.document.model import Document
from memory.document.nodes import Entry, Section, bare

from .sequences import Three

_PRIORITY = re.compile(r"\[(?:HIGH|NORMAL|LOW)\](?:[ \t]+|$)")
_LABEL = re.compile(r"\[(?:HIGH|NORMAL|LOW)\][ \t]+|[0-9]{1,2}:[0-9]{2}[ \t]+[—–-][ \t]+")
"""What titles of many entries begin with: it makes no two of them alike."""
_SIMILAR = 0.6
_MANY = 40
_LONG_TITLES = 1_000


class EntryPlace(NamedTuple):
    """An entry of one version: the number of its section (the same in all versions) and the entry."""

    section: int
    entry: Entry


def identity(kind: str, section: Section, entry: Entry) -> tuple[str, ...]:
    """Return what an entry of a file of that kind is known by."""
    title = entry.title
    if kind == "journal":
        return (section.name, title)
    if kind == "tasks":
        title = _PRIORITY.sub("", title, count=1) if title[:1] == "[" else title
    created = entry.fields.get("created", "")
    return (title, "" if is_absent(created) else created)


def match_sections(base: Document, ours: Document, theirs: Document) -> Three[list[int]]:
    """Number the sections of three versions: 0 is the part before the first, equal sections have one number.

    Equal are those of one level and name, by occurrence, and renamed ones that hold the same.
    """
    numbers = [0, *range(1, len(base.sections) + 1)]
    fresh = len(numbers)
    found = []
    known: dict[Hashable, int] = {}
    for side in (ours, theirs):
        pairs = _pair_sections(base.sections, side.sections)
        mine = [0]
        added: dict[Hashable, int] = {}
        for index, section in enumerate(side.sections):
            if index in pairs:
                mine.append(pairs[index] + 1)
                continue
            name: Hashable = (section.level, section.name)
            added[name] = added.get(name, 0) + 1
            name = (name, added[name])
            if name not in known:
                known[name] = fresh
                fresh += 1
            mine.append(known[name])
        found.append(mine)
    return Three(numbers, *found)


def _pair_sections(base: Sequence[Section], side: Sequence[Section]) -> dict[int, int]:
    """Return which section of a side (by index) is which of base."""
    pairs: dict[int, int] = {}
    by_name: dict[Hashable, deque[int]] = {}
    for index, section in enumerate(base):
        by_name.setdefault((section.level, section.name), deque()).append(index)
    wanted: dict[Hashable, list[int]] = {}
    for index, section in enumerate(side):
        wanted.setdefault((section.level, section.name), []).append(index)
    for name, indexes in wanted.items():
        twins = by_name.get(name, deque())
        if 1 < len(indexes) + len(twins) <= _MANY and len(indexes) != len(twins):
            # One came or went: what is in them tells which.
            for index in indexes:
                common = {at: len(_content(side[index]) & _content(base[at])) for at in twins}
                best = max(common, key=lambda at: common[at], default=None)
                if best is not None and common[best]:
                    pairs[index] = best
                    twins.remove(best)
        for index in indexes:
            if index not in pairs and twins:
                pairs[index] = twins.popleft()
    left = [index for indexes in by_name.values() for index in indexes]
    rest = [index for index in range(len(side)) if index not in pairs]
    if left and rest and len(left) * len(rest) <= _MANY * _MANY:
        contents = {index: _content(base[index]) for index in left}
        for index in rest:
            mine = _content(side[index])
            best = max(left, key=lambda at: len(mine & contents[at]), default=None)
            if best is None or base[best].level != side[index].level:
                continue
            shared = len(mine & contents[best])
            if shared and shared * 2 >= min(len(mine), len(contents[best])):
                pairs[index] = best
                left.remove(best)
    return pairs


def _content(section: Section) -> set[bytes]:
    return {line for line in section.lead.splitlines() if line.strip()} | {bare(entry) for entry in section.entries}


def places(document: Document, numbers: Sequence[int]) -> list[EntryPlace]:
    """Return all entries of a version with the numbers of their sections."""
    found = []
    for number, (_, section) in zip(numbers, document.all_sections(), strict=True):
        if len(section):
            found += [EntryPlace(number, entry) for entry in section.entries]
    return found


def match_entries(
    kind: str, base: Sequence[EntryPlace], side: Sequence[EntryPlace], names: Callable[[EntryPlace], tuple[str, ...]]
) -> dict[int, int]:
    """Return which entry of a side (by index) is which of base; `names` gives the identity of an entry.

    Unchanged ones first, then those of the same identity, in the same section before other ones, then those whose
    title alone was changed.
    """

    def completed(place: EntryPlace) -> str:
        return place.entry.fields.get("completed", "")

    keys: list[Callable[[EntryPlace], Hashable]] = [
        lambda place: (place.section, bare(place.entry)),
        lambda place: bare(place.entry),
        lambda place: (place.section, names(place), completed(place)),
        lambda place: (place.section, names(place)),
        lambda place: (names(place), completed(place)),
        names,
    ]
    if kind == "journal":
        # An entry of another day is another entry.
        keys = [keys[0], keys[3]]
    pairs: dict[int, int] = {}
    old: Sequence[int] = range(len(base))
    new: Sequence[int] = range(len(side))
    for key in keys:
        old, new = _pair(pairs, base, side, old, new, key)
        if not old or not new:
            return pairs
    if len(old) * len(new) <= _MANY * _MANY:
        _pair_renamed(pairs, base, side, old, new)
    return pairs


def _pair(
    pairs: dict[int, int],
    base: Sequence[EntryPlace],
    side: Sequence[EntryPlace],
    old: Sequence[int],
    new: Sequence[int],
    key: Callable[[EntryPlace], Hashable],
) -> tuple[Sequence[int], Sequence[int]]:
    """Pair what has the same key, counted from the end; return what is left of both."""
    groups: dict[Hashable, list[int]] = {}
    for index in old:
        groups.setdefault(key(base[index]), []).append(index)
    rest = []
    for index in reversed(new):
        group = groups.get(key(side[index]))
        if group:
            pairs[index] = group.pop()
        else:
            rest.append(index)
    return sorted(index for group in groups.values() for index in group), rest[::-1]


def _pair_renamed(
    pairs: dict[int, int],
    base: Sequence[EntryPlace],
    side: Sequence[EntryPlace],
    old: Sequence[int],
    new: Sequence[int],
) -> None:
    """Pair entries of one section whose titles are alike and whose bodies share at least half of their lines."""
    left = {at: _lines(base[at].entry) for at in old}
    for index in new:
        place = side[index]
        title, mine = _LABEL.sub("", place.entry.title, count=1), _lines(place.entry)
        for at, other in left.items():
            shared = len(mine & other)
            if base[at].section != place.section or not shared or shared * 2 < max(len(mine), len(other)):
                continue
            known = _LABEL.sub("", base[at].entry.title, count=1)
            if len(known) + len(title) > _LONG_TITLES:
                continue
            longer = title.startswith(known) or known.startswith(title)
            if longer or SequenceMatcher(None, known, title, False).ratio() >= _SIMILAR:
                pairs[index] = at
                del left[at]
                break


def _lines(entry: Entry) -> set[str]:
    return {line.strip() for line in entry.body.splitlines() if line.strip()}
