"""Refs: short names such as `tasks#3fa94c1b2d`, derived from an entry's identity, never written into a file.

The first ten hex digits come from the identity (kind of file and, for a task, title and `created`), so a ref stays
while an entry moves between sections and files and while its other fields change. Entries with the same identity are
twins: their refs have more digits, derived from their whole text. So such a ref never passes from one twin to another,
whether one is removed, completed or archived, or another program reorders them. Byte-equal twins are distinguished by
their position and their number; when one of them is removed, the refs of all of them become invalid. The long form of
an entry without twins is accepted as well, so a ref stays valid after the twin is archived. A ref that fits no entry is
looked up in the change log (`Past`): an entry that was edited since is found, and for any other the error says what
happened to it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from memory.base.safe_text import cut
from memory.base.values import folded, is_absent
from memory.document.lines import encode
from memory.document.nodes import bare
from memory.errors import AmbiguousError, EntryChoice, NotFoundError

if TYPE_CHECKING:
    from memory.document import Document, Entry
    from memory.files.snapshot import Snapshot


class Holder(Protocol):
    """The entries of one file."""

    file: str
    document: Document


class Referable(Protocol):
    """An item that can be looked up by ref or title."""

    @property
    def ref(self) -> str:
        """The shown ref."""

    @property
    def identity(self) -> str:
        """The ten hex digits of the identity."""

    @property
    def long_hex(self) -> str:
        """The digits that no other entry of the file has."""

    @property
    def title(self) -> str:
        """The title without priority, time and the like."""

    @property
    def file(self) -> str:
        """The file's name relative to the memory folder."""

    @property
    def line(self) -> int:
        """The line, from 0."""


T = TypeVar("T", bound=Referable)

SHORT = 10
"""How many hex digits come from the identity alone."""
_MORE = 8
_REF = re.compile(r"(?:([^#\s]+)#)?([0-9a-fA-F]{7,})")
_MAX_CANDIDATES = 20


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


def fits(item: Referable, digits: str) -> bool:
    """Return whether hex digits are the beginning of an item's ref, short or long."""
    identity = item.identity
    if len(digits) <= SHORT:
        return identity.startswith(digits)
    return digits.startswith(identity) and item.long_hex.startswith(digits)


class Lookup(NamedTuple, Generic[T]):
    """How an entry of one kind is found: by its ref, the ref's hex digits (7 or more), or a part of its title.

    `kind` is in the refs, `noun` in messages and codes. `items` returns the entries of the file, `archive` those of its
    archives. `is_open` tells which entry is meant where others have its title too, and `is_run` which entries short
    digits do not name. Without `traced` no outdated ref is looked up in the change log.
    """

    kind: str
    noun: str
    items: Callable[[Snapshot], Iterable[T]]
    archive: Callable[[Snapshot], Iterable[T]] | None = None
    is_open: Callable[[T], bool] = lambda _: False
    is_run: Callable[[T], bool] | None = None
    traced: bool = True

    def find(self, snapshot: Snapshot, text: str, *, archived: bool = False) -> T:
        """Return the one entry that a text names; archives are asked if `archived` says so, after the file.

        In a ref, `kind#…` may name a file instead, and then only that file is searched. An exact whole title wins over
        titles that merely contain it. Where it matches one open entry and others, the open one is meant, and the
        snapshot gets a remark about it. A ref that fits no entry is looked up in the change log. Raises NotFoundError
        `<noun>.not_found`, `<noun>.archived`, `<noun>.gone` (removed) or `<noun>.renamed`, and AmbiguousError
        `<noun>.ambiguous` whose `candidates` hold ref (in its longer form), title, file and line of each match, and
        whose `choices` hold the same for the user.
        """
        name = text.strip()
        ref = read_ref(name)
        for pool in (self.items, *([self.archive] if archived and self.archive else ())):
            asked = pool(snapshot)
            items = asked if isinstance(asked, Sequence) else list(asked)
            found: list[T] = []
            if ref is not None:
                scope, digits = ref
                whole = scope in (None, self.kind)
                found = self._by_digits(
                    items if whole else [item for item in items if item.file in (scope, f"{scope}.md")], digits
                )
            if not found and name and (ref is None or ref[0] is None):
                part = folded(name)
                found = [item for item in items if item.title == name]
                found = found or [item for item in items if part in folded(item.title)]
                open_ones = list(filter(self.is_open, found))
                if len(open_ones) == 1 < len(found):
                    snapshot.remark(_open_one(name, open_ones[0], len(found) - 1))
                    found = open_ones
            if len(found) == 1:
                return found[0]
            if found:
                raise _ambiguous(name, self.noun, found)
        if ref is not None and ref[0] in (None, self.kind):
            return self._by_past(snapshot, name, ref[1], archived)
        raise _not_found(name, self.noun, "has the ref" if ref is not None and ref[0] is not None else "fits")

    def _by_digits(self, items: Iterable[T], digits: str) -> list[T]:
        found = [item for item in items if fits(item, digits)]
        if self.is_run is None or len(digits) > SHORT:
            return found
        return [item for item in found if not self.is_run(item)]

    def _by_past(self, snapshot: Snapshot, name: str, digits: str, archived: bool) -> T:
        """Return the entry that an outdated ref meant before an edit; else an error says what happened to it."""
        noun = self.noun
        past = snapshot.past if self.traced else None
        trace = None if past is None else past(self.kind, digits)
        source = None if trace is None else trace.source

        def unchanged(items: Iterable[T]) -> list[T]:
            known = ((item, getattr(item, "entry", None)) for item in items if source is not None)
            return [item for item, entry in known if entry and bare(entry) == source]

        asked = [*self.items(snapshot), *(self.archive(snapshot) if archived and self.archive else ())]
        known = [item for item in asked if item.identity.startswith(digits[:SHORT])]
        same = unchanged(known)
        if len(same) == 1:
            return same[0]
        stored = [] if archived or self.archive is None else list(self.archive(snapshot.readable()))
        if found := self._by_digits(stored, digits) or unchanged(stored):
            when = "" if trace is None else f": it {trace.words}"
            raise NotFoundError(
                f"{noun}.archived",
                f"the {_words(noun)} {short(found[0].title)} is in the archive{when}",
                f"it stands in {found[0].file}, and the archive is only read; `memdeck restore` brings it back",
                text=name,
                ref=found[0].ref,
                file=found[0].file,
                **({} if trace is None else trace.details),
            )
        if trace is not None and (trace.gone or trace.ref is not None):
            title = f"the {_words(noun)} {short(trace.title)} {trace.words}"
            if trace.ref is not None:
                hint, code = f"it is {trace.ref} since", "renamed"
            else:
                hint, code = "`memdeck changes show` has it, `memdeck changes revert` brings it back", "gone"
            details = {**trace.details, **({} if trace.ref is None else {"ref": trace.ref})}
            raise NotFoundError(f"{noun}.{code}", title, hint, text=name, **details)
        if known:
            words = "" if trace is None else f": the entry of that ref {trace.words}"
            raise _ambiguous(name, noun, known, f"{short(name)} names no {_words(noun)} any more{words}")
        raise _not_found(name, noun, "has the ref" if "#" in name else "fits")


