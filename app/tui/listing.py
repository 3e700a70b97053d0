"""Listing: the filter and the sort of the pane that is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .part import Part

if TYPE_CHECKING:
    from widgets.pane import Pane

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

    zoomed: bool | None = None
    """Whether lists take the whole pane; None: as it was remembered."""

    def fit(self, pane: Pane) -> None:
        """Give a pane that is opened the room that lists have now."""
        if self.zoomed is None:
            self.zoomed = self.app.remembering.zoomed
        pane.set_class(self.zoomed, "-zoom")

    def zoom(self) -> None:
        """Give the list the whole pane, in all panes; or list and detail their parts again."""
        pane = self.app.navigation.pane
        if pane is None:
            return
        self.zoomed = not self.zoomed
        if pane.detail_view.has_focus:
            pane.close_detail()
        self.fit(pane)
        if self.zoomed:
            self.app.say(f"The list has all the room; Enter shows the entry, {self.app.key_of('view.zoom')} both.")
        self.app.refresh_keys()

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
