"""Refs: short names such as `tasks#3fa94c1b2d`, derived from an entry's identity, never written into a file.

The first ten hex digits come from the identity (kind of file and, for a task, title and `created`), so a ref stays
while an entry moves between sections and files and while its other fields change. Entries with the same identity are
twins: their refs have more digits, derived from their whole text. So such a ref never passes from one twin to another,
whether one is removed, completed or archived, or another program reorders them. Byte-equal twins are distinguished by
their position and their number; when one of them is removed, the refs of all of them become invalid. The long form of
an entry without twins is accepted as well, so a ref stays valid after the twin is archived.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple, Protocol

from memory.base.safe_text import cut
from memory.base.values import is_absent
from memory.document import Document, Entry
from memory.document.lines import encode


class Holder(Protocol):
    """The entries of one file."""

    file: str
    document: Document


SHORT = 10
"""How many hex digits come from the identity alone."""
_MORE = 8
_REF = re.compile(r"(?:([^#\s]+)#)?([0-9a-fA-F]{7,})")


class RefTrace(NamedTuple):
    """What the change log knows about an entry that a ref once meant.

    `words` say what was done to it, by whom and when ("was removed by cli at 2024-01-15 13:04"). `source` is its source
    without trailing blank lines, where it was only edited; `ref` its new ref, where its title or date changed. `gone`
    says that it was removed. Without any of these, the log does not show which entry it is now.
    """

    words: str
    title: str
    source: bytes | None = None
    ref: str | None = None
    gone: bool = False
    details: Mapping[str, str] = {}


Past = Callable[[str, str], RefTrace | None]
"""Looks up a kind of entries and the digits of a ref in the change log; None where nothing is known."""


def identity_hex(*parts: str) -> str:
    """Return the ten hex digits of an identity: the kind of file first, then the parts that identify the entry."""
    return str(blake2b(encode("\0".join(parts)), digest_size=SHORT // 2).hexdigest())


def tell_apart(identity: str, marks: Sequence[bytes]) -> list[str]:
    """Return the long hex digits of twins, in the order of their `marks`; no two are equal.

    A mark is the text of a twin. Equal marks are counted from the end, and their number goes into the digits: the
    digits of one of three are never those of one of two.
    """
    if len(marks) == 1:
        # The usual case.
        return [identity + _digest(identity, 0, 1, marks[0])[:_MORE]]
    count = Counter(marks)
    seen: dict[bytes, int] = {}
    digests = []
    for mark in reversed(marks):
        place = seen.get(mark, 0)
        seen[mark] = place + 1
        digests.append(_digest(identity, place, count[mark], mark))
    digests.reverse()
    digits = _MORE
    while digits < 128 and len({digest[:digits] for digest in digests}) < len(digests):
        digits += 4
    return [identity + digest[:digits] for digest in digests]


def _digest(identity: str, place: int, count: int, mark: bytes) -> str:
    """Return the digits of a twin: the number `place` of `count` with the same mark, from 0 at the end."""
    return str(blake2b(f"{identity}\0{place}\0{count}\0".encode() + mark).hexdigest())


def read_ref(text: str) -> tuple[str | None, str] | None:
    """Return (kind or file, hex digits) if a text has the form of a ref or of its digits alone, else None."""
    found = _REF.fullmatch(text.strip())
    return (found[1], found[2].lower()) if found else None


def fits(item: Any, digits: str) -> bool:
    """Return whether hex digits are the beginning of an item's ref, short or long."""
    identity: str = item.identity
    if len(digits) <= SHORT:
        return identity.startswith(digits)
    return digits.startswith(identity) and str(item.long_hex).startswith(digits)


def short(name: str) -> str:
    """Return a name in quotes, cut after 60 characters."""
    return repr(cut(name))


# -- items of the small files ------------------------------------------------------------------------------------


class Name(NamedTuple):
    """The names of an item: ten hex digits, the digits that no other item of the file has, and the shown ref."""

    identity: str
    long_hex: str
    ref: str


@dataclass(frozen=True, slots=True)
class NamedItem:
    """An item with the names of `Name` and a place: `file` relative to the memory folder, `line` from 0."""

    identity: str
    long_hex: str
    ref: str
    file: str
    line: int


class PlacedEntry:
    """An entry of a file that is read when it is asked for.

    `at` is (section index, entry index), `raw` the entry as written. `line` says that it is an item of a list above the
    first entry of its section, in that line of it: such items count down to -1, the last one.
    """

    __slots__ = ("_line", "_of", "at", "raw")

    def __init__(self, of: Holder, at: tuple[int, int], raw: Entry, line: int | None = None) -> None:
        """Store the file that holds the entry, and where it is there."""
        self._of = of
        self.at = at
        self.raw = raw
        self._line = line

    @property
    def file(self) -> str:
        """The file's name relative to the memory folder."""
        return self._of.file

    @property
    def document(self) -> Document:
        """The document that contains the entry."""
        return self._of.document

    @property
    def is_item(self) -> bool:
        """Whether the entry is an item of a list, which an edit makes an entry."""
        return self._line is not None

    @property
    def line(self) -> int:
        """The line of the heading, from 0."""
        if self._line is not None:
            return self.document.line_of(self.at[0]) + self._line
        return self.document.line_of(*self.at)


class NamedEntry(PlacedEntry):
    """An entry whose names are known; `entry` is the one in the plain form."""

    def __init__(self, of: Holder, at: tuple[int, int], entry: Entry, name: Name) -> None:
        """Store the entry, its names and where it is."""
        super().__init__(of, at, entry)
        self.entry = entry
        self.identity, self.long_hex, self.ref = name

    @property
    def title(self) -> str:
        """The heading."""
        return self.entry.title

    def text_of(self, key: str) -> str | None:
        """Return the text of a field; None where it is missing or means "none"."""
        value = self.entry.fields.get(key)
        return None if value is None or is_absent(value) else value


class Fielded(Protocol):
    """An item with fields."""

    def text_of(self, key: str) -> str | None:
        """Return the text of a field, None where there is none."""


class FieldText:
    """A property of an item: the text of one field of its entry."""

    def __init__(self, key: str) -> None:
        """Store the field's key."""
        self._key = key

    def __get__(self, item: Fielded, owner: object) -> str | None:
        """Return the text in an item, None where there is none."""
        return item.text_of(self._key)


def name_all(kind: str, parts: Sequence[Sequence[str]], marks: Sequence[bytes] | None = None) -> list[Name]:
    """Return the names of all items of a file in their order.

    `parts` are the identities, `marks` distinguish items with equal ones: their whole text.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, known in enumerate(parts):
        groups.setdefault(tuple(known), []).append(index)
    names: dict[int, Name] = {}
    for known, members in groups.items():
        identity = identity_hex(kind, *known)
        digits = tell_apart(identity, [b"" if marks is None else marks[index] for index in members])
        for index, long_hex in zip(members, digits, strict=True):
            names[index] = Name(identity, long_hex, f"{kind}#{identity if len(members) == 1 else long_hex}")
    return [names[index] for index in range(len(parts))]
