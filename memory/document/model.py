"""The document: front matter, preamble and sections, parsed from any bytes and dumped to the same bytes.

`parse(data).dump() == data` holds for every byte string. Edits return new documents that share what they did not
touch and scan only what is new; `rescan.updated` takes over bytes that somebody else wrote and scans only the
part that differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memory.base.patterns import late
from memory.errors import UsageError

from . import edits
from .lines_and_headings import Outline, count_line_ends, decode, encode, ends_line, heading_end, newline_of, scan
from .nodes import Entry, Frozen, Section

if TYPE_CHECKING:
    from .front_matter import FrontMatter

BOM = b"\xef\xbb\xbf"
_FENCE = late(rb"---[ \t]*(?:\r\n|\n|\r)")
_CLOSE = late(rb"[\r\n](?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
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
        lead = _heading_end(data, begin, stop)
        marks = [lead, *starts[index + 1 : behind], stop]
        sections.append(Section(levels[index], data[begin:lead], data, marks))
    return head, tuple(sections), outline.open_end


def _heading_end(data: bytes, begin: int, stop: int) -> int:
    """Return the offset behind the line that begins at `begin`."""
    size = 120
    while True:
        end = heading_end(data[begin : min(begin + size, stop)])
        # A line end as the last byte could be half of one.
        if end < size or begin + size >= stop:
            return begin + end
        size *= 4


class Document(Frozen):
    """A memory file in parts that keep their source; positions are derived, never stored.

    `front` is the raw front matter with its delimiter lines (empty where there is none), `head` the part before
    the first section: its body is the preamble, its entries stand before any section. `open_end` says that the
    file ends inside an unclosed fence or HTML block.
    """

    __slots__ = ("_meta", "_newline", "_source", "_starts", "bom", "front_raw", "head", "open_end", "sections")

    bom: bytes
    front_raw: bytes
    head: Section
    sections: tuple[Section, ...]
    open_end: bool
    _source: bytes | None
    _starts: list[int] | None
    _newline: str | None
    _meta: FrontMatter | None

    def __init__(
        self,
        bom: bytes,
        front_raw: bytes,
        head: Section,
        sections: tuple[Section, ...],
        open_end: bool = False,
        source: bytes | None = None,
    ) -> None:
        """Take the parts as they are; `source` is their whole source, where it is known."""
        keep = object.__setattr__
        keep(self, "bom", bom)
        keep(self, "front_raw", front_raw)
        keep(self, "head", head)
        keep(self, "sections", sections)
        keep(self, "open_end", open_end)
        keep(self, "_source", source)
        keep(self, "_starts", None)
        keep(self, "_newline", None)
        keep(self, "_meta", None)

    def __repr__(self) -> str:
        """Return the parts, for those who look for a mistake."""
        return f"Document(front_raw={self.front_raw!r}, head={self.head!r}, sections={self.sections!r})"

    # -- reading ----------------------------------------------------------------------------------------------

    def dump(self) -> bytes:
        """Return the exact bytes of the document."""
        if self._source is None:
            chunks: list[bytes | memoryview] = [self.bom, self.front_raw]
            self.head.chunks(chunks)
            for section in self.sections:
                section.chunks(chunks)
            object.__setattr__(self, "_source", b"".join(chunks))
        assert self._source is not None
        return self._source

    def outline(self) -> Outline:
        """Return the headings of `dump()`; the bytes are not scanned again as long as they are those that were read."""
        data = self.dump()
        starts: list[int] = []
        levels: list[int] = []
        for section in (self.head, *self.sections):
            marks = section.marks_in(data)
            if marks is None:
                return scan(data, len(self.bom) + len(self.front_raw))
            if section.level:
                starts.append(marks[0] - len(section.heading))
                levels.append(section.level)
            starts += marks[1:-1]
            levels += [3] * (len(marks) - 2)
        return Outline(starts, levels, self.open_end)

    @property
    def front(self) -> str:
        """The front matter as text, with its delimiter lines; empty where there is none."""
        return decode(self.front_raw)

    @property
    def meta(self) -> FrontMatter:
        """The front matter, read behind its guard."""
        if self._meta is None:
            # A relative one takes twice as long, and `check` asks this of every file.
            from memory.document.front_matter import read_front

            object.__setattr__(self, "_meta", read_front(self.front))
        assert self._meta is not None
        return self._meta

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

    def all_sections(self) -> list[tuple[int, Section]]:
        """Return (index, section) of all, the part before the first one as index -1."""
        return [(_HEAD, self.head), *enumerate(self.sections)]

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
        start = self.section_lines()[section + 1]
        return start if entry is None else start + self.section(section).entry_lines()[entry]

    def section_lines(self) -> Sequence[int]:
        """Return the line (from 0) where each section starts, in the order of `all_sections`."""
        if self._starts is None:
            line = count_line_ends(self.bom + self.front_raw)
            starts = [line]
            for part in (self.head, *self.sections):
                line += part.line_count()
                starts.append(line)
            starts.pop()
            object.__setattr__(self, "_starts", starts)
        assert self._starts is not None
        return self._starts

    # -- editing ----------------------------------------------------------------------------------------------

    def set_meta(self, key: str, value: str) -> Document:
        """Return the document with one key of the front matter set; one line changes.

        Raises `MemdeckError` (`front.opaque`) where the guard refused the front matter, `front.missing` where
        there is none.
        """
        from .front_matter import set_key

        if not self.front_raw:
            raise UsageError("front.missing", "the file has no front matter", "add --- lines on top")
        front_raw = encode(set_key(self.front, key, value))
        return self if front_raw == self.front_raw else self.replaced(front_raw=front_raw)

    def with_section(self, index: int, section: Section) -> Document:
        """Return the document with one section replaced.

        Line ends are added where parts would run together. Raises `UsageError` (`document.unclosed`) where a new
        part would swallow what comes behind it.
        """
        old = self.section(index)
        if section is old:
            return self
        last = index == len(self.sections) - 1
        return self.trusted(
            index, edits.sealed(edits.closed_entries(self, (old,)), section, last=last, newline=self.newline)
        )

    def insert_section(self, index: int, section: Section) -> Document:
        """Return the document with a section put at `index`; blank lines as the file keeps them.

        Raises `UsageError` (`document.unclosed`) where a fence left open would swallow what comes behind it.
        """
        return edits.insert_section(self, index, section)

    def remove_section(self, index: int) -> Document:
        """Return the document without one section and all that stands in it."""
        return self.replaced(sections=self.sections[:index] + self.sections[index + 1 :])

    def replace_entry(self, section: int, entry: int, new: Entry) -> Document:
        """Return the document with one entry replaced by another version of it; only that entry is scanned.

        Raises `UsageError` (`document.unclosed`) where a fence left open would swallow what comes behind it.
        """
        return edits.replace_entry(self, section, entry, new)

    def insert_entry(self, section: int, entry: int, new: Entry) -> Document:
        """Return the document with an entry put at a place in a section; its bytes stay, blank lines apart.

        Blank lines between entries are kept as the file has them. Raises `UsageError` (`document.unclosed`) where
        a fence left open would swallow what comes behind it.
        """
        return edits.insert_entry(self, section, entry, new)

    def remove_entry(self, section: int, entry: int) -> Document:
        """Return the document without one entry."""
        return self.remove_entries(section, (entry,))

    def remove_entries(self, section: int, entries: Iterable[int]) -> Document:
        """Return the document without several entries of one section."""
        gone = set(entries)
        part = self.section(section)
        kept = part.with_entries(one for index, one in enumerate(part.entries) if index not in gone)
        return self.trusted(section, kept)

    @property
    def spaced(self) -> bool:
        """Whether the file keeps a blank line before its headings; true for a file that has none yet."""
        return edits.is_spaced(self)

    def trusted(self, index: int, section: Section) -> Document:
        """Return the document with one section replaced by one that is known to swallow nothing behind it."""
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
        """Return the document with other parts, which the caller knows to swallow nothing behind them.

        Raises `UsageError` (`document.structure`) where the text on top would be read as front matter or BOM.
        """
        front_raw = self.front_raw if front_raw is None else front_raw
        head = self.head if head is None else head
        sections = self.sections if sections is None else sections
        if front_raw and not ends_line(front_raw) and (head.size() or sections):
            front_raw += self.newline.encode()
        before, now = self.section(len(self.sections) - 1), (head, *sections)[-1]
        # Only a new last node can leave the end open, or close it.
        same = now is before or (len(now) and len(before) and now.entries[-1] is before.entries[-1])
        open_end = self.open_end if same else now.open_ended
        document = Document(self.bom, front_raw, head, sections, open_end)
        object.__setattr__(document, "_newline", self.newline)
        if not front_raw:
            _check_top(document)
        return document


def _check_top(document: Document) -> None:
    """Refuse a document without front matter that would be read as one that has it, or a BOM."""
    lead = document.head.lead
    start = len(document.bom)
    hidden_bom = not start and lead.startswith(BOM)
    if hidden_bom or (lead.startswith(b"---") and front_end(document.dump(), start) != start):
        raise UsageError(
            "document.structure",
            "the text on top of the file would be read as front matter, and all up to its end with it",
            "put another line before the ---",
        )
