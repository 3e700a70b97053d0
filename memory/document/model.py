"""The document: front matter, preamble and sections, parsed from any bytes and dumped to the same bytes.

`parse(data).dump() == data` holds for every byte string. Edits return new documents that share untouched parts and scan
only new ones. The scan ensures that no part swallows another: a text put before a heading has to end its line and must
not leave a fence or HTML block open. Blank lines before headings follow the style of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, islice, pairwise

from memory.errors import UsageError

from .front_matter import FrontMatter, read_front, set_key
from .lines import (
    Outline,
    blank_end,
    count_line_ends,
    decode,
    encode,
    ended,
    ends_line,
    heading_end,
    line_end,
    newline_of,
    scan,
    with_line_end,
    without_blank_end,
)
from .nodes import Entry, Section

BOM = b"\xef\xbb\xbf"
_FENCE = re.compile(rb"---[ \t]*(?:\r\n|\n|\r)")
_CLOSE = re.compile(rb"[\r\n](?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_ASKED = 40  # how many parts say whether a file has blank lines before headings
_HEAD = -1  # the index of the head, the part before the first section


def parse(data: bytes) -> Document:
    """Return the document of these bytes; never fails, and `dump()` returns the same bytes."""
    start = len(BOM) if data.startswith(BOM) else 0
    front = front_end(data, start)
    outline = scan(data, front)
    head, *sections = _sections(data, front, outline)
    return Document(data[:start], data[start:front], head, tuple(sections), outline.open_end, data)


def updated(old: Document, data: bytes) -> Document:
    """Return the document of other bytes of a file; sections and entries whose bytes stayed are those of `old`."""
    if old.dump() == data:
        return old
    new = parse(data)
    known = {section.raw: section for section in old.sections}
    kept = [known.pop(section.raw, None) for section in new.sections]
    left: dict[bytes, list[Entry]] = {}
    for section in known.values():
        for entry in reversed(section.entries):
            left.setdefault(entry.raw, []).append(entry)
    sections = tuple(
        same or section.with_entries([(left.get(entry.raw) or [entry]).pop() for entry in section.entries])
        for same, section in zip(kept, new.sections, strict=True)
    )
    return replace(new, sections=sections)


def front_end(data: bytes, start: int) -> int:
    """Return the offset of the body: after the closed front matter, else `start`."""
    opening = _FENCE.match(data, start)
    if opening is None:
        return start
    closing = _CLOSE.search(data, opening.end() - 1)
    return closing.end() if closing else start


def _sections(data: bytes, start: int, outline: Outline) -> Iterator[Section]:
    """Yield the part before the first section, and the sections, of the bytes from `start`."""
    bounds = [start, *outline.starts, len(data)]
    tops = [0, *(index for index, level in enumerate(outline.levels, 1) if level < 3), len(bounds) - 1]
    for index, behind in pairwise(tops):
        begin, stop = bounds[index], bounds[index + 1]
        lead = line_end(data, begin, stop) if index else begin
        entries = tuple([Entry(data[one:other]) for one, other in pairwise(bounds[index + 1 : behind + 1])])
        yield Section(outline.levels[index - 1] if index else 0, data[begin:lead], data[lead:stop], entries)


@dataclass(frozen=True, eq=False)
class Document:
    """A memory file in parts that keep their source; positions are derived, never stored.

    `front` is the raw front matter with its delimiter lines (empty where there is none), `head` the part before the
    first section: its body is the preamble, its entries are those before any section. `open_end` says that the file
    ends inside an unclosed fence or HTML block. `source` is the whole source, where it is known.
    """

    bom: bytes
    front_raw: bytes
    head: Section
    sections: tuple[Section, ...]
    open_end: bool = False
    source: bytes | None = None

    # -- reading ----------------------------------------------------------------------------------------------

    def dump(self) -> bytes:
        """Return the exact bytes of the document."""
        return self._joined if self.source is None else self.source

    @cached_property
    def _joined(self) -> bytes:
        return self.joined()

    def joined(self) -> bytes:
        """Return the bytes that its parts give; those of `dump()`, unless a part was cut out of the source wrongly."""
        parts = [self.bom, self.front_raw]
        for _, section in self.all_sections():
            parts += section.parts
        return b"".join(parts)

    @property
    def front(self) -> str:
        """The front matter as text, with its delimiter lines; empty where there is none."""
        return decode(self.front_raw)

    @cached_property
    def meta(self) -> FrontMatter:
        """The parsed front matter, read by the guarded reader."""
        return read_front(self.front)

    @cached_property
    def newline(self) -> str:
        """The file's most frequent line end, a line feed in a file without any."""
        return newline_of(self.dump())

    def all_sections(self) -> list[tuple[int, Section]]:
        """Return (index, section) of all sections; index -1 is the part before the first one."""
        return [(_HEAD, self.head), *enumerate(self.sections)]

    def section(self, index: int) -> Section:
        """Return one section; -1 is the part before the first."""
        return self.head if index == _HEAD else self.sections[index]

    def blocks(self) -> Iterator[tuple[int, int | None, Section | Entry, int]]:
        """Yield each section and then its entries: section index, entry index or None, block, first line of its body.

        Lines count from 0.
        """
        for index, section in self.all_sections():
            yield index, None, section, self.line_of(index) + bool(section.heading)
            for number, entry in enumerate(section.entries):
                yield index, number, entry, self.line_of(index, number) + 1

    def block(self, section: int, entry: int | None) -> Section | Entry:
        """Return an entry of a section, or with None the section itself."""
        return self.section(section) if entry is None else self.section(section).entries[entry]

    def find(self, name: str) -> list[int]:
        """Return the indexes of the level-2 sections of that name, ignoring case and a remark in parentheses."""
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
            found += [
                (line + at, 3, entry.title) for at, entry in zip(section.entry_lines, section.entries, strict=False)
            ]
        return found

    def line_of(self, section: int, entry: int | None = None) -> int:
        """Return the line (from 0) where a section, or an entry of it, starts."""
        start = self.section_lines[section + 1]
        return start if entry is None else start + self.section(section).entry_lines[entry]

    @cached_property
    def section_lines(self) -> Sequence[int]:
        """The line (from 0) where each section starts, in the order of `all_sections`, and the line after the last."""
        counts = [part.entry_lines[-1] for part in (self.head, *self.sections)]
        return list(accumulate(counts, initial=count_line_ends(self.bom + self.front_raw)))

    # -- editing ----------------------------------------------------------------------------------------------

    def set_meta(self, key: str, value: str) -> Document:
        """Return the document with one key of the front matter set; one line changes.

        Raises `MemdeckError` (`front.opaque`) where the guard refused the front matter, `front.missing` where
        there is none.
        """
        if not self.front_raw:
            raise UsageError("front.missing", "the file has no front matter", "add --- lines on top")
        front_raw = encode(set_key(self.front, key, value))
        return self if front_raw == self.front_raw else self.replaced(front_raw=front_raw)

    def with_section(self, index: int, section: Section) -> Document:
        """Return the document with one section replaced.

        Line ends are added where parts would be joined. Raises `UsageError` (`document.unclosed`) where a new part
        would swallow what follows it.
        """
        if section is self.section(index):
            return self
        last = index == len(self.sections) - 1
        return self.trusted(index, _sealed(section, last=last, newline=self.newline))

    def with_block(self, section: int, entry: int | None, new: Section | Entry) -> Document:
        """Return the document with the block at that place replaced, as `with_section` and `replace_entry` do."""
        if isinstance(new, Entry):
            return self.replace_entry(section, entry or 0, new)
        return self.with_section(section, new)

    def insert_section(self, index: int, section: Section) -> Document:
        """Return the document with a section inserted at `index`; blank lines follow the style of the file.

        Raises `UsageError` (`document.unclosed`) where an unclosed fence would swallow what follows it.
        """
        newline, spaced = self.newline, self.spaced
        last = index == len(self.sections)
        section = _sealed(section, last=False, newline=newline)
        if section.open_ended:
            raise _unclosed(section.title)
        if not last and spaced and not blank_end(section.raw):
            section = _extended(section, newline)
        document = _closed(self, index - 1)
        before = document.section(index - 1)
        tail = before.raw if index else document.bom + document.front_raw + before.raw
        alone = index == 0 and not before.raw and not document.front_raw
        if tail and not alone and spaced and not blank_end(tail):
            document = document.trusted(index - 1, _extended(before, newline, document.front_raw))
        return document.replaced(sections=(*document.sections[:index], section, *document.sections[index:]))

    def remove_section(self, index: int) -> Document:
        """Return the document without one section and its entries."""
        return self.replaced(sections=self.sections[:index] + self.sections[index + 1 :])

    def replace_entry(self, section: int, entry: int, new: Entry) -> Document:
        """Return the document with one entry replaced by another version of it; only that entry is scanned.

        Raises `UsageError` (`document.unclosed`) where an unclosed fence would swallow what follows it.
        """
        part = self.section(section)
        if part.entries[entry] is new:
            return self
        if section != len(self.sections) - 1 or entry != len(part) - 1:
            if new.open_ended:
                raise _unclosed(new.title)
            if not ends_line(new.raw):
                new = Entry(ended(new.raw, self.newline))
        return self.trusted(section, part.with_entry(entry, new))

    def insert_entry(self, section: int, entry: int, new: Entry) -> Document:
        """Return the document with an entry inserted into a section; its bytes stay, except for blank lines.

        Blank lines between entries follow the style of the file. Raises `UsageError` (`document.unclosed`) where an
        unclosed fence would swallow what follows it.
        """
        if new.open_ended:
            raise _unclosed(new.title)
        document, newline, spaced = self, self.newline, self.spaced
        if entry or not len(document.section(section)):
            document = _closed(document, section, entry)
        part = document.section(section)
        lead, entries = part.lead, part.entries
        if entry == 0:
            if spaced and (part.heading or lead) and not blank_end(part.heading + lead):
                lead = with_line_end(part.heading + lead, newline)[len(part.heading) :]
        elif spaced and not blank_end(entries[entry - 1].raw):
            entries = part.with_entry(entry - 1, Entry(with_line_end(entries[entry - 1].raw, newline))).entries
        raw = ended(new.raw, newline)
        if section == len(document.sections) - 1 and entry == len(entries):
            bare = without_blank_end(raw)
            # The blank line may end an HTML block.
            raw = raw if scan(bare).open_end else bare
        elif spaced and not blank_end(raw):
            raw = with_line_end(raw, newline)
        if raw != new.raw:
            new = Entry(raw)
        part = Section(part.level, part.heading, lead, (*entries[:entry], new, *entries[entry:]))
        return document.trusted(section, part)

    def remove_entry(self, section: int, *entries: int) -> Document:
        """Return the document without one or several entries of one section."""
        gone = set(entries)
        part = self.section(section)
        kept = part.with_entries([one for index, one in enumerate(part.entries) if index not in gone])
        return self.trusted(section, kept)

    @property
    def spaced(self) -> bool:
        """Whether the file has a blank line before its headings; true for a file without headings."""
        parts = (part for _, section in self.all_sections() for part in section.parts if part)
        ends = [blank_end(part) for part in list(islice(parts, _ASKED))[:-1]]
        last = self.section(len(self.sections) - 1)
        if last.heading and not last.entries and not last.lead.strip():
            ends.append(bool(last.lead))
        return 2 * sum(ends) >= len(ends)

    def trusted(self, index: int, section: Section) -> Document:
        """Return the document with one section replaced by one that is known to swallow nothing after it."""
        if index == _HEAD:
            return self.replaced(head=section)
        return self.replaced(sections=(*self.sections[:index], section, *self.sections[index + 1 :]))

    def replaced(
        self,
        *,
        front_raw: bytes | None = None,
        head: Section | None = None,
        sections: tuple[Section, ...] | None = None,
    ) -> Document:
        """Return the document with other parts, which the caller knows to swallow nothing after them.

        Raises `UsageError` (`document.structure`) where the text at the top would be read as front matter or BOM.
        """
        front_raw = self.front_raw if front_raw is None else front_raw
        head = self.head if head is None else head
        sections = self.sections if sections is None else sections
        if head.size or sections:
            front_raw = ended(front_raw, self.newline)
        before, now = self.section(len(self.sections) - 1), (head, *sections)[-1]
        # Only a new last node can leave the end open, or close it.
        same = now is before or (len(now) and len(before) and now.entries[-1] is before.entries[-1])
        open_end = self.open_end if same else now.open_ended
        document = Document(self.bom, front_raw, head, sections, open_end)
        document.__dict__["newline"] = self.newline
        if not front_raw:
            _check_top(document)
        return document


