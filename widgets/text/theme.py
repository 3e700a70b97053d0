"""memdeck's own themes: one accent, calm surfaces, and colour only for what needs action."""

from __future__ import annotations

from collections.abc import Mapping

from textual.theme import Theme

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
    return Theme(
        name=name,
        dark=dark,
        primary=colours["accent"],
        secondary=colours["code"],
        accent=colours["accent"],
        foreground=colours["foreground"],
        background=colours["background"],
        surface=colours["surface"],
        panel=colours["panel"],
        boost=colours["panel"],
        error=colours["error"],
        warning=colours["warning"],
        success=colours["success"],
        variables={
            # Textual mixes shades of these, and returns the middle one slightly changed.
            "primary": colours["accent"],
            "secondary": colours["code"],
            "accent": colours["accent"],
            "foreground": colours["foreground"],
            "background": colours["background"],
            "surface": colours["surface"],
            "panel": colours["panel"],
            "error": colours["error"],
            "warning": colours["warning"],
            "success": colours["success"],
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
