"""Rows: the contents of a line list, and which of them are selected, one by one or as a range between two places.

A row is a hashable key; the cursor skips three kinds of key.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.message import Message
    from textual.widget import Widget
else:
    Widget = object


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


class Selecting(Widget):
    """Mixin of `LineList`: the set of selected keys, and a range that extends to the cursor."""

    _chosen: frozenset[Hashable] = frozenset()
    _range_from: Hashable | None = None

    if TYPE_CHECKING:
        SelectionChanged: Callable[..., Message]
        _rows: Sequence[Hashable]
        _position: int
        cursor: Hashable | None

        def action_move(self, rows: int) -> None: ...

    @property
    def selected(self) -> frozenset[Hashable]:
        """The selected keys, including those of a range that is not ended yet."""
        return self._chosen if self._range_from is None else self._chosen | self._range_keys()

    @property
    def has_selection(self) -> bool:
        """Whether anything is selected, or a range begun."""
        return bool(self._chosen) or self._range_from is not None

    @property
    def targets(self) -> tuple[Hashable, ...]:
        """What an action applies to, in the rows' order: the selected keys, else the key under the cursor."""
        if selected := self.selected:
            return tuple([key for key in self._rows if key in selected])
        return () if self.cursor is None else (self.cursor,)

    def select(self, keys: Iterable[Hashable]) -> None:
        """Select exactly these keys (those that are items of this list) and end a range."""
        wanted = set(keys)
        if not wanted and not self.has_selection:
            return
        self._range_from = None
        self._choose(frozenset(key for key in self._rows if key in wanted and is_item(key)) if wanted else ())

    def select_between(self, start: int, end: int) -> None:
        """Add the items at two places and all between them to the selection; for the mouse."""
        low, high = sorted((max(0, start), end))
        self._range_from = None
        self._choose(self._chosen | {key for key in self._rows[low : high + 1] if is_item(key)})

    def _choose(self, keys: Iterable[Hashable]) -> None:
        self._chosen = frozenset(keys)
        self.refresh()
        if self.is_attached:
            self.post_message(self.SelectionChanged(self, self.selected))

    def _range_keys(self) -> frozenset[Hashable]:
        start = find(self._rows, self._range_from, self._position)
        if start < 0 or self._position < 0:
            return frozenset()
        low, high = sorted((start, self._position))
        return frozenset(key for key in self._rows[low : high + 1] if is_item(key))

    def _keep_selection(self) -> None:
        """Drop selected keys that are gone."""
        if self._range_from is not None and find(self._rows, self._range_from) < 0:
            self._range_from = None
        if self._chosen:
            self._choose(key for key in self._rows if key in self._chosen)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """The list handles Escape only while something is selected; else it is left to the widgets around."""
        return action != "clear" or self.has_selection

    def action_mark(self) -> None:
        """Select or unselect the item under the cursor and move on; while there is a range, end and keep it."""
        if self._range_from is not None:
            self.action_range()
        elif self.cursor is not None:
            self._choose(self._chosen ^ {self.cursor})
            self.action_move(1)

    def action_range(self) -> None:
        """Start a range at the cursor, or end it and keep it selected."""
        if self._range_from is None:
            self._range_from = self.cursor
            self._choose(self._chosen)
        else:
            keys = self.selected
            self._range_from = None
            self._choose(keys)

    def action_clear(self) -> None:
        """Select nothing."""
        self.select(())
