"""The nodes of a lossless document: sections and entries that keep their exact source.

Nodes are immutable. An edit returns a new node and shares everything else, so that views cached on untouched entries
stay. The entries of a section are cut from the source on first use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import accumulate, islice, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING

from memory.errors import UsageError

from .lines import (
    Bullet,
    FieldValues,
    blank_end,
    count_line_ends,
    decode,
    encode,
    ends_line,
    heading_end,
    heading_line,
    heading_title,
    newline_of,
    read_bullets,
    read_fields,
    scan,
    set_field,
    unset_field,
)

if TYPE_CHECKING:
    from typing import Any, TypeVar

    from .tables import Table

    T = TypeVar("T")
    B = TypeVar("B", bound="Block")

_RAW = attrgetter("raw")
_REMARK = re.compile(r"\s*\([^()]*\)\s*$")


class Frozen:
    """An immutable object; only derived values are cached in it.

    A frozen dataclass would do the same, but its module takes longer to import than all nodes.
    """

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse to change the value."""
        raise AttributeError(f"{type(self).__name__}.{name} cannot be set")

    def __delattr__(self, name: str) -> None:
        """Refuse to change the value."""
        raise AttributeError(f"{type(self).__name__}.{name} cannot be deleted")


class Block(Frozen):
    """The base of sections and entries: a body with fields, bullets and tables, and edits of it."""

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
        """Return the block with one field set; one line is changed or added."""
        return self.with_body(set_field(self.body, key, value, self.newline, self.fields.nodes))

    def unset_field(self: B, key: str) -> B:
        """Return the block without the lines of one field."""
        return self.with_body(unset_field(self.body, key))


class Entry(Block):
    """A level-3 heading with everything up to the next structural heading; `raw` is its exact source."""

    __slots__ = ("_fields", "_memo", "raw")

    raw: bytes
    _fields: FieldValues | None
    _memo: tuple[Any, Any] | None

    def __init__(self, raw: bytes) -> None:
        """Store a source unchanged; the caller ensures that it is one entry."""
        _SET_RAW(self, raw)
        _SET_FIELDS(self, None)
        _SET_MEMO(self, None)

    def __repr__(self) -> str:
        """Return the source, for debugging."""
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
        """Return the entry of a text; raises `UsageError` (`document.structure`, `document.unclosed`)."""
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
        """The text after the heading line."""
        return decode(self.raw[heading_end(self.raw) :])

    @property
    def newline(self) -> str:
        """The line end that the entry uses most."""
        return newline_of(self.raw)

    @property
    def fields(self) -> FieldValues:
        """The `- key: value` fields of the body, cached."""
        if self._fields is None:
            fields = read_fields(self.body)
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
        """Return the entry with another body; raises `UsageError` where the result is not one entry."""
        heading = self.raw[: heading_end(self.raw)]
        return self._edited(b"".join(keep_apart(heading, encode(body), self.newline)))

    def with_raw(self, raw: bytes) -> Entry:
        """Return the entry with other trailing blank lines or line ends; the caller ensures that it stays one entry."""
        return Entry(raw)

    def _edited(self, raw: bytes) -> Entry:
        """Return the entry of an edited source, checked to be one entry that swallows no more than before."""
        if raw == self.raw:
            return self
        outline = scan(raw)
        if outline.starts == [0] and outline.levels == [3] and (not outline.open_end or self.open_ended):
            return Entry(raw)
        return Entry.from_text(decode(raw))


_SET_RAW: Callable[[Entry, bytes], None] = Entry.__dict__["raw"].__set__
_SET_FIELDS: Callable[[Entry, FieldValues | None], None] = Entry.__dict__["_fields"].__set__
_SET_MEMO: Callable[[Entry, tuple[Any, Any] | None], None] = Entry.__dict__["_memo"].__set__


