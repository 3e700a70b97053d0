"""Archive files with entries added: newest date first, entries of one date in the order of the file they came from.

The entries keep their bytes. Only where one meets another may a line end or a blank line be added, as the file keeps
them, and blank lines at the very end of a file are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from functools import lru_cache

from memory.base.clock import format_utc
from memory.document import Document, parse
from memory.document.lines_and_headings import blank_end, encode, ends_line, scan, with_line_end, without_blank_end
from memory.document.nodes import Entry, Section
from memory.named_tuple import NamedTuple

from .rules import section_date

TASKS = "tasks"
JOURNAL = "journal"
PLANS = "orchestration"

TYPES = {TASKS: "task-archive", JOURNAL: "journal-archive", PLANS: "orchestration-archive"}
"""The `type` of the archive files of each kind."""
HEADINGS = {TASKS: "Completed", PLANS: "Completed Plans"}
"""The section that holds all entries of an archive file; a journal's has one for each date instead."""


@lru_cache(maxsize=1024)
def archive_name(kind: str, day: date) -> str:
    """Return the archive file of a date's month, relative to the memory folder."""
    return f"archive/{kind}-{day.isoformat()[:7]}.md"


def new_archive(kind: str, now: datetime, source: Document) -> Document:
    """Return an archive file without entries, with line ends and blank lines as the file they will come from."""
    heading = HEADINGS.get(kind)
    lines = ["---", f"type: {TYPES[kind]}", f"updated: {format_utc(now)}", "---"]
    if source.spaced:
        lines.append("")
    if heading:
        lines.append(f"## {heading}")
        if source.spaced:
            lines.append("")
    return parse(encode("".join(line + source.newline for line in lines)))


class _Part:
    """A section while entries are added to it: not cut as long as nothing inside changes (`entries` None).

    `fresh` marks entries, `is_new` whole sections that were not in the file before.
    """

    __slots__ = ("entries", "fresh", "is_new", "section")

    def __init__(self, section: Section, is_new: bool = False) -> None:
        """Take a section that is not cut yet."""
        self.section = section
        self.is_new = is_new
        self.entries: list[Entry] | None = None
        self.fresh: list[bool] = []

    def cut(self) -> list[Entry]:
        """Return the entries, to be changed."""
        if self.entries is None:
            self.entries = list(self.section.entries)
            self.fresh = [self.is_new] * len(self.entries)
        return self.entries

    def put(self, at: int, entries: Sequence[Entry]) -> None:
        """Put new entries at an index."""
        self.cut()[at:at] = entries
        self.fresh[at:at] = [True] * len(entries)

    def begins_fresh(self, following: bool | None) -> bool:
        """Tell whether something new stands at the heading: the section, its first entry, or what follows it."""
        if self.is_new or self.entries is None:
            return self.is_new or (following is True and not len(self.section))
        return self.fresh[0] if self.fresh else following is True


class LeavingDay(NamedTuple):
    """Entries of one section of the journal that leave it, by index, and the section's date."""

    date: date
    section: Section
    numbers: Sequence[int]

    @property
    def whole(self) -> bool:
        """Whether nothing but blank lines is left of the section."""
        return len(self.numbers) == len(self.section) and not self.section.lead.strip()

    @property
    def entries(self) -> list[Entry]:
        """The entries, cut out."""
        entries = self.section.entries
        return [entries[number] for number in self.numbers]


