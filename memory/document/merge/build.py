"""Decides what becomes of each section and entry, and puts the merged document together."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from memory.document.lines import (
    blank_end,
    decode,
    encode,
    ended,
    heading_title,
    with_line_end,
    without_blank_end,
)
from memory.document.match import EntryPlace, identity
from memory.document.model import Document, updated
from memory.document.nodes import Entry, Section, keep_apart

from .conflicts import Conflict, Decide, MergeResult
from .entry import merge_entry, merge_front, merge_section_text
from .match import match_sections, name_entries, places
from .sequences import Three, merge_order

T = TypeVar("T")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME = re.compile(r"(\d{1,2}):(\d{2})", re.ASCII)


def build(
    base: Document, ours: Document, theirs: Document, kind: str, strict: bool, decide: Decide
) -> MergeResult | None:
    """Return the merge, None where the parts would not read as they were put together."""
    return _Merge(Three(base, ours, theirs), kind, strict, decide).result()


class _Merge:
    """One merge: the numbered sections and named entries of the three versions, and what becomes of them.

    `texts` are the merged headings and texts of the sections by number, `entries` the merged entries by name.
    """

    def __init__(self, sides: Three[Document], kind: str, strict: bool, decide: Decide) -> None:
        self.sides, self.kind, self.decide = sides, kind, decide
        self.newline = sides.theirs.newline
        self.sections = match_sections(*sides)
        self.names = name_entries(
            kind, self.sections.map(lambda side: places(kind, side, self.sections.base)), strict=strict
        )
        self.conflicts: list[Conflict] = []
        self.texts: dict[int, tuple[bytes, bytes]] = {}
        self.entries: dict[int, EntryPlace] = {}

    def result(self) -> MergeResult | None:
        """Return the merge, None where it would not read as it was put together."""
        base, ours, theirs = self.sides
        front = self._merged(lambda decide: merge_front(base.front, ours.front, theirs.front, self.newline, decide))
        for number in {**self.sections.theirs, **self.sections.ours}:
            self._section(number)
        for name in {**self.names.base, **self.names.ours, **self.names.theirs}:
            self._entry(name)
        filled = {place.section for place in self.entries.values()}
        for number in list(self.texts):
            self._leave_out(number, filled=number in filled)
        bom = ours.bom if theirs.bom == base.bom else theirs.bom
        top = encode(front)
        parts = self._parts()
        if any(parts):
            top = ended(top, self.newline)
        document = updated(theirs, b"".join((bom, top, *parts)))
        read = [part for _, section in document.all_sections() for part in section.parts]
        if (document.bom, document.front_raw, read) != (bom, top, parts):
            return None
        return MergeResult(document, tuple(self.conflicts))

    def _merged(self, merge: Callable[[Decide], tuple[T, Sequence[Conflict]]], **place: Any) -> T:
        """Return the result of the merge of a part; its conflicts are at a place in the file."""

        def at_place(conflict: Conflict) -> Conflict:
            return conflict._replace(kind=self.kind, **place)

        merged, conflicts = merge(lambda conflict: self.decide(at_place(conflict)))
        self.conflicts += map(at_place, conflicts)
        return merged

    # -- sections ---------------------------------------------------------------------------------------------

    def _section(self, number: int) -> None:
        """Merge the heading and the text of a section that ours or theirs has."""
        old, mine, other = self.sections.map(lambda side: side.get(number))
        if mine is None or other is None:
            left = mine or other
            assert left is not None
            self.texts[number] = (left.heading, left.lead)
            return
        self.texts[number] = self._merged(
            lambda decide: merge_section_text(old, mine, other, self.newline, decide),
            section=other.title,
            number=-number,
        )

    def _leave_out(self, number: int, *, filled: bool) -> None:
        """Take away a section that one side removed, unless it has entries or the other one changed its text."""
        sides = self.sections.map(lambda side: side.get(number))
        old, left = sides.base, sides.ours or sides.theirs
        if old is None or left is None or (sides.ours and sides.theirs):
            return
        if old.lead.rstrip() == left.lead.rstrip():
            if not filled:
                del self.texts[number]
            return
        leads = sides.map(lambda part: None if part is None else decode(part.lead))
        conflict = Conflict("text", "", *leads, self.kind, left.title, number=-number, stays=True)
        self.conflicts.append(conflict)
        decided = self.decide(conflict)
        if decided is not None:
            self.texts[number] = (left.heading, encode(decided))
        elif not filled:
            del self.texts[number]

    def _title(self, number: int) -> str:
        """Return the title of a section in the merged file."""
        if number in self.texts:
            return heading_title(decode(self.texts[number][0]).rstrip("\r\n"))
        return self.sections.base[number].title

    # -- entries ----------------------------------------------------------------------------------------------

    def _entry(self, name: int) -> None:
        """Decide what becomes of one entry."""
        found = self.names.map(lambda side: side.get(name))
        base, ours, theirs = found
        if ours is not None and theirs is not None:
            if ours.bare == theirs.bare:
                self.entries[name] = theirs
            elif base is None:
                self._whole(name, found, theirs)
            else:
                self._both(name, base, ours, theirs)
            return
        left = ours or theirs
        if left is None or (base is not None and left.bare == base.bare):
            return
        if base is None:
            self.entries[name] = left
        else:
            self._whole(name, found, left, stays=True)

    def _at(self, name: int, place: EntryPlace) -> dict[str, Any]:
        """Return where a conflict of an entry is."""
        section = self.sections.theirs.get(place.section) or self.sections.ours[place.section]
        known = identity(self.kind, section, place.entry)
        title = self._title(place.section)
        return {"section": title, "entry": place.entry.title, "identity": known, "number": 1 + name}

    def _whole(self, name: int, found: Three[EntryPlace | None], left: EntryPlace, *, stays: bool = False) -> None:
        """Ask about an entry as a whole; with `stays` one side removed what the other changed."""
        texts = found.map(lambda place: None if place is None else place.entry.text)
        conflict = Conflict("entry", "", *texts, self.kind, **self._at(name, left), stays=stays)
        self.conflicts.append(conflict)
        decided = self.decide(conflict)
        same = [place for place in found[::-1] if place and place.entry.text == decided and place.section in self.texts]
        if decided is not None:
            self.entries[name] = same[0] if same else left._replace(entry=Entry(encode(decided)))

    def _both(self, name: int, base: EntryPlace, ours: EntryPlace, theirs: EntryPlace) -> None:
        """Merge an entry that all three versions have, and the section that it is in."""
        section = ours.section if theirs.section == base.section else theirs.section
        if base.section != ours.section != theirs.section != base.section:
            titles = Three(base, ours, theirs).map(lambda place: self._title(place.section))
            moved = Conflict("section", "", *titles, self.kind, **self._at(name, theirs))
            self.conflicts.append(moved)
            decided = self.decide(moved)
            section = next((place.section for place in (theirs, ours, base) if self._is_at(place, decided)), section)
        left = ours if ours.entry.title != base.entry.title == theirs.entry.title else theirs
        entry = self._merged(
            lambda decide: merge_entry(base.entry, ours.entry, theirs.entry, self.newline, decide),
            **self._at(name, left._replace(section=section)),
        )
        self.entries[name] = EntryPlace(section, entry)

    def _is_at(self, place: EntryPlace, title: str | None) -> bool:
        return place.section in self.texts and self._title(place.section) == title

    # -- the document -----------------------------------------------------------------------------------------

    def _parts(self) -> list[bytes]:
        """Return the sources of sections and entries in order; what meets anew is kept apart as the file does."""
        numbers = self.sections.map(lambda side: list(side)[1:])
        by_date, by_time = (self._date, self._time) if self.kind == "journal" else (None, None)
        groups, keep = self.names.map(_by_section), _by_section(self.entries)
        units: list[Hashable] = []
        for number in (0, *merge_order(*numbers, set(self.texts), by_date)):
            old, mine, other = [side.get(number, []) for side in groups]
            units += [(number,), *merge_order(old, mine, other, set(keep.get(number, [])), by_time)]
        met = {
            couple
            for sections, names in zip(self.sections[1:], self.names[1:], strict=True)
            for couple in pairwise(_run(sections, names))
        }
        spaced = self.sides.theirs.spaced
        parts = []
        for unit, behind in zip(units, (*units[1:], None), strict=True):
            if isinstance(unit, int):
                raw = self.entries[unit].entry.raw
            else:
                heading, raw = keep_apart(*self.texts[unit[0]], self.newline)  # type: ignore[index]
                raw = heading + raw
            if behind is not None:
                raw = _apart(raw, self.newline, blank=spaced and (unit, behind) not in met)
            elif isinstance(unit, int) and not self._was_last(unit):
                raw = without_blank_end(raw)
            parts.append(raw)
        return parts

    def _was_last(self, name: int) -> bool:
        return any(next(reversed(side), None) == name for side in self.names[1:])

    def _date(self, number: int) -> str | None:
        """Return the date in a journal section's title, None without one."""
        found = _DATE.search(self._title(number))
        return found[0] if found else None

    def _time(self, name: int) -> str | None:
        """Return the time of day that a journal entry's title begins with, in a form that sorts; None without one."""
        found = _TIME.match(self.entries[name].entry.title)
        return f"{int(found[1]):02}:{found[2]}" if found else None


def _by_section(names: dict[int, EntryPlace]) -> dict[int, list[int]]:
    """Return the names of the entries of each section in order, by the number of the section."""
    groups: dict[int, list[int]] = {}
    for name, place in names.items():
        groups.setdefault(place.section, []).append(name)
    return groups


def _run(sections: dict[int, Section], names: dict[int, EntryPlace]) -> list[Hashable]:
    """Return the sections and entries of a version in file order."""
    run: list[Hashable] = []
    entries = iter(names)
    for number, section in sections.items():
        run += [(number,), *(next(entries) for _ in range(len(section)))]
    return run


def _apart(raw: bytes, newline: str, *, blank: bool) -> bytes:
    """Return the source of a part such that another one can follow it, with a blank line between if asked."""
    raw = ended(raw, newline)
    return with_line_end(raw, newline) if raw and blank and not blank_end(raw) else raw