def _check_top(document: Document) -> None:
    """Refuse a document without front matter that would be read as one with front matter or a BOM."""
    lead = document.head.lead
    start = len(document.bom)
    hidden_bom = not start and lead.startswith(BOM)
    if hidden_bom or (lead.startswith(b"---") and front_end(document.dump(), start) != start):
        raise UsageError(
            "document.structure",
            "the text at the top of the file would be read as front matter",
            "put another line before the ---",
        )


def _sealed(new: Section, *, last: bool, newline: str) -> Section:
    """Return a section whose parts all end their lines; raises `UsageError` (`document.unclosed`) for open ones.

    `last` says that nothing follows.
    """
    heading, lead = new.heading, new.lead

    def closed(entry: Entry) -> Entry:
        if entry.open_ended:
            raise _unclosed(entry.title)
        return entry if ends_line(entry.raw) else Entry(ended(entry.raw, newline))

    if lead or new.entries or not last:
        heading = ended(heading, newline)
    if new.entries or not last:
        if lead and scan(lead).open_end:
            raise _unclosed(new.title)
        lead = ended(lead, newline)
    entries = tuple(entry if last and entry is new.entries[-1] else closed(entry) for entry in new.entries)
    same = (heading, lead, entries) == (new.heading, new.lead, new.entries)
    return new if same else Section(new.level, heading, lead, entries)