def add_completed(
    document: Document, kind: str, arrivals: Iterable[tuple[date, Entry]], date_of: Callable[[Entry], date | None]
) -> Document:
    """Return a tasks or orchestration archive with entries put where their date belongs.

    `arrivals` are in the order of the file they come from. Of one date the later arrival stands on top. `date_of`
    reads the date of an entry that is there already; one without keeps its place below its neighbour.
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
    entries: list[Entry] = []
    fresh: list[bool] = []
    at = 0
    for entry in part.cut():
        day = date_of(entry) if at < len(incoming) else None
        while day is not None and at < len(incoming) and incoming[at][0] >= day:
            entries.append(incoming[at][1])
            fresh.append(True)
            at += 1
        entries.append(entry)
        fresh.append(False)
    part.entries = [*entries, *(entry for _, entry in incoming[at:])]
    part.fresh = [*fresh, *[True] * (len(incoming) - at)]
    return _joined(document, parts, spaced=document.spaced)


def add_days(document: Document, arrivals: Sequence[LeavingDay], like: Document | None = None) -> Document:
    """Return a journal archive with days added: to the section of the same heading, on top, or as new sections.

    New sections go where their date belongs, newest first; of one date in the order of `arrivals`. Where the archive
    has no sections yet, blank lines are kept as in `like`, the file that the days come from.
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
        if known is None:
            if day.whole:
                known = _Part(day.section, is_new=True)
            else:
                empty = Section.of(day.section.level, day.section.heading, b"", ())
                known = _Part(empty, is_new=True)
                known.put(0, day.entries)
            by_heading[key] = known
            new.append((day.date, known))
            filled[id(known)] = len(day.numbers)
        else:
            at = filled.get(id(known), 0)
            known.put(at, day.entries)
            filled[id(known)] = at + len(day.numbers)
    new.sort(key=lambda one: one[0], reverse=True)
    spaced = (document if like is None or document.sections else like).spaced
    return _joined(document, _with_days(parts, new), spaced=spaced)


def _with_days(parts: list[_Part], new: list[tuple[date, _Part]]) -> list[_Part]:
    """Return the parts with new ones before the first older date; the oldest go behind the last date."""
    dates = [section_date(part.section) for part in parts]
    dated = [index for index, day in enumerate(dates) if isinstance(day, date)]
    behind = dated[-1] if dated else len(parts) - 1
    merged: list[_Part] = []
    at = 0
    for index, part in enumerate(parts):
        day = dates[index]
        while isinstance(day, date) and at < len(new) and new[at][0] >= day:
            merged.append(new[at][1])
            at += 1
        merged.append(part)
        if index == behind:
            merged.extend(part for _, part in new[at:])
            at = len(new)
    return merged


# -- line ends and blank lines ------------------------------------------------------------------------------------


def _joined(document: Document, parts: list[_Part], *, spaced: bool) -> Document:
    """Return the document of these parts; what meets something new gets its line end and, if spaced, a blank line."""
    newline = document.newline
    front = document.bom + document.front_raw
    for index, part in enumerate(parts):
        following = parts[index + 1].is_new if index + 1 < len(parts) else None
        section = part.section
        if part.begins_fresh(following):
            shown = (front if index == 0 else b"") + section.heading + section.lead
            last = following is None and not (len(section) if part.entries is None else part.entries)
            section = _with_end(section, _ended(shown, newline, spaced, last=last)[len(shown) :])
        if part.entries is None and len(section) and (following or part.is_new):
            # The end of a section is that of its last entry, before which nothing is open.
            raw = section.source(len(section) - 1)
            if _ended(raw, newline, spaced, last=following is None) != raw:
                part.cut()
        changed = part.entries is not None
        for number, entry in enumerate(part.entries or ()):
            after = following if number + 1 == len(part.fresh) else part.fresh[number + 1]
            if part.fresh[number] or after:
                raw = _ended(entry.raw, newline, spaced, last=after is None)
                if raw != entry.raw:
                    assert part.entries is not None
                    part.entries[number] = entry.with_raw(raw)
        part.section = section.with_entries(part.entries or ()) if changed else section
    return document.replaced(head=parts[0].section, sections=tuple(part.section for part in parts[1:]))


def _with_end(section: Section, end: bytes) -> Section:
    """Return a section with line ends behind its body, or behind its heading where it has none."""
    if not end:
        return section
    if section.lead or not section.heading or ends_line(section.heading):
        return Section.of(section.level, section.heading, section.lead + end, section.entries)
    return Section.of(section.level, section.heading + end, section.lead, section.entries)


def _ended(raw: bytes, newline: str, spaced: bool, *, last: bool) -> bytes:
    """Return a source that something can follow; at the end of the file one line end and no blank line."""
    if not raw or (spaced and not last and raw.endswith(b"\n\n")):
        return raw
    if not ends_line(raw):
        raw += newline.encode()
    if last:
        bare = without_blank_end(raw)
        # A blank line may be what ends an HTML block.
        return bare if bare == raw or not scan(bare).open_end else raw
    return with_line_end(raw, newline) if spaced and not blank_end(raw) else raw
