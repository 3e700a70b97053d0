"""Archive files with entries added: newest date first, entries of one date in the order of the file they came from.

The entries keep their bytes. Only between entries may a line end or a blank line be added, in the style of the file,
and blank lines at the end of a file are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from typing import NamedTuple, TypeVar

from memory.base.clock import format_utc
from memory.document import Document, parse
from memory.document.lines import blank_end, encode, ends_line, scan, with_line_end, without_blank_end
from memory.document.nodes import Entry, Section
from memory.files.templates import TYPES

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


class _Part:
    """A section while entries are added to it; `fresh` marks new entries, `is_new` a whole new section."""

    def __init__(self, section: Section, is_new: bool = False) -> None:
        """Cut out the entries of a section."""
        self.section = section
        self.is_new = is_new
        self.entries: list[Entry] = list(section.entries)
        self.fresh = [is_new] * len(self.entries)

    def put(self, at: int, entries: Sequence[Entry]) -> None:
        """Insert new entries at an index."""
        self.entries[at:at] = entries
        self.fresh[at:at] = [True] * len(entries)

    def begins_fresh(self, following: bool | None) -> bool:
        """Return whether something new is next to the heading: the section, its first entry, or what follows it."""
        return self.is_new or (self.fresh[0] if self.fresh else following is True)


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


def add_completed(
    document: Document, kind: str, arrivals: Iterable[tuple[date, Entry]], date_of: Callable[[Entry], date | None]
) -> Document:
    """Return a tasks or orchestration archive with entries inserted by date.

    `arrivals` are in the order of their source file. New entries go above existing ones of the same date. `date_of`
    reads the date of an existing entry; one without a date keeps its place below its neighbour.
    """
    heading = HEADINGS[kind]
    incoming = sorted(arrivals, key=lambda arrival: arrival[0], reverse=True)
    parts = [_Part(section) for _, section in document.all_sections()]
    found = document.find(heading)
    if found:
        part = parts[found[0] + 1]
    else:
        part = _Part(Section.compose(heading, newline=document.newline), is_new=True)
        parts.append(part)
    merged = _inserted(part.entries, date_of, incoming)
    part.entries = [entry for entry, _ in merged]
    part.fresh = [is_new for _, is_new in merged]
    return _joined(document, parts, spaced=document.spaced)


def add_days(document: Document, arrivals: Sequence[LeavingDay], like: Document | None = None) -> Document:
    """Return a journal archive with days added: at the top of the section with the same heading, or as new sections.

    New sections are inserted by date, newest first; of one date in the order of `arrivals`. Where the archive has no
    sections yet, blank lines follow `like`, the source file of the days.
    """
    parts = [_Part(section) for _, section in document.all_sections()]
    by_heading: dict[bytes, _Part] = {}
    for part in parts:
        by_heading.setdefault(part.section.heading.rstrip(b"\r\n"), part)
    new: list[tuple[date, _Part]] = []
    filled: dict[int, int] = {}
    for day in arrivals:
        key = day.section.heading.rstrip(b"\r\n")
        known = by_heading.get(key)
        as_it_is = known is None and day.whole
        if known is None:
            section = day.section if as_it_is else Section(day.section.level, day.section.heading, b"", ())
            known = by_heading[key] = _Part(section, is_new=True)
            new.append((day.date, known))
        at = filled.get(id(known), 0)
        if not as_it_is:
            known.put(at, day.entries)
        filled[id(known)] = at + len(day.numbers)
    new.sort(key=lambda one: one[0], reverse=True)
    spaced = (document if like is None or document.sections else like).spaced
    last = max((index for index, part in enumerate(parts) if _day_of(part)), default=-1)
    return _joined(document, [part for part, _ in _inserted(parts, _day_of, new, last)], spaced=spaced)


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


def _day_of(part: _Part) -> date | None:
    day = section_date(part.section)
    return day if isinstance(day, date) else None


# -- line ends and blank lines ------------------------------------------------------------------------------------


def _joined(document: Document, parts: list[_Part], *, spaced: bool) -> Document:
    """Return the document of these parts; a part next to a new one gets its line end and, if `spaced`, a blank line."""
    newline = document.newline
    front = document.bom + document.front_raw
    for index, part in enumerate(parts):
        following = parts[index + 1].is_new if index + 1 < len(parts) else None
        section = part.section
        if part.begins_fresh(following):
            shown = (front if index == 0 else b"") + section.heading + section.lead
            last = following is None and not part.entries
            section = _with_end(section, _ended(shown, newline, spaced, last=last)[len(shown) :])
        changed = any(part.fresh) or len(part.entries) != len(section)
        for number, entry in enumerate(part.entries):
            after = following if number + 1 == len(part.fresh) else part.fresh[number + 1]
            if part.fresh[number] or after:
                raw = _ended(entry.raw, newline, spaced, last=after is None)
                if raw != entry.raw:
                    part.entries[number] = Entry(raw)
                    changed = True
        part.section = section.with_entries(part.entries) if changed else section
    return document.replaced(head=parts[0].section, sections=tuple(part.section for part in parts[1:]))


def _with_end(section: Section, end: bytes) -> Section:
    """Return a section with line ends after its body, or after its heading where it has no body."""
    if not end:
        return section
    if section.lead or not section.heading or ends_line(section.heading):
        return Section(section.level, section.heading, section.lead + end, section.entries)
    return Section(section.level, section.heading + end, section.lead, section.entries)


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