def _closed(document: Document, section: int, entry: int | None = None) -> Document:
    """Return the document with a line end where something will be inserted; refuse a place inside an open block.

    The place is before the entry `entry` of a section, or after the whole section.
    """
    part = document.section(section)
    if section != len(document.sections) - 1 or (entry is not None and entry < len(part)):
        return document
    if document.open_end:
        raise _unclosed(part.entries[-1].title if len(part) else part.title)
    return document if ends_line(part.parts[-1]) else document.trusted(section, _extended(part, document.newline))


def _unclosed(title: str) -> UsageError:
    """Return the error for a text that would swallow the rest of the file."""
    return UsageError(
        "document.unclosed",
        f"a code fence or HTML block in {title!r} is never closed",
        "close it first, or it swallows the following text; `memdeck check` names file and line",
    )


def _extended(part: Section, newline: str, front: bytes = b"") -> Section:
    """Return a section with one more line end at its end; `front` is the source before an empty one."""
    if len(part):
        return part.with_entry(len(part) - 1, Entry(with_line_end(part.entries[-1].raw, newline)))
    raw = part.heading + part.lead
    source = raw + with_line_end(raw or front, newline)[len(raw or front) :]
    split = heading_end(source) if part.heading else 0
    return Section(part.level, source[:split], source[split:], ())
