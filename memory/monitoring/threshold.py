"""Thresholds: when the outcome of a check is bad, as in `status != 200`, `value > 90` or `latency > 500ms`.

    rule       = all { "or" all }
    all        = one { "and" one }
    one        = [ "not" ] ( flag | name sign literal )
    sign       = "==" | "=" | "!=" | "<" | "<=" | ">" | ">=" | "contains" | "not contains"
    literal    = number [ unit ] | "text" | 'text' | word

It is parsed into conditions, which are evaluated against the measured values; no part of it is ever run as code.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from memory.base.clock import UNITS
from memory.base.values import say_size
from memory.errors import UsageError

# -- numbers with units: times in seconds, sizes in bytes, shares in percent ----------------------------------------

Dimension = Literal["", "time", "size", "percent"]

_UNITS: Mapping[str, tuple[Dimension, float]] = {
    **{word: ("time", seconds) for word, seconds in UNITS.items()},
    **dict.fromkeys(("%", "percent"), ("percent", 1.0)),
    **dict.fromkeys(("b", "byte", "bytes"), ("size", 1.0)),
    **{f"{letter}b": ("size", 1000.0**power) for power, letter in enumerate("kmgtp", 1)},
    **{f"{letter}ib": ("size", 1024.0**power) for power, letter in enumerate("kmgtp", 1)},
    # Single letters as in df, du and ls: powers of 1024. A small m is a minute, a capital one is not.
    **{letter: ("size", 1024.0**power) for power, letter in enumerate("KMGTP", 1)},
    "k": ("size", 1024.0),
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
    return _UNITS.get(word) or _UNITS.get(word.lower())


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


def say_time(seconds: float) -> str:
    """Format a time with one number: `120 ms`, `1.2 s`, `45 min`, `3 h`, `13 d`."""
    size = abs(seconds)
    if size < 1:
        return f"{seconds * 1000:.0f} ms"
    for limit, factor, unit in ((100, 1.0, "s"), (5400, 60.0, "min"), (2 * 86400, 3600.0, "h")):
        if size < limit:
            return f"{_short(seconds / factor)} {unit}"
    return f"{seconds / 86400:.0f} d"


def say_number(number: float) -> str:
    """Format a number without needless digits."""
    return f"{number:.6g}" if isinstance(number, float) else str(number)[:40]


def say(quantity: Quantity) -> str:
    """Format a number with the unit that it was written with: `72%`, `5.2 G`, `7`."""
    gap = "" if quantity.unit in ("", "%") else " "
    return f"{say_number(quantity.number)}{gap}{quantity.unit}"


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


# -- thresholds ------------------------------------------------------------------------------------------------------

DEFAULTS: Mapping[str, str] = {
    "http": "status >= 400",
    "command": "exit code != 0",
    "tcp": "not open",
    "file": "missing",
}
"""The types of monitors, and the threshold of one that has none."""
JSON = "json."
"""The prefix of names that are a path into a JSON answer."""
NAMES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "status": ("number", ("http",)),
    "latency": ("time", ("http", "tcp", "command")),
    "body": ("text", ("http",)),
    "certificate": ("time", ("http",)),
    "size": ("size", ("http", "file")),
    "exit code": ("number", ("command",)),
    "value": ("quantity", ("command",)),
    "stdout": ("text", ("command",)),
    "stderr": ("text", ("command",)),
    "open": ("flag", ("tcp",)),
    "exists": ("flag", ("file",)),
    "missing": ("flag", ("file",)),
    "age": ("time", ("file",)),
}
"""What can be measured: its kind, and the types of monitors that measure it."""
_KINDS: Mapping[str, tuple[tuple[str, ...], bool, str]] = {
    "number": (("",), False, "is a number: write {} != 200"),
    "time": (("time",), False, "is a time: write its unit: {} > 500ms, 2s, 5m, 2h or 14d"),
    "size": (("size", ""), False, "is a size: write {} > 10MB"),
    "quantity": (("", "time", "size", "percent"), False, "is a number: write {} > 90"),
    "any": (("", "time", "size", "percent"), True, 'is a number or a text: write {} > 90 or {} == "up"'),
    "text": ((), True, 'is a text: write {} contains "…"'),
}
"""What a kind is compared with: numbers of some dimensions, and texts; and what to write."""
Value = int | float | str | Quantity
"""A measured value: a number (seconds, bytes, plain), a text, or a number with the unit it was printed with."""
Reading = Mapping[str, Value]
"""All measured values, by plain name."""
LONGEST = 1000
"""Maximum characters of a threshold."""
_ORDERS: Mapping[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NAME = re.compile(r"\s*(?P<not>not\b\s*)?(?P<name>exit\s+code\b|[^\W\d][\w.\-]*(?:\[\d{1,4}\][\w.\-]*)*)", re.I)
_SIGN = re.compile(r"\s*(?P<sign>(?:not\s+)?contains\b|[=!<>]=|[=<>])", re.I)
_JOIN = re.compile(r"\s*(and|or)\b", re.I)
_LITERAL = re.compile(
    rf"""\s*(?:(?P<number>[-+]?{NUMBER})\s*(?P<unit>%|(?!(?:and|or)\b)[a-zµ]+|)
    |"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'|(?P<word>[^\W\d][\w.\-]*))""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_EXAMPLE = "write like value > 90, and join conditions with and, or and not"


class CutText(str):
    """The beginning of a text that was not read whole: what it does not contain may come later."""

    __slots__ = ()


class BadThreshold(UsageError, ValueError):
    """An invalid threshold; code `monitor.threshold`, `details["column"]` counts from 1."""

    def __init__(self, message: str, column: int, hint: str = _EXAMPLE) -> None:
        """Create the error with its message, its column, and what to write."""
        super().__init__("monitor.threshold", f"{message} (column {column})", hint, column=column)
        self.column = column


@dataclass(frozen=True, slots=True)
class Condition:
    """`name sign literal`, or a name that is true or false by itself (an empty sign); `negated` by `not`."""

    name: str
    sign: str = ""
    literal: str | Quantity = ""
    negated: bool = False

    def judge(self, reading: Reading) -> bool | None:
        """Return whether it holds; None if there is no such value or the two cannot be compared."""
        found = self._compare(reading)
        return None if found is None else found is not self.negated

    def _compare(self, reading: Reading) -> bool | None:
        value = reading.get(self.name)
        if value is None or not self.sign:
            return None if value is None else bool(value)
        if isinstance(self.literal, Quantity):
            pair = _as_numbers(value, self.literal)
            if pair is not None:
                return _ORDERS[self.sign](*pair)
            # A text is not equal to this number, but neither above nor below it.
            return {"==": False, "!=": True}.get(self.sign) if isinstance(value, str) else None
        if self.sign == "contains" and self.literal in _as_text(value):
            return True
        if isinstance(value, CutText):
            return None
        return self.sign != "contains" and (_as_text(value).strip() == self.literal) is (self.sign == "==")

    def say(self, reading: Reading) -> str:
        """Return what was found in words, such as `status 503`, `not open` or `body does not contain "ok"`."""
        holds = self._compare(reading)
        if not self.sign:
            return self.name if holds else f"not {self.name}"
        if self.sign == "contains":
            return f'{self.name} {"contains" if holds else "does not contain"} "{str(self.literal)[:40]}"'
        return f"{self.name} {show_value(self.name, reading[self.name])}"


Rule = tuple[tuple[Condition, ...], ...]
"""Conditions joined by `and`, and these by `or`."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """A parsed threshold; `text` is how it was written, empty for a default."""

    text: str
    rule: Rule

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All of its conditions, in order."""
        return tuple(one for together in self.rule for one in together)

    @property
    def names(self) -> tuple[str, ...]:
        """The plain names that it uses, each once, in order."""
        return tuple(dict.fromkeys(one.name for one in self.conditions))

    def judge(self, reading: Reading) -> bool | None:
        """Return whether it is breached; None if the measured values do not decide it."""
        found = [_decided((one.judge(reading) for one in together), by=False) for together in self.rule]
        return _decided(found, by=True)

    def missing(self, reading: Reading) -> tuple[str, ...]:
        """Return the names that it needs but that have no usable value."""
        return tuple(dict.fromkeys(one.name for one in self.conditions if one.judge(reading) is None))

    def explain(self, reading: Reading) -> str:
        """Return in a few words why it is breached, such as `status 503, latency 812 ms`; else what was found."""
        breached = self.judge(reading)
        judged = [(one, one.judge(reading)) for one in self.conditions]
        told = [one for one, held in judged if held is not None and (held or not breached)]
        said = dict.fromkeys(one.say(reading) for one in told)
        return ", ".join(said) or "no value for " + ", ".join(self.missing(reading))


def _decided(parts: Iterable[bool | None], *, by: bool) -> bool | None:
    """Return what joined parts say: one that is `by` decides alone, otherwise all have to be known."""
    found = list(parts)
    return by if by in found else None if None in found else not by


def show_value(name: str, value: Value) -> str:
    """Return a measured value as text in the unit of its name."""
    if isinstance(value, Quantity):
        return say(value)
    if isinstance(value, str):
        line = " ".join(value.split())
        return f'"{line[:40]}{"…" if len(line) > 40 else ""}"'
    return {"time": say_time, "size": say_size}.get(_known(name)[0], say_number)(value)


def _as_text(value: Value) -> str:
    if isinstance(value, str):
        return value
    return say(value) if isinstance(value, Quantity) else say_number(value)


def _as_numbers(value: Value, literal: Quantity) -> tuple[float, float] | None:
    """Return both sides as numbers of one unit.

    A number printed without a unit gets the unit of the threshold. A threshold without a unit is compared with the
    number as it was printed.
    """
    found = read_quantity(value) if isinstance(value, str) else value
    if not isinstance(found, Quantity):
        return None if found is None or math.isnan(found) else (found, literal.amount)
    if not found.unit or not literal.unit:
        return found.number, literal.number
    return (found.amount, literal.amount) if found.dimension == literal.dimension else None


def _known(name: str) -> tuple[str, tuple[str, ...]]:
    """Return kind and types of a plain name, "" and () for an unknown one; `value[2]` and `json.a.b` are names too."""
    if name.startswith(JSON) and len(name) > len(JSON):
        return "any", ("http", "command")
    return NAMES["value"] if re.fullmatch(r"value\[\d+\]", name, re.ASCII) else NAMES.get(name, ("", ()))


# -- parsing ----------------------------------------------------------------------------------------------------------


def parse_threshold(text: str, kind: str = "") -> Threshold:
    """Parse a threshold; with the type of a monitor (`http`, `command` …) an empty one is that type's default.

    Raises BadThreshold with a column and a hint for everything else, also for names that the type does not have and for
    units that do not fit a name. Takes time proportional to the length, which is bounded.
    """
    written = text.strip()
    if not written and kind not in DEFAULTS:
        raise BadThreshold("the threshold is empty", 1)
    if len(text) > LONGEST:
        raise BadThreshold(f"longer than {LONGEST} characters", LONGEST + 1, "write a shorter threshold")
    source = text.rstrip() if written else DEFAULTS[kind]
    rule: list[list[Condition]] = [[]]
    at = 0
    while True:
        condition, at = _condition(source, at, kind)
        rule[-1].append(condition)
        joined = _JOIN.match(source, at)
        if joined is None:
            break
        if joined[1].lower() == "or":
            rule.append([])
        at = joined.end()
    if at < len(source):
        rest = source[at:].lstrip()
        raise BadThreshold(f"{rest[:20]!r} is not expected here", _column(source, at))
    return Threshold(written, tuple(map(tuple, rule)))


def _column(text: str, at: int) -> int:
    """Return the column of the first character from a place on that is no blank."""
    return len(text) - len(text[at:].lstrip()) + 1


def _condition(text: str, at: int, measured_by: str) -> tuple[Condition, int]:
    """Return the condition at a place of a threshold for a type, and where it ends."""
    found = _NAME.match(text, at)
    said = found["name"] if found else text[at:].split(maxsplit=1)[0] if text[at:].strip() else "the end"
    name = said if said.startswith(JSON) else " ".join(said.casefold().split())
    kind, types = _known(name) if found else ("", ())
    column = found.start("name") + 1 if found else _column(text, at)
    if found is None or not kind or (measured_by in DEFAULTS and measured_by not in types):
        names = [one for one, (_, some) in NAMES.items() if measured_by in ("", *some)]
        words = f"{said[:40]!r} is not measured by {measured_by or 'any'} checks"
        raise BadThreshold(words, column, "write one of " + ", ".join(names))
    sign = _SIGN.match(text, found.end())
    negated = found["not"] is not None
    if kind == "flag":
        if sign is not None:
            raise BadThreshold(f"{name} is true or false", column, f"write {name} or not {name}")
        return Condition(name, negated=negated), found.end()
    dimensions, texts, words = _KINDS[kind]
    if sign is None:
        missing = f"a comparison is missing after {name[:40]}"
        raise BadThreshold(missing, _column(text, found.end()), f"{name} {words.replace('{}', name)}")
    compared = " ".join(sign["sign"].lower().split()).replace("not contains", "lacks")
    literal, column = _LITERAL.match(text, sign.end()), _column(text, sign.end())
    if literal is None and text[column - 1 : column] in ("'", '"'):
        raise BadThreshold("a text that does not end", column)
    value: str | Quantity | None = None
    if literal is not None and literal["number"] and dimensions and compared not in ("contains", "lacks"):
        value = _quantity(literal, column)
        value = value if value.dimension in dimensions else None
    elif literal is not None and texts and compared not in ("<", "<=", ">", ">="):
        quoted = next((one for one in literal.group("double", "single") if one is not None), None)
        value = literal[0].strip() if quoted is None else _ESCAPE.sub(r"\1", quoted)
    if literal is None or value is None:
        said, _, hint = words.replace("{}", name[:40]).partition(": ")
        raise BadThreshold(f"{name[:40]} {said}", column, hint)
    plain = {"lacks": "contains", "=": "=="}.get(compared, compared)
    return Condition(name, plain, value, negated is not (compared == "lacks")), literal.end()


def _quantity(literal: re.Match[str], column: int) -> Quantity:
    """Return a number with its unit; BadThreshold for an unknown unit, and for a number that is too large."""
    if literal["unit"] and unit_of(literal["unit"]) is None:
        words = f"{literal['unit'][:20]!r} is not a unit"
        raise BadThreshold(words, column, "units: ms s m h d, %, KB MB GB, KiB MiB GiB")
    value = Quantity(read_number(literal["number"]), literal["unit"])
    if not math.isfinite(value.amount):
        raise BadThreshold(f"{literal['number'][:20]} is too large a number", column, "write a smaller one")
    return value
