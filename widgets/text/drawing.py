"""Drawing: how pieces become the strips of a widget, in the theme's colours and safe to show.

A widget that is to be drawn anew, as a whole or in part, tells its screen at once (`Repaint`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Self

from rich.segment import Segment
from rich.style import Style
from textual.color import Color, ColorParseError
from textual.geometry import Region, Spacing
from textual.strip import Strip

from .depth import STYLES_16
from .glyphs import UNICODE, Glyphs
from .styled_text import Line, Tone, clip_line, plain_width

if TYPE_CHECKING:
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
        ground = self.ground
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, ground) for strip in strips]
        start, end = crop.column_span
        if start or {strip.cell_length for strip in strips} != {end}:
            strips = [strip.crop(start, end) for strip in strips]
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
"""The variable of the theme that colours a tone; the others keep the colour of what they stand in."""

TONE_STYLES: dict[Tone, Style] = {
    "strong": Style(bold=True),
    "emphasis": Style(italic=True),
    "heading": Style(bold=True),
    "link": Style(underline=True),
    "alert": Style(bold=True),
}
"""How tones differ beside their colour."""

BARE_STYLES: dict[Tone, Style] = {"alert": Style(bold=True, reverse=True), "warn": Style(bold=True)}
"""What tones have instead of their colour where there is none."""


@lru_cache(maxsize=256)
def _tone(tone: Tone, colour: str, background: str) -> Style:
    """What a tone adds to the style around it, in a theme with these colours."""
    style = TONE_STYLES.get(tone, Style.null())
    if colour:
        with suppress(ColorParseError):
            found = Color.parse(colour)
            if found.a < 1:
                found = Color.parse(background) + found
            style += Style(color=found.rich_color)
    return style


class Drawing(Repaint):
    """Mixin for widgets that draw pieces by lines; put it before the Textual base class.

    Tones take their colours from the theme's variables: as component classes they would be worked out anew for each
    widget, which is a good part of what a first frame costs.
    """

    _tone_styles: dict[tuple[Tone, tuple[str, ...]], Style] | None = None
    _restyled = False

    @property
    def glyphs(self) -> Glyphs:
        """The signs to draw with: the application's attribute `glyphs` if it has one, else Unicode."""
        return getattr(self.app, "glyphs", UNICODE)

    def tone_style(self, tone: Tone, *states: str) -> Style:
        """The style of a tone on top of component classes of this widget, in the order given."""
        if self._restyled:
            self.settle_styles()
        styles = self._tone_styles
        if styles is None:
            styles = self._tone_styles = {}
        style = styles.get((tone, states))
        if style is None:
            style = styles[(tone, states)] = self._work_out(tone, states)
        return style

    def _work_out(self, tone: Tone, states: tuple[str, ...]) -> Style:
        style = self.get_visual_style(*states).rich_style
        if any(self.get_component_styles(name).text_style.reverse for name in states):
            # Textual leaves this one out of what it gives.
            style += Style(reverse=True)
        variables = self.app.theme_variables
        few = getattr(self.app, "depth", "") == "16"
        if few and style.bgcolor is not None:
            ground = Color.parse(variables["background"]).rich_color
            if style.bgcolor.triplet != ground.triplet:
                # The cursor's row is as bright as the tones are: one colour only can be read on it.
                if style.color is None or style.color.triplet != ground.triplet:
                    style += Style(color=Color.parse(variables["block-cursor-foreground"]).rich_color)
                return style + TONE_STYLES.get(tone, Style.null()) + STYLES_16.get(tone, Style.null())
        if tone == "plain":
            return style
        colour = variables.get(TONE_VARIABLES.get(tone, ""), "")
        if self.app.no_color:
            bare = BARE_STYLES.get(tone, Style.null())
            # On a row that is reversed as a whole, what is urgent is not.
            style += Style(bold=True, reverse=False) if bare.reverse and style.reverse else bare
        elif few:
            style += STYLES_16.get(tone, Style.null())
        return style + _tone(tone, colour, variables.get("background", "#000000"))

    def notify_style_update(self) -> None:
        """Another theme, focus or class: styles may be others now."""
        self._restyled = True
        super().notify_style_update()

    def settle_styles(self) -> None:
        """Work out the styles in use again, where they may be others; a widget that keeps strips asks for it first.

        Textual tells of new styles with each step of the focus, which changes none of them.
        """
        if self._restyled:
            self._restyled = False
            before, self._tone_styles = self._tone_styles, None
            if before and any(self.tone_style(tone, *states) != style for (tone, states), style in before.items()):
                self.forget_strips()

    def forget_strips(self) -> None:
        """What was drawn looks otherwise now; for widgets that keep it."""

    def draw(self, content: Line, width: int, *states: str) -> Strip:
        """A line as a strip of exactly `width` cells, its control characters made visible."""
        return Strip(self.segments(content, width, *states), max(0, width))

    def segments(self, content: Line, width: int, *states: str) -> list[Segment]:
        """What `draw` makes a strip of, for a strip of several lines beside each other."""
        cells = plain_width(content, width)
        plain = 0 <= cells <= width
        shown = content if plain else clip_line(content, width)
        segments = [Segment(text, self.tone_style(tone, *states)) for text, tone in shown if text]
        # As Textual measures, which cuts strips where widgets meet.
        missing = width - (cells if plain else sum(segment.cell_length for segment in segments))
        if missing > 0:
            segments.append(Segment(" " * missing, self.tone_style("plain", *states)))
        elif missing < 0:
            return Segment.adjust_line_length(segments, max(0, width))
        return segments


NEAR = 2
"""So many lines between two that changed are drawn with them: that costs less than a further region."""


def near_each_other(lines: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Return the stretches that lines make, given in order: the first line of each and that behind its last one."""
    start = end = lines[0]
    for place in lines:
        if place - end > NEAR:
            yield start, end
            start = place
        end = place + 1
    yield start, end