def _not_found(name: str, noun: str, what: str) -> NotFoundError:
    message = f"no {_words(noun)} {what} {short(name)}"
    return NotFoundError(f"{noun}.not_found", message, "list them to see their refs", text=name)


def _open_one(name: str, item: Referable, others: int) -> str:
    more = "a completed one has this title too" if others == 1 else f"{others} completed ones have this title too"
    return f"{short(name)} means the open one, {item.ref}; {more}"


def _ambiguous(name: str, noun: str, found: Sequence[Referable], words: str = "") -> AmbiguousError:
    candidates = []
    choices = []
    digits = [item.long_hex for item in found]
    identities = Counter(item.identity for item in found)
    for item, long_hex in zip(found[:_MAX_CANDIDATES], digits, strict=False):
        # Entries of several archives can be equal in everything: then the file distinguishes them.
        own = item.ref.partition("#")[0]
        scope = own if digits.count(long_hex) == 1 else item.file.removesuffix(".md")
        candidate: dict[str, Any] = {"ref": f"{scope}#{long_hex}", "title": item.title}
        candidate.update(file=item.file, line=item.line + 1)
        candidates.append(candidate)
        # All entries of one identity have the same title, so `found` contains all of them.
        ref = item.ref if identities[item.identity] == 1 else candidate["ref"]
        choices.append(EntryChoice(ref.removeprefix(f"{own}#"), f"{item.file}:{item.line + 1}", item.title))
    shown = ", ".join(candidate["ref"] for candidate in candidates[:4]) + (", …" if len(found) > 4 else "")
    return AmbiguousError(
        f"{noun}.ambiguous",
        words or f"{len(found)} entries fit {short(name)}",
        f"use one of {shown}",
        choices=choices,
        candidates=candidates,
        count=len(found),
    )


def _words(noun: str) -> str:
    return {"journal": "journal entry", "archive": "archived entry"}.get(noun, noun)


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


@dataclass(frozen=True, slots=True)
class EntryItem(NamedItem):
    """An item that is a whole entry; `at` is (section index, entry index) in the document."""

    entry: Entry
    at: tuple[int, int]

    @property
    def title(self) -> str:
        """The heading."""
        return self.entry.title

    def text_of(self, key: str) -> str | None:
        """Return the text of a field; None where it is missing or means "none"."""
        value = self.entry.fields.get(key)
        return None if value is None or is_absent(value) else value


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
