"""Listing: the filter and the sort of the pane that is open."""

from __future__ import annotations

from .part import Part


class Listing(Part):
    """What narrows and orders a list."""

    def filter(self) -> None:
        """Type in the filter; what was typed before is still there."""
        pane = self.app.navigation.pane
        if pane is not None:
            pane.filter_bar.open(pane.filter or None)

    def filter_fields(self) -> None:
        """Say which fields there are, and type `name:value`."""
        pane = self.app.navigation.pane
        if pane is not None:
            self.app.say(
                "name:value, several with spaces: " + ", ".join(f"{name}:" for name in pane.filter_fields),
                title="Filter by field",
            )
            text = f"{pane.filter} " if pane.filter else ""
            pane.filter_bar.open(f"{text}{pane.filter_fields[0]}:" if not pane.filter else text)

    def sort(self) -> None:
        """Sort by the next of the pane's orders."""
        pane = self.app.navigation.pane
        if pane is not None and len(pane.sorts) > 1:
            place = pane.sorts.index(pane.sort)
            pane.set_sort(pane.sorts[(place + 1) % len(pane.sorts)])
            self.app.say(f"Sorted by {pane.sort}.")
