"""The document: front matter, preamble and sections, parsed from any bytes and dumped to the same bytes.

`parse(data).dump() == data` holds for every byte string. Edits return new documents that share what they did not
touch and scan only what is new; `Document.updated` takes over bytes that somebody else wrote and scans only the
part that differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memory.errors import UsageError

from .nodes import Entry, Section, count_line_ends, decode, encode, ends_line, newline_of
from .scan import Outline, scan

if TYPE_CHECKING:
    from .front import FrontMatter

BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\n|\r")
_FENCE = re.compile(rb"---[ \t]*(?:\r\n|\n|\r)")
_CLOSE = re.compile(rb"[\r\n](?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_HEAD = -1  # the index of the part before the first section


def parse(data: bytes) -> Document:
    """Return the document that these bytes are; never fails, and `dump()` gives the bytes back."""
    start = len(BOM) if data.startswith(BOM) else 0
    front = front_end(data, start)
    head, sections, open_end = _build(data, front, scan(data, front), len(data))
    return Document(data[:start], data[start:front], head, sections, open_end, data)


def front_end(data: bytes, start: int) -> int:
    """Return where the body begins: behind the closed front matter, else at `start`."""
    opening = _FENCE.match(data, start)
    if opening is None:
        return start
    closing = _CLOSE.search(data, opening.end() - 1)
    return closing.end() if closing else start


def _build(data: bytes, start: int, outline: Outline, end: int) -> tuple[Section, tuple[Section, ...], bool]:
    """Return the part before the first section, the sections, and whether the end is open."""
    starts, levels = outline.starts, outline.levels
    tops = [index for index, level in enumerate(levels) if level < 3]
    first = tops[0] if tops else len(starts)
    head_end = starts[first] if tops else end
    head = Section(0, b"", data, (start, *starts[:first], head_end))
    sections = []
    for position, index in enumerate(tops):
        behind = tops[position + 1] if position + 1 < len(tops) else len(starts)
        stop = starts[behind] if behind < len(starts) else end
        begin = starts[index]
        line = _LINE_END.search(data, begin, stop)
        lead = line.end() if line else stop
        marks = [lead, *starts[index + 1 : behind], stop]
        sections.append(Section(levels[index], data[begin:lead], data, marks))
    return head, tuple(sections), outline.open_end


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A memory file in parts that keep their source; positions are derived, never stored.

    `front` is the raw front matter with its delimiter lines (empty where there is none), `head` the part before
    the first section: its body is the preamble, its entries stand before any section. `open_end` says that the
    file ends inside an unclosed fence or HTML block.
    """

    bom: bytes
    front_raw: bytes
    head: Section
    sections: tuple[Section, ...]
    open_end: bool = False
    _source: bytes | None = field(default=None, repr=False)
    _starts: list[int] | None = field(default=None, init=False, repr=False)
    _newline: str | None = field(default=None, init=False, repr=False)

    # -- reading ----------------------------------------------------------------------------------------------

    def dump(self) -> bytes:
        """Return the exact bytes of the document."""
        if self._source is None:
            chunks = [self.bom, self.front_raw]
            self.head.chunks(chunks)
            for section in self.sections:
                section.chunks(chunks)
            object.__setattr__(self, "_source", b"".join(chunks))
        assert self._source is not None
        return self._source

    @property
    def front(self) -> str:
        """The front matter as text, with its delimiter lines; empty where there is none."""
        return decode(self.front_raw)

    @property
    def meta(self) -> FrontMatter:
        """The front matter, read behind its guard."""
        from .front import FrontMatter

        return FrontMatter.read(self.front)

    @property
    def preamble(self) -> str:
        """The text before the first section, without entries that may stand there."""
        return self.head.body

    @property
    def newline(self) -> str:
        """The file's most frequent line end, a line feed in a file without any."""
        if self._newline is None:
            object.__setattr__(self, "_newline", newline_of(self.dump()))
        assert self._newline is not None
        return self._newline

    def all_sections(self) -> Iterator[tuple[int, Section]]:
        """Iterate over (index, section), the part before the first one as index -1."""
        yield _HEAD, self.head
        yield from enumerate(self.sections)

    def section(self, index: int) -> Section:
        """Return one section; -1 is the part before the first."""
        return self.head if index == _HEAD else self.sections[index]

    def find(self, name: str) -> list[int]:
        """Return the indexes of the level-2 sections of that name: no case, a remark in parentheses ignored."""
        wanted = name.strip().casefold()
        return [
            index
            for index, section in enumerate(self.sections)
            if section.level == 2 and (section.name == wanted or section.title.casefold() == wanted)
        ]

    def headings(self) -> list[tuple[int, int, str]]:
        """Return (line from 0, level, title) of every structural heading: column 0, level 1 to 3."""
        found = []
        for index, section in self.all_sections():
            line = self.line_of(index)
            if section.level:
                found.append((line, section.level, section.title))
            if len(section):
                lines = section.entry_lines()
                found.extend((line + lines[i], 3, entry.title) for i, entry in enumerate(section.entries))
        return found

    def line_of(self, section: int, entry: int | None = None) -> int:
        """Return the line (from 0) where a section, or an entry of it, starts."""
        if self._starts is None:
            line = count_line_ends(self.bom + self.front_raw)
            starts = [line]
            for part in (self.head, *self.sections):
                line += part.line_count()
                starts.append(line)
            object.__setattr__(self, "_starts", starts)
        assert self._starts is not None
        start = self._starts[section + 1]
        return start if entry is None else start + self.section(section).entry_lines()[entry]

    def problems(self) -> list[tuple[int, str, str]]:
        """Return what is wrong with the structure as (line from 0, code, sentence), in line order."""
        from .check import structure_problems

        return structure_problems(self)

    # -- editing ----------------------------------------------------------------------------------------------

    def set_meta(self, key: str, value: str) -> Document:
        """Return the document with one key of the front matter set; one line changes.

        Raises `MemdeckError` (`front.opaque`) where the guard refused the front matter, `front.missing` where
        there is none.
        """
        from .front import set_key

        if not self.front_raw:
            raise UsageError("front.missing", "the file has no front matter", "add --- lines on top")
        return self._with(front_raw=encode(set_key(self.front, key, value)))

    def with_section(self, index: int, section: Section) -> Document:
        """Return the document with one section replaced."""
        if index == _HEAD:
            return self._with(head=section)
        sections = (*self.sections[:index], section, *self.sections[index + 1 :])
        return self._with(sections=sections)

    def insert_section(self, index: int, section: Section) -> Document:
        """Return the document with a section put at `index`; blank lines as the file keeps them."""
        document = self._closed(index - 1, None)
        before = document.section(index - 1)
        tail = before.raw if index else document.bom + document.front_raw + before.raw
        if tail and self.spaced and not _blank_end(tail):
            document = document._spaced(index - 1)
        raw = section.raw
        if index < len(self.sections):
            if not ends_line(raw):
                section = _extended(section, self.newline)
            if self.spaced and not _blank_end(section.raw):
                section = _extended(section, self.newline)
        return document._with(sections=(*document.sections[:index], section, *document.sections[index:]))

    def remove_section(self, index: int) -> Document:
        """Return the document without one section and all that stands in it."""
        return self._with(sections=self.sections[:index] + self.sections[index + 1 :])

    def replace_entry(self, section: int, entry: int, new: Entry) -> Document:
        """Return the document with one entry replaced by another version of it."""
        part = self.section(section)
        if part.entries[entry] is new:
            return self
        last = section == len(self.sections) - 1 and entry == len(part) - 1
        if not last and not ends_line(new.raw):
            new = new.with_raw(new.raw + self.newline.encode())
        return self.with_section(section, part.with_entries(_put(part.entries, entry, new)))

    def insert_entry(self, section: int, entry: int, new: Entry) -> Document:
        """Return the document with an entry put at a place in a section; its bytes stay, blank lines apart.

        Blank lines between entries are kept as the file has them. Raises `UsageError` (`document.unclosed`) where
        a fence left open would swallow what comes behind it.
        """
        if new.open_ended:
            raise _unclosed(new.title)
        document = self
        if entry or not len(self.section(section)):
            document = self._closed(section, entry - 1 if entry else None)
        part = document.section(section)
        newline = self.newline.encode()
        lead, entries = part.lead, part.entries
        if entry == 0:
            if self.spaced and (part.heading or lead) and not _blank_end(part.heading + lead):
                lead += newline
        elif self.spaced and not _blank_end(entries[entry - 1].raw):
            entries = _put(entries, entry - 1, entries[entry - 1].with_raw(entries[entry - 1].raw + newline))
        last = section == len(self.sections) - 1 and entry == len(entries)
        raw = new.raw if ends_line(new.raw) else new.raw + newline
        if last:
            raw = _without_blank_end(raw)
        elif self.spaced and not _blank_end(raw):
            raw += newline
        if raw != new.raw:
            new = new.with_raw(raw)
        part = Section.of(part.level, part.heading, lead, (*entries[:entry], new, *entries[entry:]))
        return document.with_section(section, part)

    def remove_entry(self, section: int, entry: int) -> Document:
        """Return the document without one entry."""
        part = self.section(section)
        return self.with_section(section, part.with_entries(part.entries[:entry] + part.entries[entry + 1 :]))

    def remove_entries(self, section: int, entries: Iterable[int]) -> Document:
        """Return the document without several entries of one section."""
        gone = set(entries)
        part = self.section(section)
        return self.with_section(
            section, part.with_entries(one for index, one in enumerate(part.entries) if index not in gone)
        )

    def updated(self, data: bytes) -> Document:
        """Return the document of bytes that somebody else wrote; only the part that differs is scanned.

        Sections and entries outside of that part are shared with this document.
        """
        from .rescan import updated

        return updated(self, data)

    @property
    def spaced(self) -> bool:
        """Whether the file keeps a blank line before its headings; true for a file that has none yet."""
        votes = 0
        seen = 0
        for _, part in self.all_sections():
            for entry in part.entries[:20] if len(part) else ():
                if entry is not part.entries[-1]:
                    votes += 1 if _blank_end(entry.raw) else -1
                    seen += 1
            if part.heading and (part.lead.strip() == b""):
                votes += 1 if part.lead else -1
                seen += 1
            if seen > 40:
                break
        return votes >= 0

    def _with(
        self,
        *,
        front_raw: bytes | None = None,
        head: Section | None = None,
        sections: tuple[Section, ...] | None = None,
    ) -> Document:
        document = Document(
            self.bom,
            self.front_raw if front_raw is None else front_raw,
            self.head if head is None else head,
            self.sections if sections is None else sections,
            self.open_end,
        )
        object.__setattr__(document, "_newline", self.newline)
        return document

    def _closed(self, section: int, entry: int | None) -> Document:
        """Return the document with a line end behind a place where something will follow; refuse an open one."""
        part = self.section(section)
        last_section = section == len(self.sections) - 1
        if entry is None and (last_section and not len(part)):
            source = part.heading + part.lead
            if self.open_end and scan(part.lead).open_end:
                raise _unclosed(part.title)
            if source and not ends_line(source):
                if part.lead:
                    lead = part.lead + self.newline.encode()
                    return self.with_section(section, Section.of(part.level, part.heading, lead, part.entries))
                heading = part.heading + self.newline.encode()
                return self.with_section(section, Section.of(part.level, heading, b"", part.entries))
            return self
        index = len(part) - 1 if entry is None else entry
        if not last_section or index != len(part) - 1:
            return self
        last = part.entries[index]
        if self.open_end and last.open_ended:
            raise _unclosed(last.title)
        if ends_line(last.raw):
            return self
        new = last.with_raw(last.raw + self.newline.encode())
        return self.with_section(section, part.with_entries(_put(part.entries, index, new)))

    def _spaced(self, section: int) -> Document:
        """Return the document with a blank line at the end of a section."""
        part = self.section(section)
        if section == _HEAD and not part.raw and not self.front_raw:
            return self
        return self.with_section(section, _extended(part, self.newline))


