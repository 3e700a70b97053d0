"""Numbers with units: parsed from thresholds, settings and the output of commands, and formatted in few words.

Times are in seconds, sizes in bytes, shares in percent; a number without a unit has no dimension.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

Dimension = Literal["", "time", "size", "percent"]

_TIMES = {
    1e-6: ("us", "µs"),
    1e-3: ("ms", "msec", "millisecond", "milliseconds"),
    1.0: ("s", "sec", "secs", "second", "seconds"),
    60.0: ("m", "min", "mins", "minute", "minutes"),
    3600.0: ("h", "hour", "hours"),
    86400.0: ("d", "day", "days"),
    604800.0: ("w", "week", "weeks"),
}
_EXACT: dict[str, tuple[Dimension, float]] = {
    "%": ("percent", 1.0),
    # Single letters as in df, du and ls: powers of 1024. A small m is a minute, a capital one is not.
    **{letter: ("size", 1024.0**power) for power, letter in enumerate("KMGTP", 1)},
    "k": ("size", 1024.0),
}
_LOWER: dict[str, tuple[Dimension, float]] = {
    **{word: ("time", factor) for factor, words in _TIMES.items() for word in words},
    "percent": ("percent", 1.0),
    **dict.fromkeys(("b", "byte", "bytes"), ("size", 1.0)),
    **{f"{letter}b": ("size", 1000.0**power) for power, letter in enumerate("kmgtp", 1)},
    **{f"{letter}ib": ("size", 1024.0**power) for power, letter in enumerate("kmgtp", 1)},
}
NUMBER = r"\d{1,40}(?:\.\d{1,40})?(?:[eE][-+]?\d{1,3}(?![\w.]))?"
"""The pattern of a number without a sign; its length is bounded."""
_PRINTED = rf"[-+−]?(?:[1-9]\d{{0,2}}(?:,\d{{3}}){{1,12}}(?:\.\d{{1,40}})?(?!\d)|{NUMBER})"
"""A number as programs print it: commas may separate thousands, and the sign may be a Unicode minus."""
_QUANTITY = re.compile(rf"\s*({_PRINTED})\s*(%|[A-Za-zµ]{{0,12}})\s*", re.ASCII)
# Parts of words, versions, dates and clock times are no numbers. Nor is text with ambiguous separators, which may mean
# 1.5 or 15: marks and blanks that separate thousands in some locale, and a minus after the digits.
_PARTS = "-:,'’·٬\u00a0\u2007\u2009\u202f"
_IN_TEXT = re.compile(
    rf"(?<![\w.−])(?<!\d[{_PARTS}])(?<!\d (?=0\d\d(?!\d)))({_PRINTED})(%|[A-Za-zµ]{{1,3}})?"
    rf"(?![\w%]|\.\d|[{_PARTS}−]\d| 0\d\d(?!\d)|[-−](?:\s|\Z)|[²³¹¼½¾⁰-⁹])",
    re.ASCII,
)
# A line of only one to three digits and groups of three: a number with blanks as separators, or several numbers.
_GROUPED = re.compile(
    r"^[ \t]*[-+−]?[1-9]\d{0,2}(?: \d{3}){1,12}(?:[.,]\d{1,40})?[ \t]*(?:%|[A-Za-zµ]{1,3})?[ \t\r]*$",
    re.ASCII | re.MULTILINE,
)
_STEERING = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
"""Escape sequences for colours and links in a terminal: digits in them are no numbers."""
_MOST_NUMBERS = 100


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it was written (`number`) with its unit; `amount` is the value in seconds, bytes or percent."""

    number: float
    unit: str = ""

    @property
    def dimension(self) -> Dimension:
        """The quantity that the unit measures."""
        found = unit_of(self.unit)
        return found[0] if found else ""

    @property
    def amount(self) -> float:
        """The number in the base unit of its dimension."""
        found = unit_of(self.unit)
        return self.number * found[1] if found else self.number


def unit_of(word: str) -> tuple[Dimension, float] | None:
    """Return dimension and factor of a unit, None if it is unknown."""
    return _EXACT.get(word) or _LOWER.get(word.lower())


def read_number(text: str) -> float:
    """Parse digits that match `NUMBER`, with or without commas between thousands; whole numbers stay whole."""
    text = text.replace(",", "").replace("−", "-")
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def read_quantity(text: str) -> Quantity | None:
    """Parse a number with an optional unit, None if the text is anything else or too large to calculate with."""
    found = _QUANTITY.fullmatch(text[:120])
    if found is None or len(text) > 120 or (found[2] and unit_of(found[2]) is None):
        return None
    quantity = Quantity(read_number(found[1]), found[2])
    return quantity if math.isfinite(quantity.amount) else None


def numbers_in(text: str) -> list[Quantity]:
    """Return the numbers of a text in order, at most a hundred.

    `1,234` is 1234. A number joined to an unknown word does not count, nor does one that can be read in two ways
    (`1,5`, `1'234`, `2 000`, `5-`, a line with nothing but `1 234`). Colours are left out.
    """
    found: list[Quantity] = []
    plain = _STEERING.sub("", text) if "\x1b" in text else text
    for match in _IN_TEXT.finditer(_GROUPED.sub("", plain)):
        quantity = Quantity(read_number(match[1]), match[2] or "")
        if math.isfinite(quantity.amount) and (not quantity.unit or unit_of(quantity.unit)):
            found.append(quantity)
            if len(found) == _MOST_NUMBERS:
                break
    return found


def read_duration(text: str) -> float | None:
    """Parse a time such as `10s`, `2 h` or `90` (seconds); None unless it is valid and above zero."""
    found = read_quantity(text)
    if found is None or found.dimension not in ("", "time") or found.amount <= 0:
        return None
    return float(found.amount)


def say_time(seconds: float) -> str:
    """Format a time with one number: `120 ms`, `1.2 s`, `45 min`, `3 h`, `13 d`."""
    size = abs(seconds)
    if size < 1:
        return f"{seconds * 1000:.0f} ms"
    for limit, factor, unit in ((100, 1.0, "s"), (5400, 60.0, "min"), (2 * 86400, 3600.0, "h")):
        if size < limit:
            return f"{_short(seconds / factor)} {unit}"
    return f"{seconds / 86400:.0f} d"


def say_size(size: float) -> str:
    """Format a size in decimal units: `512 B`, `1.5 MB`."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(size) < 1000:
            return f"{_short(size)} {unit}"
        size /= 1000
    return f"{_short(size)} PB"


def say_number(number: float) -> str:
    """Format a number without needless digits."""
    return f"{number:.6g}" if isinstance(number, float) else str(number)[:40]


def say(quantity: Quantity) -> str:
    """Format a number with the unit that it was written with: `72%`, `5.2 G`, `7`."""
    gap = "" if quantity.unit in ("", "%") else " "
    return f"{say_number(quantity.number)}{gap}{quantity.unit}"


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
