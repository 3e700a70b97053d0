"""Outline: the rows of a tree with folded or open branches, and the pane that shows one.

A tree is a flat list of rows in reading order; only the depth of each row makes it a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from widgets.pane.base import Pane
from widgets.pane.rows import RowKey

from .line_list import LineList
from .rows import Continuation

INDENT = 2
"""Cells by which each level of a tree is indented."""


Depth = Callable[[Any], int]


def open_rows(keys: Sequence[Hashable], depth: Depth, folded: Callable[[Any], bool]) -> list[Hashable]:
    """The rows that remain when everything below folded items is hidden; a heading ends the branch above it."""
    kept: list[Hashable] = []
    limit: int | None = None
    for key in keys:
        if isinstance(key, RowKey):
            level = depth(key.item)
            if limit is not None and level > limit:
                continue
            limit = level if folded(key.item) else None
            kept.append(key)
        elif isinstance(key, Continuation):
            if kept and (kept[-1] is key.owner or getattr(kept[-1], "owner", None) is key.owner):
                kept.append(key)
        else:
            limit = None
            kept.append(key)
    return kept


class OutlinePane(Pane):
    """A pane whose rows are a tree. Everything is open at first.

    A subclass defines with `depth` the depth of an item, and with `folds` which items hold others.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "left,h", "fold", "fold", id="outline.fold", tooltip="Fold the branch, or go to the one above", show=False
        ),
        Binding(
            "right,l",
            "unfold",
            "unfold",
            id="outline.unfold",
            tooltip="Open the branch, or go into it or to the entry",
            show=False,
        ),
        Binding(
            "z", "fold_all", "fold all", id="outline.fold_all", tooltip="Fold all branches, or open all", show=False
        ),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._folded: set[str] = set()

    def depth(self, item: Any) -> int:
        """Return how many levels are above an item."""
        return int(item.depth)

    def holds(self, item: Any) -> bool:
        """Return whether rows can be below an item."""
        return bool(item.folds or item.group)

    def is_folded(self, item: Any) -> bool:
        """Return whether the items below an item are hidden (a filter shows them nevertheless)."""
        return item.folds and self.ref(item) in self._folded

    def go_to(self, ref: str) -> bool:
        """Put the cursor on an entry, opening the branches that hide it."""
        way: list[Any] = []
        wanted = self.arrangement.row_of(ref)
        for row, item, _ in self.arrangement.rows.items if wanted is not None else ():
            while way and self.depth(way[-1]) >= self.depth(item):
                way.pop()
            if row is wanted:
                hidden = {self.ref(above) for above in way} & self._folded
                if hidden:
                    self._folded -= hidden
                    self._arrange()
                break
            if item.folds:
                way.append(item)
        return super().go_to(ref)

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Enter folds a branch or opens it; other items show their detail, as in every pane."""
        item = event.key.item if isinstance(event.key, RowKey) else None
        if item is None or not item.folds:
            return
        event.stop()
        event.prevent_default()
        if self.is_folded(item):
            self.unfold(item)
        else:
            self.fold(item)

    def fold(self, item: Any) -> None:
        """Hide the items below an item."""
        self.moved()
        self._folded.add(self.ref(item))
        self._arrange()

    def unfold(self, item: Any) -> None:
        """Show the items below an item."""
        self._folded.discard(self.ref(item))
        self._arrange()

    def action_fold(self) -> None:
        """Fold the branch under the cursor; on anything else, go to its parent."""
        item = self.current()
        if item is None:
            return
        if item.folds and not self.is_folded(item) and not self.filter:
            self.fold(item)
            return
        rows, position, level = self.line_list.rows, self.line_list.position, self.depth(item)
        while position > 0:
            position -= 1
            row = rows[position]
            if isinstance(row, RowKey) and self.depth(row.item) < level:
                self.line_list.move_to(position)
                return

    def action_unfold(self) -> None:
        """Open the branch under the cursor, or go into it if it is open; on any other item, open its detail."""
        item = self.current()
        if item is None or self.detail_view.has_focus:
            return
        if not item.folds:
            self.open_detail()
            return
        if self.is_folded(item) and not self.filter:
            self.unfold(item)
            return
        position = self.line_list.position + 1
        rows = self.line_list.rows
        if position < len(rows):
            row = rows[position]
            if isinstance(row, RowKey) and self.depth(row.item) > self.depth(item):
                self.line_list.move_to(position)

    def action_fold_all(self) -> None:
        """Fold every branch; when all are folded, open every branch."""
        self.moved()
        branches = {self.ref(item) for _, item, _ in self.arrangement.rows.items if item.folds}
        self._folded = set() if branches <= self._folded else self._folded | branches
        self._arrange()

    def unfolded(self, keys: Sequence[Hashable]) -> Sequence[Hashable]:
        """The rows in open branches."""
        return open_rows(keys, self.depth, self.is_folded) if self._folded else keys
