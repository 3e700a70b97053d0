"""Drawing: turns pieces into strips, in the theme's colours and safe to show.

A widget that must be redrawn, as a whole or in part, marks itself dirty on its screen at once (`Repaint`). Here are the
mixins that widgets put before their Textual base class, that for timers included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Self

from rich.segment import Segment
from rich.style import Style
from textual.color import Color, ColorParseError
from textual.filter import LineFilter
from textual.geometry import Region, Size, Spacing
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip
from textual.widget import Widget

from .depth import STYLES_16
from .glyphs import UNICODE, Glyphs
from .styled_text import Line, Tone, clip_line, plain_width

if TYPE_CHECKING:
    from textual.message_pump import MessagePump
    from textual.timer import Timer, TimerCallback

    Mixin = Widget
else:
    # Textual uses the styles of the first base that is a widget.
    Mixin = MessagePump = object

EFFECTS = (
    *("opacity", "text_opacity", "tint", "hatch"),
    *("outline_top", "outline_right", "outline_bottom", "outline_left"),
)
"""Style rules that change the lines a widget has drawn."""


class Repaint(Mixin):
    """Mixin for widgets that change with keys; put it before the Textual base class.

    In Textual each widget wakes up first and sends its screen a message, which costs two turns of the event loop for
    each widget that a key changes.
    """

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Redraw regions, or the whole widget if there are none; fast where the screen shows it and needs no layout."""
        if repaint and not (layout or recompose or self._layout_required) and self._is_mounted and self.is_attached:
            screen = self.screen
            # At the end of a layout or a frame, a screen forgets the repaints reported in the meantime.
            takes = getattr(screen, "takes_repaints", False) and not screen._layout_required
            if takes and self in screen._compositor.visible_widgets:
                self._layout_cache.clear()
                if not regions:
                    self.clear_cached_dimensions()
                self._set_dirty(*regions)
                screen._dirty_widgets.add(self)
                screen.check_idle()
                return self
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def notify_style_update(self) -> None:
        """Drop the cached background after a change of theme, focus or class."""
        self.__dict__.pop("ground", None)
        super().notify_style_update()

    @cached_property
    def ground(self) -> Color:
        """The background colour of this widget; Textual computes it from all ancestors each time."""
        return self.background_colors[1]

    def blank(self, cells: int) -> Strip:
        """Return cells of padding."""
        return Strip.blank(cells, Style(bgcolor=self.ground.rich_color))

    _plainly: tuple[int, bool] = (-1, False)
    """The cache key of the styles that were checked, and whether they have nothing but a padding at the left."""

    def lines_of(self, crop: Region, draw: Callable[[range], list[Strip]]) -> list[Strip] | None:
        """Return the lines of a crop from `draw`, which returns full-width lines including the padding at the left.

        None where the styles have more than that padding. Textual looks up border, padding and effects for each line,
        which takes longer than drawing it.
        """
        styles = self.styles
        if self._plainly[0] != styles._cache_key:
            gutter = styles.gutter
            plain = gutter == Spacing(0, 0, 0, gutter.left) and not any(map(styles.has_rule, EFFECTS))
            self._plainly = (styles._cache_key, plain)
        if not self._plainly[1]:
            return None
        filters, ground, (start, end) = self.get_line_filters(), self.ground, crop.column_span
        strips = []
        for strip in draw(crop.line_range):
            for line_filter in filters:
                strip = strip.apply_filter(line_filter, ground)
            strips.append(strip if not start and strip.cell_length == end else strip.crop(start, end))
        return strips


TONE_VARIABLES: dict[Tone, str] = {
    "muted": "foreground-muted",
    "code": "secondary",
    "heading": "foreground-muted",
    "accent": "accent",
    "link": "accent",
    "good": "success",
    "warn": "warning",
    "alert": "error",
}
"""The theme variable that colours a tone; the other tones keep the colour around them."""

TONE_STYLES: dict[Tone, Style] = {
    "strong": Style(bold=True),
    "emphasis": Style(italic=True),
    "heading": Style(bold=True),
    "link": Style(underline=True),
    "alert": Style(bold=True),
}
"""How tones differ apart from their colour."""

BARE_STYLES: dict[Tone, Style] = {"alert": Style(bold=True, reverse=True), "warn": Style(bold=True)}
"""The styles that replace the colour of tones in a terminal without colours."""


@lru_cache(maxsize=256)
def _tone(tone: Tone, colour: str, background: str) -> Style:
    """The style that a tone adds to the style around it, in a theme with these colours."""
    style = TONE_STYLES.get(tone, Style.null())
    if colour:
        with suppress(ColorParseError):
            found = Color.parse(colour)
            if found.a < 1:
                found = Color.parse(background) + found
            style += Style(color=found.rich_color)
    return style


class _ToneStyles(dict[Tone, Style]):
    """The styles of tones on top of component classes of a widget, each worked out when it is first asked for."""

    def __init__(self, work_out: Callable[[Tone], Style]) -> None:
        self._work_out = work_out

    def __missing__(self, tone: Tone) -> Style:
        style = self[tone] = self._work_out(tone)
        return style


