"""Where messages in the corner stand, and what stands above them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory import errors
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
