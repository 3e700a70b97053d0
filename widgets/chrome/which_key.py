"""Where a key that waits for another one leads: lines at the foot of the screen, while it waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from widgets.text.drawing import Drawing
from widgets.text.styled_text import Line, Piece, line_width

GAP = 2
"""Cells between two ways, and before the first one."""


class WhichKey(Drawing, Widget):
    """Lies over the foot of the main screen; nothing below it moves."""

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
        """Show keys with where they lead; none hides it."""
        if ways:
            self._ways = tuple(ways)
        self.set_class(bool(ways), "-shown")
        self.refresh(layout=True)

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002
        """As wide as there is room."""
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """As many lines as it takes."""
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
        """One line of them."""
        width = self.size.width
        lines = self._lines(width)
        return self.draw(lines[y] if y < len(lines) else (), width)
