"""The smallest Textual application that shows the same task titles: the floor for first paint and keys.

    python -m bench.minimal_app tasks.md

It reads the titles with one regular expression and draws lines itself, nothing else.
"""

from __future__ import annotations

import sys

from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from bench.reference import OPEN_TASK


class Rows(ScrollView, can_focus=True):
    """A list that draws the lines in view."""

    BINDINGS = [("j", "move(1)", "Down"), ("k", "move(-1)", "Up")]

    def __init__(self, titles: list[tuple[str, str]]) -> None:
        """Show `titles`, pairs of priority and title."""
        super().__init__()
        self._titles = titles
        self._cursor = 0
        self.virtual_size = Size(80, len(titles))

    def render_line(self, y: int) -> Strip:
        """Return the line `y` of the window."""
        row = y + self.scroll_offset.y
        width = self.size.width
        if row >= len(self._titles):
            return Strip.blank(width)
        priority, title = self._titles[row]
        style = Style(reverse=True) if row == self._cursor else Style()
        return Strip([Segment(f" {priority:<6} {title}", style)]).adjust_cell_length(width, style)

    def action_move(self, step: int) -> None:
        """Move the cursor and draw the two lines that changed."""
        old, self._cursor = self._cursor, max(0, min(len(self._titles) - 1, self._cursor + step))
        self.scroll_to_region(Region(0, self._cursor, 1, 1), animate=False)
        for row in (old, self._cursor):
            self.refresh(Region(0, row - self.scroll_offset.y, self.size.width, 1))


class MinimalApp(App[None]):
    """One list over the whole screen."""

    BINDINGS = [("q", "quit", "Quit")]

    def __init__(self, path: str) -> None:
        """Read the titles of the task file at `path`."""
        super().__init__()
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            self._titles = OPEN_TASK.findall(stream.read())

    def compose(self) -> ComposeResult:
        """Give the list."""
        yield Rows(self._titles)


if __name__ == "__main__":
    MinimalApp(sys.argv[1]).run()
