"""Narrowing: a pane's list while somebody types in its filter, the rows in view first, the others between pictures."""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from .context import PaneContext

if TYPE_CHECKING:
    from .visible_rows import Arrangement

SLICE_SECONDS = 0.004
"""How long rows are looked at before the next picture, or key, gets its turn."""

FEW, FEW_SECONDS = 30_000, 0.005
"""A list of so many rows gets a longer first slice, which mostly looks at all: one picture is less work than two."""

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
        few = bool(self._wanted) and self._pane.row_count <= FEW
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
