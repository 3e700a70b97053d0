"""The nodes of a lossless document: sections and entries that keep their exact source.

Nodes are immutable. An edit returns a new node and shares everything else, so that views cached on untouched
entries stay. Entries of a section are cut out of the source only when somebody asks for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, islice, pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from memory.base.patterns import late
from memory.errors import UsageError

from .fields import Bullet, FieldValues, read_bullets, read_fields, set_field, unset_field
from .lines_and_headings import (
    count_line_ends,
    decode,
    encode,
    ends_line,
    heading_end,
    heading_line,
    heading_title,
    newline_of,
    scan,
)

if TYPE_CHECKING:
    from .tables import Table

T = TypeVar("T")
_REMARK = late(r"\s*\([^()]*\)\s*$")


class Frozen:
    """What is never changed; only what it derives from itself is kept in it, by `object.__setattr__`.

    A frozen dataclass would be the same, and its module takes longer to import than all nodes.
    """

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse to change the value."""
        raise AttributeError(f"{type(self).__name__}.{name} cannot be set")

    def __delattr__(self, name: str) -> None:
        """Refuse to change the value."""
        raise AttributeError(f"{type(self).__name__}.{name} cannot be deleted")


class Block(Frozen):
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
    def fields(self) -> FieldValues:
        """The `- key: value` fields of the body."""
        return read_fields(self.body)

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


class Entry(Block):
    """A level-3 heading with everything up to the next structural heading; `raw` is its exact source."""

    __slots__ = ("_fields", "_memo", "raw")

    raw: bytes
    _fields: FieldValues | None
    _memo: tuple[Any, Any] | None

    def __init__(self, raw: bytes) -> None:
        """Take a source as it is; the caller knows that it is one entry."""
        _SET_RAW(self, raw)
        _SET_FIELDS(self, None)
        _SET_MEMO(self, None)

    def __repr__(self) -> str:
        """Return the source, for those who look for a mistake."""
        return f"Entry(raw={self.raw!r})"

    @classmethod
    def compose(cls, title: str, body: str = "", newline: str = "\n") -> Entry:
        """Return a new entry; the body's lines get `newline`. Raises `UsageError` as `from_text` does."""
        heading = heading_line(title, 3)
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
        return _title(self.raw)

    @property
    def body(self) -> str:
        """The text behind the heading line."""
        return decode(self.raw[heading_end(self.raw) :])

    @property
    def newline(self) -> str:
        """The line end that the entry uses most."""
        return newline_of(self.raw)

    @property
    def fields(self) -> FieldValues:
        """The `- key: value` fields of the body, read once."""
        if self._fields is None:
            fields = read_fields(self.raw)
            _SET_FIELDS(self, fields)
            return fields
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
        _SET_MEMO(self, (factory, value))
        return value

    def with_title(self, title: str) -> Entry:
        """Return the entry under another title; only the heading line changes."""
        split = heading_end(self.raw)
        return self._edited(encode(heading_line(title, 3)) + _end_of_line(self.raw[:split]) + self.raw[split:])

    def with_body(self, body: str) -> Entry:
        """Return the entry with another body; raises `UsageError` where it would not stay one entry."""
        heading = self.raw[: heading_end(self.raw)]
        return self._edited(_join(heading, encode(body), self.newline))

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


_SET_RAW: Callable[[Entry, bytes], None] = Entry.__dict__["raw"].__set__
_SET_FIELDS: Callable[[Entry, FieldValues | None], None] = Entry.__dict__["_fields"].__set__
_SET_MEMO: Callable[[Entry, tuple[Any, Any] | None], None] = Entry.__dict__["_memo"].__set__


