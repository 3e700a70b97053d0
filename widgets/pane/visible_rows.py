"""Which rows of a pane are shown and in what order: an incremental filter for very many rows, and the arrangement.

The filter reuses results from one key to the next, and finds them slice by slice. Rows are held in groups, each with
the headings and notes above it. Each text typed on the way to the current one is remembered with the rows it kept: a
longer text searches only those rows, and deleting a letter reuses an earlier result. A pass may stop halfway so that a
frame is drawn first; the next pass continues there, also for a longer text. While the user types, the rows in view are
searched first, the others between frames.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from math import inf
from time import perf_counter
from typing import Any, Protocol, TypeAlias

from widgets.list.rows import Continuation, Heading

from .context import PaneContext
from .filter import Fits, Needles
from .rows import EMPTY, RowKey, Rows, Shown, fitted

MOST_STEPS = 32
"""How many texts are remembered with the rows they kept."""

STRIDE = 512
"""How many rows are searched before `go_on` is called."""

Left: TypeAlias = Sequence[Sequence[RowKey]]
"""The rows of each group that a filter kept."""

GoOn: TypeAlias = Callable[[int], bool]
"""Called repeatedly with the number of rows found; returns whether to search further rows."""

Narrows: TypeAlias = Callable[[str, str], bool]
"""Whether the rows kept by the first text include all rows that the second one keeps."""

Fitting: TypeAlias = Callable[[Sequence[RowKey]], list[RowKey]]
"""Returns the rows that match."""


def to_the_end(found: int) -> bool:  # noqa: ARG001
    """Never stop, however many rows were found."""
    return True


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows that follow each other, and the headings and notes right above them."""

    above: tuple[Hashable, ...]
    rows: Sequence[RowKey]


def groups_of(keys: Sequence[Hashable], heads: Sequence[int] | None = None) -> Sequence[RowGroup] | None:
    """Return the groups of rows; None where items have continuations: such rows are filtered line by line.

    `heads` are the places of keys that are not rows; None: not known.
    """
    groups: list[RowGroup] = []
    above: list[Hashable] = []
    start = 0
    # Rows follow each other by the hundred, so whole stretches are sliced at once.
    if heads is None:
        heads = [place for place, key in enumerate(keys) if type(key) is not RowKey]
    for place in (*heads, len(keys)):
        if place > start:
            groups.append(RowGroup(tuple(above), keys[start:place]))  # type: ignore[arg-type]
            above = []
        if place < len(keys):
            if isinstance(keys[place], Continuation):
                return None
            above.append(keys[place])
        start = place + 1
    return groups


@dataclass(slots=True)
class FilterStep:
    """The rows of the groups that one text kept, as far as they were searched."""

    text: str
    start: Left
    """The rows to search, by group."""
    left: list[list[RowKey]] = field(default_factory=list)
    """The rows kept of each group searched so far."""
    found: int = 0
    """How many rows `left` holds."""
    group: int = 0
    """How many groups were searched completely."""
    row: int = 0
    """How many rows of the next group were searched."""
    fits: Fits | None = None
    """Tests which rows match the text. It stays the same object as long as the step is remembered, so that callers can
    cache results by it.
    """

    @property
    def is_whole(self) -> bool:
        """Whether every row was searched."""
        return self.group == len(self.start)

    def sift(self, fitting: Fitting, go_on: GoOn = to_the_end) -> None:
        """Search further rows until `go_on`, called with the number of rows found so far, returns False."""
        unasked = 0
        while self.group < len(self.start):
            if unasked >= STRIDE:
                if not go_on(self.found):
                    return
                unasked = 0
            rows, row = self.start[self.group], self.row
            if row or len(rows) > STRIDE:
                rows = rows[row : row + STRIDE]
            found = fitting(rows)
            if row:
                self.left[-1] += found
            else:
                self.left.append(found)
            self.found += len(found)
            unasked += len(rows)
            self.row += len(rows)
            if self.row >= len(self.start[self.group]):
                self.group, self.row = self.group + 1, 0

    def rest(self) -> Left:
        """The rows that a narrower text may keep: those kept here, and those not searched yet."""
        if self.is_whole:
            return self.left
        left: list[Sequence[RowKey]] = [*self.left[: self.group]]
        if self.row:
            left.append([*self.left[-1], *self.start[self.group][self.row :]])
        return [*left, *self.start[len(left) :]]


def narrows(before: str, after: str, names: Sequence[str], judged: Collection[str] = ()) -> bool:
    """Whether everything that matches the text `after` matches `before` as well, see `Needles.narrows`.

    `names` are the fields, `judged` those whose values are not compared by their words. A word that a colon turns into
    a field has another meaning than before; so has a word that gets a minus or a quote.
    """
    return Needles.read(after, names).narrows(Needles.read(before, names), judged)


