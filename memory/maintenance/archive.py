"""Archive files with entries added: newest date first, entries of one date in the order of the file they came from.

The entries keep their bytes. Only between entries may a line end or a blank line be added, in the style of the file,
and blank lines at the end of a file are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, tzinfo
from typing import NamedTuple, TypeVar

from memory.base.clock import format_utc
from memory.document import Document, parse
from memory.document.lines import blank_end, encode, ends_line, scan, with_line_end, without_blank_end
from memory.document.nodes import Entry, Section
from memory.files import TYPES
from memory.files.fields.values import moment_or_none

from .rules import PLANS, TASKS, section_date

T = TypeVar("T")


HEADINGS = {TASKS: "Completed", PLANS: "Completed Plans"}
"""The section that holds all entries of an archive file; a journal's has one for each date instead."""


def new_archive(kind: str, now: datetime, source: Document) -> Document:
    """Return an empty archive file, with line ends and blank lines in the style of its source file."""
    heading = HEADINGS.get(kind)
    lines = ["---", f"type: {TYPES[f'archive/{kind}']}", f"updated: {format_utc(now)}", "---"]
    if source.spaced:
        lines.append("")
    if heading:
        lines.append(f"## {heading}")
        if source.spaced:
            lines.append("")
    return parse(encode("".join(line + source.newline for line in lines)))


_Piece = tuple[bytes, bool]
"""A part of a file, a section's heading with its text or an entry, and whether it is new."""


def _pieces(section: Section, *, is_new: bool = False) -> list[_Piece]:
    return [(part, is_new) for part in section.parts]


class LeavingDay(NamedTuple):
    """Entries that leave one section of the journal, by index, and the section's date."""

    date: date
    section: Section
    numbers: Sequence[int]

    @property
    def whole(self) -> bool:
        """Whether only blank lines are left of the section."""
        return len(self.numbers) == len(self.section) and not self.section.lead.strip()

    @property
    def entries(self) -> list[Entry]:
        """The entries, cut out."""
        entries = self.section.entries
        return [entries[number] for number in self.numbers]


def add_completed(document: Document, kind: str, arrivals: Iterable[tuple[date, Entry]], zone: tzinfo) -> Document:
    """Return a tasks or orchestration archive with entries inserted by date.

    `arrivals` are in the order of their source file. New entries go above existing ones of the same date; one without
    a date keeps its place below its neighbour.
    """

    def date_of(entry: Entry) -> date | None:
        moment = moment_or_none(entry.fields.get("completed"), zone)
        return None if moment is None else moment.date

    incoming = sorted(arrivals, key=lambda arrival: arrival[0], reverse=True)
    sections = [_pieces(section) for _, section in document.all_sections()]
    found = document.find(HEADINGS[kind])
    if found:
        place = found[0] + 1
    else:
        place = len(sections)
        sections.append(_pieces(Section.compose(HEADINGS[kind], newline=document.newline), is_new=True))
    entries = document.section(found[0]).entries if found else ()
    sections[place][1:] = [(entry.raw, is_new) for entry, is_new in _inserted(entries, date_of, incoming)]
    return _joined(document, sections, spaced=document.spaced)


def add_days(document: Document, arrivals: Sequence[LeavingDay], like: Document | None = None) -> Document:
    """Return a journal archive with days added: at the top of the section with the same heading, or as new sections.

    New sections are inserted by date, newest first; of one date in the order of `arrivals`. Where the archive has no
    sections yet, blank lines follow `like`, the source file of the days.
    """
    old = [(section_date(section), _pieces(section)) for _, section in document.all_sections()]
    by_heading: dict[bytes, list[_Piece]] = {}
    for (_, section), (_, pieces) in zip(document.all_sections(), old, strict=True):
        by_heading.setdefault(section.heading.rstrip(b"\r\n"), pieces)
    new: list[tuple[date, tuple[date | str, list[_Piece]]]] = []
    filled: dict[int, int] = {}
    for day in arrivals:
        key = day.section.heading.rstrip(b"\r\n")
        pieces = by_heading.get(key, [])
        as_it_is = key not in by_heading and day.whole
        if key not in by_heading:
            pieces = by_heading[key] = _pieces(day.section, is_new=True) if as_it_is else [(day.section.heading, True)]
            new.append((day.date, (day.date, pieces)))
        at = filled.get(id(pieces), 1)
        if not as_it_is:
            pieces[at:at] = [(entry.raw, True) for entry in day.entries]
        filled[id(pieces)] = at + len(day.numbers)
    new.sort(key=lambda one: one[0], reverse=True)
    spaced = (document if like is None or document.sections else like).spaced
    last = max((index for index, (day, _) in enumerate(old) if isinstance(day, date)), default=-1)
    merged = _inserted(old, lambda one: one[0] if isinstance(one[0], date) else None, new, last)
    return _joined(document, [pieces for (_, pieces), _ in merged], spaced=spaced)


def _inserted(
    items: Sequence[T], date_of: Callable[[T], date | None], new: Sequence[tuple[date, T]], behind: int = -1
) -> list[tuple[T, bool]]:
    """Return the items, with new ones before the first that is not newer, and whether each is new.

    `new` are sorted, newest first. Those older than all items go after the item of the index `behind`, else to the end.
    """
    merged: list[tuple[T, bool]] = []
    at = 0
    for index, item in enumerate(items):
        day = date_of(item) if at < len(new) else None
        while day is not None and at < len(new) and new[at][0] >= day:
            merged.append((new[at][1], True))
            at += 1
        merged.append((item, False))
        if index == behind:
            merged += [(one, True) for _, one in new[at:]]
            at = len(new)
    return merged + [(one, True) for _, one in new[at:]]


def _joined(document: Document, sections: Sequence[Sequence[_Piece]], *, spaced: bool) -> Document:
    """Return the document of these parts; one that is new, or before a new one, gets its line end and, if `spaced`, a
    blank line.
    """
    pieces = [piece for section in sections for piece in section]
    pieces[0] = (document.bom + document.front_raw + pieces[0][0], pieces[0][1])
    written = []
    for number, (raw, is_new) in enumerate(pieces):
        last = number + 1 == len(pieces)
        if is_new or (not last and pieces[number + 1][1]):
            raw = _ended(raw, document.newline, spaced, last=last)
        written.append(raw)
    return parse(b"".join(written))


def _ended(raw: bytes, newline: str, spaced: bool, *, last: bool) -> bytes:
    """Return a source with the line ends needed before more text; at the end of the file, without blank lines."""
    if not raw or (spaced and not last and raw.endswith(b"\n\n")):
        return raw
    if not ends_line(raw):
        raw += newline.encode()
    if last:
        bare = without_blank_end(raw)
        # The blank line may end an HTML block.
        return bare if bare == raw or not scan(bare).open_end else raw
    return with_line_end(raw, newline) if spaced and not blank_end(raw) else raw
