"""The filter and the sort of the pane that is open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from widgets.input.filter_bar import HINT
from widgets.pane.rows import RowKey

from .steps import Step
from .views import orders, sort_by

if TYPE_CHECKING:
    from widgets.pane.base import Pane

    from .context import Context

FEW = 3
"""So many orders are taken one after the other, without a menu."""

ASKED = 500
"""Rows whose values a filter completes; more would be felt."""

LONGEST = 24
"""Letters of a value that is completed; longer ones are sentences."""


def words_of(pane: Pane) -> Callable[[], Sequence[str]]:
    """What gives the completions of a filter: what the pane knows, then values of the rows that are shown now, the
    usual first.
    """
    listed = pane.line_list.rows

    def words() -> Sequence[str]:
        # Asked for when a value is typed: the key that opens the filter is not kept waiting by it.
        rows = [key.item for key in listed[:ASKED] if isinstance(key, RowKey)]
        counts: Counter[str] = Counter()
        for name in pane.filter_fields:
            for item in rows:
                for value in pane.field_text(item, name).casefold().split(", "):
                    if value and len(value) <= LONGEST and not any(letter.isspace() for letter in value):
                        counts[f"{name}:{value}"] += 1
        return (*pane.filter_words, *(word for word, _ in counts.most_common()))

    return words


def filter_words(context: Context) -> Step:
    """Type in the filter; what was typed before is still there."""
    pane = context.pane
    if pane is None:
        return None
    key = context.key_of("list.fields") if pane.filter_fields else ""
    hint = f"words, or {pane.filter_fields[0]}:… ({key} shows all fields)" if key else HINT
    return _open(pane, pane.filter, hint)


def filter_fields(context: Context) -> Step:
    """Type `name:value`; the bar says which names there are while it is empty, and completes names and known
    values.
    """
    pane = context.pane
    if pane is None:
        return None
    names = " ".join(f"{name}:" for name in pane.filter_fields)
    return _open(pane, f"{pane.filter} " if pane.filter else "", names)


def _open(pane: Pane, text: str, hint: str) -> Step:
    pane.filter_bar.open(text or None, hint=hint, words=words_of(pane), names=pane.filter_fields)
    return None


def sort(context: Context) -> Step:
    """Choose one of the pane's orders in a menu; of few the next one is taken."""
    from widgets.pane.visible_rows import REVERSED

    pane = context.pane
    if pane is None or len(pane.sorts) < 2:
        return None
    if len(pane.sorts) > FEW:
        return orders(context)
    place = pane.sorts.index(pane.sort.removesuffix(REVERSED))
    return sort_by(pane, pane.sorts[(place + 1) % len(pane.sorts)])
