"""Listing: the filter and the sort of the pane that is open."""

from __future__ import annotations

from .part import Part

FEW = 3
"""So many orders are taken one after the other, without a menu."""


class Listing(Part):
    """What narrows and orders a list."""

    def filter(self) -> None:
        """Type in the filter; what was typed before is still there."""
        pane = self.app.navigation.pane
        if pane is not None:
            pane.filter_bar.open(pane.filter or None)

    def filter_fields(self) -> None:
        """Type `name:value`; the bar says which names there are while it is empty, and completes known values."""
        pane = self.app.navigation.pane
        if pane is not None:
            names = " ".join(f"{name}:" for name in pane.filter_fields)
            pane.filter_bar.open(f"{pane.filter} " if pane.filter else None, hint=names, words=pane.filter_words)

    def sort(self) -> None:
        """Choose one of the pane's orders in a menu; of few the next one is taken."""
        from widgets.pane_arrangement import REVERSED

        pane = self.app.navigation.pane
        if pane is None or len(pane.sorts) < 2:
            return
        if len(pane.sorts) > FEW:
            self.app.views.orders()
            return
        place = pane.sorts.index(pane.sort.removesuffix(REVERSED))
        self.app.views.sort(pane.sorts[(place + 1) % len(pane.sorts)])
