"""The parts of a pane that tell it at once what a key did, so that one picture shows all of it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.strip import Strip
from textual.widget import Widget

from widgets.chrome.compositor import SparseCompositor
from widgets.input.filter_bar import FilterBar
from widgets.list.line_list import LineList
from widgets.list.rows import Continuation
from widgets.text.styled_text import EMPTY, Line, Piece, clip_line, line, line_text, wrap_line

from .rows import RowKey

if TYPE_CHECKING:
    from .context import PaneContext

INDENT = 2
"""Cells at the left and at the right of the words of a list without rows."""


class PaneList(LineList):
    """The list of a pane; it draws what its pane says, and words where there are no rows."""

    def __init__(self, pane: PaneContext) -> None:
        super().__init__(classes="pane--list")
        self._pane = pane
        self._words = ""
        self._wrapped: tuple[int, int, int, Sequence[Line]] = (-1, -1, 0, ())

    def say(self, words: str) -> None:
        """Say something where there are no rows. Drawn by the list itself: another widget in its place would be a
        layout of the whole screen for a letter in the filter.
        """
        if words != self._words:
            self._words, self._wrapped = words, (-1, -1, 0, ())
            if not self.rows:
                self.refresh()

    def render_row(self, key: Hashable, width: int) -> Line:
        """The line of an item or of a continuation."""
        if isinstance(key, Continuation):
            assert isinstance(key.owner, RowKey)
            return self._pane.draw_more(key.owner.item, key.number, width)
        assert isinstance(key, RowKey)
        return self._pane.draw_row(key.item, width)

    def draw_below(self, places: range, width: int) -> list[Strip]:
        """Lines of the words, where there are no rows."""
        if self.rows or not self._words:
            return super().draw_below(places, width)
        height = self.size.height
        if self._wrapped[:2] != (width, height):
            self._wrapped = (width, height, *self._laid_out(width, height))
        indent, lines = self._wrapped[2:]
        top = int(len(lines) < height)
        shown = [line(" " * indent, lines[y - top]) if 0 <= y - top < len(lines) else EMPTY for y in places]
        return [self.draw(text, width) for text in shown]

    def _laid_out(self, width: int, height: int) -> tuple[int, Sequence[Line]]:
        """Return how far the words are indented, and their lines: closer together where there is little room.

        What has no room even then ends with an ellipsis.
        """
        texts = [line(Piece(text, "muted")) for text in self._words.split("\n")]
        for indent in (INDENT, INDENT - 1):
            lines = [row for text in texts for row in wrap_line(text, max(1, width - 2 * indent))]
            if len(lines) <= height:
                break
            lines = [row for row in lines if line_text(row).strip()]
            if len(lines) <= height:
                break
        if len(lines) > height > 0:
            lines[height - 1 :] = [clip_line(line(lines[height - 1], Piece(" …", "muted")), width - 2 * indent)]
        return indent, lines

    def move_to(self, position: int, *, direction: int = 1) -> None:
        """Put the cursor elsewhere, for the person; the entry comes with it, and nobody has to be told."""
        if self.rows:
            self._pane.moved()
        with self.prevent(LineList.Highlighted):
            super().move_to(position, direction=direction)
        self._pane.follow_cursor()


class PaneFilter(FilterBar):
    """The filter of a pane, which has narrowed the list when a letter is drawn.

    It lies on the lower edge of the frame: opening it moves and resizes nothing, which would draw all of it twice. Once
    it was prepared it keeps its place, and is only left out of the picture while it is closed.
    """

    DEFAULT_CSS: ClassVar[str] = "PaneFilter { overlay: screen; }"

    def __init__(self, pane: PaneContext) -> None:
        super().__init__()
        self._pane = pane

    @property
    def is_shut(self) -> bool:
        """Whether it keeps its place on the screen and is not drawn there."""
        return self.display and not self.is_open

    def prepare(self) -> None:
        """Have the editor ready, and lay it out where it will be: then opening it is no layout at all."""
        super().prepare()
        if self.is_attached and self._compositor is not None:
            self.display = True
            self.reveal()

    def reveal(self) -> None:
        """Show the bar, or hide it: once it has its place, only what is drawn there changes."""
        compositor = self._compositor
        if compositor is None or not self.display:
            super().reveal()
            return
        self._editor.can_focus = self.is_open
        compositor.shut_changed()
        frame = self.parent
        assert isinstance(frame, Widget)
        frame.refresh(self.region.translate(-frame.content_region.offset))

    @property
    def _compositor(self) -> SparseCompositor | None:
        """What draws the screen, if it leaves out what is shut."""
        compositor = self.screen._compositor if self.is_attached else None
        return compositor if isinstance(compositor, SparseCompositor) else None

    def typed(self) -> None:
        """A letter was typed, or taken back."""
        self._pane.set_filter(self.text, typed=True)
