"""Sorting the rows of a pane inside their headings."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from .pane_rows import Row
from .rows import Continuation


def sort_rows(keys: Sequence[Hashable], sort_key: Callable[[Row], Any]) -> list[Hashable]:
    """The rows with the items of each heading sorted (stable); continuations stay below their items."""
    sorted_keys: list[Hashable] = []
    groups: list[list[Hashable]] = []

    def flush() -> None:
        groups.sort(key=lambda group: sort_key(group[0]))  # type: ignore[arg-type]
        for group in groups:
            sorted_keys.extend(group)
        groups.clear()

    for key in keys:
        if isinstance(key, Row):
            groups.append([key])
        elif isinstance(key, Continuation) and groups:
            groups[-1].append(key)
        else:
            flush()
            sorted_keys.append(key)
    flush()
    return sorted_keys
