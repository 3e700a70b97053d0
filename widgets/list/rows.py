"""Rows: what a list of lines holds. A row is a hashable key; three kinds of key are rows the cursor skips."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload


@dataclass(frozen=True, slots=True)
class Heading:
    """A row that names the rows below it, with a muted note such as a count; equal headings are one key."""

    title: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Continuation:
    """A further line of the item `owner`, counted from 1; it stands right below it, the cursor skips it."""

    owner: Hashable
    number: int = 1


@dataclass(frozen=True, slots=True)
class Note:
    """A row of plain muted words, for example an empty line; `number` tells equal ones apart."""

    text: str = ""
    number: int = 0


def is_item(key: Hashable) -> bool:
    """Whether the cursor stops on this row."""
    return not isinstance(key, Heading | Continuation | Note)


def find(rows: Sequence[Hashable], key: Hashable, guess: int = 0) -> int:
    """The place of a key among the rows, looking at `guess` first; -1 when it is not there."""
    if 0 <= guess < len(rows) and rows[guess] == key:
        return guess
    try:
        return rows.index(key)
    except ValueError:
        return -1


def item_from(rows: Sequence[Hashable], position: int, step: int) -> int:
    """The nearest item from `position` in a direction (1 or -1), else in the other one; -1: there is none."""
    for direction in (step, -step):
        index = position
        while 0 <= index < len(rows):
            if is_item(rows[index]):
                return index
            index += direction
    return -1


def owner_of(rows: Sequence[Hashable], position: int) -> int:
    """The place of the item that the row at `position` continues; `position` itself for other rows."""
    while position > 0 and isinstance(rows[position], Continuation):
        position -= 1
    return position


def extent(rows: Sequence[Hashable], position: int) -> int:
    """How many rows an item takes, its continuations included."""
    last = position + 1
    while last < len(rows) and isinstance(rows[last], Continuation):
        last += 1
    return last - position


def nearest(old: Sequence[Hashable], position: int, new: Sequence[Hashable]) -> int:
    """Where the cursor at `position` of the old rows stands among the new ones; -1 when they hold no item.

    Its own key wins, then the next old item below that is still there, then the next above.
    """
    if not 0 <= position < len(old):
        return item_from(new, 0, 1)
    place = find(new, old[position], position)
    if place >= 0:
        return place
    if not new:
        return -1
    present = set(new)
    for indexes in (range(position + 1, len(old)), range(position - 1, -1, -1)):
        for index in indexes:
            key = old[index]
            if key in present and is_item(key):
                return find(new, key, position)
    return item_from(new, min(position, len(new) - 1), 1)


class CardRows(Sequence[Hashable]):
    """The rows of items that take so many lines each; continuations are made as they are asked for.

    A key in the filter gives a board other cards: only those in view are worth their lines.
    """

    def __init__(self, items: Sequence[Hashable], lines: int) -> None:
        self.items = items
        self.lines = lines
        self._made: dict[int, Continuation] = {}

    def __len__(self) -> int:
        """How many lines all of them take."""
        return len(self.items) * self.lines

    @overload
    def __getitem__(self, place: int) -> Hashable: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Hashable]: ...

    def __getitem__(self, place: int | slice) -> Hashable | Sequence[Hashable]:
        """Return the row at a place, or some of them."""
        if isinstance(place, slice):
            if self.lines == 1:
                return self.items[place]
            return [self[one] for one in range(*place.indices(len(self)))]
        if place < 0:
            place += len(self)
        made = self._made.get(place)
        if made is not None:
            return made
        item, number = divmod(place, self.lines)
        if not number:
            return self.items[item]
        made = self._made[place] = Continuation(self.items[item], number)
        return made

    def __iter__(self) -> Iterator[Hashable]:
        """Go through the rows from the first to the last."""
        if self.lines == 1:
            return iter(self.items)
        return (
            item if not number else Continuation(item, number) for item in self.items for number in range(self.lines)
        )

    def index(self, value: Hashable, start: int = 0, stop: int | None = None) -> int:
        """Return the place of a row; ValueError where it is not there."""
        item, number = (value.owner, value.number) if isinstance(value, Continuation) else (value, 0)
        if number < self.lines:
            place = self.items.index(item) * self.lines + number
            if start <= place < (len(self) if stop is None else stop):
                return place
        raise ValueError(f"{value!r} is not there")


def are_same(one: Sequence[Hashable], other: Sequence[Hashable]) -> bool:
    """Whether these are the same rows in the same order; of cards no line is made to find that out."""
    if isinstance(one, CardRows) and isinstance(other, CardRows):
        return one.lines == other.lines and are_same(one.items, other.items)
    return one is other or (len(one) == len(other) and tuple(one) == tuple(other))
