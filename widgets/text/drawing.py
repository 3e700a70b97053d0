"""Drawing: turns pieces into strips, in the theme's colours and safe to show.

Here are the mixins that widgets put before their Textual base class, that for timers included.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Self

from rich.segment import Segment
from rich.style import Style
from textual._compositor import Compositor
from textual._styles_cache import StylesCache
from textual.color import Color, ColorParseError
from textual.filter import ANSIToTruecolor, LineFilter
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.strip import Strip
from textual.widget import Widget

from .glyphs import UNICODE, Glyphs
from .styled_text import Line, Tone, clip_line
from .theme import STYLES_16

if TYPE_CHECKING:
    from textual.message_pump import MessagePump
    from textual.timer import Timer, TimerCallback

    Mixin = Widget
else:
    # Textual uses the styles of the first base that is a widget.
    Mixin = MessagePump = object

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


class Drawing(Mixin):
    """For widgets that draw lines themselves: the styles of their tones, and lines as strips."""

    _tone_styles: dict[tuple[str, ...], dict[Tone, Style]] | None = None

    @property
    def glyphs(self) -> Glyphs:
        """The glyphs to draw with."""
        return getattr(self.app, "glyphs", UNICODE)

    def tone_styles(self, *states: str) -> Mapping[Tone, Style]:
        """Return the style of each tone, over the component classes `states`."""
        if self._tone_styles is None:
            self._tone_styles = {}
        styles = self._tone_styles.get(states)
        if styles is None:
            tones: tuple[Tone, ...] = ("plain", "emphasis", "strong", *TONE_VARIABLES)
            styles = self._tone_styles[states] = {tone: self._work_out(states, tone) for tone in tones}
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
            # On a row that is reversed as a whole, another reverse would look like a hole.
            style += Style(bold=True, underline=True) if bare.reverse and style.reverse else bare
        elif few:
            style += STYLES_16.get(tone, Style.null())
        return style + _tone(tone, colour, variables.get("background", "#000000"))

    def notify_style_update(self) -> None:
        """Work the styles out again after a change of theme, focus or class."""
        self._tone_styles = None
        super().notify_style_update()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the application's filters but that of ANSI colours, which no line here has."""
        return [one for one in super().get_line_filters() if not isinstance(one, ANSIToTruecolor)]

    def draw(self, content: Line, width: int, *states: str) -> Strip:
        """Return a line as a strip of exactly `width` cells, its control characters made visible."""
        return Strip(self.segments(content, width, *states), max(0, width))

    def segments(self, content: Line, width: int, *states: str) -> list[Segment]:
        """Return the segments of `draw`, for a strip that joins several lines side by side."""
        styles = self.tone_styles(*states)
        segments = []
        for text, tone in clip_line(content, width):
            if text:
                segments.append(Segment(text, styles[tone]))
        # Measured as Textual does, which cuts strips where widgets meet.
        missing = width - Segment.get_line_length(segments)
        if missing > 0:
            segments.append(Segment(" " * missing, styles["plain"]))
        elif missing < 0:
            return Segment.adjust_line_length(segments, max(0, width))
        return segments


class Scrolling(ScrollView):
    """A view of lines that scrolls; it draws the lines in view."""

    virtual_size: Reactive[Size] = Reactive(Size(0, 0), repaint=False)
    """As `set_extent` sets it: without a layout of the screen for each other number of lines."""

    _focuses = False

    def rows_of_focus(self) -> range:
        """Return the lines of the content that look different while this has the focus."""
        return range(0)

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Keep the styles: none here depends on the focus, and Textual would draw the scrollbars again."""
        self._focuses = True

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Draw again; right after the focus came or went, only the lines that show it."""
        focuses, self._focuses = self._focuses, False
        if focuses and not (regions or layout or recompose):
            top = round(self.scroll_y)
            regions = tuple(Region(0, row - top, self.size.width, 1) for row in self.rows_of_focus())
            if not regions:
                return self
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

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
            self._set_scrollbar(max(size.height, height), height)
        self.scroll_y = self.validate_scroll_y(self.scroll_y)
        self.scroll_target_y = self.validate_scroll_target_y(self.scroll_target_y)

    def _set_scrollbar(self, lines: int, height: int) -> None:
        """Tell the scrollbar of how many lines this shows `height`; at the top it is drawn again if its thumb changes.

        It looks the same for any content that fits, and for any that is so long that the thumb is one cell.
        """
        bar = self.vertical_scrollbar
        before = max(bar.window_virtual_size, height)
        thumbs = {math.ceil(8 * max(1, height * height / count)) for count in (before, lines)}
        if len(thumbs) == 1 and not (self.scroll_y or bar.position):
            bar.set_reactive(ScrollBar.window_virtual_size, lines)
        else:
            bar.window_virtual_size = lines

    def _follows_content(self) -> bool:
        """Whether this widget or an ancestor is as large as its content."""
        return any(isinstance(node, Widget) and node.styles.auto_dimensions for node in self.ancestors_with_self)


class LeanCompositor(Compositor):
    """Asks widgets only for the lines that changed, and none behind a widget that covers all of them.

    Textual asks all widgets around them for all of their lines, also for one row of a list.
    """

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        """Yield place, visible part and lines of the widgets that a changed region needs, the front one first."""
        changed = crop or self.size.region
        rows = Region(0, changed.y, self.size.width, changed.height)
        for widget, (region, clip) in self.visible_widgets.items():
            # With all its columns, because lines are put together where widgets begin and end.
            part = region.intersection(clip).intersection(rows)
            if part.overlaps(changed):
                yield region, part, widget.render_lines(part.translate((-region.x, -region.y)))
                if part.contains_region(changed):
                    return


class PlainLines(StylesCache):
    """Keeps the lines of a widget without border and padding, for which Textual would look at each line again."""

    def render_widget(self, widget: Widget, crop: Region) -> list[Strip]:
        """Return lines of a widget; those that did not change since are drawn already."""
        if widget.size.width != self._width:
            self.clear()
            self._width = widget.size.width
        filters = widget.get_line_filters()
        for y in crop.line_range:
            if y in self._dirty_lines or y not in self._cache:
                strip = widget.render_line(y)
                for one in filters:
                    strip = strip.apply_filter(one, widget.background_colors[1])
                self._cache[y] = strip
        self._dirty_lines.difference_update(crop.line_range)
        return [self._cache[y].crop(crop.x, crop.right) for y in crop.line_range]


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
