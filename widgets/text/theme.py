"""memdeck's own themes: one accent, calm surfaces, and colour only for what needs action."""

from __future__ import annotations

from textual.theme import Theme


def palette(
    name: str,
    *,
    dark: bool,
    background: str,
    surface: str,
    panel: str,
    foreground: str,
    muted: str,
    accent: str,
    code: str,
    error: str,
    warning: str,
    success: str,
    border: str,
    quiet: str,
    cursor: str,
    cursor_text: str,
    blurred: str,
    hover: str,
    selected: str,
    flash: str,
    bold_cursor: bool = False,
) -> Theme:
    """Return a theme in which memdeck's widgets draw only these colours, never a mix of them.

    `quiet`: borders and scrollbars of widgets without the focus; `blurred`: the cursor's row in a list without the
    focus; `selected` and `flash`: rows that are selected, and rows that changed a moment ago.
    """
    return Theme(
        name=name,
        dark=dark,
        primary=accent,
        secondary=code,
        accent=accent,
        foreground=foreground,
        background=background,
        surface=surface,
        panel=panel,
        boost=panel,
        error=error,
        warning=warning,
        success=success,
        variables={
            # Textual mixes shades of these, and returns the middle one slightly changed.
            "primary": accent,
            "secondary": code,
            "accent": accent,
            "foreground": foreground,
            "background": background,
            "surface": surface,
            "panel": panel,
            "error": error,
            "warning": warning,
            "success": success,
            "foreground-muted": muted,
            "foreground-disabled": muted,
            "border": border,
            "border-blurred": quiet,
            "block-cursor-background": cursor,
            "block-cursor-foreground": cursor_text,
            "block-cursor-text-style": "bold" if bold_cursor else "none",
            "block-cursor-blurred-background": blurred,
            "block-cursor-blurred-foreground": foreground,
            "block-hover-background": hover,
            "primary-muted": selected,
            "accent-muted": flash,
            "footer-background": background,
            "footer-key-foreground": accent,
            "footer-description-foreground": muted,
            "scrollbar": quiet,
            "scrollbar-hover": muted,
            "scrollbar-active": border,
            "scrollbar-background": background,
            "scrollbar-background-hover": background,
            "scrollbar-background-active": background,
            "scrollbar-corner-color": background,
            "button-focus-text-style": "bold",
            "input-cursor-background": foreground,
            "input-cursor-foreground": background,
            "input-selection-background": cursor,
            "input-selection-foreground": cursor_text,
        },
    )


DARK = palette(
    "memdeck-dark",
    dark=True,
    background="#14171b",
    surface="#181c21",
    panel="#1e2329",
    foreground="#d3d8de",
    muted="#8d96a1",
    accent="#8ab4d8",
    code="#9fb0c0",
    error="#f07f86",
    warning="#e3b268",
    success="#93bf8c",
    border="#6f97b8",
    quiet="#5e6771",
    cursor="#26313b",
    cursor_text="#f1f4f7",
    blurred="#1e242a",
    hover="#1c2127",
    selected="#252d35",
    flash="#35424f",
)
"""Slate surfaces and a pale blue accent; the default."""

LIGHT = palette(
    "memdeck-light",
    dark=False,
    background="#f8f7f4",
    surface="#f3f1ed",
    panel="#eae7e1",
    foreground="#2a2e33",
    muted="#65696f",
    accent="#2f6690",
    code="#4a6073",
    error="#a82b2b",
    warning="#7a5000",
    success="#356833",
    border="#3f749c",
    quiet="#8b8882",
    cursor="#dde7ef",
    cursor_text="#14171b",
    blurred="#ebe8e2",
    hover="#f0ede8",
    selected="#e3e8ea",
    flash="#d3dee6",
)
"""Warm paper and ink, the same accent darkened."""

HIGH_CONTRAST = palette(
    "memdeck-high-contrast",
    dark=True,
    background="#000000",
    surface="#000000",
    panel="#000000",
    foreground="#ffffff",
    muted="#d0d0d0",
    accent="#5fd7ff",
    code="#e0e0e0",
    error="#ff8f8f",
    warning="#ffd75f",
    success="#8fff8f",
    border="#5fd7ff",
    quiet="#9a9a9a",
    cursor="#002c3d",
    cursor_text="#ffffff",
    blurred="#2b2b2b",
    hover="#1e1e1e",
    selected="#0d1e24",
    flash="#1b3c47",
    bold_cursor=True,
)
"""Black and white with bright signals; every text reaches a contrast of 7 to 1."""

THEMES: tuple[Theme, ...] = (DARK, LIGHT, HIGH_CONTRAST)
"""The themes that an application registers; the first one is the default."""
