"""The nodes of a lossless document: sections and entries that keep their exact source.

Nodes are immutable. An edit returns a new node and shares everything else, so that views cached on untouched entries
stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from memory.errors import UsageError

from .lines import (
    Bullet,
    FieldValues,
    count_line_ends,
    decode,
    encode,
    ended,
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
    from .tables import Table

T = TypeVar("T")
B = TypeVar("B", bound="Block")
_RAW = attrgetter("raw")
_REMARK = re.compile(r"\s*\([^()]*\)\s*$")


class Block:
    """The base of sections and entries: a body with fields, bullets and tables, and edits of it."""

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

    def memo(self: B, factory: Callable[[B], T]) -> T:
        """Return `factory(self)`, computed once: later versions of a document share unchanged blocks."""
        known: dict[Any, Any] = self.__dict__.setdefault("_memo", {})
        if factory not in known:
            known[factory] = factory(self)
        return known[factory]  # type: ignore[no-any-return]

    def set_field(self: B, key: str, value: str) -> B:
        """Return the block with one field set; one line is changed or added."""
        return self.with_body(set_field(self.body, key, value, self.newline, self.fields.nodes))

    def unset_field(self: B, key: str) -> B:
        """Return the block without the lines of one field."""
        return self.with_body(unset_field(self.body, key))


@dataclass(frozen=True, eq=False, slots=True)
class Entry(Block):
    """A level-3 heading with everything up to the next structural heading; `raw` is its exact source."""

    raw: bytes

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

    @cached_property
    def fields(self) -> FieldValues:
        """The `- key: value` fields of the body, cached."""
        return read_fields(self.body)

    @property
    def open_ended(self) -> bool:
        """Whether a fence or HTML block is still open at the end: what followed would not be a heading."""
        return scan(self.raw).open_end

    def with_title(self, title: str) -> Entry:
        """Return the entry under another title; only the heading line changes."""
        split = heading_end(self.raw)
        return self._edited(encode(heading_line(title, 3)) + _end_of_line(self.raw[:split]) + self.raw[split:])

    def with_body(self, body: str) -> Entry:
        """Return the entry with another body; raises `UsageError` where the result is not one entry."""
        heading = self.raw[: heading_end(self.raw)]
        return self._edited(b"".join(keep_apart(heading, encode(body), self.newline)))

    def _edited(self, raw: bytes) -> Entry:
        """Return the entry of an edited source, checked to be one entry that swallows no more than before."""
        if raw == self.raw:
            return self
        outline = scan(raw)
        if outline.starts == [0] and outline.levels == [3] and (not outline.open_end or self.open_ended):
            return Entry(raw)
        return Entry.from_text(decode(raw))


@dataclass(frozen=True, eq=False)
class Section(Block):
    """A heading of level 1 or 2 (0: the part before the first) with its own text and its entries.

    `heading` is the source of the heading's line, `lead` that between it and the first entry.
    """

    level: int
    heading: bytes
    lead: bytes = b""
    entries: tuple[Entry, ...] = ()

    @classmethod
    def compose(cls, title: str, level: int = 2, newline: str = "\n") -> Section:
        """Return a new, empty section."""
        return cls(level, encode(heading_line(title, level) + newline))

    @cached_property
    def title(self) -> str:
        """The heading's text, empty for the part before the first section."""
        return _title(self.heading)

    @cached_property
    def name(self) -> str:
        """The title in lower case without a remark in parentheses: `Completed (last 7 days)` → `completed`."""
        return (_REMARK.sub("", self.title) or self.title).casefold()

    @property
    def body(self) -> str:
        """The text between the heading and the first entry."""
        return decode(self.lead)

    @property
    def newline(self) -> str:
        """The line end that the section's own text uses most."""
        return newline_of(self.heading + self.lead)

    @property
    def parts(self) -> list[bytes]:
        """The source of the section's heading and text, and of each entry."""
        return [self.heading + self.lead, *map(_RAW, self.entries)]

    @property
    def raw(self) -> bytes:
        """The exact source of the section."""
        return b"".join(self.parts)

    @property
    def open_ended(self) -> bool:
        """Whether a fence or HTML block is still open at the end: what followed would not be a heading."""
        return self.entries[-1].open_ended if self.entries else scan(self.lead).open_end

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.entries)

    def __bool__(self) -> bool:
        """Return True, also for an empty section."""
        return True

    @cached_property
    def offsets(self) -> list[int]:
        """The offset of each entry in the section's source, and of the end of the last one, in bytes."""
        return list(accumulate(map(len, self.parts)))

    @cached_property
    def size(self) -> int:
        """The length of the source in bytes."""
        return self.offsets[-1]

    @cached_property
    def entry_lines(self) -> list[int]:
        """The line of each entry within the section (the heading is line 0), and the line after the last."""
        # The heading and the text are counted apart: a carriage return may end the one, a line feed begin the other.
        own = count_line_ends(self.heading) + count_line_ends(self.lead)
        return list(accumulate([count_line_ends(entry.raw) for entry in self.entries], initial=own))

    def with_body(self, body: str) -> Section:
        """Return the section with another body; raises `UsageError` where a heading or open block is in it."""
        lead = encode(body)
        if lead == self.lead:
            return self
        if self.entries:
            lead = ended(lead, self.newline)
        heading, lead = keep_apart(self.heading, lead, self.newline)
        outline = scan(lead)
        if outline.starts:
            raise UsageError("document.structure", "the text holds a heading of level 1 to 3", "add a section instead")
        if outline.open_end and (self.entries or not scan(self.lead).open_end):
            raise UsageError("document.unclosed", "a code fence or HTML block is never closed", "close it")
        return Section(self.level, heading, lead, self.entries)

    def with_title(self, title: str) -> Section:
        """Return the section under another title; only the heading line changes."""
        if not self.heading:
            raise UsageError("document.title", "the part before the first section has no title")
        heading = encode(heading_line(title, self.level)) + _end_of_line(self.heading)
        return Section(self.level, heading, self.lead, self.entries)

    def with_entries(self, entries: Iterable[Entry]) -> Section:
        """Return the section with these entries only; the caller takes care of spacing and line ends."""
        return Section(self.level, self.heading, self.lead, tuple(entries))

    def with_entry(self, index: int, new: Entry) -> Section:
        """Return the section with one entry replaced; the caller takes care of line ends."""
        return self.with_entries((*self.entries[:index], new, *self.entries[index + 1 :]))


def _title(raw: bytes) -> str:
    """Return the title of the heading line that a source begins with."""
    line = decode(raw[: heading_end(raw)])
    title = line.lstrip("#").strip()
    return title if title[-1:] != "#" else heading_title(line.rstrip("\r\n"))


def _end_of_line(line: bytes) -> bytes:
    return line[len(line.rstrip(b"\r\n")) :]


def keep_apart(heading: bytes, body: bytes, newline: str) -> tuple[bytes, bytes]:
    """Return a heading line and the body below it such that the heading stays a separate line when they are joined."""
    if body:
        heading = ended(heading, newline)
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
