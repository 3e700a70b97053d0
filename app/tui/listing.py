"""Listing: the filter and the sort of the pane that is open."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from widgets.filter_bar import HINT
from widgets.pane_rows import Row

from .part import Part

if TYPE_CHECKING:
    from widgets.pane import Pane

ASKED = 500
"""Rows whose values a filter completes; more would be felt."""
LONGEST = 24
"""Letters of a value that is completed; longer ones are sentences."""


def words_of(pane: Pane) -> tuple[str, ...]:
    """What the last word of a filter is completed to: what the pane knows, then values of its rows, the usual first."""
    counts: Counter[str] = Counter()
    rows = [key.item for key in pane.line_list.rows[:ASKED] if isinstance(key, Row)]
    for name in pane.filter_fields:
        for item in rows:
            for value in pane.field_text(item, name).casefold().split(", "):
                if value and len(value) <= LONGEST and not any(letter.isspace() for letter in value):
                    counts[f"{name}:{value}"] += 1
    return (*pane.filter_words, *(word for word, _ in counts.most_common()))


class Listing(Part):
    """What narrows and orders a list."""

    def filter(self) -> None:
        """Type in the filter; what was typed before is still there."""
        pane = self.app.navigation.pane
        if pane is not None:
            key = self.app.key_of("list.fields") if pane.filter_fields else ""
            hint = f"words, or {pane.filter_fields[0]}:… ({key} shows all fields)" if key else HINT
            pane.filter_bar.open(pane.filter or None, hint=hint, words=words_of(pane))

    def filter_fields(self) -> None:
        """Type `name:value`; the bar says which names there are while it is empty, and completes known values."""
        pane = self.app.navigation.pane
        if pane is not None:
            names = " ".join(f"{name}:" for name in pane.filter_fields)
            pane.filter_bar.open(f"{pane.filter} " if pane.filter else None, hint=names, words=words_of(pane))

    def sort(self) -> None:
        """Sort by the next of the pane's orders."""
        pane = self.app.navigation.pane
        if pane is not None and len(pane.sorts) > 1:
            place = pane.sorts.index(pane.sort)
            self.app.views.sort(pane.sorts[(place + 1) % len(pane.sorts)])
