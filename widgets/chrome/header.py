"""The header: the open workspace at the left, what needs attention at the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from memory.base.safe_text import cell_width, clip, visible
from widgets.text.drawing import Drawing
from widgets.text.styled_text import Line, Piece, clip_line, line, line_width, pad_line

GAP = 2
"""Cells between two parts of the header."""

PATH = 22
"""Cells for the path or the folder's name, kept by dropping parts that need no attention instead."""


class Alert(NamedTuple):
    """One part of the header that needs attention, and where a click on it leads (empty: nowhere)."""

    words: Line
    leads: str = ""


def lay_out_header(name: str, path: str, alerts: Sequence[Line], width: int) -> Line:
    """The header in `width` cells.

    With too little room, the path becomes the folder's name; then parts that need no attention are dropped, then
    the name, then the last alerts. If not even the first alert fits beside `name`, that is dropped.
    """
    left, count = _room(name, path, alerts, width)
    name_cells = line_width(left)
    right = tuple(piece for alert in alerts[:count] for piece in (Piece(" " * GAP), *alert))
    rest = max(0, width - line_width(right) - 1)
    for_path = rest - name_cells - GAP
    if path and left and for_path >= min(8, cell_width(_folder(path))):
        if line_width(line(path)) > for_path:
            path = clip(_folder(path), for_path)
        left = line(left, Piece(" " * GAP), Piece(path, "muted"))
    return clip_line(line(pad_line(left, rest), right, " "), width)


def _room(name: str, path: str, alerts: Sequence[Line], width: int) -> tuple[Line, int]:
    """The name, if there is room for it, and how many alerts fit."""
    left = line(" ", Piece(name, "strong"))
    first = line_width(alerts[0]) + GAP if alerts else 0
    if line_width(left) + first + 1 > width >= first:
        left = ()
    room = width - line_width(left) - 1
    count = 0
    for alert in alerts:
        room -= line_width(alert) + GAP
        # A part that needs no attention, such as the next run, is dropped before the path.
        kept = PATH + GAP if path and left and count and all(tone == "muted" for _, tone in alert) else 0
        if room < kept and (count or left):
            break
        count += 1
    return left, count


def _folder(path: str) -> str:
    """The name of a folder, safe to show."""
    return visible(path.rpartition("/")[2] or path)


class HeaderLine(Drawing, Widget):
    """One line on top of the application; a click on a part reports where it leads."""

    ALLOW_SELECT = False

    @dataclass
    class Chosen(Message):
        """A part was clicked; `leads` is the target of its alert."""

        leads: str

    DEFAULT_CSS = """
    HeaderLine {
        height: 1;
        dock: top;
        background: $background;
        color: $foreground;
    }
    """

    title: reactive[str] = reactive("memdeck")
    """The name at the left."""

    path: reactive[str] = reactive("")
    """The workspace's folder, as a person writes it."""

    alerts: reactive[tuple[Alert, ...]] = reactive(())
    """What needs attention, the most important first."""

    work: reactive[Line] = reactive(())
    """What runs now, shown before everything else."""

    keeper: reactive[Line] = reactive(())
    """Which process keeps the schedule, shown after everything else."""

    def _parts(self) -> list[Alert]:
        return [part for part in (Alert(self.work), *self.alerts, Alert(self.keeper)) if part.words]

    def on_click(self, event: events.Click) -> None:
        """Report where the part under the mouse leads."""
        parts = self._parts()
        count = _room(self.title, self.path, [part.words for part in parts], self.size.width)[1]
        end = self.size.width - 1
        for part in reversed(parts[:count]):
            start = end - line_width(part.words)
            if start <= event.x < end and part.leads:
                event.stop()
                self.post_message(self.Chosen(part.leads))
            end = start - GAP

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        parts = [part.words for part in self._parts()]
        return self.draw(lay_out_header(self.title, self.path, parts, width), width)
