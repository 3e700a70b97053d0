"""Drawing: how pieces become the strips of a widget, in the theme's colours and safe to show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from .glyphs import UNICODE, Glyphs
from .pieces import TONES, Line, Tone, clip_line

if TYPE_CHECKING:
    from textual.widget import Widget
else:
    Widget = object

TONE_CLASSES: set[str] = {f"tone--{tone}" for tone in TONES}
"""The component classes that `TONE_CSS` styles; a widget that draws pieces has them in COMPONENT_CLASSES."""

TONE_CSS = """
    & > .tone--plain { }
    & > .tone--muted { color: $foreground-muted; }
    & > .tone--strong { text-style: bold; }
    & > .tone--emphasis { text-style: italic; }
    & > .tone--code { color: $secondary; }
    & > .tone--heading { color: $foreground-muted; text-style: bold; }
    & > .tone--accent { color: $accent; }
    & > .tone--link { color: $accent; text-style: underline; }
    & > .tone--good { color: $success; }
    & > .tone--warn { color: $warning; }
    & > .tone--alert { color: $error; text-style: bold; }
"""
"""One rule per tone, to stand inside the rule of a widget in its DEFAULT_CSS."""


class Drawing(Widget):
    """Mixin for widgets that draw pieces by lines; put it before the Textual base class.

    The widget lists `TONE_CLASSES` in COMPONENT_CLASSES and `TONE_CSS` in DEFAULT_CSS.
    """

    @property
    def glyphs(self) -> Glyphs:
        """The signs to draw with: the application's attribute `glyphs` if it has one, else Unicode."""
        return getattr(self.app, "glyphs", UNICODE)

    def tone_style(self, tone: Tone, *states: str) -> Style:
        """The style of a tone on top of component classes of this widget, in the order given."""
        if tone == "plain":
            return self.get_visual_style(*states).rich_style
        return self.get_visual_style(*states, f"tone--{tone}").rich_style

    def draw(self, content: Line, width: int, *states: str) -> Strip:
        """A line as a strip of exactly `width` cells, its control characters made visible."""
        segments = [Segment(text, self.tone_style(tone, *states)) for text, tone in clip_line(content, width) if text]
        return Strip(segments).adjust_cell_length(width, self.tone_style("plain", *states))
