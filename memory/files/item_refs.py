"""Refs of the small files: an item is identified by part of its text, and by all of it where that part is equal.

Separate from `refs`, because a command on a task needs neither these nor their imports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from memory.base.values import is_absent

from .refs import identity_hex, tell_apart

if TYPE_CHECKING:
    from memory.document import Entry


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


class FieldText:
    """A property of an item: the text of one field of its entry."""

    def __init__(self, key: str) -> None:
        """Store the field's key."""
        self._key = key

    def __get__(self, item: EntryItem, owner: object) -> str | None:
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
