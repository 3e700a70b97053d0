"""Undoes a change in a file that has changed since: its own entries and lines, nothing else.

What the change wrote must still be in the file unchanged (except blank lines after an entry), in any place; else the
whole undo is refused, with the reason for each entry.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.errors import ConflictError, UsageError

from .compare import Region, Unit, alike, differences, entries_in, joined, paired, sections_in
from .lines import ends_line, heading_end
from .model import BOM
from .nodes import Entry, Section, bare

if TYPE_CHECKING:
    from .model import Document

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_UPDATED = re.compile(rb"updated[ \t]*:")


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a change cannot be undone: the entry's (or section's) title, and what happened to it."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a unit before the change: the titles of its neighbours, nearest first."""

    section: str | None
    above: tuple[str, ...]
    below: tuple[str, ...]


def revert_regions(
    document: Document, regions: Sequence[Region], file: str = "", was: Callable[[], Document | None] | None = None
) -> Document:
    """Return the document with the changes of the regions undone; `updated` in the front matter stays as it is.

    `was` returns the document from before the change, None where it is not known. It is called only where an entry to
    be restored exists already, to distinguish a twin that was always there from an entry that was restored in another
    way. Raises ConflictError `document.conflict` whose details hold `file`, `reasons` (title: what happened),
    `entries`.
    """
    work = _Work(document, was)
    for region in regions:
        if region.kind == "top":
            work.top(region)
        elif region.kind == "body":
            work.body(region)
        elif region.kind == "bytes":
            work.reasons.append(Reason(file, "the file was changed since"))
    units: list[Unit] = []
    places: dict[int, _Place] = {}
    for region in regions:
        if region.kind == "entries":
            _collect(units, places, region, entries_in(region.before), entries_in(region.after))
        elif region.kind == "sections":
            work.sections(region, units, places)
    work.entries(list(joined(units)), places)
    work.tidy(regions)
    if work.reasons:
        raise refusal(file, work.reasons)
    return work.document


def refusal(file: str, reasons: Sequence[Reason]) -> ConflictError:
    """Return the error that says which entries changed since."""
    first = reasons[0]
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    return ConflictError(
        "document.conflict",
        f"{first.title!r} {first.text}{more}" if first.title else first.text,
        "look at it, and make the change by hand",
        file=file,
        entries=[reason.title for reason in reasons],
        reasons={reason.title: reason.text for reason in reasons},
    )


def _collect(
    units: list[Unit], places: dict[int, _Place], region: Region, old: Sequence[Entry], new: Sequence[Entry]
) -> None:
    """Add the units of a region of entries, with the places of the entries that it removed."""
    units += paired(old, new, region.section, region.section, fits=alike)
    _note_places(places, region.section, old, region.above, region.below)


def _note_places(
    places: dict[int, _Place], section: str | None, old: Sequence[Entry], above: str | None, below: str | None
) -> None:
    titles = [entry.title for entry in old]
    over = () if above is None else (above,)
    under = () if below is None else (below,)
    for index, entry in enumerate(old):
        # Thousands of entries may have been removed at once: the nearest ones are enough to find the place.
        near = tuple(reversed(titles[max(0, index - 3) : index]))
        places[id(entry)] = _Place(section, near + over, tuple(titles[index + 1 : index + 4]) + under)


