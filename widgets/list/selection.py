"""Selecting several rows of a list: one by one with space, or a range between two places."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

from .rows import find, is_item

if TYPE_CHECKING:
    from textual.message import Message
    from textual.widget import Widget
else:
    Widget = object


class Selecting(Widget):
    """Mixin of `LineList`: the set of selected keys, and the range that grows with the cursor."""

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
        """The selected keys, those of a range that is being drawn included."""
        return self._chosen | self._range_keys()

    @property
    def has_selection(self) -> bool:
        """Whether anything is selected, or a range begun."""
        return bool(self._chosen) or self._range_from is not None

    @property
    def targets(self) -> tuple[Hashable, ...]:
        """What an action applies to, in the rows' order: the selected keys, else the key under the cursor."""
        if selected := self.selected:
            return tuple(key for key in self._rows if key in selected)
        return () if self.cursor is None else (self.cursor,)

    def select(self, keys: Iterable[Hashable]) -> None:
        """Select exactly these keys (those that are items of this list) and end a range."""
        wanted = set(keys)
        self._range_from = None
        self._choose(frozenset(key for key in self._rows if key in wanted and is_item(key)) if wanted else ())

    def select_between(self, start: int, end: int) -> None:
        """Select the items of two places and all between them as well; for the mouse."""
        low, high = sorted((max(0, start), end))
        self._range_from = None
        self._choose(self._chosen | {key for key in self._rows[low : high + 1] if is_item(key)})

    def _choose(self, keys: Iterable[Hashable]) -> None:
        self._chosen = frozenset(keys)
        self.refresh()
        if self.is_attached:
            self.post_message(self.SelectionChanged(self, self.selected))

    def _range_keys(self) -> frozenset[Hashable]:
        start = -1 if self._range_from is None else find(self._rows, self._range_from, self._position)
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
        """Escape is the list's own only while something is selected; else it means what it means outside."""
        return action != "clear" or self.has_selection

    def action_mark(self) -> None:
        """Select the item under the cursor or no longer, then move on; a range is ended and kept."""
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
