"""Where messages in the corner stand, and what stands above them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memory import errors
from memory.base.safe_text import cell_width, clip
from widgets.chrome.footer import KeyHints
from widgets.list.line_list import LineList

if TYPE_CHECKING:
    from textual.app import App
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


def place_toasts(app: App[int]) -> None:
    """Put what is said where it hides neither the keys of a dialog nor, if that is possible, the cursor's row.

    That is at the foot, above the keys, or else at the top.
    """
    screen = app.screen
    for below in app.screen_stack:
        for rack in below.query("ToastRack"):
            # A dialog says it itself; what lies below it would say it twice.
            rack.display = below is screen
    said = [len(note.message) for note in app._notifications]
    for rack in screen.query("ToastRack") if said else ():
        above, free = place_for(screen, max(said))
        rack.styles.dock = "top" if above else "bottom"
        rack.styles.margin = (1, 0, 0, 0) if above else (0, 0, free, 0)


def place_for(screen: Screen[object], length: int) -> tuple[bool, int]:
    """Return whether a message of so many characters stands at the top, and how many lines stay free at the foot."""
    height = screen.size.height
    lines = -(-length // max(1, min(WIDEST, screen.size.width) - 3)) + 1
    free = 1
    keys = [hints.region.y for hints in screen.query(KeyHints) if screen.is_modal and hints.region.height]
    if keys and height - free - lines <= max(keys):
        free = height - max(keys)
    row = _cursor_row(screen)
    # Words wrap into one line more than counted, or a title stands above them: that is what the lines have in spare.
    return row is not None and height - free - lines <= row < height - free and row > lines + 1, free


def _cursor_row(screen: Screen[object]) -> int | None:
    """Return the line of the screen where a person looks."""
    focused = screen.focused
    if focused is None:
        return None
    row = focused.region.y
    if isinstance(focused, LineList) and focused.position is not None:
        row += focused.position - round(focused.scroll_y)
    return row