class Drawing(Repaint):
    """Mixin for widgets that draw pieces line by line; put it before the Textual base class.

    Tones take their colours from the theme's variables. As component classes they would be computed again for each
    widget, which is a good part of the cost of a first frame.
    """

    _tone_styles: dict[tuple[str, ...], _ToneStyles] | None = None
    _restyled = False

    @property
    def glyphs(self) -> Glyphs:
        """The glyphs to draw with: the application's attribute `glyphs` if it has one, else Unicode."""
        return getattr(self.app, "glyphs", UNICODE)

    def tone_styles(self, *states: str) -> Mapping[Tone, Style]:
        """The style of each tone on top of component classes of this widget, in the order given."""
        if self._restyled:
            self.settle_styles()
        known = self._tone_styles
        if known is None:
            known = self._tone_styles = {}
        styles = known.get(states)
        if styles is None:
            styles = known[states] = _ToneStyles(partial(self._work_out, states))
        return styles

    def _work_out(self, states: tuple[str, ...], tone: Tone) -> Style:
        style = self.get_visual_style(*states).rich_style
        if any(self.get_component_styles(name).text_style.reverse for name in states):
            # Textual's visual style leaves `reverse` out.
            style += Style(reverse=True)
        variables = self.app.theme_variables
        few = getattr(self.app, "depth", "") == "16"
        if few and style.bgcolor is not None:
            ground = Color.parse(variables["background"]).rich_color
            if style.bgcolor.triplet != ground.triplet:
                # The cursor's row is as bright as the tones: only one colour is readable on it.
                if style.color is None or style.color.triplet != ground.triplet:
                    style += Style(color=Color.parse(variables["block-cursor-foreground"]).rich_color)
                return style + TONE_STYLES.get(tone, Style.null()) + STYLES_16.get(tone, Style.null())
        if tone == "plain":
            return style
        colour = variables.get(TONE_VARIABLES.get(tone, ""), "")
        if self.app.no_color:
            bare = BARE_STYLES.get(tone, Style.null())
            # On a row that is reversed as a whole, an urgent piece is not reversed.
            style += Style(bold=True, reverse=False) if bare.reverse and style.reverse else bare
        elif few:
            style += STYLES_16.get(tone, Style.null())
        return style + _tone(tone, colour, variables.get("background", "#000000"))

    def notify_style_update(self) -> None:
        """Mark the cached styles as stale after a change of theme, focus or class."""
        self._restyled = True
        super().notify_style_update()

    def settle_styles(self) -> None:
        """Recompute the styles in use if they may have changed; a widget that caches strips calls this before drawing.

        Textual reports new styles with each move of the focus, which changes none of them.
        """
        if self._restyled:
            self._restyled = False
            before, self._tone_styles = self._tone_styles, None
            for states, styles in (before or {}).items():
                now = self.tone_styles(*states)
                if any(now[tone] != style for tone, style in styles.items()):
                    self.forget_strips()
                    break

    def forget_strips(self) -> None:
        """Drop drawn strips because styles changed; for widgets that cache strips."""

    def draw(self, content: Line, width: int, *states: str) -> Strip:
        """Return a line as a strip of exactly `width` cells, its control characters made visible."""
        return Strip(self.segments(content, width, *states), max(0, width))

    def segments(self, content: Line, width: int, *states: str) -> list[Segment]:
        """Return the segments of `draw`, for a strip that joins several lines side by side."""
        cells = plain_width(content, width)
        plain = 0 <= cells <= width
        shown = content if plain else clip_line(content, width)
        styles = self.tone_styles(*states)
        segments = [Segment(text, styles[tone]) for text, tone in shown if text]
        # Measured as Textual does, which cuts strips where widgets meet.
        missing = width - (cells if plain else sum(segment.cell_length for segment in segments))
        if missing > 0:
            segments.append(Segment(" " * missing, styles["plain"]))
        elif missing < 0:
            return Segment.adjust_line_length(segments, max(0, width))
        return segments


NEAR = 2
"""Up to so many lines between two changed ones are drawn with them: that costs less than another region."""


