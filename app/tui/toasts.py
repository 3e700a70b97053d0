"""Where messages in the corner stand, and what stands above them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memory import errors
from memory.safetext import cell_width, clip
from widgets.line_list import LineList

if TYPE_CHECKING:
    from textual.screen import Screen

WIDEST = 60
"""Cells of the widest message."""

HEADINGS: tuple[tuple[type[errors.MemdeckError], str], ...] = (
    (errors.ConflictError, "Somebody else was faster"),
    (errors.NotFoundError, "Not there"),
    (errors.AmbiguousError, "Not clear which one"),
    (errors.BlockedError, "Waits for approval"),
    (errors.RefusedError, "Refused"),
    (errors.BusyError, "Busy"),
    (errors.UsageError, "Not like this"),
)
"""Errors in words, the first that fits."""


def heading_of(error: errors.MemdeckError) -> str:
    """What went wrong, in two or three words."""
    if error.code.startswith("trust."):
        return "May not run"
    if error.code == "file.read_only":
        return "Only to be read"
    return next((words for kind, words in HEADINGS if isinstance(error, kind)), "That did not work")


_QUOTED = re.compile(r"'(.+)'")
LEAST = 12
"""Cells that a title keeps at least in a message."""


def in_one_line(words: str, width: int) -> str:
    """A sentence whose quoted title is cut as far as it has to be for a message of one line in so wide a terminal."""
    over = cell_width(words) - (min(WIDEST, width) - 4)
    found = _QUOTED.search(words)
    if over <= 0 or found is None:
        return words
    title = clip(found[1], max(LEAST, cell_width(found[1]) - over))
    return f"{words[: found.start(1)]}{title}{words[found.end(1) :]}"


def covers_cursor(screen: Screen[object], length: int) -> bool:
    """Whether a message of so many characters would cover the row of the cursor at the foot, and not at the top."""
    focused = screen.focused
    if focused is None:
        return False
    row = focused.region.y
    if isinstance(focused, LineList) and focused.position is not None:
        row += focused.position - round(focused.scroll_y)
    lines = -(-length // max(1, min(WIDEST, screen.size.width) - 3)) + 1
    return row >= screen.size.height - 1 - lines and row > lines + 1
