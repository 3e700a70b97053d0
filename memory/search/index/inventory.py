"""Shelves: what a system holds, file by file, so that the index can tell what is new without reading everything.

A system with large files says which groups of entries changed; the records of others are compared by value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from memory.search.records import Record


class Item(Protocol):
    """An entry as it is written in its file."""

    @property
    def raw(self) -> bytes:
        """Its bytes."""


class EntryGroup(NamedTuple):
    """Entries of one file that stand together, in their order.

    While `token` is the same object and `name` the same text nothing in the group is different. The objects of
    `items` stay the same while their entries do, and what one says depends on its bytes (`raw`) and on `name` alone;
    None: compare the records. `record` makes the record of one.
    """

    token: object
    name: str
    size: int
    items: Callable[[], Sequence[Item]] | None
    record: Callable[[int], Record]


class Shelf(NamedTuple):
    """One file. Equal stamps mean equal bytes; an empty one says nothing. `groups` reads the file."""

    file: str
    stamp: str
    groups: Callable[[], Sequence[EntryGroup]]


def shelves_of_records(records: Iterable[Record]) -> Iterator[Shelf]:
    """Yield the shelves of a system that only has records."""
    files: dict[str, list[Record]] = {}
    for record in records:
        files.setdefault(record.file, []).append(record)
    for file, held in files.items():
        yield Shelf(file, "", lambda held=held: [whole(held)])  # type: ignore[misc]


def whole(records: Sequence[Record]) -> EntryGroup:
    """Return one group of records that are compared by value."""
    return EntryGroup(object(), "", len(records), None, records.__getitem__)
