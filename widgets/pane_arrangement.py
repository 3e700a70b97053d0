"""Arrangement: which rows of a pane are shown, and in what order; its sort and its filter, without any drawing."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from .pane_rows import EMPTY, Row, Rows

if TYPE_CHECKING:
    from .pane import Pane

WARM_ROWS = 256
"""Rows that are prepared for the filter before somebody else gets a chance."""

Order = tuple[str, Sequence[Hashable]]
"""The rows as they are sorted, and by what."""


class Arrangement:
    """The rows of one pane after its last look, with the sort and the filter that a person chose."""

    def __init__(self, pane: Pane) -> None:
        """No rows yet, in the first sort of the pane."""
        self._pane = pane
        self.rows: Rows = EMPTY
        self.sort = pane.sorts[0]
        self.filter = ""
        self._order: Order | None = None
        self._counted: tuple[Rows, int] = (EMPTY, 0)
        self._narrowed: Order | None = None

    def put(self, rows: Rows, order: Order | None) -> None:
        """Take the rows of a new look, which `order_of` may have sorted already."""
        rows.apply()
        self.rows = rows
        self._order = order
        self._narrowed = None

    def sort_by(self, name: str) -> bool:
        """Sort by one of the pane's `sorts`; False if that changes nothing."""
        if name not in self._pane.sorts or name == self.sort:
            return False
        self.sort = name
        self._narrowed = None
        return True

    def order_of(self, rows: Rows, sort: str, now: datetime, zone: tzinfo) -> Order | None:
        """Sort rows that are not put yet; None for the order they have. Runs in any thread."""
        if sort == self._pane.sorts[0]:
            return None
        from .pane_sort import sort_rows

        # The rows get their new items only when they are put.
        items = {row: item for row, item, _ in rows.items}
        key = self._pane.sorting(sort, now, zone)
        return sort, sort_rows(rows.keys, lambda row: key(items[row]))

    def keys(self, now: datetime, zone: tzinfo) -> Sequence[Hashable]:
        """The rows that sort and filter leave, in order."""
        keys = self._sorted(now, zone)
        if self.filter:
            return self._filtered(keys)
        self._narrowed = None
        return self._pane.unfolded(keys)

    def _sorted(self, now: datetime, zone: tzinfo) -> Sequence[Hashable]:
        if self.sort == self._pane.sorts[0]:
            return self.rows.keys
        if self._order is None or self._order[0] != self.sort:
            self._order = self.order_of(self.rows, self.sort, now, zone)
        return self.rows.keys if self._order is None else self._order[1]

    def _filtered(self, keys: Sequence[Hashable]) -> Sequence[Hashable]:
        """Filter; a text that only grew looks at what was left before."""
        from .pane_filter import Needles

        if self._narrowed and Needles.narrows(self._narrowed[0], self.filter):
            keys = self._narrowed[1]
        needles = Needles.read(self.filter, self._pane.filter_fields)
        kept = self._pane.kept(keys, needles)
        self._narrowed = (self.filter, kept)
        return kept

    def count(self, shown: Sequence[Hashable]) -> str:
        """How many of all the items a filter left: `3 of 20`."""
        from .pane_says import PaneSays

        left = [key for key in shown if isinstance(key, Row)]
        counts = self._pane.counts
        if type(self._pane).counts is PaneSays.counts:
            return f"{len(left)} of {len(self.rows.items)}"
        if self._counted[0] is not self.rows:
            self._counted = (self.rows, sum(counts(item) for _, item, _ in self.rows.items))
        return f"{sum(counts(row.item) for row in left)} of {self._counted[1]}"

    def row_of(self, ref: str) -> Row | None:
        """The row of a ref; `line:12` is what stands at that line (from 0) or begins nearest above it."""
        if ref.startswith("line:") and ref[5:].isdecimal():
            wanted = int(ref[5:])
            lines = [(item.line, row) for row, item, _ in self.rows.items if hasattr(item, "line")]
            return max((pair for pair in lines if pair[0] <= wanted), key=lambda pair: pair[0], default=(0, None))[1]
        return next((row for row, item, _ in self.rows.items if self._pane.ref(item) == ref), None)

    def warm(self, go_on: Callable[[], bool]) -> None:
        """Prepare what the first key of a filter needs; `go_on` is asked after each millisecond of work."""
        for number, (row, item, _) in enumerate(self.rows.items):
            if not number % WARM_ROWS and not go_on():
                return
            if row.haystack is None and row.item is item:
                row.haystack = self._pane.haystack(item)
