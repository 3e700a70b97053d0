"""The nodes of a lossless document: sections and entries that keep their exact source.

Nodes are immutable. An edit returns a new node and shares everything else, so that views cached on untouched
entries stay. Entries of a section are cut out of the source only when somebody asks for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from memory.errors import UsageError

from .fields import Bullet, Fields, read_bullets, set_field, unset_field
from .scan import scan

if TYPE_CHECKING:
    from .tables import Table

T = TypeVar("T")
_LINE_END = re.compile(rb"\r\n|\n|\r")
_REMARK = re.compile(r"\s*\([^()]*\)\s*$")


def decode(data: bytes) -> str:
    """Return bytes as text; what is not UTF-8 survives as lone surrogates."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return text as the bytes it was read from; lone surrogates that stand for no byte become `?`."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return b"".join(_encode_character(character) for character in text)


def _encode_character(character: str) -> bytes:
    try:
        return character.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return b"?"


def heading_title(line: str) -> str:
    """Return the title of an ATX heading line as CommonMark reads it, closing hashes left out."""
    content = line.lstrip("#").strip(" \t")
    without = content.rstrip("#")
    if without != content and (not without or without[-1] in " \t"):
        content = without
    return content.strip()


def newline_of(raw: bytes, default: str = "\n") -> str:
    """Return the line end that occurs most often in a source, or `default` where there is none."""
    feeds = raw.count(b"\n")
    returns = raw.count(b"\r")
    if not returns:
        return "\n" if feeds else default
    pairs = raw.count(b"\r\n")
    counts = {"\n": feeds - pairs, "\r\n": pairs, "\r": returns - pairs}
    return max(counts, key=lambda end: counts[end])


def count_line_ends(raw: bytes) -> int:
    """Return the number of line ends in a source."""
    lines = raw.count(b"\n")
    if b"\r" in raw:
        lines += raw.count(b"\r") - raw.count(b"\r\n")
    return lines


def ends_line(raw: bytes) -> bool:
    """Tell whether a source ends with a line end, or is empty."""
    return not raw or raw.endswith((b"\n", b"\r"))


def _split_heading(raw: bytes) -> int:
    found = _LINE_END.search(raw)
    return found.end() if found else len(raw)


def _heading_line(title: str, level: int) -> str:
    clean = title.strip()
    if "\n" in clean or "\r" in clean:
        raise UsageError("document.title", "a title is one line", "put further lines into a field or the text")
    line = f"{'#' * level} {clean}".rstrip()
    # A title that ends in hashes would lose them when it is read again.
    return line if heading_title(line) == clean else f"{line} {'#' * level}"


