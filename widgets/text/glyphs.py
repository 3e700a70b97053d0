"""The signs that widgets draw: in Unicode, in ASCII, and in what the fonts of the Linux console contain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Glyphs:
    """One complete set of signs, by default in Unicode; each is one cell wide unless its name says otherwise."""

    name: str = "unicode"
    cursor: str = "▌"
    mark: str = "✓"
    bullet: str = "•"
    dot: str = "·"
    check: str = "✓"
    cross: str = "✗"
    circle: str = "○"
    half: str = "◐"
    alert: str = "▲"
    diamond: str = "◆"
    recurring: str = "↻"
    left: str = "←"
    right: str = "→"
    up: str = "↑"
    down: str = "↓"
    open: str = "▾"
    closed: str = "▸"
    rule: str = "─"
    separator: str = "│"
    bar_full: str = "━"
    bar_empty: str = "─"
    chosen: str = "◆"
    """The chosen cell of a map; unlike any sign that may surround it."""
    heat: str = "·░▒▓█"
    """Cells of a heat map from nothing to most."""
    spark: str = "▁▂▃▄▅▆▇█"
    """Cells of a latency line from low to high."""


UNICODE = Glyphs()
"""The signs for terminals whose locale is UTF-8."""

ASCII = Glyphs(
    name="ascii", cursor=">", mark="*", bullet="*", dot=".", check="v", cross="x", circle="o", half="~", alert="!",
    diamond="=", recurring="%", left="<", right=">", up="^", down="v", open="-", closed="+", rule="-",
    separator="|", bar_full="#", bar_empty=".", chosen="X", heat=".:+*#", spark="_.-=+*#@",
)  # fmt: skip
"""The signs for every other locale."""


CONSOLE = replace(
    ASCII, name="console", dot="·", left="←", right="→", up="↑", down="↓", rule="─", separator="│", bar_full="=",
    bar_empty="·",
)  # fmt: skip
"""The signs for the console of Linux, whose fonts have at most 512 signs."""


def glyphs_for(encoding: str, term: str = "") -> Glyphs:
    """The set for a locale's encoding, for example `UTF-8` or `ANSI_X3.4-1968`, and the terminal's name (`TERM`)."""
    if encoding.replace("-", "").replace("_", "").casefold() != "utf8":
        return ASCII
    return CONSOLE if term == "linux" else UNICODE


def sparkline(values: Sequence[float], glyphs: Glyphs = UNICODE) -> str:
    """Return one cell per value between the lowest and the highest."""
    low, spread, top = min(values), max(values) - min(values), len(glyphs.spark) - 1
    return "".join(glyphs.spark[round(top * (value - low) / spread) if spread else 0] for value in values)
