"""Depth: how many colours a terminal shows, and the themes whose colours it shows.

A terminal of 256 colours has a fixed cube of colours; one of 16 has colours that its owner chose. Other colours are
rounded, which could give the cursor's row, a warning and muted text the same colour. So each depth has its own
palettes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from rich.style import Style
from textual.theme import BUILTIN_THEMES, Theme

from .styled_text import Tone
from .theme import THEMES, themes

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


THEMES_256 = themes(
    ("background", "#121212", "#ffffff", "#000000"),
    ("surface", "#1c1c1c", "#eeeeee", "#000000"),
    ("panel", "#262626", "#e4e4e4", "#000000"),
    ("foreground", "#d0d0d0", "#262626", "#ffffff"),
    ("muted", "#8a8a8a", "#626262", "#d0d0d0"),
    ("accent", "#87afd7", "#005f87", "#5fd7ff"),
    ("code", "#afafd7", "#005f5f", "#d7d7ff"),
    ("error", "#ff8787", "#af0000", "#ff8787"),
    ("warning", "#d7af5f", "#875f00", "#ffd75f"),
    ("success", "#87af87", "#005f00", "#87ff87"),
    ("border", "#87afd7", "#005f87", "#5fd7ff"),
    ("quiet", "#6c6c6c", "#949494", "#9e9e9e"),
    ("cursor", "#303030", "#d7d7ff", "#00005f"),
    ("cursor_text", "#eeeeee", "#080808", "#ffffff"),
    ("blurred", "#262626", "#eeeeee", "#262626"),
    ("hover", "#1c1c1c", "#eeeeee", "#1c1c1c"),
    ("selected", "#1c1c1c", "#e4e4e4", "#262626"),
    ("flash", "#00005f", "#ffffd7", "#303030"),
)
"""The same, in colours of the cube of 256; some greys are shown one step darker."""

BLACK, WHITE = "#000000", "#aaaaaa"
RED, YELLOW = "#aa0000", "#aa5500"
BRIGHT_BLACK, BRIGHT_RED, BRIGHT_YELLOW, BRIGHT_CYAN, BRIGHT_WHITE = (
    "#555555", "#ff5555", "#ffff55", "#55ffff", "#ffffff",
)  # fmt: skip

THEMES_16 = themes(
    ("background", BLACK, BRIGHT_WHITE, BLACK),
    ("surface", BLACK, BRIGHT_WHITE, BLACK),
    ("panel", BLACK, BRIGHT_WHITE, BLACK),
    ("foreground", WHITE, BLACK, BRIGHT_WHITE),
    ("muted", BRIGHT_BLACK, BRIGHT_BLACK, WHITE),
    ("accent", BRIGHT_CYAN, BLACK, BRIGHT_CYAN),
    ("code", WHITE, BLACK, BRIGHT_WHITE),
    ("error", BRIGHT_RED, RED, BRIGHT_RED),
    ("warning", BRIGHT_YELLOW, YELLOW, BRIGHT_YELLOW),
    ("success", BRIGHT_CYAN, BLACK, BRIGHT_CYAN),
    ("border", BRIGHT_CYAN, BLACK, BRIGHT_CYAN),
    ("quiet", BRIGHT_BLACK, BRIGHT_BLACK, WHITE),
    ("cursor", WHITE, BRIGHT_CYAN, BRIGHT_WHITE),
    ("cursor_text", BLACK, BLACK, BLACK),
    ("blurred", BLACK, BRIGHT_WHITE, BLACK),
    ("hover", BLACK, BRIGHT_WHITE, BLACK),
    ("selected", BLACK, BRIGHT_WHITE, BLACK),
    ("flash", BRIGHT_CYAN, WHITE, BRIGHT_CYAN),
)
"""The same in the sixteen colours of a terminal."""

STYLES_16: dict[Tone, Style] = {
    "alert": Style(bold=True),
    "warn": Style(underline=True),
    "good": Style(bold=True),
}
"""The styles of tones in addition to their colour, where sixteen colours are too few to distinguish them."""

OWN: dict[Depth, tuple[Theme, ...]] = {"truecolor": THEMES, "256": THEMES_256, "16": THEMES_16}
"""memdeck's own themes for each depth, under the same names; the first is the default."""


def offered(depth: Depth) -> tuple[Theme, ...]:
    """Return the themes that the person may choose in a terminal of this depth, memdeck's own first.

    Where any colour is shown, these are also Textual's, without those that use the colours of the terminal.
    """
    others = (theme for _, theme in sorted(BUILTIN_THEMES.items()) if not theme.ansi)
    return (*OWN[depth], *others) if depth == "truecolor" else OWN[depth]