def _extended(part: Section, newline: str) -> Section:
    """Return a section with one more line end behind it."""
    if len(part):
        last = part.entries[-1]
        return part.with_entries((*part.entries[:-1], last.with_raw(last.raw + newline.encode())))
    if part.lead or not part.heading or ends_line(part.heading):
        return Section.of(part.level, part.heading, part.lead + newline.encode(), ())
    return Section.of(part.level, part.heading + newline.encode(), part.lead, ())


def _unclosed(title: str) -> UsageError:
    return UsageError(
        "document.unclosed",
        f"a code fence or HTML block in {title!r} is never closed",
        "close it first, or what follows is swallowed",
    )


def _put(entries: tuple[Entry, ...], index: int, new: Entry) -> tuple[Entry, ...]:
    return (*entries[:index], new, *entries[index + 1 :])


def _blank_end(raw: bytes) -> bool:
    """Tell whether a source ends with a blank line."""
    return count_line_ends(raw[len(raw.rstrip(b" \t\r\n")) :]) >= 2


def _without_blank_end(raw: bytes) -> bytes:
    """Return a source without the blank lines at its end; the last line keeps its line end."""
    stripped = raw.rstrip(b" \t\r\n")
    found = _LINE_END.search(raw, len(stripped))
    return raw[: found.end()] if found else raw
