"""Narrowing: a pane's list while somebody types in its filter, the rows in view first, the others between pictures."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .pane import Pane

SLICE_SECONDS = 0.004
"""How long rows are looked at before the next picture, or key, gets its turn."""

FEW, FEW_SECONDS = 30_000, 0.008
"""A list of so many rows gets a longer slice at first, which mostly looks at all: one picture is less work than two."""

SAY_SECONDS = 0.1
"""How long a count stands before it is said how far it has come."""


class Narrowing:
    """The look of a pane's filter at its rows, in slices.

    Nothing is shown before there is a picture of it, `Pane.rows_of_picture`; then the count grows until all rows were
    looked at, and the list gets the rest. What needs all rows before asks for them with `finish`.
    """

    def __init__(self, pane: Pane) -> None:
        """Nothing was typed yet."""
        self._pane = pane
        self._shown = False
        self._waits = False
        self._said = 0.0

    def begin(self) -> None:
        """Another text was typed."""
        self._shown = False
        self._said = perf_counter()
        self._look()

    def finish(self) -> None:
        """Look at all that is left to look at, now."""
        if not self._pane.arrangement.is_whole:
            self._look(for_long=True)

    def _look(self, *, for_long: bool = False) -> None:
        pane, first = self._pane, not self._shown
        arrangement = pane.arrangement
        # A list that has not got all of its rows yet would forget those of them that are selected.
        wanted = None if pane.line_list.selected else pane.rows_of_picture
        few = first and bool(wanted) and pane.row_count <= FEW
        end = perf_counter() + (FEW_SECONDS if few else SLICE_SECONDS)

        def is_picture(found: int) -> bool:
            return first and wanted is not None and found >= wanted

        def go_on(found: int) -> bool:
            return for_long or (perf_counter() < end and (few or not is_picture(found)))

        arrangement.look(pane.now, pane.zone, go_on)
        if arrangement.is_whole or is_picture(arrangement.found):
            self._shown = True
            pane.show_keys(arrangement.keys(pane.now, pane.zone, so_far=True), to_top=first)
            pane.follow_cursor()
        elif end - self._said > SAY_SECONDS:
            self._said = end
            pane.say_title()
        if not arrangement.is_whole and not self._waits:
            self._waits = True
            pane.call_after_refresh(self._go_on)

    def _go_on(self) -> None:
        self._waits = False
        if self._pane.is_attached and not self._pane.arrangement.is_whole:
            self._look()
