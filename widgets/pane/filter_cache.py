"""What a filter leaves of very many rows, from one key to the next, and slice by slice.

Rows are held in groups, each with the headings and notes above it, and every text on the way to the filter's text
with what it left: a longer text looks only at what a shorter one left, and a key that takes a letter back has its
answer already. A look may stop halfway, so that a picture comes first: the next one goes on where it stopped, also
for a longer text. While somebody types, the rows in view are looked at first, the others between pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Protocol, TypeAlias

from widgets.list.rows import Continuation, Heading

from .context import PaneContext
from .filter import Fits, Needles
from .rows import RowKey, fitted

if TYPE_CHECKING:
    from .visible_rows import Arrangement

MOST_STEPS = 32
"""So many texts are remembered with what they left."""

STRIDE = 512
"""So many rows are looked at before somebody is asked whether to go on."""

Left: TypeAlias = Sequence[Sequence[RowKey]]
"""The rows that a filter left of each group."""

GoOn: TypeAlias = Callable[[int], bool]
"""Asked again and again whether to look at further rows; told how many were found."""

Narrows: TypeAlias = Callable[[str, str], bool]
"""Whether what the first text left holds all that the second one leaves."""

Fitting: TypeAlias = Callable[[Sequence[RowKey]], list[RowKey]]
"""Chooses the rows that fit."""


def to_the_end(found: int) -> bool:  # noqa: ARG001
    """Stop nowhere, however many rows were found."""
    return True


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows that follow each other, and the headings and notes right above them."""

    above: tuple[Hashable, ...]
    rows: Sequence[RowKey]


def groups_of(keys: Sequence[Hashable], heads: Sequence[int] | None = None) -> Sequence[RowGroup] | None:
    """Return the groups of rows; None where items have further lines: those are sifted line by line.

    `heads` is where anything else stands than a row, where that is known.
    """
    groups: list[RowGroup] = []
    above: list[Hashable] = []
    start = 0
    # Rows follow each other by the hundred: they are taken together.
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
    """What one text left of the groups, as far as they were looked at."""

    text: str
    start: Left
    """What is looked at, by group."""
    left: list[list[RowKey]] = field(default_factory=list)
    """What is left of each group that was come to."""
    found: int = 0
    """How many rows that is."""
    group: int = 0
    """Of how many groups every row was looked at."""
    row: int = 0
    """How many rows of the next group were."""
    fits: Fits | None = None
    """Which rows fit the text: the same object as long as this is remembered, for who remembers what it chose."""

    @property
    def is_whole(self) -> bool:
        """Whether every row was looked at."""
        return self.group == len(self.start)

    def sift(self, fitting: Fitting, go_on: GoOn = to_the_end) -> None:
        """Look at further rows, until `go_on`, which is told how many are left so far, says that it is enough."""
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
        """What a text may leave that leaves nothing but what this one does: what is left, and what was not seen."""
        if self.is_whole:
            return self.left
        left: list[Sequence[RowKey]] = [*self.left[: self.group]]
        if self.row:
            left.append([*self.left[-1], *self.start[self.group][self.row :]])
        return [*left, *self.start[len(left) :]]


def narrows(before: str, after: str, names: Sequence[str], judged: Collection[str] = ()) -> bool:
    """Whether everything that fits the text `after` fits `before` as well, see `Needles.narrows`.

    `names` are the fields, `judged` those whose values are compared otherwise than by their words. A word that
    becomes a field by its colon looks for something else than it did, and so does one that gets a minus or a quote.
    """
    return Needles.read(after, names).narrows(Needles.read(before, names), judged)


class Sieve:
    """The groups of one order of rows, and what the texts of a filter left of them."""

    def __init__(self, keys: Sequence[Hashable], heads: Sequence[int] | None = None) -> None:
        """`heads` as in `groups_of`."""
        self.keys = keys
        self.groups = groups_of(keys, heads)
        self._steps: list[FilterStep] = []

    def step(self, text: str, narrower: Narrows) -> FilterStep:
        """Return what a text left so far; where it is new, nothing was looked at yet."""
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
        """The rows that are left so far, below the headings of their groups, which count them: `2 of 14`."""
        assert self.groups is not None
        kept: list[Hashable] = []
        for number, (group, rows) in enumerate(zip(self.groups, step.left, strict=False)):
            if rows:
                above = group.above
                if not kept:
                    first = next((place for place, key in enumerate(above) if isinstance(key, Heading)), len(above))
                    above = above[first:]
                # The group where the look stopped may have more.
                known = number < step.group
                kept.extend(counted(above, len(group.rows), len(rows)) if known else above)
                kept.extend(rows)
        return kept


def counted(above: Sequence[Hashable], total: int, fitting: int) -> Sequence[Hashable]:
    """What stands above a group, its last heading with how many of its items fit, if it said how many there are."""
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
"""How long rows are looked at before the next picture, or key, gets its turn."""

FEW, FEW_SECONDS = 30_000, 0.005
"""A list of so many rows gets a longer first slice, which mostly looks at all: one picture is less work than two."""

FEWEST = 4_000
"""Of so many rows all are looked at before the first picture, also where it needs none of them but their count."""

SAY_SECONDS = 0.1
"""How long a count stands before it is said how far it has come."""


class ArrangedPane(PaneContext, Protocol):
    """What is asked of a pane here: the order of its rows as well."""

    arrangement: Arrangement


class Narrowing:
    """The look of a pane's filter at its rows, in slices.

    The list stays as it was until enough is found to fill it, `Pane.rows_of_picture`, or, where something is selected,
    everything; then the count grows until all rows were looked at, and the list gets the rest. Who needs all rows
    before asks for them with `finish`.
    """

    def __init__(self, pane: ArrangedPane) -> None:
        """Nothing was typed yet."""
        self._pane = pane
        self._shown = True
        self._waits = False
        self._said = 0.0

    def begin(self) -> None:
        """Another text was typed."""
        self._shown = False
        self._said = perf_counter()
        wanted = self._wanted
        few = wanted is not None and self._pane.row_count <= (FEW if wanted else FEWEST)
        self._sift(FEW_SECONDS if few else SLICE_SECONDS, past_picture=few)

    def finish(self) -> None:
        """Look at all that is left to look at, now."""
        if not self._pane.arrangement.is_whole:
            self._sift(inf, past_picture=True)

    def settle(self) -> bool:
        """Leave the picture of what was typed last to somebody else; whether it is owed still."""
        owed, self._shown = not self._shown, True
        return owed

    @property
    def _wanted(self) -> int | None:
        """How many rows make a picture; None: all that there are."""
        pane = self._pane
        # A list that has not got all of its rows yet would forget those of them that are selected.
        return None if pane.line_list.has_selection else pane.rows_of_picture

    def _sift(self, seconds: float, *, past_picture: bool = False) -> None:
        """Look at rows for so long, or until they make the first picture, and show what that gives."""
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
