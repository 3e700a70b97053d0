"""Where messages in the corner stand, and what stands above them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from textual.widgets._toast import ToastRack

from memory import errors
from memory.base.safe_text import cell_width, clip
from widgets.chrome.footer import KeyHints
from widgets.list.line_list import LineList
from widgets.list.rows import extent
from widgets.text.styled_text import line, wrap_line

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
    """Put what is said where it hides neither the keys of a dialog nor the row under the cursor.

    That is at the foot, above the keys, or else at the top; where neither has room for all of it, its end is left out.
    """
    screen = app.screen
    there = {ToastRack._toast_id(note) for note in app._notifications}
    for below in app.screen_stack:
        for rack in below.query(ToastRack):
            # A dialog says it itself; what lies below it would say it twice.
            rack.display = below is screen
            for holder in rack.children:
                # Textual leaves the place of a message that was taken away, as high as it was, as long as it runs.
                if holder.id not in there:
                    holder.remove()
    said = [(note.message, note.title) for note in app._notifications]
    for rack in screen.query(ToastRack) if said else ():
        lines = sum(height_of(*words, screen.size.width) for words in said)
        place = place_for(screen, lines)
        rack.display = place.lines > 0
        rack.styles.dock = "top" if place.above else "bottom"
        rack.styles.margin = (place.free, 0, 0, 0) if place.above else (0, 0, place.free, 0)
        rack.styles.max_height = max(1, place.lines) if place.lines < lines else screen.size.height


class ToastPlace(NamedTuple):
    """Where messages stand: at the top or at the foot, how many lines are free beyond them, how many they may take."""

    above: bool
    free: int
    lines: int


def height_of(message: str, title: str, columns: int) -> int:
    """Return the lines of a message in a terminal of so many columns."""
    # Beside a border and padding, Textual leaves two cells for a scrollbar.
    width = max(1, min(WIDEST, columns - 2) - 3)
    return bool(title) + sum(len(wrap_line(line(text), width)) for text in message.split("\n"))


def place_for(screen: Screen[object], lines: int) -> ToastPlace:
    """Return where messages of so many lines stand."""
    height = screen.size.height
    free = 1
    keys = [hints.region.y for hints in screen.query(KeyHints) if screen.is_modal and hints.region.height]
    if keys and height - free - lines <= max(keys):
        free = height - max(keys)
    rows = cursor_rows(screen)
    if rows is None:
        return ToastPlace(above=False, free=free, lines=height - free)
    below, above = height - free - rows.stop, rows.start - 1
    if lines <= below or (lines > above and below >= above):
        return ToastPlace(above=False, free=free, lines=min(lines, below))
    # The header gives its line rather than the end of a sentence.
    top = 1 if lines <= above else 0
    return ToastPlace(above=True, free=top, lines=min(lines, rows.start - top))


def cursor_rows(screen: Screen[object]) -> range | None:
    """Return the lines of the screen where a person looks: those of the row under the cursor that are in view."""
    focused = screen.focused
    if focused is None:
        return None
    area = focused.region
    if not isinstance(focused, LineList):
        return range(area.y, area.y + 1)
    if focused.position < 0:
        return None
    first = area.y + focused.position - round(focused.scroll_y)
    last = min(area.bottom, first + extent(focused.rows, focused.position))
    return range(max(area.y, first), last) if area.y < last and first < area.bottom else None