class Section(Block):
    """A heading of level 1 or 2 (0: the part before the first) with its own body and its entries.

    `_buffer` is the source as it was read; `_marks` are the offsets of the body, of each entry, and of the end.
    `_entries` holds the entries after first use. In a section whose entries were changed, `_marks` covers only the
    body, and the entries hold the rest of the source: then `_is_whole` is false.
    """

    __slots__ = ("__dict__", "_buffer", "_entries", "_is_whole", "_marks", "_memo", "heading", "level")

    level: int
    heading: bytes
    _buffer: bytes
    _marks: Sequence[int]  # body, entries…, end
    _entries: tuple[Entry, ...] | None
    _is_whole: bool
    _memo: dict[Callable[[Section], Any], Any]

    def __init__(
        self, level: int, heading: bytes, buffer: bytes, marks: Sequence[int], entries: tuple[Entry, ...] | None = None
    ) -> None:
        """Store the parts unchanged; the caller ensures that they are one section."""
        keep = object.__setattr__
        keep(self, "level", level)
        keep(self, "heading", heading)
        keep(self, "_buffer", buffer)
        keep(self, "_marks", marks)
        keep(self, "_entries", entries)
        keep(self, "_is_whole", entries is None or len(marks) == len(entries) + 2)
        keep(self, "_memo", {})

    def __repr__(self) -> str:
        """Return level and heading, for debugging."""
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

    @cached_property
    def title(self) -> str:
        """The heading's text, empty for the part before the first section."""
        return _title(self.heading)

    @cached_property
    def name(self) -> str:
        """The title in lower case without a remark in parentheses: `Completed (last 7 days)` → `completed`."""
        title = self.title
        # Most titles have no remark, and checking their last character is quick.
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
        return joined((self,))

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
        """Return the source of one entry without cutting out the others."""
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

    @cached_property
    def blank_ends(self) -> tuple[int, int, int]:
        """What the section says on blank lines before headings: headings, votes for such lines, the vote of its end.

        A vote is 1 for a heading with a blank line before it and -1 for one without, 0 where the end has no text. The
        end counts only where another heading follows.
        """
        votes = seen = 0
        count, lead = len(self), self.lead
        if count > 1:
            some = min(20, count - 1)
            known = self._entries
            ends = map(self.source, range(some)) if known is None else map(_RAW, known[:some])
            first = [end.endswith(b"\n\n") or blank_end(end) for end in ends]
            votes = 2 * sum(first) - len(first)
            seen = len(first)
        if self.heading and not lead.strip():
            votes += 1 if lead else -1
            seen += 1
        end = self.source(-1) if count else lead
        last = (1 if blank_end(end) else -1) if self.heading and end.strip() else 0
        return seen, votes, last

    @property
    def marks(self) -> tuple[bytes, Sequence[int]] | None:
        """The bytes that the section was read from and the offsets of body, entries and end; None after an edit."""
        return (self._buffer, self._marks) if self._is_whole else None

    def __len__(self) -> int:
        """Return the number of entries without cutting them out."""
        return len(self._marks) - 2 if self._entries is None else len(self._entries)

    def __bool__(self) -> bool:
        """Return True, also for an empty section."""
        return True

    @cached_property
    def size(self) -> int:
        """The length of the source in bytes."""
        if self._is_whole:
            return len(self.heading) + self._marks[-1] - self._marks[0]
        return self.offsets[-1]

    @cached_property
    def offsets(self) -> list[int]:
        """The offset of each entry in the section's source, and of the end of the last one, in bytes."""
        at = len(self.heading)
        if self._is_whole:
            return [mark - self._marks[0] + at for mark in islice(self._marks, 1, None)]
        sizes = [len(entry.raw) for entry in self.entries]
        return list(accumulate(sizes, initial=at + self._marks[-1] - self._marks[0]))

    @cached_property
    def entry_lines(self) -> list[int]:
        """The line of each entry within the section (the heading is line 0), and the line after the last."""
        sources = [entry.raw for entry in self.entries]
        counts = [source.count(b"\n") for source in sources]
        if b"\r" in b"".join(sources):
            counts = list(map(count_line_ends, sources))
        first = count_line_ends(self.heading) + count_line_ends(self.lead)
        return list(accumulate(counts, initial=first))

    @cached_property
    def line_count(self) -> int:
        """The number of line ends in the section."""
        if "entry_lines" in self.__dict__ or not self._is_whole:
            return self.entry_lines[-1]
        return count_line_ends(self.heading) + count_line_ends(self._buffer[self._marks[0] : self._marks[-1]])

    def memo(self, factory: Callable[[Section], T]) -> T:
        """Return `factory(self)`, computed once: later versions of a document share unchanged sections."""
        if factory not in self._memo:
            self._memo[factory] = factory(self)
        return self._memo[factory]  # type: ignore[no-any-return]

    def with_body(self, body: str) -> Section:
        """Return the section with another body; raises `UsageError` where a heading or open block is in it."""
        lead = encode(body)
        if lead == self.lead:
            return self
        if self.entries and not ends_line(lead):
            lead += self.newline.encode()
        heading, lead = keep_apart(self.heading, lead, self.newline)
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
        """Return the section with these entries only; the caller takes care of spacing and line ends."""
        return Section.of(self.level, self.heading, self.lead, tuple(entries))

    def with_entry(self, index: int, new: Entry) -> Section:
        """Return the section with one entry replaced; the caller takes care of line ends."""
        old = self.entries
        return self.with_entries((*old[:index], new, *old[index + 1 :]))


def joined(sections: Iterable[Section], top: bytes = b"") -> bytes:
    """Return the source of sections in one piece, behind what stands above them; a file has thousands."""
    pieces: list[bytes | memoryview] = [top]
    for section in sections:
        pieces += (section.heading, memoryview(section._buffer)[section._marks[0] : section._marks[-1]])
        if section._entries is not None and not section._is_whole:
            pieces += map(_RAW, section._entries)
    return b"".join(pieces)


def _title(raw: bytes) -> str:
    """Return the title of the heading line that a source begins with."""
    line = raw[: heading_end(raw)].decode("utf-8", "surrogateescape")
    return heading_title(line.rstrip("\r\n"))


def _end_of_line(line: bytes) -> bytes:
    return line[len(line.rstrip(b"\r\n")) :]


def keep_apart(heading: bytes, body: bytes, newline: str) -> tuple[bytes, bytes]:
    """Return a heading line and the body below it such that the heading stays a separate line when they are joined."""
    if body and not ends_line(heading):
        heading += newline.encode()
    if heading.endswith(b"\r") and body.startswith(b"\n"):
        body = b"\r" + body[1:]  # Else the two would be one line end, and a blank line gone.
    return heading, body


def bare(entry: Entry) -> bytes:
    """Return an entry's source without the blank lines at its end, which only separate entries."""
    return entry.raw.rstrip(b" \t\r\n")


def field_line(entry: Entry, key: str, heading: int) -> int:
    """Return the line of a field of an entry whose heading is in the line `heading`; `heading` if it has none."""
    for node in entry.fields.nodes:
        if node.key == key:
            return heading + 1 + node.line
    return heading