class _Work:
    """A document while changes in it are undone."""

    def __init__(self, document: Document, was: Callable[[], Document | None] | None) -> None:
        self.document = document
        self._was = was
        self.reasons: list[Reason] = []

    def top(self, region: Region) -> None:
        """Undo changed lines of the front matter, except `updated`."""
        current = self.document.front_raw
        before, after = region.before.removeprefix(BOM), region.after.removeprefix(BOM)
        if not before or not after:
            return  # It was added or removed with the file; what others wrote below it stays.
        merged = merged_lines(after, current, before, ignore=_UPDATED)
        if merged is None:
            self.reasons.append(Reason("front matter", "was changed since"))
        elif merged != current:
            self.document = self.document.replaced(front_raw=merged)

    def body(self, region: Region) -> None:
        """Undo changed lines of a section's own text."""
        index = self._section(region.section, region.after)
        if index is None:
            self.reasons.append(Reason(region.section or "the top of the file", "is gone"))
            return
        part = self.document.section(index)
        merged = merged_lines(region.after, part.heading + part.lead, region.before)
        if merged is None:
            self.reasons.append(Reason(region.section or "the top of the file", "was changed since"))
            return
        split = heading_end(merged) if part.heading else 0
        if (len(part) or index + 1 < len(self.document.sections)) and not ends_line(merged):
            merged += self.document.newline.encode()
        self.document = self.document.trusted(
            index, Section.of(part.level, merged[:split], merged[split:], part.entries)
        )

    def sections(self, region: Region, units: list[Unit], places: dict[int, _Place]) -> None:
        """Restore removed sections; the entries of added sections are removed later, as entries."""
        old, new = sections_in(region.before), sections_in(region.after)
        above, below = region.above, region.below
        for part in old:
            index = self._section(part.title, part.heading)
            if index is None:
                index = self._index_behind(above, below)
                empty = Section.of(part.level, part.heading, part.lead, ())
                try:
                    self.document = self.document.insert_section(index, empty)
                except UsageError as error:
                    self.reasons.append(Reason(part.title, error.message))
                    continue
            units += paired(part.entries, (), part.title, None)
            _note_places(places, part.title, part.entries, None, None)
            above = part.title
        for part in new:
            units += paired((), part.entries, None, part.title)

    def entries(self, units: Sequence[Unit], places: dict[int, _Place]) -> None:
        """Replace, remove and restore entries; all their places are found before the first change."""
        found = self._find([unit for unit in units if unit.after is not None])
        if self.reasons:
            return
        lost: dict[int, set[int]] = {}
        back: list[Entry] = []
        for unit in units:
            before = unit.before
            if unit.after is not None:
                section, index = found[id(unit)]
                if before is not None and unit.section in (unit.new_section, self._title(section)):
                    part = self.document.section(section)
                    current = part.entries[index].raw
                    new = before.with_raw(bare(before) + current[len(current.rstrip(b" \t\r\n")) :])
                    self.document = self.document.trusted(section, part.with_entry(index, new))
                    continue
                lost.setdefault(section, set()).add(index)
            if before is not None:
                back.append(before)
        for section, indexes in lost.items():
            self.document = self.document.remove_entries(section, indexes)
        self._refuse_doubles(back)
        for entry in back:
            self._put_back(entry, places[id(entry)])

    def _refuse_doubles(self, back: Sequence[Entry]) -> None:
        """Add a reason where restoring an entry would make it more frequent than before the change."""
        if self._was is None:
            return
        titles = {bare(entry): entry.title for entry in back}
        wanted = Counter(bare(entry) for entry in back)
        there = _count(self.document, wanted)
        if not there:
            return
        was = self._was()
        before = Counter[bytes]() if was is None else _count(was, wanted)
        for source, number in there.items():
            if number + wanted[source] > before[source]:
                self.reasons.append(Reason(titles[source], "was put back already"))

    def _find(self, units: Sequence[Unit]) -> dict[int, tuple[int, int]]:
        """Return the place of each unit's new entry in the document; a missing one becomes a reason."""
        wanted = {bare(unit.after) for unit in units if unit.after is not None}
        places: dict[bytes, list[tuple[int, int]]] = {}
        for number, part in self.document.all_sections() if wanted else ():
            for index, entry in enumerate(part.entries):
                source = bare(entry)
                if source in wanted:
                    places.setdefault(source, []).append((number, index))
        found: dict[int, tuple[int, int]] = {}
        for unit in units:
            assert unit.after is not None
            candidates = places.get(bare(unit.after), [])
            if not candidates:
                self.reasons.append(Reason(unit.after.title, self._what_happened(unit.after)))
                continue
            here = [at for at in candidates if self._title(at[0]) == unit.new_section]
            found[id(unit)] = (here or candidates)[0]
            candidates.remove(found[id(unit)])
        return found

    def _what_happened(self, entry: Entry) -> str:
        title = entry.title
        there = any(one.title == title for _, part in self.document.all_sections() for one in part.entries)
        return "was changed since" if there else "is not there any more"

    def _put_back(self, entry: Entry, place: _Place) -> None:
        section = self._section(place.section, None)
        if section is None:
            self.reasons.append(Reason(entry.title, f"stood in {place.section!r}, which is gone"))
            return
        titles = [one.title for one in self.document.section(section).entries]
        index = next((titles.index(title) + 1 for title in place.above if title in titles), None)
        if index is None:
            index = next((titles.index(title) for title in place.below if title in titles), 0)
        try:
            self.document = self.document.insert_entry(section, index, entry)
        except UsageError as error:
            self.reasons.append(Reason(entry.title, error.message))

    def tidy(self, regions: Sequence[Region]) -> None:
        """Remove sections that the change added and that now hold nothing else."""
        if self.reasons:
            return
        for region in regions:
            if region.kind != "sections":
                continue
            kept = {part.heading.rstrip() for part in sections_in(region.before)}
            for part in sections_in(region.after):
                index = self._section(part.title, part.heading)
                if index is None or part.heading.rstrip() in kept:
                    continue
                here = self.document.section(index)
                if not len(here) and here.lead.strip() == part.lead.strip():
                    self.document = self.document.remove_section(index)

    def _section(self, title: str | None, heading: bytes | None) -> int | None:
        """Return the index of a section by its heading, by its title, or by its name without remark."""
        if title is None:
            return -1
        parts = list(enumerate(self.document.sections))
        if heading:
            line = heading.splitlines()[0].rstrip() if heading.strip() else b""
            for index, part in parts:
                if part.heading.rstrip() == line:
                    return index
        return next((index for index, part in parts if part.title == title), None)

    def _title(self, section: int) -> str | None:
        return None if section < 0 else self.document.sections[section].title

    def _index_behind(self, above: str | None, below: str | None) -> int:
        titles = [part.title for part in self.document.sections]
        if above is not None and above in titles:
            return titles.index(above) + 1
        if below is not None and below in titles:
            return titles.index(below)
        return 0 if above is None else len(titles)


