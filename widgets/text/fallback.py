"""Terminals without colours, and terminals without Unicode: the last thing done to a line before it is shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter, Monochrome

from .glyphs import ASCII, CONSOLE, Glyphs

if TYPE_CHECKING:
    from textual.app import App

FAR = 0.35
"""The difference in brightness from which a background is shown in reverse."""


def plain_filters(app: App[Any], glyphs: Glyphs) -> list[LineFilter]:
    """Return the line filters of an application: no colours if `NO_COLOR` is set, no other signs than `glyphs` has."""
    # Textual's own filter for NO_COLOR turns colours into greys, the urgent ones into the faintest.
    filters = [one for one in app._filters if not isinstance(one, Monochrome)]
    if app.no_color:
        filters.append(NoColour(lambda: Color.parse(app.theme_variables["background"])))
    table = {ASCII.name: SIGNS, CONSOLE.name: CONSOLE_SIGNS}.get(glyphs.name)
    return filters if table is None else [*filters, PlainSigns(table)]


class NoColour(LineFilter):
    """Removes all colours: text on a bright background is reversed, and nothing is faint.

    `ground` returns the background of the application, which the terminal's own background replaces.
    """

    def __init__(self, ground: Callable[[], Color]) -> None:
        super().__init__()
        self._ground = ground

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """The segments with bold, italic, underline and reverse only."""
        ground = self._ground().brightness
        return [
            Segment(text, None if style is None else _bare(style, ground), control) for text, style, control in segments
        ]


def _bare(style: Style, ground: float) -> Style:
    reverse = bool(style.reverse)
    if style.bgcolor is not None and style.bgcolor.triplet is not None:
        own = Color.from_rich_color(style.bgcolor).brightness
        reverse = reverse or abs(own - ground) > FAR
    return Style(
        bold=style.bold,
        italic=style.italic,
        underline=style.underline,
        strike=style.strike,
        reverse=reverse or None,
        meta=style.meta or None,
        link=style.link,
    )


SIGNS = str.maketrans("“”‘’–—·│─←→↑↓━┃┏┓┗┛▁▂▃▄▅▆▇█▉▊▋▌▍▎▏", "\"\"''--.|-<>^v=#####" + 15 * "|")
"""memdeck's own signs in texts, and those of Textual's heavy borders and scrollbars."""

CONSOLE_SIGNS = str.maketrans("“”‘’–—╭╮╰╯━┃┏┓┗┛▁▂▃▄▅▆▇▉▊▋▌▍▎▏", "\"\"''--┌┐└┘─│┌┐└┘" + 7 * "█" + 7 * "│")
"""The same, as the fonts of the Linux console have them."""

_ELLIPSIS = re.compile(r"…  |[ -~]{2}…|…(?! )[ -~]{2}|…")


class PlainSigns(LineFilter):
    """Replaces memdeck's own signs by those of a table, see `plain_text`."""

    def __init__(self, table: Mapping[int, int]) -> None:
        super().__init__()
        self._table = table

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """The segments with as many cells as before."""
        return [
            Segment(plain_text(text, self._table), style, control)
            if not control and not text.isascii()
            else Segment(text, style, control)
            for text, style, control in segments
        ]


def plain_text(text: str, table: Mapping[int, int] = SIGNS) -> str:
    """The text with the same number of cells, memdeck's own signs replaced by a table, by default those of ASCII.

    An ellipsis becomes three dots, which replace two neighbouring cells; where these are not ASCII, it becomes `>`.
    """
    return _ELLIPSIS.sub(lambda found: "..." if len(found[0]) == 3 else ">", text).translate(table)
