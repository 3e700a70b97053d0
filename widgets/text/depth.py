"""Depth: how many colours a terminal shows, and the themes whose colours it shows exactly.

A terminal of 256 colours has a fixed cube of colours; one of 16 has colours that its owner chose. Other colours are
rounded, which could give the cursor's row, a warning and muted text the same colour. So each depth has its own
palettes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from rich.style import Style
from textual.theme import BUILTIN_THEMES, Theme

from .contrast import mended
from .styled_text import Tone
from .theme import DARK, HIGH_CONTRAST, LIGHT, THEMES, palette

Depth = Literal["truecolor", "256", "16"]
"""What a terminal shows: any colour, the cube of 256, or sixteen colours chosen by its owner."""


def depth_of(environ: Mapping[str, str]) -> Depth:
    """Return the depth of the terminal, detected as Textual does: by `COLORTERM`, else by the end of `TERM`.

    `TEXTUAL_COLOR_SYSTEM` overrides both, as in Textual.
    """
    from rich.console import Console

    asked = environ.get("TEXTUAL_COLOR_SYSTEM", "auto")
    system = asked
    if asked not in ("truecolor", "256", "standard"):
        console = Console(force_terminal=True, _environ={name: environ.get(name, "") for name in ("COLORTERM", "TERM")})
        system = console.color_system or "standard"
    return {"truecolor": "truecolor", "256": "256"}.get(system, "16")  # type: ignore[return-value]


DARK_256 = palette(
    DARK.name,
    dark=True,
    background="#121212",
    surface="#1c1c1c",
    panel="#262626",
    foreground="#d0d0d0",
    muted="#8a8a8a",
    accent="#87afd7",
    code="#afafd7",
    error="#ff8787",
    warning="#d7af5f",
    success="#87af87",
    border="#87afd7",
    quiet="#6c6c6c",
    cursor="#303030",
    cursor_text="#eeeeee",
    blurred="#262626",
    hover="#1c1c1c",
    selected="#1c1c1c",
    flash="#00005f",
)
"""Greys and a pale blue from the cube."""

LIGHT_256 = palette(
    LIGHT.name,
    dark=False,
    background="#ffffff",
    surface="#eeeeee",
    panel="#e4e4e4",
    foreground="#262626",
    muted="#626262",
    accent="#005f87",
    code="#005f5f",
    error="#af0000",
    warning="#875f00",
    success="#005f00",
    border="#005f87",
    quiet="#949494",
    cursor="#d7d7ff",
    cursor_text="#080808",
    blurred="#eeeeee",
    hover="#eeeeee",
    selected="#e4e4e4",
    flash="#ffffd7",
)
"""White and ink from the cube."""

HIGH_CONTRAST_256 = palette(
    HIGH_CONTRAST.name,
    dark=True,
    bold_cursor=True,
    background="#000000",
    surface="#000000",
    panel="#000000",
    foreground="#ffffff",
    muted="#d0d0d0",
    accent="#5fd7ff",
    code="#d7d7ff",
    error="#ff8787",
    warning="#ffd75f",
    success="#87ff87",
    border="#5fd7ff",
    quiet="#9e9e9e",
    cursor="#00005f",
    cursor_text="#ffffff",
    blurred="#262626",
    hover="#1c1c1c",
    selected="#262626",
    flash="#303030",
)
"""Black, white and bright signals from the cube."""

# The owner of the terminal chooses its sixteen colours. Of all pairs only black with white, bright cyan or bright
# white, either way round, reach a contrast of 4.5 to 1 on the palettes of xterm, VGA and Solarized alike; bright blue
# on black and blue on bright white reach 3. Written as the VGA values, which Rich maps back to the colour numbers.
BLACK, BLUE, WHITE = "#000000", "#0000aa", "#aaaaaa"
BRIGHT_BLUE, BRIGHT_CYAN, BRIGHT_WHITE = "#5555ff", "#55ffff", "#ffffff"

DARK_16 = palette(
    DARK.name,
    dark=True,
    background=BLACK,
    surface=BLACK,
    panel=BLACK,
    foreground=WHITE,
    muted=BRIGHT_BLUE,
    accent=BRIGHT_CYAN,
    code=WHITE,
    error=BRIGHT_WHITE,
    warning=BRIGHT_WHITE,
    success=BRIGHT_CYAN,
    border=BRIGHT_CYAN,
    quiet=BRIGHT_BLUE,
    cursor=WHITE,
    cursor_text=BLACK,
    blurred=BLACK,
    hover=BLACK,
    selected=BLACK,
    flash=BRIGHT_CYAN,
)
"""White on black; urgent text is reversed, because no red is readable on every palette."""

LIGHT_16 = palette(
    LIGHT.name,
    dark=False,
    background=BRIGHT_WHITE,
    surface=BRIGHT_WHITE,
    panel=BRIGHT_WHITE,
    foreground=BLACK,
    muted=BLUE,
    accent=BLACK,
    code=BLACK,
    error=BLACK,
    warning=BLACK,
    success=BLACK,
    border=BLACK,
    quiet=BLUE,
    cursor=BRIGHT_CYAN,
    cursor_text=BLACK,
    blurred=BRIGHT_WHITE,
    hover=BRIGHT_WHITE,
    selected=BRIGHT_WHITE,
    flash=WHITE,
)
"""Black on bright white."""

HIGH_CONTRAST_16 = palette(
    HIGH_CONTRAST.name,
    dark=True,
    bold_cursor=True,
    background=BLACK,
    surface=BLACK,
    panel=BLACK,
    foreground=BRIGHT_WHITE,
    muted=WHITE,
    accent=BRIGHT_CYAN,
    code=BRIGHT_WHITE,
    error=BRIGHT_WHITE,
    warning=BRIGHT_WHITE,
    success=BRIGHT_CYAN,
    border=BRIGHT_CYAN,
    quiet=WHITE,
    cursor=BRIGHT_WHITE,
    cursor_text=BLACK,
    blurred=BLACK,
    hover=BLACK,
    selected=BLACK,
    flash=BRIGHT_CYAN,
)
"""Bright white on black."""

STYLES_16: dict[Tone, Style] = {
    "alert": Style(bold=True, reverse=True),
    "warn": Style(bold=True, underline=True),
    "good": Style(bold=True),
}
"""The styles of tones in addition to their colour, where sixteen colours are too few to distinguish them."""

OWN: dict[Depth, tuple[Theme, ...]] = {
    "truecolor": THEMES,
    "256": (DARK_256, LIGHT_256, HIGH_CONTRAST_256),
    "16": (DARK_16, LIGHT_16, HIGH_CONTRAST_16),
}
"""memdeck's own themes for each depth, under the same names; the first is the default."""


def others() -> tuple[Theme, ...]:
    """Return Textual's themes, mended, for terminals that show any colour; without those that use terminal colours."""
    found = (theme for _, theme in sorted(BUILTIN_THEMES.items()) if not theme.ansi)
    return tuple(map(mended, found))


def offered(depth: Depth) -> tuple[Theme, ...]:
    """Return the themes that the person may choose in a terminal of this depth, memdeck's own first."""
    return (*OWN[depth], *others()) if depth == "truecolor" else OWN[depth]
