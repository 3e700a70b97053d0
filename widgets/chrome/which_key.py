"""Where the next key leads while a prefix key waits for it: lines at the foot of the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from widgets.text.drawing import Drawing
from widgets.text.styled_text import Line, Piece, line_width

GAP = 2
"""Cells between two targets, and before the first one."""


class WhichKey(Drawing, Widget):
    """An overlay at the foot of the main screen; nothing below it moves."""

    ALLOW_SELECT = False

    DEFAULT_CSS: ClassVar[str] = """
    WhichKey {
        layer: above;
        dock: bottom;
        height: auto;
        display: none;
        background: $panel;
        color: $foreground;
        &.-shown { display: block; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._ways: tuple[Line, ...] = ()

    def show(self, ways: Sequence[Line]) -> None:
        """Show keys with their targets; an empty sequence hides the widget."""
        if ways:
            self._ways = tuple(ways)
        self.set_class(bool(ways), "-shown")
        self.refresh(layout=True)

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002
        """Take all the width there is."""
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Take as many lines as needed."""
        return len(self._lines(width))

    def _lines(self, width: int) -> list[Line]:
        lines: list[list[Piece]] = [[]]
        used = 0
        for way in self._ways:
            if lines[-1] and used + GAP + line_width(way) > width:
                lines.append([])
                used = 0
            lines[-1] += [Piece(" " * GAP), *way]
            used += GAP + line_width(way)
        return [tuple(pieces) for pieces in lines]

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        width = self.size.width
        lines = self._lines(width)
        return self.draw(lines[y] if y < len(lines) else (), width)