class Section(Block):
    """A heading of level 1 or 2 (0: the part before the first) with its own body and its entries.

    `_buffer` and `_marks` hold the source as it was read: offsets of the body, of each entry, and of the end.
    `_entries` holds the entries once they were asked for. In a section whose entries were changed the marks are
    those of the body alone, and the entries hold the rest of the source.
    """

    __slots__ = ("_buffer", "_count", "_entries", "_lines", "_marks", "_offsets", "_titled", "heading", "level")

    level: int
    heading: bytes
    _buffer: bytes
    _marks: Sequence[int]  # body, entries…, end
    _entries: tuple[Entry, ...] | None
    _lines: list[int] | None
    _count: int | None
    _offsets: list[int] | None
    _titled: str | None

    def __init__(
        self, level: int, heading: bytes, buffer: bytes, marks: Sequence[int], entries: tuple[Entry, ...] | None = None
    ) -> None:
        """Take the parts as they are; the caller knows that they are one section."""
        keep = object.__setattr__
        keep(self, "level", level)
        keep(self, "heading", heading)
        keep(self, "_buffer", buffer)
        keep(self, "_marks", marks)
        keep(self, "_entries", entries)
        keep(self, "_lines", None)
        keep(self, "_count", None)
        keep(self, "_offsets", None)
        keep(self, "_titled", None)

    def __repr__(self) -> str:
        """Return level and heading, for those who look for a mistake."""
        return f"Section(level={self.level}, heading={self.heading!r})"

    @classmethod
    def compose(cls, title: str, level: int = 2, newline: str = "\n") -> Section:
        """Return a new, empty section."""
        heading = encode(heading_line(title, level) + newline)
        return cls(level, heading, b"", (0, 0), ())

    @classmethod
    def of(cls, level: int, heading: bytes, lead: bytes, entries: tuple[Entry, ...]) -> Section:
        """Return a section of these parts."""
        return cls(level, heading, lead, (0, len(lead)), entries)

    @property
    def title(self) -> str:
        """The heading's text, empty for the part before the first section."""
        if self._titled is None:
            object.__setattr__(self, "_titled", _title(self.heading))
        assert self._titled is not None
        return self._titled

    @property
    def name(self) -> str:
        """The title without case and without a remark in parentheses: `Completed (last 7 days)` → `completed`."""
        title = self.title
        # Most titles have no remark, and to look at their last character takes no time.
        return ((_REMARK.sub("", title) if title.endswith(")") else "") or title).casefold()

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
        chunks: list[bytes | memoryview] = []
        self.chunks(chunks)
        return b"".join(chunks)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries in file order."""
        if self._entries is None:
            buffer, marks = self._buffer, self._marks
            cut = tuple([Entry(buffer[start:end]) for start, end in pairwise(islice(marks, 1, None))])
            object.__setattr__(self, "_entries", cut)
        assert self._entries is not None
        return self._entries

    def source(self, index: int) -> bytes:
        """Return the source of one entry; the others are not cut out for it."""
        if self._entries is not None:
            return self._entries[index].raw
        begin = index % len(self) + 1
        return self._buffer[self._marks[begin] : self._marks[begin + 1]]

    @property
    def open_ended(self) -> bool:
        """Whether a fence or HTML block is still open at the end: what followed would not be a heading."""
        return self.entries[-1].open_ended if len(self) else scan(self.lead).open_end

    @property
    def ends_line(self) -> bool:
        """Whether the section's source ends with a line end (or is empty), so that a heading may follow."""
        if self._is_whole:
            last = self._buffer[max(self._marks[0], self._marks[-1] - 1) : self._marks[-1]]
            return ends_line(last or self.heading)
        return ends_line(self.entries[-1].raw)

    @property
    def _is_whole(self) -> bool:
        """Whether `_buffer` and `_marks` hold the whole source."""
        return self._entries is None or len(self._marks) == len(self._entries) + 2

    def marks_in(self, data: bytes) -> Sequence[int] | None:
        """Return the offsets of body, entries and end in `data`; None for a section that was not read from there."""
        return self._marks if self._buffer is data and self._is_whole else None

    def __len__(self) -> int:
        """Return the number of entries without cutting them out."""
        return len(self._marks) - 2 if self._entries is None else len(self._entries)

    def __bool__(self) -> bool:
        """A section is true, also an empty one."""
        return True

    def chunks(self, into: list[bytes | memoryview]) -> None:
        """Append the section's source to a list, in as few pieces as it has."""
        if self.heading:
            into.append(self.heading)
        if self._is_whole:
            into.append(memoryview(self._buffer)[self._marks[0] : self._marks[-1]])
            return
        into.append(self.lead)
        into.extend([entry.raw for entry in self.entries])

    def size(self) -> int:
        """Return the length of the source in bytes."""
        if self._is_whole:
            return len(self.heading) + self._marks[-1] - self._marks[0]
        return self.offsets()[-1]

    def offsets(self) -> list[int]:
        """Return where in the section's source each entry begins, and where the last one ends, in bytes."""
        at = len(self.heading)
        if self._is_whole:
            return [mark - self._marks[0] + at for mark in islice(self._marks, 1, None)]
        if self._offsets is None:
            sizes = [len(entry.raw) for entry in self.entries]
            known = list(accumulate(sizes, initial=at + self._marks[-1] - self._marks[0]))
            object.__setattr__(self, "_offsets", known)
        assert self._offsets is not None
        return self._offsets

    def entry_lines(self) -> list[int]:
        """Return the line of each entry within the section (the heading is line 0), and the line behind it."""
        if self._lines is None:
            sources = [entry.raw for entry in self.entries]
            counts = [source.count(b"\n") for source in sources]
            if any(b"\r" in source for source in sources):
                counts = list(map(count_line_ends, sources))
            first = count_line_ends(self.heading) + count_line_ends(self.lead)
            object.__setattr__(self, "_lines", list(accumulate(counts, initial=first)))
        assert self._lines is not None
        return self._lines

    def take_lines(self, before: Section, head: int, tail: int) -> None:
        """Take the lines of an earlier version that agrees but for its entries between `head` and `tail`."""
        known = before._lines
        if known is None or self._lines is not None:
            return
        lines = known[: head + 1]
        for entry in self.entries[head : len(self.entries) - tail]:
            lines.append(lines[-1] + count_line_ends(entry.raw))
        rest = known[len(known) - tail :]
        move = lines[-1] - known[len(known) - tail - 1]
        object.__setattr__(self, "_lines", lines + ([line + move for line in rest] if move else rest))

    def line_count(self) -> int:
        """Return the number of line ends in the section."""
        if self._lines is not None:
            return self._lines[-1]
        if self._count is None:
            if not self._is_whole:
                return self.entry_lines()[-1]
            lines = count_line_ends(self.heading) + count_line_ends(self._buffer[self._marks[0] : self._marks[-1]])
            object.__setattr__(self, "_count", lines)
        assert self._count is not None
        return self._count

    def with_body(self, body: str) -> Section:
        """Return the section with another body; raises `UsageError` where a heading or open block is in it."""
        lead = encode(body)
        if lead == self.lead:
            return self
        if self.entries and not ends_line(lead):
            lead += self.newline.encode()
        heading = self.heading
        if heading:
            whole = _join(heading, lead, self.newline)
            heading, lead = whole[: heading_end(whole)], whole[heading_end(whole) :]
        outline = scan(lead)
        if outline.starts:
            raise UsageError("document.structure", "the text holds a heading of level 1 to 3", "add a section instead")
        if outline.open_end and (self.entries or not scan(self.lead).open_end):
            raise UsageError("document.unclosed", "a code fence or HTML block is never closed", "close it")
        return Section.of(self.level, heading, lead, self.entries)

    def with_title(self, title: str) -> Section:
        """Return the section under another title; only the heading line changes."""
        if not self.heading:
            raise UsageError("document.title", "the part before the first section has no title")
        heading = encode(heading_line(title, self.level)) + _end_of_line(self.heading)
        return Section(self.level, heading, self._buffer, self._marks, self._entries)

    def with_entries(self, entries: Iterable[Entry]) -> Section:
        """Return the section with these entries and no other; spacing and line ends are the caller's care."""
        return Section.of(self.level, self.heading, self.lead, tuple(entries))

    def with_entry(self, index: int, new: Entry) -> Section:
        """Return the section with one entry replaced; line ends are the caller's care."""
        old = self.entries
        section = self.with_entries((*old[:index], new, *old[index + 1 :]))
        section.take_lines(self, index, len(old) - index - 1)
        return section


def _title(raw: bytes) -> str:
    """Return the title of the heading line that a source begins with."""
    line = raw[: heading_end(raw)].decode("utf-8", "surrogateescape")
    return heading_title(line.rstrip("\r\n"))


def _end_of_line(line: bytes) -> bytes:
    return line[len(line.rstrip(b"\r\n")) :]


def _join(heading: bytes, body: bytes, newline: str) -> bytes:
    """Put a body behind its heading line; the line stays a line of its own."""
    if body and not ends_line(heading):
        heading += newline.encode()
    if heading.endswith(b"\r") and body.startswith(b"\n"):
        body = b"\r" + body[1:]  # Else the two would be one line end, and a blank line gone.
    return heading + body


def bare(entry: Entry) -> bytes:
    """Return an entry's source without the blank lines behind it, which only keep entries apart."""
    return entry.raw.rstrip(b" \t\r\n")
