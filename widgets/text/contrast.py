"""Contrast: how different two colours look, and foreign themes mended so that everything is readable."""

from __future__ import annotations

from collections.abc import Iterable

from textual.color import Color
from textual.theme import Theme

from .theme import palette

TEXT, FAINT = 4.5, 3.0
"""The least contrast of text, and of muted text, borders and scrollbars (WCAG 2.1, levels AA of 1.4.3 and 1.4.11)."""

_STEPS = 40


def luminance(colour: Color) -> float:
    """Return the relative luminance of an opaque colour, 0 to 1, as WCAG defines it."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: Color, second: Color) -> float:
    """Return the contrast ratio of two opaque colours, 1 to 21."""
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def readable(colour: Color, grounds: Iterable[Color], least: float) -> Color:
    """Return the colour, made just enough lighter or darker to reach the contrast `least` on each of the grounds.

    Where no colour does on all of them, it is white or black, whichever comes nearer.
    """
    known = tuple(grounds)

    def worst(one: Color) -> float:
        return min(contrast(one, ground) for ground in known)

    end = max((Color(255, 255, 255), Color(0, 0, 0)), key=worst)
    tries = (colour.blend(end, step / _STEPS) for step in range(_STEPS + 1))
    return next((one for one in tries if worst(one) >= least), end)


def mended(theme: Theme) -> Theme:
    """Return a foreign theme with readable colours for memdeck's widgets, derived from the theme's own.

    Its background stays; surfaces on it are tinted a little, and text keeps its hue.
    """
    given = theme.to_color_system().generate()

    def own(name: str) -> Color:
        found = Color.parse(given[name])
        return found if found.a == 1 else Color.parse(given["background"]) + found

    background, accent = own("background"), own("primary")
    ink = readable(own("foreground"), [background], 7.0)

    def faint(share: float) -> Color:
        return background.blend(ink, share)

    def tint(share: float) -> Color:
        return background.blend(accent, share)

    grounds = {
        "background": background,
        "surface": faint(0.03),
        "panel": faint(0.06),
        "hover": faint(0.03),
        "blurred": faint(0.06),
        "cursor": tint(0.18),
        "selected": tint(0.1),
        "flash": tint(0.22),
    }
    below = grounds.values()
    foreground = readable(ink, below, TEXT + 1.5)
    text = {name: readable(own(name), below, TEXT) for name in ("error", "warning", "success")}
    front = {
        **text,
        "accent": readable(accent, below, TEXT),
        "code": readable(own("secondary"), below, TEXT),
        "foreground": foreground,
        "cursor_text": foreground,
        "muted": readable(faint(0.5), below, FAINT + 0.5),
        "border": readable(tint(0.5), [background], FAINT + 0.5),
        "quiet": readable(faint(0.3), [background], FAINT),
    }
    return palette(theme.name, {name: one.hex for name, one in {**grounds, **front}.items()}, dark=theme.dark)
