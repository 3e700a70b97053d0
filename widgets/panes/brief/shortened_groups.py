"""What the brief leaves out of a long group: how many rows it shows, and where all of them are."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

from widgets.list.rows import Heading
from widgets.pane.rows import RowKey

SHOWN = {"waiting": 3, "news": 8, "week": 4, "run": 4, "journal": 5, "progress": 5}
"""How many rows of a group are shown, `USUAL` for others; one more row says how many are left and leads to them."""

USUAL = 6

KEPT = 500
"""The most rows of a group that the filter searches, and that are shown if the group is opened on the spot."""

MORE = "more"
"""The group of the rows that say how many more rows there are."""

DOORS: dict[str, tuple[str, str, str]] = {
    "overdue": ("tasks", "due:overdue", "all in Tasks"),
    "today": ("tasks", "due:today", "all in Tasks"),
    "week": ("tasks", "due:week", "all in Tasks"),
    "progress": ("tasks", "section:in-progress", "all in Tasks"),
    "stale": ("tasks", "section:in-progress", "all in Tasks"),
    "alert": ("monitors", "", "all in Monitors"),
    "waiting": ("waiting", "part:approvals", "all in Waiting"),
    "news": ("changes", "", "all in Changes"),
    "journal": ("journal", "", "all in Journal"),
    "lost": ("waiting", "part:removals", "all in Waiting"),
}
"""Where all rows of a group are: a pane, its filter, and both in words.

Groups that are in no pane are opened on the spot.
"""


def shown_of(group: str) -> int:
    """Return how many rows of a group are shown."""
    return SHOWN.get(group, USUAL)


def more_words(group: str, count: int) -> str:
    """Return the words of the last row of a long group."""
    where = f", {DOORS[group][2]}" if group in DOORS else ""
    return f"… and {count:,} more{where}"


def cut(keys: Sequence[Hashable], opened: Collection[str]) -> list[Hashable]:
    """Return the rows with each group cut to its shown number; groups in `opened` keep all rows."""
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