class Block:
    """What sections and entries share: a body with fields, bullets and tables, and edits of it."""

    __slots__ = ()

    @property
    def body(self) -> str:
        """The text that belongs to the block itself, without its heading line."""
        raise NotImplementedError

    @property
    def newline(self) -> str:
        """The line end that the block's source uses most."""
        raise NotImplementedError

    def with_body(self: B, body: str) -> B:
        """Return the block with another body."""
        raise NotImplementedError

    @property
    def fields(self) -> Fields:
        """The `- key: value` fields of the body."""
        return Fields(self.body)

    @property
    def bullets(self) -> tuple[Bullet, ...]:
        """The top-level bullets of the body."""
        return read_bullets(self.body)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The pipe tables of the body."""
        from .tables import find_tables

        return find_tables(self.body)

    def set_field(self: B, key: str, value: str) -> B:
        """Return the block with one field set: one line changes, or one is added."""
        return self.with_body(set_field(self.body, key, value, self.newline))

    def unset_field(self: B, key: str) -> B:
        """Return the block without the lines of one field."""
        return self.with_body(unset_field(self.body, key))


B = TypeVar("B", bound=Block)


@dataclass(frozen=True, slots=True, eq=False)
class Entry(Block):
    """A level-3 heading with everything up to the next structural heading; `raw` is its exact source."""

    raw: bytes
    _fields: Fields | None = field(default=None, init=False, repr=False)
    _memo: tuple[Any, Any] | None = field(default=None, init=False, repr=False)

    @classmethod
    def compose(cls, title: str, body: str = "", newline: str = "\n") -> Entry:
        """Return a new entry; the body's lines get `newline`. Raises `UsageError` as `from_text` does."""
        heading = _heading_line(title, 3)
        text = re.sub(r"\r\n|\n|\r", newline, body)
        if text and not text.endswith(newline):
            text += newline
        return cls.from_text(heading + newline + text)

    @classmethod
    def from_text(cls, text: str) -> Entry:
        """Return the entry that a text is; raises `UsageError` (`document.structure`, `document.unclosed`)."""
        raw = encode(text)
        outline = scan(raw)
        if outline.starts != [0] or outline.levels != [3]:
            raise UsageError(
                "document.structure",
                "the text is not exactly one entry",
                "one line that begins with ### and no other heading of level 1 to 3",
            )
        if outline.open_end:
            raise UsageError(
                "document.unclosed",
                "a code fence or HTML block in the text is never closed",
                "close it, or it swallows the entries behind it",
            )
        return cls(raw)

    @property
    def text(self) -> str:
        """The whole source, heading line included."""
        return decode(self.raw)

    @property
    def title(self) -> str:
        """The heading's text."""
        return heading_title(decode(self.raw[: _split_heading(self.raw)]).rstrip("\r\n"))

    @property
    def body(self) -> str:
        """The text behind the heading line."""
        return decode(self.raw[_split_heading(self.raw) :])

    @property
    def newline(self) -> str:
        """The line end that the entry uses most."""
        return newline_of(self.raw)

    @property
    def fields(self) -> Fields:
        """The `- key: value` fields of the body, read once."""
        if self._fields is None:
            object.__setattr__(self, "_fields", Fields(self.body))
        assert self._fields is not None
        return self._fields

    @property
    def open_ended(self) -> bool:
        """Whether a fence or HTML block is still open at the end: what followed would not be a heading."""
        return scan(self.raw).open_end

    def memo(self, factory: Callable[[Entry], T]) -> T:
        """Return `factory(self)`, computed once; the last factory's result is kept."""
        known = self._memo
        if known is not None and known[0] is factory:
            return known[1]  # type: ignore[no-any-return]
        value = factory(self)
        object.__setattr__(self, "_memo", (factory, value))
        return value

    def with_title(self, title: str) -> Entry:
        """Return the entry under another title; only the heading line changes."""
        split = _split_heading(self.raw)
        end = self.raw[len(self.raw[:split].rstrip(b"\r\n")) : split]
        return self._edited(encode(_heading_line(title, 3)) + end + self.raw[split:])

    def with_body(self, body: str) -> Entry:
        """Return the entry with another body; raises `UsageError` where it would not stay one entry."""
        heading = self.raw[: _split_heading(self.raw)]
        if body and not ends_line(heading):
            heading += self.newline.encode()
        return self._edited(heading + encode(body))

    def with_raw(self, raw: bytes) -> Entry:
        """Return the entry with other trailing blank lines or line ends; the caller keeps it one entry."""
        return Entry(raw)

    def _edited(self, raw: bytes) -> Entry:
        """Check that an edited source is still one entry that swallows nothing more than it did."""
        if raw == self.raw:
            return self
        outline = scan(raw)
        if outline.starts == [0] and outline.levels == [3] and outline.open_end and self.open_ended:
            return Entry(raw)
        return Entry.from_text(decode(raw))


