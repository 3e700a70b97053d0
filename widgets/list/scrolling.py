"""Scrolling: a view whose content grows and shrinks without a layout of the whole screen, drawn line by line."""

from __future__ import annotations

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip
from textual.widget import Widget

from widgets.text.drawing import Repaint


class Scrolling(Repaint, ScrollView):
    """A scroll view of the size that its place gives it, whatever is in it.

    Textual lays out all widgets again when a view gets other content, since any of them may depend on it. Each key in
    a list gives the detail beside it other content; only where a scrollbar comes or goes, or something is as large as
    its content, there is anything to lay out. Where `overflow-y` is `scroll`, the scrollbar has its cell always.
    """

    virtual_size: Reactive[Size] = Reactive(Size(0, 0), repaint=False)

    line_indent = 0
    """Cells of padding that `draw_line` has to put at the left now."""

    def draw_line(self, y: int, width: int) -> Strip:
        """Return the line `y` of the view in `width` cells, those beside padding and scrollbar."""
        raise NotImplementedError

    def render_line(self, y: int) -> Strip:
        """One line of the view."""
        return self.draw_line(y, self.scrollable_content_region.width)

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        """The scrollbar, made when it is asked for; it moves with each page and draws itself in one go."""
        if self._vertical_scrollbar is None:
            self._vertical_scrollbar = bar = QuickBar(
                vertical=True, name="vertical", thickness=self.scrollbar_size_vertical
            )
            bar.display = False
            self.app._start_widget(self, bar)
        return self._vertical_scrollbar

    def draw_lines(self, places: range, width: int) -> list[Strip]:
        """Return some lines of the view, each as `draw_line` gives it."""
        return [self.draw_line(y, width) for y in places]

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw lines as `draw_line` gives them.

        Textual asks for border, padding and effects again with each line, which takes longer than our drawing; this
        does it once, and leaves to Textual what has more of them than a padding at the left.
        """
        width, self.line_indent = self.scrollable_content_region.width, self.styles.gutter.left
        try:
            strips = self.lines_of(crop, lambda places: self.draw_lines(places, width))
        finally:
            self.line_indent = 0
        return super().render_lines(crop) if strips is None else strips

    def refresh_line(self, y: int) -> None:
        """Draw one line of the content anew."""
        self.refresh_lines(y)

    def refresh_lines(self, y_start: int, line_count: int = 1) -> None:
        """Draw some lines of the content anew, and not the scrollbar beside them."""
        y = y_start - round(self.scroll_y)
        self.refresh(Region(0, y, self.scrollable_content_region.width, line_count))

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Its styles are the same with and without the focus; Textual would look for all of them again."""

    def set_extent(self, size: Size) -> None:
        """Take the size of other content; the view stays where it is, or goes to the new end."""
        if size == self.virtual_size:
            return
        self.virtual_size = size
        height = self.container_size.height
        shown = self.show_vertical_scrollbar
        toggles = self.styles.overflow_y == "auto" and (size.height > height) != shown
        if not height or toggles or self._follows_content():
            self.refresh(layout=True)
            return
        if shown:
            # What fits is all the same to a scrollbar: it need not be drawn again for each entry.
            self.vertical_scrollbar.window_virtual_size = max(size.height, height)
        self.scroll_y = self.validate_scroll_y(self.scroll_y)
        self.scroll_target_y = self.validate_scroll_target_y(self.scroll_target_y)

    def _follows_content(self) -> bool:
        """Whether this or something around it is as large as its content."""
        return any(isinstance(node, Widget) and node.styles.auto_dimensions for node in self.ancestors_with_self)


class QuickBar(Repaint, ScrollBar):
    """A scrollbar that looks as Textual's does, drawn without a Rich console and a style for each of its lines.

    Another height of it is another virtual size, and nothing is in it that would be laid out for that.
    """

    _looks: tuple[object, ...] = ()
    _drawn: tuple[Strip, ...] = ()

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:  # noqa: ARG002
        return super()._size_updated(size, virtual_size, container_size, layout=False)

    def notify_style_update(self) -> None:
        """Another theme, or other styles of what it belongs to."""
        self._looks = ()
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return its lines; they are made anew where anything that they show is another."""
        assert self.parent is not None
        size, filters = self.outer_size, tuple(self.get_line_filters())
        colours = (self.parent.styles._cache_key, self.app.theme, self.grabbed, self.mouse_over)
        looks = (size, self.window_virtual_size, self.window_size, self.position, colours, filters)
        if looks != self._looks:
            drawn = self._lines(size, filters)
            if drawn is None:
                return super().render_lines(crop)
            self._looks, self._drawn = looks, drawn
        # One that was just made shorter is asked for as many lines as it had.
        blank = self.blank(size.width)
        return [self._drawn[y] if y < len(self._drawn) else blank for y in crop.line_range]

    def _lines(self, size: Size, filters: tuple[LineFilter, ...]) -> tuple[Strip, ...] | None:
        bar = self.render()
        if not isinstance(bar, ScrollBarRender) or not isinstance(bar.style, Style):
            return None
        back, front = bar.style.bgcolor, bar.style.color
        if back is None or front is None:
            return None
        cells = bar.render_bar(
            size.height, bar.virtual_size, bar.window_size, bar.position, size.width, True, back, front
        ).segments
        # Few different cells, each many times: what is worked out for one holds for all that are the same.
        made = {
            key: _bar_cell(cell, size.width, self.ground, filters)
            for key, cell in {id(cell): cell for cell in cells}.items()
        }
        return tuple([made[id(cell)] for cell in cells])


@lru_cache(maxsize=256)
def _bar_cell(cell: Segment, width: int, ground: Color, filters: tuple[LineFilter, ...]) -> Strip:
    """A line of a scrollbar upon the colour behind it."""
    strip = Strip(Segment.apply_style([cell], Style(bgcolor=ground.rich_color)), width)
    for line_filter in filters:
        strip = strip.apply_filter(line_filter, ground)
    return strip
