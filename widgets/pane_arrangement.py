"""Arrangement: which rows of a pane are shown, and in what order; its sort and its filter, without any drawing."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from .pane_rows import EMPTY, Row, Rows

if TYPE_CHECKING:
    from .pane import Pane
    from .pane_sift import Left, Sieve

REVERSED = ", reversed"
"""What stands after the name of an order that is turned round."""

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
        self._sieve: Sieve | None = None
        self._left: Left | None = None

    def put(self, rows: Rows, order: Order | None) -> None:
        """Take the rows of a new look, which `order_of` may have sorted already."""
        rows.apply()
        self.rows = rows
        self._order = order
        self._sieve = None

    def sort_by(self, name: str) -> bool:
        """Sort by one of the pane's `sorts`, which `REVERSED` may follow; False if that changes nothing."""
        if name.removesuffix(REVERSED) not in self._pane.sorts or name == self.sort:
            return False
        self.sort = name
        return True

    def order_of(self, rows: Rows, sort: str, now: datetime, zone: tzinfo) -> Order | None:
        """Sort rows that are not put yet; None for the order they have. Runs in any thread."""
        if sort == self._pane.sorts[0]:
            return None
        from .pane_sort import sort_rows

        # The rows get their new items only when they are put.
        items = {row: item for row, item, _ in rows.items}
        name = sort.removesuffix(REVERSED)
        key = self._pane.sorting(name, now, zone) if name != self._pane.sorts[0] else lambda item: 0  # noqa: ARG005
        lacks = self._pane.lacks
        return sort, sort_rows(
            rows.keys, lambda row: key(items[row]), reverse=name != sort, lacks=lambda value: lacks(value, name)
        )

    def keys(self, now: datetime, zone: tzinfo) -> Sequence[Hashable]:
        """The rows that sort and filter leave, in order."""
        keys = self._sorted(now, zone)
        self._left = None
        return self._filtered(keys) if self.filter else self._pane.unfolded(keys)

    def _sorted(self, now: datetime, zone: tzinfo) -> Sequence[Hashable]:
        if self.sort == self._pane.sorts[0]:
            return self.rows.keys
        if self._order is None or self._order[0] != self.sort:
            self._order = self.order_of(self.rows, self.sort, now, zone)
        return self.rows.keys if self._order is None else self._order[1]

    def _filtered(self, keys: Sequence[Hashable]) -> Sequence[Hashable]:
        """Filter; what the texts before this one left is looked at first."""
        from .pane import Pane
        from .pane_filter import Needles
        from .pane_sift import narrows

        pane = self._pane
        needles = Needles.read(self.filter, pane.filter_fields)
        sieve = self._sieve_of(keys)
        if sieve.groups is None or type(pane).kept is not Pane.kept:
            return pane.kept(keys, needles)

        def fits(before: str, after: str) -> bool:
            return narrows(before, after, pane.filter_fields, pane.judged_fields)

        def haystack(row: Row) -> str:
            row.haystack = found = pane.haystack(row.item)
            return found

        self._left = sieve.sift(self.filter, needles.word or needles.test(pane), haystack, fits)
        return sieve.keys_of(self._left)

    def _sieve_of(self, keys: Sequence[Hashable]) -> Sieve:
        from .pane_sift import Sieve

        if self._sieve is None or self._sieve.keys is not keys:
            self._sieve = Sieve(keys)
        return self._sieve

    def groups_of(self, keys: Sequence[Hashable]) -> Sequence[Sequence[Row]] | None:
        """The rows of each heading that `keys` gave last; None where they have to be looked at one by one."""
        if self.filter:
            return self._left
        sieve = self._sieve
        if sieve is None or sieve.keys is not keys or sieve.groups is None:
            return None
        return [group.rows for group in sieve.groups]

    def count(self, shown: Sequence[Hashable]) -> str:
        """How many of all the items a filter left: `3 of 20`."""
        from .pane_says import PaneSays

        counts = self._pane.counts
        if type(self._pane).counts is PaneSays.counts:
            fitting = None if self._left is None else sum(map(len, self._left))
            if fitting is None:
                fitting = sum(isinstance(key, Row) for key in shown)
            return f"{fitting} of {len(self.rows.items)}"
        left = [key for key in shown if isinstance(key, Row)]
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
        if self.sort == self._pane.sorts[0]:
            self._sieve_of(self.rows.keys)
        for number, (row, item, _) in enumerate(self.rows.items):
            if not number % WARM_ROWS and not go_on():
                return
            if row.haystack is None and row.item is item:
                row.haystack = self._pane.haystack(item)