@dataclass(frozen=True, slots=True, eq=False)
class Section(Block):
    """A heading of level 1 or 2 (0: the part before the first) with its own body and its entries.

    `_buffer` and `_marks` hold a section that nobody looked into yet: offsets of the heading, of the body, of
    each entry, and of the end. `_parts` holds the entries once they were asked for.
    """

    level: int
    heading: bytes
    _buffer: bytes = field(repr=False)
    _marks: Sequence[int] = field(repr=False)  # body, entries…, end
    _entries: tuple[Entry, ...] | None = field(default=None, repr=False)
    _lines: list[int] | None = field(default=None, init=False, repr=False)

    @classmethod
    def compose(cls, title: str, level: int = 2, newline: str = "\n") -> Section:
        """Return a new, empty section."""
        heading = encode(_heading_line(title, level) + newline)
        return cls(level, heading, b"", (0, 0), ())

    @classmethod
    def of(cls, level: int, heading: bytes, lead: bytes, entries: tuple[Entry, ...]) -> Section:
        """Return a section of these parts."""
        return cls(level, heading, lead, (0, len(lead)), entries)

    @property
    def title(self) -> str:
        """The heading's text, empty for the part before the first section."""
        return heading_title(decode(self.heading).rstrip("\r\n"))

    @property
    def name(self) -> str:
        """The title without case and without a remark in parentheses: `Completed (last 7 days)` → `completed`."""
        title = self.title
        return (_REMARK.sub("", title) or title).casefold()

    @property
    def lead(self) -> bytes:
        """The source between the heading and the first entry."""
        return self._buffer[self._marks[0] : self._marks[1]]

    @property
    def body(self) -> str:
        """The text between the heading and the first entry."""
        return decode(self.lead)

    @property
    def newline(self) -> str:
        """The line end that the section's own text uses most."""
        return newline_of(self.heading + self.lead)

    @property
    def raw(self) -> bytes:
        """The exact source of the section."""
        if self._entries is None:
            return self.heading + self._buffer[self._marks[0] : self._marks[-1]]
        return b"".join([self.heading, self.lead, *[entry.raw for entry in self._entries]])

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries in file order."""
        if self._entries is None:
            buffer, marks = self._buffer, self._marks
            ends = iter(marks)
            next(ends)
            start = next(ends)
            cut = []
            for end in ends:
                cut.append(Entry(buffer[start:end]))
                start = end
            object.__setattr__(self, "_entries", tuple(cut))
        assert self._entries is not None
        return self._entries

    def __len__(self) -> int:
        """Return the number of entries without cutting them out."""
        return len(self._marks) - 2 if self._entries is None else len(self._entries)

    def __bool__(self) -> bool:
        """A section is true, also an empty one."""
        return True

    def chunks(self, into: list[bytes]) -> None:
        """Append the section's source to a list, in as few pieces as it has."""
        if self.heading:
            into.append(self.heading)
        if self._entries is None:
            into.append(self._buffer[self._marks[0] : self._marks[-1]])
            return
        into.append(self.lead)
        into.extend([entry.raw for entry in self._entries])

    def entry_lines(self) -> list[int]:
        """Return the line of each entry within the section (the heading is line 0), and the line behind it."""
        if self._lines is None:
            line = count_line_ends(self.heading) + count_line_ends(self.lead)
            lines = [line]
            for entry in self.entries:
                line += count_line_ends(entry.raw)
                lines.append(line)
            object.__setattr__(self, "_lines", lines)
        assert self._lines is not None
        return self._lines

    def line_count(self) -> int:
        """Return the number of line ends in the section."""
        if self._lines is not None:
            return self._lines[-1]
        if self._entries is not None:
            return self.entry_lines()[-1]
        return count_line_ends(self.heading) + count_line_ends(self._buffer[self._marks[0] : self._marks[-1]])

    def with_body(self, body: str) -> Section:
        """Return the section with another body; raises `UsageError` where a heading or open block is in it."""
        lead = encode(body)
        heading = self.heading
        if lead and heading and not ends_line(heading):
            heading += self.newline.encode()
        if self.entries and not ends_line(lead):
            lead += self.newline.encode()
        outline = scan(lead)
        if outline.starts:
            raise UsageError("document.structure", "the text holds a heading of level 1 to 3", "add a section instead")
        if outline.open_end and not scan(self.lead).open_end:
            raise UsageError("document.unclosed", "a code fence or HTML block is never closed", "close it")
        return Section.of(self.level, heading, lead, self.entries)

    def with_title(self, title: str) -> Section:
        """Return the section under another title."""
        end = self.heading[len(self.heading.rstrip(b"\r\n")) :]
        return Section.of(self.level, encode(_heading_line(title, self.level)) + end, self.lead, self.entries)

    def with_entries(self, entries: Iterable[Entry]) -> Section:
        """Return the section with these entries and no other; spacing and line ends are the caller's care."""
        return Section.of(self.level, self.heading, self.lead, tuple(entries))
