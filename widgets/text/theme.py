"""memdeck's own themes: one accent, calm surfaces, and colour only for what needs action; one set for each depth.

A terminal of 256 colours has a fixed cube of colours; one of 16 has colours that its owner chose. Other colours are
rounded, which could give the cursor's row, a warning and muted text the same colour. So each depth has its own
palettes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from rich.style import Style
from textual.theme import BUILTIN_THEMES, Theme

from .styled_text import Tone

NAMES = ("dark", "light", "high-contrast")
"""memdeck's own themes: slate surfaces and a pale blue accent (the default); warm paper and ink, the same accent
darkened; black and white with bright signals, in which every text reaches a contrast of 7 to 1.
"""


def themes(*roles: tuple[str, str, str, str]) -> tuple[Theme, Theme, Theme]:
    """Return memdeck's themes from a table: the role of a colour, and that colour in each theme."""
    dark, light, high_contrast = (
        palette(
            f"memdeck-{name}",
            {role: colours[place] for role, *colours in roles},
            dark=name != "light",
            bold_cursor=name == "high-contrast",
        )
        for place, name in enumerate(NAMES)
    )
    return dark, light, high_contrast


def palette(name: str, colours: Mapping[str, str], *, dark: bool, bold_cursor: bool = False) -> Theme:
    """Return a theme in which memdeck's widgets draw only these colours, never a mix of them.

    `quiet`: borders and scrollbars of widgets without the focus; `blurred`: the cursor's row in a list without the
    focus; `selected` and `flash`: rows that are selected, and rows that changed a moment ago.
    """
    own = ("accent", "foreground", "background", "surface", "panel", "error", "warning", "success")
    base: dict[str, Any] = {
        "primary": colours["accent"],
        "secondary": colours["code"],
        **{role: colours[role] for role in own},
    }
    return Theme(
        name=name,
        dark=dark,
        boost=colours["panel"],
        **base,
        variables={
            # Textual mixes shades of these, and returns the middle one slightly changed.
            **base,
            "foreground-muted": colours["muted"],
            "foreground-disabled": colours["muted"],
            "border": colours["border"],
            "border-blurred": colours["quiet"],
            "block-cursor-background": colours["cursor"],
            "block-cursor-foreground": colours["cursor_text"],
            "block-cursor-text-style": "bold" if bold_cursor else "none",
            "block-cursor-blurred-background": colours["blurred"],
            "block-cursor-blurred-foreground": colours["foreground"],
            "block-hover-background": colours["hover"],
            "primary-muted": colours["selected"],
            "accent-muted": colours["flash"],
            "footer-background": colours["background"],
            "footer-key-foreground": colours["accent"],
            "footer-description-foreground": colours["muted"],
            "scrollbar": colours["quiet"],
            "scrollbar-hover": colours["muted"],
            "scrollbar-active": colours["border"],
            "scrollbar-background": colours["background"],
            "scrollbar-background-hover": colours["background"],
            "scrollbar-background-active": colours["background"],
            "scrollbar-corner-color": colours["background"],
            "button-focus-text-style": "bold",
            "input-cursor-background": colours["foreground"],
            "input-cursor-foreground": colours["background"],
            "input-selection-background": colours["cursor"],
            "input-selection-foreground": colours["cursor_text"],
        },
    )


THEMES = themes(
    ("background", "#14171b", "#f8f7f4", "#000000"),
    ("surface", "#181c21", "#f3f1ed", "#000000"),
    ("panel", "#1e2329", "#eae7e1", "#000000"),
    ("foreground", "#d3d8de", "#2a2e33", "#ffffff"),
    ("muted", "#8d96a1", "#65696f", "#d0d0d0"),
    ("accent", "#8ab4d8", "#2f6690", "#5fd7ff"),
    ("code", "#9fb0c0", "#4a6073", "#e0e0e0"),
    ("error", "#f07f86", "#a82b2b", "#ff8f8f"),
    ("warning", "#e3b268", "#7a5000", "#ffd75f"),
    ("success", "#93bf8c", "#356833", "#8fff8f"),
    ("border", "#6f97b8", "#3f749c", "#5fd7ff"),
    ("quiet", "#5e6771", "#8b8882", "#9a9a9a"),
    ("cursor", "#26313b", "#dde7ef", "#002c3d"),
    ("cursor_text", "#f1f4f7", "#14171b", "#ffffff"),
    ("blurred", "#1e242a", "#ebe8e2", "#2b2b2b"),
    ("hover", "#1c2127", "#f0ede8", "#1e1e1e"),
    ("selected", "#252d35", "#e3e8ea", "#0d1e24"),
    ("flash", "#35424f", "#d3dee6", "#1b3c47"),
)
"""The themes that an application registers; the first one is the default."""

DARK, LIGHT, HIGH_CONTRAST = THEMES


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
