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
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Generic, NamedTuple, TypeVar

from memory.base.safe_text import cut
from memory.document import Document, Entry
from memory.document.lines import encode
from memory.document.nodes import bare
from memory.files.fields.values import text_or_none

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
    count, seen = Counter(marks), Counter[bytes]()
    digests = []
    for mark in reversed(marks):
        digests.append(_digest(identity, seen[mark], count[mark], mark))
        seen[mark] += 1
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
    """Return whether more than `SHORT` hex digits are the beginning of an item's ref in its long form."""
    return digits.startswith(item.identity) and str(item.long_hex).startswith(digits)


def short(name: str) -> str:
    """Return a name in quotes, cut after 60 characters."""
    return repr(cut(name))


# -- the entries of a file, and what names them -------------------------------------------------------------------

Place = tuple[Any, ...]
"""Where an entry is: (section index, entry index), with the number of a bullet or a row behind it where it is one."""


class Item:
    """An entry, a bullet or a row of a file; `of` is the view of the file that holds it.

    Every item has a `line`, too, that counts from 0.
    """

    __slots__ = ()
    of: FileView[Any]
    at: Place

    @property
    def title(self) -> str:
        """What it is called, and looked up by."""
        raise NotImplementedError

    @property
    def identity(self) -> str:
        """Ten hex digits made of what identifies the item; twins have the same."""
        raise NotImplementedError

    @property
    def mark(self) -> bytes:
        """What distinguishes twins: the whole item."""
        return b""

    @property
    def is_open(self) -> bool:
        """Whether it is what is meant where others that are done have its title too."""
        return False

    def has_id(self, text: str) -> bool:  # noqa: ARG002
        """Return whether a text is the id that the item has itself."""
        return False

    @property
    def is_run(self) -> bool:
        """Whether it is a completed run of a recurring task, which short digits never name."""
        return False

    @property
    def file(self) -> str:
        """The file's name relative to the memory folder."""
        return self.of.file

    @property
    def document(self) -> Document:
        """The document that contains the item."""
        return self.of.document

    @property
    def long_hex(self) -> str:
        """The digits that no other item of the file has."""
        return self.of.long_hex(self)

    @property
    def ref_hex(self) -> str:
        """The digits of the ref: ten, more for twins and for completed runs."""
        return self.of.hex_of(self)

    @property
    def ref(self) -> str:
        """The ref, `<kind>#<digits>`."""
        return f"{self.of.kind}#{self.of.hex_of(self)}"


T = TypeVar("T", bound=Item)


class FileView(Generic[T]):
    """The items of one file, in file order, and how they are told apart."""

    kind = ""
    """What the refs of the items begin with."""

    def __init__(self, file: str, document: Document) -> None:
        """Store the file; subclasses read the items."""
        self.file = file
        self.document = document
        self.items: tuple[T, ...] = ()
        self._groups: dict[object, dict[str, list[T]]] = {}
        self._short: dict[Place, str] = {}
        self._long: dict[Place, str] = {}

    def __iter__(self) -> Iterator[T]:
        """Iterate over the items in file order."""
        return iter(self.items)

    def listed(self) -> Sequence[T]:
        """Return the items as they are listed: in file order."""
        return self.items

    def at(self, *place: int | None) -> T:
        """Return the item at a place; KeyError where there is none."""
        for one in self:
            if one.at == place:
                return one
        raise KeyError(place)

    def scope_of(self, item: T) -> object:  # noqa: ARG002
        """Return what all twins of an item share beside their identity; only items of that scope are read for one."""
        return None

    def in_scope(self, scope: Any) -> Iterable[T]:  # noqa: ARG002
        """Return the items of a scope."""
        return self

    def twins(self, item: T) -> Sequence[T]:
        """Return the items of the same identity, in file order."""
        scope = self.scope_of(item)
        if scope not in self._groups:
            groups = self._groups[scope] = defaultdict(list)
            for one in self.in_scope(scope):
                groups[one.identity].append(one)
        return self._groups[scope][item.identity]

    def hex_of(self, item: T) -> str:
        """Return the digits of an item's ref: short ones where they name it only."""
        if item.at not in self._short:
            group = self.twins(item)
            alone = sum(not one.is_run for one in group) < 2
            for one in group:
                self._short[one.at] = one.identity if alone and not one.is_run else self.long_hex(one)
        return self._short[item.at]

    def long_hex(self, item: T) -> str:
        """Return the digits that no other item of the file has."""
        if item.at not in self._long:
            group = self.twins(item)
            digits = tell_apart(item.identity, [one.mark for one in group])
            self._long.update(zip([one.at for one in group], digits, strict=True))
        return self._long[item.at]


class PlacedEntry(Item):
    """An entry of a file that is read when it is asked for.

    `at` is (section index, entry index), `raw` the entry as written. `listed` says that it is an item of a list above
    the first entry of its section, in that line of it: such items count down to -1, the last one.
    """

    __slots__ = ("_listed", "at", "of", "raw")
    at: tuple[int, int]

    def __init__(self, of: FileView[Any], at: tuple[int, int], raw: Entry, listed: int | None = None) -> None:
        """Store the view of the file that holds the entry, and where it is there."""
        self.of = of
        self.at = at
        self.raw = raw
        self._listed = listed

    @property
    def entry(self) -> Entry:
        """The entry in the plain form."""
        return self.raw

    @property
    def title(self) -> str:
        """The heading."""
        return self.entry.title

    @property
    def mark(self) -> bytes:
        """The entry without the blank lines behind it."""
        return bare(self.entry)

    @property
    def is_item(self) -> bool:
        """Whether the entry is an item of a list, which an edit makes an entry."""
        return self._listed is not None

    @property
    def line(self) -> int:
        """The line of the heading, from 0."""
        if self._listed is not None:
            return self.document.line_of(self.at[0]) + self._listed
        return self.document.line_of(*self.at)

    def text_of(self, key: str) -> str | None:
        """Return the text of a field; None where it is missing or means "none"."""
        return text_or_none(self.entry.fields.get(key))


class FieldText:
    """A property of an entry: the text of one field."""

    def __init__(self, key: str) -> None:
        """Store the field's key."""
        self._key = key

    def __get__(self, item: PlacedEntry, owner: object) -> str | None:
        """Return the text in an entry, None where there is none."""
        return item.text_of(self._key)