def near_each_other(lines: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Group line numbers, given in order, into stretches; yield the first line and the end (exclusive) of each."""
    start = end = lines[0]
    for place in lines:
        if place - end > NEAR:
            yield start, end
            start = place
        end = place + 1
    yield start, end


class Scrolling(Repaint, ScrollView):
    """A scroll view whose size does not depend on its content.

    Textual lays out all widgets again when a view gets other content, since any of them may depend on it. Each key in
    a list changes the content of the detail beside it; but a layout is needed only when a scrollbar appears or
    disappears, or a widget is as large as its content. With `overflow-y: scroll` the scrollbar always has its cell.
    """

    virtual_size: Reactive[Size] = Reactive(Size(0, 0), repaint=False)

    line_indent = 0
    """Cells of padding that `draw_line` must currently add at the left."""

    def draw_line(self, y: int, width: int) -> Strip:
        """Return the line `y` of the view in `width` cells, without padding and scrollbar."""
        raise NotImplementedError

    def render_line(self, y: int) -> Strip:
        """One line of the view."""
        return self.draw_line(y, self.scrollable_content_region.width)

    @cached_property
    def vertical_scrollbar(self) -> ScrollBar:
        """The scrollbar, made on first use; it moves with each page and draws itself in one go."""
        self._vertical_scrollbar = bar = QuickBar(
            vertical=True, name="vertical", thickness=self.scrollbar_size_vertical
        )
        bar.display = False
        self.app._start_widget(self, bar)
        return bar

    def draw_lines(self, places: range, width: int) -> list[Strip]:
        """Return some lines of the view, each as `draw_line` returns it."""
        return [self.draw_line(y, width) for y in places]

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw lines as `draw_line` returns them.

        Textual looks up border, padding and effects for each line, which takes longer than the drawing itself. This
        does it once. A widget with more than a padding at the left is left to Textual.
        """
        width, self.line_indent = self.scrollable_content_region.width, self.styles.gutter.left
        try:
            strips = self.lines_of(crop, partial(self.draw_lines, width=width))
        finally:
            self.line_indent = 0
        return super().render_lines(crop) if strips is None else strips

    def refresh_line(self, y: int) -> None:
        """Draw one line of the content again."""
        self.refresh_lines(y)

    def refresh_lines(self, y_start: int, line_count: int = 1) -> None:
        """Draw some lines of the content again, but not the scrollbar beside them."""
        y = y_start - round(self.scroll_y)
        self.refresh(Region(0, y, self.scrollable_content_region.width, line_count))

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Do nothing: the styles are the same with and without focus; Textual would look them all up again."""

    def set_extent(self, size: Size) -> None:
        """Set the size of new content; the scroll position stays, or moves to the new end."""
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
            # A scrollbar looks the same for any content that fits, so it need not be drawn again for each entry.
            self.vertical_scrollbar.window_virtual_size = max(size.height, height)
        self.scroll_y = self.validate_scroll_y(self.scroll_y)
        self.scroll_target_y = self.validate_scroll_target_y(self.scroll_target_y)

    def _follows_content(self) -> bool:
        """Whether this widget or an ancestor is as large as its content."""
        return any(isinstance(node, Widget) and node.styles.auto_dimensions for node in self.ancestors_with_self)


class QuickBar(Repaint, ScrollBar):
    """A scrollbar that looks like Textual's, drawn without a Rich console and a style for each of its lines.

    A change of its height needs no layout, because it contains nothing to lay out.
    """

    _looks: tuple[object, ...] = ()
    _drawn: tuple[Strip, ...] = ()

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:  # noqa: ARG002
        return super()._size_updated(size, virtual_size, container_size, layout=False)

    def notify_style_update(self) -> None:
        """Drop the drawn lines after a change of the theme or of the parent's styles."""
        self._looks = ()
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return its lines; they are drawn again when anything that they show has changed."""
        assert self.parent is not None
        size, filters = self.outer_size, tuple(self.get_line_filters())
        colours = (self.parent.styles._cache_key, self.app.theme, self.grabbed, self.mouse_over)
        looks = (size, self.window_virtual_size, self.window_size, self.position, colours, filters)
        if looks != self._looks:
            drawn = self._lines(size, filters)
            if drawn is None:
                return super().render_lines(crop)
            self._looks, self._drawn = looks, drawn
        # A bar that was just shortened is still asked for its former number of lines.
        lines = [*self._drawn[crop.y : crop.bottom]]
        if len(lines) < crop.height:
            lines += [self.blank(size.width)] * (crop.height - len(lines))
        return lines

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
        # There are few different cells, each many times: each different cell is computed once.
        made = {
            key: _bar_cell(cell, size.width, self.ground, filters)
            for key, cell in {id(cell): cell for cell in cells}.items()
        }
        return tuple([made[id(cell)] for cell in cells])


@lru_cache(maxsize=256)
def _bar_cell(cell: Segment, width: int, ground: Color, filters: tuple[LineFilter, ...]) -> Strip:
    """A line of a scrollbar on the background colour behind it."""
    strip = Strip(Segment.apply_style([cell], Style(bgcolor=ground.rich_color)), width)
    for line_filter in filters:
        strip = strip.apply_filter(line_filter, ground)
    return strip


class LateTimers(MessagePump):
    """Mixin for classes that set one-shot timers; put it before the Textual base class.

    Textual skips timer calls that are already overdue when the timer's task starts. For a one-shot timer that is its
    only call: if another thread had the processor for those milliseconds, the timer would never fire, and what waits
    for it (keys, a resize of the terminal, the links of an entry) would wait for ever.
    """

    def set_timer(
        self, delay: float, callback: TimerCallback | None = None, *, name: str | None = None, pause: bool = False
    ) -> Timer:
        """Call a function after some seconds."""
        timer = super().set_timer(delay, callback, name=name, pause=pause)
        # The timer reads this when its task starts, which is after this turn of the event loop.
        timer._skip = False
        return timer