def merged_lines(base: bytes, ours: bytes, theirs: bytes, ignore: re.Pattern[bytes] | None = None) -> bytes | None:
    """Return `ours` with the line changes from `base` to `theirs`; None where both changed the same lines.

    Lines that `ignore` matches stay as they are in `ours`.
    """
    if base == ours and ignore is None:
        return theirs
    rows, own, other = (_LINE.findall(text) for text in (base, ours, theirs))
    hunks = [(a0, a1, own[b0:b1]) for a0, a1, b0, b1 in differences(rows, own)]
    wanted = [(a0, a1, other[b0:b1]) for a0, a1, b0, b1 in differences(rows, other)]
    if ignore is not None:
        wanted = [one for one in wanted if not all(ignore.match(row) for row in (*rows[one[0] : one[1]], *one[2]))]
    for a0, a1, _ in wanted:
        for b0, b1, _ in hunks:
            if max(a0, b0) < min(a1, b1) or a0 < b0 == b1 < a1 or b0 < a0 == a1 < b1 or a0 == a1 == b0 == b1:
                return None
    merged: list[bytes] = []
    at = 0
    for start, stop, new in sorted((*hunks, *wanted), key=lambda one: one[:2]):
        merged += (*rows[at:start], *new)
        at = stop
    return b"".join((*merged, *rows[at:]))


def _count(document: Document, wanted: Container[bytes]) -> Counter[bytes]:
    found = (bare(entry) for _, part in document.all_sections() for entry in part.entries)
    return Counter(source for source in found if source in wanted)
