"""Rows: the contents of a line list. A row is a hashable key; the cursor skips three kinds of key."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """A row that names the rows below it, with a muted note such as a count; equal headings are one key.

    `right` names the column of numbers or times at the right end.
    """

    title: str
    note: str = ""
    right: str = ""


@dataclass(frozen=True, slots=True)
class Continuation:
    """A further line of the item `owner`, counted from 1, right below it; the cursor skips it."""

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
    """The place of a key among the rows, trying `guess` first; -1 when the key is missing."""
    if 0 <= guess < len(rows) and rows[guess] == key:
        return guess
    try:
        return rows.index(key)
    except ValueError:
        return -1


def item_from(rows: Sequence[Hashable], position: int, step: int) -> int:
    """The place of the nearest item from `position` in a direction (1 or -1), else in the other; -1: there is none."""
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
    """The place among the new rows for the cursor at `position` of the old ones; -1 when they hold no item.

    Preferred is its own key, then the next old item below that still exists, then the next above.
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