class FilterCache:
    """The groups of rows in one order, and the rows of them that each text of a filter kept."""

    def __init__(self, keys: Sequence[Hashable], heads: Sequence[int] | None = None) -> None:
        """`heads` as in `groups_of`."""
        self.keys = keys
        self.groups = groups_of(keys, heads)
        self._steps: list[FilterStep] = []

    def step(self, text: str, narrower: Narrows) -> FilterStep:
        """Return the step of a text; a new one has searched nothing yet."""
        assert self.groups is not None
        steps = self._steps
        while steps and not (steps[-1].text == text or narrower(steps[-1].text, text)):
            steps.pop()
        if not steps or steps[-1].text != text:
            start = steps[-1].rest() if steps else [group.rows for group in self.groups]
            del steps[: max(0, len(steps) - MOST_STEPS)]
            steps.append(FilterStep(text, start))
        return steps[-1]

    def keys_of(self, step: FilterStep) -> list[Hashable]:
        """The rows kept so far, below the headings of their groups, which count them: `2 of 14`."""
        assert self.groups is not None
        kept: list[Hashable] = []
        for number, (group, rows) in enumerate(zip(self.groups, step.left, strict=False)):
            if rows:
                above = group.above
                if not kept:
                    first = next((place for place, key in enumerate(above) if isinstance(key, Heading)), len(above))
                    above = above[first:]
                # The group where the search stopped may have more.
                known = number < step.group
                kept.extend(counted(above, len(group.rows), len(rows)) if known else above)
                kept.extend(rows)
        return kept


def counted(above: Sequence[Hashable], total: int, fitting: int) -> Sequence[Hashable]:
    """The rows above a group; the last heading shows how many items match, if it showed their total."""
    if fitting == total:
        return above
    for place in range(len(above) - 1, -1, -1):
        heading = above[place]
        if isinstance(heading, Heading):
            if heading.note != str(total):
                return above
            return (*above[:place], fitted(heading, fitting), *above[place + 1 :])
    return above


SLICE_SECONDS = 0.004
"""How long rows are searched before the next frame or key is handled."""

FEW, FEW_SECONDS = 30_000, 0.005
"""A list of at most so many rows gets a longer first slice, which mostly covers all: one frame is cheaper than two."""

FEWEST = 4_000
"""Up to so many rows are all searched before the first frame, even where the frame needs only their count."""

SAY_SECONDS = 0.1
"""How long the shown count may stay unchanged before the progress is shown."""


class ArrangedPane(PaneContext, Protocol):
    """What is needed from a pane here: `PaneContext` and the arrangement of its rows."""

    arrangement: Arrangement


class FilterRun:
    """Filters the rows of a pane in slices.

    The list stays as it was until enough rows are found to fill it (`Pane.rows_of_picture`), or all rows where
    something is selected. Then the count grows until all rows were searched, and the list gets the rest. A caller that
    needs all rows earlier calls `finish`.
    """

    def __init__(self, pane: ArrangedPane) -> None:
        """Begin with nothing typed."""
        self._pane = pane
        self._shown = True
        self._waits = False
        self._said = 0.0

    def begin(self) -> None:
        """Start filtering by a new text."""
        self._shown = False
        self._said = perf_counter()
        wanted = self._wanted
        few = wanted is not None and self._pane.row_count <= (FEW if wanted else FEWEST)
        self._sift(FEW_SECONDS if few else SLICE_SECONDS, past_picture=few)

    def finish(self) -> None:
        """Search all remaining rows now."""
        if not self._pane.arrangement.is_whole:
            self._sift(inf, past_picture=True)

    def settle(self) -> bool:
        """Mark the last typed text as shown, for a caller that shows it; return whether it was not shown yet."""
        owed, self._shown = not self._shown, True
        return owed

    @property
    def _wanted(self) -> int | None:
        """How many rows fill a frame; None: all rows are needed."""
        pane = self._pane
        # A list without all of its rows would forget the missing ones that are selected.
        return None if pane.line_list.has_selection else pane.rows_of_picture

    def _sift(self, seconds: float, *, past_picture: bool = False) -> None:
        """Search rows for some seconds, or until they fill the first frame, and show the result."""
        pane, arrangement = self._pane, self._pane.arrangement
        wanted, end = None if self._shown else self._wanted, perf_counter() + seconds

        def fills(found: int) -> bool:
            return wanted is not None and found >= wanted

        arrangement.sift(pane.now, pane.zone, lambda found: perf_counter() < end and (past_picture or not fills(found)))
        if arrangement.is_whole or fills(arrangement.found):
            pane.show_keys(arrangement.sifted(pane.now, pane.zone), to_top=self.settle())
            pane.follow_cursor()
        elif perf_counter() - self._said > SAY_SECONDS:
            self._said = perf_counter()
            pane.say_title()
        if not arrangement.is_whole and not self._waits:
            self._waits = True
            pane.call_after_refresh(self._go_on)

    def _go_on(self) -> None:
        self._waits = False
        if self._pane.is_attached and not self._pane.arrangement.is_whole:
            self._sift(SLICE_SECONDS)


REVERSED = ", reversed"
"""The suffix of a sort's name that reverses it."""

WARM_ROWS = 256
"""Rows that are prepared for the filter before `go_on` is called."""

Order = tuple[str, Sequence[Hashable]]
"""The name of a sort, and the rows sorted by it."""


