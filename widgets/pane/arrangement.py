"""Which rows of a pane are visible, in which order, and which of them fit the filter."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from datetime import datetime, tzinfo
from typing import Any

from .entry import PaneOverrides
from .filter import Needles
from .rows import EMPTY, LineRow, Order, RowKey, Rows

REVERSED = ", reversed"
"""What follows the name of a sort order that is reversed."""


class Arrangement:
    """The rows of a pane, sorted and filtered."""

    def __init__(self, pane: PaneOverrides) -> None:
        """Start without rows, in the first order."""
        self._pane = pane
        self.rows: Rows = EMPTY
        self.sort = pane.sorts[0]
        self.filter = ""
        self.fitting: frozenset[RowKey] | None = None
        """The rows that the filter finds, as of the last `keys`; None without a filter."""
        self._order: Order | None = None
        self._total: int | None = None

    def put(self, rows: Rows, order: Order | None) -> None:
        """Take other rows, with their order if it was worked out already; each row shows its item from now on."""
        self.rows, self._order, self._total = rows, order, None
        for row, item, mark in rows.items:
            row.item = item
            if mark != row.mark:
                row.mark, row.haystack = mark, ""

    def sort_by(self, name: str) -> bool:
        """Sort by one of the pane's orders, reversed with `REVERSED`; return whether that is another one."""
        if name.removesuffix(REVERSED) not in self._pane.sorts or name == self.sort:
            return False
        self.sort = name
        return True

    def order_of(self, rows: Rows, sort: str, now: datetime, zone: tzinfo) -> Order | None:
        """Return the keys in an order; None for the first order, in which they are. May be called in a thread."""
        if sort == self._pane.sorts[0]:
            return None
        items = {row: item for row, item, _ in rows.items}
        name = sort.removesuffix(REVERSED)
        key = self._pane.sorting(name, now, zone) if name != self._pane.sorts[0] else lambda item: 0  # noqa: ARG005
        lacks = self._pane.lacks
        return sort, sort_rows(
            rows.keys, lambda row: key(items[row]), reverse=name != sort, lacks=lambda value: lacks(value, name)
        )

    def keys(self, now: datetime, zone: tzinfo) -> Sequence[Hashable]:
        """Return the visible keys in the order in use."""
        if self._order is None or self._order[0] != self.sort:
            self._order = self.order_of(self.rows, self.sort, now, zone)
        keys = self.rows.keys if self._order is None else self._order[1]
        self.fitting = None
        if not self.filter:
            return self._pane.unfolded(keys)
        self.fitting = self._pane.fitting(self.rows.rows, Needles.read(self.filter, self._pane.filter_fields))
        return self._pane.kept(keys, self.fitting)

    def count(self, keys: Sequence[Hashable]) -> str:
        """Return how many of these visible rows are entries, and how many entries there are."""
        counts = self._pane.counts
        if self._total is None:
            self._total = sum(map(counts, self.rows.values))
        return f"{sum([counts(key.item) for key in keys if isinstance(key, RowKey)])} of {self._total}"

    def unread_at(self, ref: str) -> LineRow | None:
        """Return the row of the unread line that `line:N` means."""
        if not ref.startswith("line:"):
            return None
        return next((key for key in self.rows.keys if isinstance(key, LineRow) and ref == f"line:{key.line}"), None)

    def row_of(self, ref: str) -> RowKey | None:
        """Return the row with a ref, or for `line:N` the row of the entry that contains the line, counted from 0."""
        if ref.startswith("line:") and ref[5:].isdecimal():
            wanted = int(ref[5:])
            lines = [(item.line, row) for row, item, _ in self.rows.items if hasattr(item, "line")]
            return max((pair for pair in lines if pair[0] <= wanted), key=lambda pair: pair[0], default=(0, None))[1]
        return next((row for row, item, _ in self.rows.items if self._pane.has_ref(item, ref)), None)


def sort_rows(
    keys: Sequence[Hashable],
    sort_key: Callable[[RowKey], Any],
    *,
    reverse: bool = False,
    lacks: Callable[[Any], bool] = lambda value: False,  # noqa: ARG005
) -> list[Hashable]:
    """Return keys sorted inside each stretch between headings; rows that lack the value come last in both ways."""
    sorted_keys: list[Hashable] = []
    group: list[tuple[Any, Hashable]] = []

    def flush() -> None:
        there = sorted((one for one in group if not (reverse and lacks(one[0]))), key=lambda one: one[0])
        missing = [one for one in group if reverse and lacks(one[0])]
        sorted_keys.extend(key for _, key in (*(reversed(there) if reverse else there), *missing))
        group.clear()

    for key in keys:
        if isinstance(key, RowKey):
            group.append((sort_key(key), key))
        else:
            flush()
            sorted_keys.append(key)
    flush()
    return sorted_keys
