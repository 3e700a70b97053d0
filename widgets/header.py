"""The header: what is open at the left, what needs attention at the right."""

from __future__ import annotations

from collections.abc import Sequence

from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from .drawing import Drawing
from .pieces import Line, Piece, clip_line, line, line_width, pad_line

GAP = 2
"""Cells between two parts of the header."""

PATH = 16
"""Cells of the path, from its end, that stay while something that needs nobody could go."""


def lay_out_header(name: str, path: str, alerts: Sequence[Line], width: int) -> Line:
    """The header in `width` cells.

    The path loses its beginning, then what needs nobody goes, then the path, then the last alerts; when not even the
    first alert fits beside the name, the name makes room for it.
    """
    left: list[Piece] = [Piece(" "), Piece(name, "strong")]
    first = line_width(alerts[0]) + GAP if alerts else 0
    if line_width(tuple(left)) + first + 1 > width >= first:
        left = []
    name_cells = line_width(tuple(left))
    room = width - name_cells - 1
    right: list[Piece] = []
    for alert in alerts:
        room -= line_width(alert) + GAP
        # What needs nobody, such as the next run, goes before the path does.
        kept = PATH + GAP if path and left and right and all(tone == "muted" for _, tone in alert) else 0
        if room < kept and (right or left):
            break
        right += [Piece(" " * GAP), *alert]
    rest = max(0, width - line_width(tuple(right)) - 1)
    for_path = rest - name_cells - GAP
    if path and for_path >= 8 and left:
        if line_width(line(path)) > for_path:
            path = _clip_start(path, for_path)
        left += [Piece(" " * GAP), Piece(path, "muted")]
    return clip_line(line(pad_line(tuple(left), rest), tuple(right), " "), width)


def _clip_start(text: str, width: int) -> str:
    """The end of a text, an ellipsis in front of it."""
    while text and line_width(line("\u2026", text)) > width:
        text = text[1:]
    return "\u2026" + text


class HeaderLine(Drawing, Widget):
    """One line on top of the application."""

    ALLOW_SELECT = False

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

    alerts: reactive[tuple[Line, ...]] = reactive(())
    """What needs attention, the most important first."""

    work: reactive[Line] = reactive(())
    """What runs now, before everything else."""

    watch: reactive[Line] = reactive(())
    """Who keeps the schedule, behind everything else."""

    def render_line(self, y: int) -> Strip:
        """The line."""
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        parts = [part for part in (self.work, *self.alerts, self.watch) if part]
        return self.draw(lay_out_header(self.title, self.path, parts, width), width)
