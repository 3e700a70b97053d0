"""What the brief does not show of a long group: how many rows there are for it, and where all of them stand."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

from widgets.list.rows import Heading
from widgets.pane.rows import RowKey

SHOWN = {"waiting": 3, "news": 8, "week": 4, "run": 4, "journal": 5, "progress": 5}
"""Rows of one group that are shown, else `USUAL`; a last one says how many more there are, and leads to them."""

USUAL = 6

KEPT = 500
"""Rows of one group that the filter looks at, and that are shown where the group is opened on the spot."""

MORE = "more"
"""The group of the rows that say how many more there are."""

DOORS: dict[str, tuple[str, str, str]] = {
    "overdue": ("tasks", "due:overdue", "all in Tasks"),
    "today": ("tasks", "due:today", "all in Tasks"),
    "week": ("tasks", "due:week", "all in Tasks"),
    "progress": ("tasks", "section:in-progress", "all in Tasks"),
    "stale": ("tasks", "section:in-progress", "all in Tasks"),
    "alert": ("monitors", "", "all in Monitors"),
    "waiting": ("", "", "T asks for each"),
    "news": ("changes", "", "all in Changes"),
    "journal": ("journal", "", "all in Journal"),
    "lost": ("changes", "", "all in Changes"),
}
"""Where all rows of a group stand: a pane, its filter, and both in words (no pane: the questions for approvals).

Groups that stand nowhere else are opened on the spot.
"""


def shown_of(group: str) -> int:
    """Return how many rows of a group are shown."""
    return SHOWN.get(group, USUAL)


def more_words(group: str, count: int) -> str:
    """Return what the last row of a long group says."""
    where = f", {DOORS[group][2]}" if group in DOORS else ""
    return f"… and {count:,} more{where}"


def cut(keys: Sequence[Hashable], opened: Collection[str]) -> list[Hashable]:
    """Return the rows without those that a group has too many of; groups that were opened have all of theirs."""
    left: list[Hashable] = []
    count = 0
    for key in keys:
        if isinstance(key, Heading):
            count = 0
        elif isinstance(key, RowKey):
            group = key.item.group
            if group == MORE:
                if key.item.target in opened and not key.item.thing:
                    continue
            else:
                count += 1
                if count > shown_of(group) and group not in opened:
                    continue
        left.append(key)
    return left
