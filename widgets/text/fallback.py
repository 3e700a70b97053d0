"""Terminals without colours, and terminals without Unicode: the last thing done to a line before it is shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter, Monochrome

if TYPE_CHECKING:
    from textual.app import App

FAR = 0.35
"""The difference in brightness from which a background is shown in reverse."""


def plain_filters(app: App[Any], *, ascii_signs: bool, exact: bool = False) -> list[LineFilter]:
    """The line filters of an application: without colours if `NO_COLOR` is set, with ASCII signs only if `ascii_signs`;
    `exact` means that the terminal has 256 colours.
    """
    # Textual's own filter for NO_COLOR turns colours into greys, the urgent ones into the faintest.
    filters = [one for one in app._filters if not isinstance(one, Monochrome)]
    if app.no_color:
        filters.append(NoColour(lambda: Color.parse(app.theme_variables["background"])))
    elif exact:
        filters.append(ExactColours())
    return [*filters, PlainSigns()] if ascii_signs else filters


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


class ExactColours(LineFilter):
    """Replaces colours of the 256-colour cube by their numbers; Rich would use the next darker one for light greys."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """The same segments with numbers for colours; mixed colours, as behind a dialog, are left to Rich."""
        return [
            segment if segment.style is None else Segment(segment.text, numbered(segment.style), segment.control)
            for segment in segments
        ]


@lru_cache(4096)
def numbered(style: Style) -> Style:
    """Return a style whose colours are numbers of the cube, where they are exactly in it."""
    color, bgcolor = (_numbered(one) for one in (style.color, style.bgcolor))
    return style + Style(color=color, bgcolor=bgcolor) if color or bgcolor else style


def _numbered(colour: RichColor | None) -> RichColor | None:
    number = None if colour is None or colour.triplet is None else _cube().get(tuple(colour.triplet))
    return None if number is None else RichColor.from_ansi(number)


@cache
def _cube() -> dict[tuple[int, ...], int]:
    """The fixed colours of a 256-colour terminal, with their numbers; its owner chooses the first sixteen."""
    steps = (0, 95, 135, 175, 215, 255)
    cube = [(red, green, blue) for red in steps for green in steps for blue in steps]
    greys = [(8 + 10 * step,) * 3 for step in range(24)]
    return {colour: 16 + place for place, colour in enumerate([*cube, *greys])}


SIGNS = str.maketrans("“”‘’–—·│─←→↑↓━┃┏┓┗┛▁▂▃▄▅▆▇█▉▊▋▌▍▎▏", "\"\"''--.|-<>^v=#####" + 15 * "|")
"""memdeck's own signs in texts, and those of Textual's heavy borders and scrollbars."""

_ELLIPSIS = re.compile(r"…  |[ -~]{2}…|…(?! )[ -~]{2}|…")


class PlainSigns(LineFilter):
    """Replaces memdeck's own signs by ASCII, see `plain_text`."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """The segments with as many cells as before."""
        return [
            Segment(plain_text(text), style, control)
            if not control and not text.isascii()
            else Segment(text, style, control)
            for text, style, control in segments
        ]


def plain_text(text: str) -> str:
    """The text with the same number of cells, memdeck's own signs in ASCII.

    An ellipsis becomes three dots, which replace two neighbouring cells; where these are not ASCII, it becomes `~`.
    """
    return _ELLIPSIS.sub(lambda found: "..." if len(found[0]) == 3 else "~", text).translate(SIGNS)
