"""Arrangement: which rows of a pane are shown, and in what order; its sort and its filter, without any drawing."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

from widgets.list.rows import Continuation

from .filter import Fits, Needles
from .rows import EMPTY, RowKey, Rows, Shown

if TYPE_CHECKING:
    from .context import PaneContext
    from .filter_cache import FilterStep, GoOn, Sieve

REVERSED = ", reversed"
"""What stands after the name of an order that is turned round."""

WARM_ROWS = 256
"""Rows that are prepared for the filter before somebody else gets a chance."""

Order = tuple[str, Sequence[Hashable]]
"""The rows as they are sorted, and by what."""


class Arrangement:
    """The rows of one pane after its last look, with the sort and the filter that a person chose."""

    def __init__(self, pane: PaneContext) -> None:
        """No rows yet, in the first sort of the pane."""
        self._pane = pane
        self.rows: Rows = EMPTY
        self._shown = Shown()
        self.sort = pane.sorts[0]
        self.filter = ""
        self._order: Order | None = None
        self._counted: tuple[Rows, int] = (EMPTY, 0)
        self._sieve: Sieve | None = None
        self._step: FilterStep | None = None
        self.fits: Fits | None = None
        """Which rows fit the filter, for who looks at few rows only; None: `keys` has what fits."""

    def put(self, rows: Rows, order: Order | None, sieve: Sieve | None = None) -> None:
        """Take the rows of a new look, which `order_of` may have sorted already, and `sieve_for` made ready."""
        before, self.rows = self.rows, rows
        self._shown.show(before, rows)
        self._order = order
        self._sieve, self._step = sieve, None

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
        self.sift(now, zone)
        return self.sifted(now, zone)

    def sifted(self, now: datetime, zone: tzinfo) -> Sequence[Hashable]:
        """The same as far as `sift` came."""
        keys = self._sorted(now, zone)
        if not self.filter:
            return self._pane.unfolded(keys)
        if self._step is not None:
            return self._sieve_of(keys).keys_of(self._step)
        return self._pane.kept(keys, Needles.read(self.filter, self._pane.filter_fields))

    def sift(self, now: datetime, zone: tzinfo, go_on: GoOn | None = None) -> None:
        """Look for what the filter leaves, until `go_on`, which is told how many rows are found, says it is enough.

        A pane that chooses its rows itself, or whose items have further lines, does so when the rows are asked for.
        """
        from .filter_cache import narrows, to_the_end

        pane, keys = self._pane, self._sorted(now, zone)
        sieve = self._sieve_of(keys) if self.filter and pane.keeps_by_words else None
        if sieve is None or sieve.groups is None:
            self._step = self.fits = None
            return

        def narrower(before: str, after: str) -> bool:
            return narrows(before, after, pane.filter_fields, pane.judged_fields)

        self._step = step = sieve.step(self.filter, narrower)
        if step.fits is None:
            step.fits = Fits(Needles.read(self.filter, pane.filter_fields), pane)
        self.fits = step.fits
        step.sift(step.fits.rows, go_on or to_the_end)

    @property
    def is_whole(self) -> bool:
        """Whether the filter looked at every row."""
        return self._step is None or self._step.is_whole

    @property
    def found(self) -> int:
        """How many rows the filter found so far, where it may be asked before it looked at all of them."""
        return 0 if self._step is None else self._step.found

    def _sorted(self, now: datetime, zone: tzinfo) -> Sequence[Hashable]:
        if self.sort == self._pane.sorts[0]:
            return self.rows.keys
        if self._order is None or self._order[0] != self.sort:
            self._order = self.order_of(self.rows, self.sort, now, zone)
        return self.rows.keys if self._order is None else self._order[1]

    def _sieve_of(self, keys: Sequence[Hashable]) -> Sieve:
        if self._sieve is None or self._sieve.keys is not keys:
            from .filter_cache import Sieve

            self._sieve = Sieve(keys)
        return self._sieve

    @staticmethod
    def sieve_for(rows: Rows, order: Order | None) -> Sieve:
        """Make rows that are not put yet ready for the filter. Runs in any thread."""
        from .filter_cache import Sieve

        return Sieve(rows.keys, rows.heads) if order is None else Sieve(order[1])

    def groups_of(self, keys: Sequence[Hashable]) -> Sequence[Sequence[RowKey]] | None:
        """The rows of each heading of `keys`; of a filter, as far as it looked. None: they are to be looked at."""
        if self.filter:
            return None if self._step is None else self._step.left
        sieve = self._sieve
        if sieve is None or sieve.keys is not keys or sieve.groups is None:
            return None
        return [group.rows for group in sieve.groups]

    def count(self) -> str:
        """How many of all the items a filter left: `3 of 20`, or `3+ of 20` before all were looked at."""
        counts = self._pane.counts
        plain = self._pane.counts_all
        if plain and self._step is not None:
            return f"{self._step.found}{'' if self.is_whole else '+'} of {len(self.rows.rows)}"
        left = [key for key in self._pane.shown_keys if isinstance(key, RowKey)]
        if plain:
            return f"{len(left)} of {len(self.rows.rows)}"
        if self._counted[0] is not self.rows:
            self._counted = (self.rows, sum(counts(item) for _, item, _ in self.rows.items))
        return f"{sum(counts(row.item) for row in left)} of {self._counted[1]}"

    def row_of(self, ref: str) -> RowKey | None:
        """The row of a ref; `line:12` is what stands at that line (from 0) or begins nearest above it."""
        if ref.startswith("line:") and ref[5:].isdecimal():
            wanted = int(ref[5:])
            lines = [(item.line, row) for row, item, _ in self.rows.items if hasattr(item, "line")]
            return max((pair for pair in lines if pair[0] <= wanted), key=lambda pair: pair[0], default=(0, None))[1]
        likely = self._pane.with_ref([item for _, item, _ in self.rows.items], ref)
        found = next((item for item in likely if self._pane.ref(item) == ref), None)
        return next((row for row, item, _ in self.rows.items if item is found), None)

    def warm(self, go_on: Callable[[], bool]) -> None:
        """Prepare what the first key of a filter needs; `go_on` is asked after each millisecond of work."""
        rows = self.rows
        sieve = self._sieve or self.sieve_for(rows, self._order)
        # Somebody may have needed one meanwhile, or there are other rows.
        if self._sieve is None and self.rows is rows:
            self._sieve = sieve
        for number, (row, item, _) in enumerate(rows.items):
            if not number % WARM_ROWS and not go_on():
                return
            if row.haystack is None and self.rows is rows:
                row.haystack = self._pane.haystack(item)


def sort_rows(
    keys: Sequence[Hashable],
    sort_key: Callable[[RowKey], Any],
    *,
    reverse: bool = False,
    lacks: Callable[[Any], bool] = lambda value: False,  # noqa: ARG005
) -> list[Hashable]:
    """The rows with the items of each heading sorted (stable); continuations stay below their items.

    Items whose key `lacks` a value come last also in an order that is turned round.
    """
    sorted_keys: list[Hashable] = []
    groups: list[list[Hashable]] = []

    def flush() -> None:
        if reverse:
            known = [(sort_key(group[0]), group) for group in reversed(groups)]  # type: ignore[arg-type]
            there = [pair for pair in known if not lacks(pair[0])]
            there.sort(key=lambda pair: pair[0], reverse=True)
            missing = [group for group in groups if lacks(sort_key(group[0]))]  # type: ignore[arg-type]
            groups[:] = [group for _, group in there] + missing
        else:
            groups.sort(key=lambda group: sort_key(group[0]))  # type: ignore[arg-type]
        for group in groups:
            sorted_keys.extend(group)
        groups.clear()

    for key in keys:
        if isinstance(key, RowKey):
            groups.append([key])
        elif isinstance(key, Continuation) and groups:
            groups[-1].append(key)
        else:
            flush()
            sorted_keys.append(key)
    flush()
    return sorted_keys
