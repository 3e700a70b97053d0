"""The smallest Textual application that shows the same task titles: the floor for first paint and keys.

    python -m bench.minimal_app tasks.md

It reads the titles with one regular expression and draws lines itself. Half a page and a filter are there to be
measured as well, written as briefly as Textual has it: the lines in view are drawn anew.
"""

from __future__ import annotations

import sys

from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input

from bench.reference import OPEN_TASK


class Rows(ScrollView, can_focus=True):
    """A list that draws the lines in view."""

    BINDINGS = [
        ("j", "move(1)", "Down"),
        ("k", "move(-1)", "Up"),
        ("ctrl+d", "page", "Half a page down"),
        ("home", "first", "First"),
    ]

    def __init__(self, titles: list[tuple[str, str]]) -> None:
        """Show `titles`, pairs of priority and title."""
        super().__init__()
        self._all = self._titles = titles
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

    def action_page(self) -> None:
        """Move cursor and view by half a page."""
        rows = self.size.height // 2
        self._cursor = min(len(self._titles) - 1, self._cursor + rows)
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False, force=True)
        self.refresh()

    def action_first(self) -> None:
        """Move cursor and view to the first title."""
        self._cursor = 0
        self.scroll_to(y=0, animate=False, force=True)
        self.refresh()

    def filter(self, text: str) -> None:
        """Show the titles that hold a text."""
        self._titles = [row for row in self._all if text in row[1].lower()]
        self._cursor = 0
        self.virtual_size = Size(80, len(self._titles))
        self.scroll_to(y=0, animate=False, force=True)
        self.refresh()


class MinimalApp(App[None]):
    """One list over the whole screen."""

    CSS = "Input { display: none; dock: bottom; height: 1; border: none; }"
    BINDINGS = [("q", "quit", "Quit"), ("slash", "filter", "Filter"), ("escape", "close", "All again")]

    def __init__(self, path: str) -> None:
        """Read the titles of the task file at `path`."""
        super().__init__()
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            self._titles = OPEN_TASK.findall(stream.read())

    def compose(self) -> ComposeResult:
        """Give the list, and the line of its filter."""
        yield Rows(self._titles)
        yield Input(compact=True)

    def action_filter(self) -> None:
        """Open the filter."""
        editor = self.query_one(Input)
        editor.display = True
        editor.focus()

    def action_close(self) -> None:
        """Close the filter."""
        editor = self.query_one(Input)
        editor.value, editor.display = "", False
        self.query_one(Rows).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter with each letter."""
        self.query_one(Rows).filter(event.value.lower())


if __name__ == "__main__":
    MinimalApp(sys.argv[1]).run()
