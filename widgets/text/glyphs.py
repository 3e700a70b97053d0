"""The signs that widgets draw, in Unicode and in ASCII for terminals that have nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Glyphs(NamedTuple):
    """One complete set of signs; each is one cell wide unless its name says otherwise."""

    name: str
    cursor: str
    mark: str
    bullet: str
    dot: str
    check: str
    cross: str
    circle: str
    half: str
    alert: str
    diamond: str
    recurring: str
    left: str
    right: str
    up: str
    down: str
    upkeep: str
    open: str
    closed: str
    rule: str
    separator: str
    ellipsis: str
    bar_full: str
    bar_empty: str
    chosen: str
    """The chosen cell of a map; unlike any sign that may surround it."""
    heat: tuple[str, ...]
    """Cells of a heat map from nothing to most."""
    spark: tuple[str, ...]
    """Cells of a latency line from low to high."""


_SIGNS: dict[str, tuple[Any, Any]] = {
    "name": ("unicode", "ascii"),
    "cursor": ("▌", ">"),
    "mark": ("✓", "*"),
    "bullet": ("•", "*"),
    "dot": ("·", "."),
    "check": ("✓", "v"),
    "cross": ("✗", "x"),
    "circle": ("○", "o"),
    "half": ("◐", "~"),
    "alert": ("▲", "!"),
    "diamond": ("◆", "%"),
    "recurring": ("↻", "@"),
    "left": ("←", "<"),
    "right": ("→", ">"),
    "up": ("↑", "^"),
    "down": ("↓", "v"),
    "upkeep": ("↓", "_"),
    "open": ("▾", "-"),
    "closed": ("▸", "+"),
    "rule": ("─", "-"),
    "separator": ("│", "|"),
    "ellipsis": ("…", "~"),
    "bar_full": ("━", "#"),
    "bar_empty": ("─", "."),
    "chosen": ("◆", "@"),
    "heat": (("·", "░", "▒", "▓", "█"), (".", ":", "+", "*", "#")),
    "spark": (("▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"), ("_", ".", "-", "=", "+", "*", "#", "@")),
}
"""Each sign in Unicode and in ASCII."""

UNICODE, ASCII = (Glyphs(**{name: signs[place] for name, signs in _SIGNS.items()}) for place in (0, 1))
"""The signs for terminals whose locale is UTF-8, and those for every other locale."""


def glyphs_for(encoding: str) -> Glyphs:
    """The set for a locale's encoding, for example `UTF-8` or `ANSI_X3.4-1968`."""
    return UNICODE if encoding.replace("-", "").replace("_", "").casefold() == "utf8" else ASCII


def sparkline(values: Sequence[float], glyphs: Glyphs = UNICODE) -> str:
    """Return one cell per value between the lowest and the highest."""
    low, spread, top = min(values), max(values) - min(values), len(glyphs.spark) - 1
    return "".join(glyphs.spark[round(top * (value - low) / spread) if spread else 0] for value in values)
