"""Repaint: a widget that is to be drawn anew, as a whole or in part, tells its screen at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from rich.style import Style
from textual.geometry import Region, Spacing
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.color import Color
    from textual.screen import Screen
    from textual.widget import Widget
else:
    # Textual takes the styles of the first base that is a widget.
    Widget = object


EFFECTS = (
    *("opacity", "text_opacity", "tint", "hatch"),
    *("outline_top", "outline_right", "outline_bottom", "outline_left"),
)
"""Rules of a style that change what a widget has drawn."""


class Repaint(Widget):
    """Mixin for widgets that change with keys; put it before the Textual base class.

    Textual has each widget wake up first, and send its screen a message: two turns of the loop for each of the widgets
    that a key changes.
    """

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Draw regions anew, all of it without any; quick where nothing is to be laid out."""
        screen = self._screen_if_seen() if repaint and not layout and not recompose else None
        if screen is None:
            return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        self._layout_cache.clear()
        if not regions:
            self.clear_cached_dimensions()
        self._set_dirty(*regions)
        screen._dirty_widgets.add(self)
        screen.check_idle()
        return self

    def _screen_if_seen(self) -> Screen[object] | None:
        """The screen if it draws this where it stands; None where it is about to be laid out, or is not shown."""
        if not self._is_mounted or self._layout_required or not self.is_attached:
            return None
        screen = self.screen
        # While a screen is laid out or drawn, it forgets at the end what it was told meanwhile.
        takes = getattr(screen, "takes_repaints", False) and not screen._layout_required
        return screen if takes and self in screen._compositor.visible_widgets else None

    _ground: Color | None = None

    def notify_style_update(self) -> None:
        """Another theme, focus or class."""
        self._ground = None
        super().notify_style_update()

    @property
    def ground(self) -> Color:
        """The colour behind what this draws; Textual works it out from all widgets around it, each time."""
        if self._ground is None:
            self._ground = self.background_colors[1]
        return self._ground

    def blank(self, cells: int) -> Strip:
        """Return cells of padding."""
        return Strip.blank(cells, Style(bgcolor=self.ground.rich_color))

    _plainly: tuple[int, bool] = (-1, False)
    """Which state of its styles was looked at, and whether there is no more to it than a padding at the left."""

    def lines_of(self, crop: Region, draw: Callable[[range], list[Strip]]) -> list[Strip] | None:
        """Return lines that `draw` gives in full width, with the padding at their left; None where there is more to it.

        Textual asks for border, padding and effects with each line, which takes longer than drawing it.
        """
        styles = self.styles
        if self._plainly[0] != styles._cache_key:
            gutter = styles.gutter
            plain = gutter == Spacing(0, 0, 0, gutter.left) and not any(map(styles.has_rule, EFFECTS))
            self._plainly = (styles._cache_key, plain)
        if not self._plainly[1]:
            return None
        strips = draw(crop.line_range)
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, self.ground) for strip in strips]
        start, end = crop.column_span
        if start or not all(strip.cell_length == end for strip in strips):
            strips = [strip.crop(start, end) for strip in strips]
        return strips
