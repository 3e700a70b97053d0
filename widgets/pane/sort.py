"""Sorting the rows of a pane inside their headings."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from widgets.list.rows import Continuation

from .rows import RowKey


def sort_rows(
    keys: Sequence[Hashable],
    sort_key: Callable[[RowKey], Any],
    *,
    reverse: bool = False,
    lacks: Callable[[Any], bool] = lambda value: False,  # noqa: ARG005
) -> list[Hashable]:
    """The rows with the items of each heading sorted (stable); continuations stay below their items.

    Items whose key `lacks` a value come last also in an order that is turned round.
    """
    sorted_keys: list[Hashable] = []
    groups: list[list[Hashable]] = []

    def flush() -> None:
        if reverse:
            known = [(sort_key(group[0]), group) for group in reversed(groups)]  # type: ignore[arg-type]
            there = [pair for pair in known if not lacks(pair[0])]
            there.sort(key=lambda pair: pair[0], reverse=True)
            missing = [group for group in groups if lacks(sort_key(group[0]))]  # type: ignore[arg-type]
            groups[:] = [group for _, group in there] + missing
        else:
            groups.sort(key=lambda group: sort_key(group[0]))  # type: ignore[arg-type]
        for group in groups:
            sorted_keys.extend(group)
        groups.clear()

    for key in keys:
        if isinstance(key, RowKey):
            groups.append([key])
        elif isinstance(key, Continuation) and groups:
            groups[-1].append(key)
        else:
            flush()
            sorted_keys.append(key)
    flush()
    return sorted_keys
