"""Listing: the filter and the sort of the pane that is open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from app.tui.part import Part
from widgets.input.filter_bar import HINT
from widgets.pane.rows import Row

if TYPE_CHECKING:
    from widgets.pane.base import Pane

FEW = 3
"""So many orders are taken one after the other, without a menu."""

ASKED = 500
"""Rows whose values a filter completes; more would be felt."""

LONGEST = 24
"""Letters of a value that is completed; longer ones are sentences."""


def words_of(pane: Pane) -> Callable[[], Sequence[str]]:
    """What gives the completions of a filter: what the pane knows, then values of its rows as they are now, the usual
    first.
    """
    rows = [key.item for key in pane.line_list.rows[:ASKED] if isinstance(key, Row)]

    def words() -> Sequence[str]:
        counts: Counter[str] = Counter()
        for name in pane.filter_fields:
            for item in rows:
                for value in pane.field_text(item, name).casefold().split(", "):
                    if value and len(value) <= LONGEST and not any(letter.isspace() for letter in value):
                        counts[f"{name}:{value}"] += 1
        return (*pane.filter_words, *(word for word, _ in counts.most_common()))

    return words


class Listing(Part):
    """What narrows and orders a list."""

    def filter(self) -> None:
        """Type in the filter; what was typed before is still there."""
        pane = self.app.navigation.pane
        if pane is not None:
            key = self.app.key_of("list.fields") if pane.filter_fields else ""
            hint = f"words, or {pane.filter_fields[0]}:… ({key} shows all fields)" if key else HINT
            self._open(pane, pane.filter, hint)

    def filter_fields(self) -> None:
        """Type `name:value`; the bar says which names there are while it is empty, and completes names and known
        values.
        """
        pane = self.app.navigation.pane
        if pane is not None:
            names = " ".join(f"{name}:" for name in pane.filter_fields)
            self._open(pane, f"{pane.filter} " if pane.filter else "", names)

    def _open(self, pane: Pane, text: str, hint: str) -> None:
        pane.filter_bar.open(text or None, hint=hint, words=words_of(pane), names=pane.filter_fields)

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
        from widgets.pane.visible_rows import REVERSED

        pane = self.app.navigation.pane
        if pane is None or len(pane.sorts) < 2:
            return
        if len(pane.sorts) > FEW:
            self.app.views.orders()
            return
        place = pane.sorts.index(pane.sort.removesuffix(REVERSED))
        self.app.views.sort(pane, pane.sorts[(place + 1) % len(pane.sorts)])