class Arrangement:
    """The rows of one pane after its last read, with the sort and the filter that the person chose."""

    def __init__(self, pane: PaneContext) -> None:
        """Begin with no rows and the first sort of the pane."""
        self._pane = pane
        self.rows: Rows = EMPTY
        self._shown = Shown()
        self.sort = pane.sorts[0]
        self.filter = ""
        self._order: Order | None = None
        self._counted: tuple[Rows, int] = (EMPTY, 0)
        self._sieve: FilterCache | None = None
        self._step: FilterStep | None = None
        self.fits: Fits | None = None
        """Tests which rows match the filter, for callers that need only a few rows; None: use `keys`."""

    def put(self, rows: Rows, order: Order | None, sieve: FilterCache | None = None) -> None:
        """Set new rows, optionally already sorted by `order_of` and prepared by `sieve_for`."""
        before, self.rows = self.rows, rows
        self._shown.show(before, rows)
        self._order = order
        self._sieve, self._step = sieve, None

    def sort_by(self, name: str) -> bool:
        """Sort by one of the pane's `sorts`, optionally followed by `REVERSED`; False if that changes nothing."""
        if name.removesuffix(REVERSED) not in self._pane.sorts or name == self.sort:
            return False
        self.sort = name
        return True

    def order_of(self, rows: Rows, sort: str, now: datetime, zone: tzinfo) -> Order | None:
        """Return rows that are not put yet in sorted order; None for their own order. Runs in any thread."""
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
        """The filtered rows, in sorted order."""
        self.sift(now, zone)
        return self.sifted(now, zone)

    def sifted(self, now: datetime, zone: tzinfo) -> Sequence[Hashable]:
        """The filtered rows, in sorted order, as far as `sift` has searched."""
        keys = self._sorted(now, zone)
        if not self.filter:
            return self._pane.unfolded(keys)
        if self._step is not None:
            return self._sieve_of(keys).keys_of(self._step)
        return self._pane.kept(keys, Needles.read(self.filter, self._pane.filter_fields))

    def sift(self, now: datetime, zone: tzinfo, go_on: GoOn | None = None) -> None:
        """Search for matching rows until `go_on`, called with the number of rows found, returns False.

        A pane that chooses its rows itself, or whose items have continuations, filters only when `sifted` is called.
        """
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
        """Whether the filter searched every row."""
        return self._step is None or self._step.is_whole

    @property
    def found(self) -> int:
        """How many rows the filter found so far; 0 where rows are not filtered in steps."""
        return 0 if self._step is None else self._step.found

    def _sorted(self, now: datetime, zone: tzinfo) -> Sequence[Hashable]:
        if self.sort == self._pane.sorts[0]:
            return self.rows.keys
        if self._order is None or self._order[0] != self.sort:
            self._order = self.order_of(self.rows, self.sort, now, zone)
        return self.rows.keys if self._order is None else self._order[1]

    def _sieve_of(self, keys: Sequence[Hashable]) -> FilterCache:
        if self._sieve is None or self._sieve.keys is not keys:
            self._sieve = FilterCache(keys)
        return self._sieve

    @staticmethod
    def sieve_for(rows: Rows, order: Order | None) -> FilterCache:
        """Prepare rows that are not put yet for the filter. Runs in any thread."""
        return FilterCache(rows.keys, rows.heads) if order is None else FilterCache(order[1])

    def groups_of(self, keys: Sequence[Hashable]) -> Sequence[Sequence[RowKey]] | None:
        """The rows under each heading of `keys`; with a filter, those found so far. None: the caller walks `keys`."""
        if self.filter:
            return None if self._step is None else self._step.left
        sieve = self._sieve
        if sieve is None or sieve.keys is not keys or sieve.groups is None:
            return None
        return [group.rows for group in sieve.groups]

    def count(self) -> str:
        """How many of all items a filter kept: `3 of 20`, or `3+ of 20` while some rows are not searched yet."""
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
        """The row of a ref; `line:12` is the row that begins at that line (from 0) or nearest above it."""
        if ref.startswith("line:") and ref[5:].isdecimal():
            wanted = int(ref[5:])
            lines = [(item.line, row) for row, item, _ in self.rows.items if hasattr(item, "line")]
            return max((pair for pair in lines if pair[0] <= wanted), key=lambda pair: pair[0], default=(0, None))[1]
        rows, likely = self.rows, self._pane.with_ref(self.rows.values, ref)
        found = next((item for item in likely if self._pane.ref(item) == ref), None)
        if found is not None and rows.entries is not None:
            # The entry tells, and no item is made to find it.
            return next((row for row, one in zip(rows.rows, rows.entries, strict=True) if one is found.entry), None)
        return next((row for row, item, _ in rows.items if item is found), None)

    def warm(self, go_on: Callable[[], bool]) -> None:
        """Prepare what the first key of a filter needs; `go_on` is called after each millisecond of work or so."""
        rows = self.rows
        sieve = self._sieve or self.sieve_for(rows, self._order)
        # In the meantime a sieve may have been made, or the rows replaced.
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

    In a reversed order, too, items whose key `lacks` a value come last.
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
