"""The parts of a parsed threshold: comparisons of names, joined; each evaluates to true, false or not known.

A name is what a type of monitor measures.
"""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from .units import Quantity, read_quantity, say, say_number, say_size, say_time

NameKind = Literal["number", "time", "size", "text", "flag", "any"]
KINDS = ("http", "command", "tcp", "file", "heartbeat")
"""The types of monitors."""
DEFAULTS: Mapping[str, str] = {
    "http": "status >= 400",
    "command": "exit code != 0",
    "tcp": "not open",
    "file": "missing",
    "heartbeat": "missing",
}
"""The threshold of a monitor that has none; a heartbeat with `olderThan` also has `age > …`."""
JSON = "json."
"""The prefix of names that are a path into a JSON answer."""


@dataclass(frozen=True, slots=True)
class KnownName:
    """The properties of a name: its unit, and which types of monitors have it."""

    kind: NameKind
    types: tuple[str, ...]


NAMES: Mapping[str, KnownName] = {
    "status": KnownName("number", ("http",)),
    "latency": KnownName("time", ("http", "tcp", "command")),
    "body": KnownName("text", ("http",)),
    "certificate": KnownName("time", ("http",)),
    "size": KnownName("size", ("http", "file")),
    "exit code": KnownName("number", ("command",)),
    "value": KnownName("any", ("command",)),
    "stdout": KnownName("text", ("command",)),
    "stderr": KnownName("text", ("command",)),
    "open": KnownName("flag", ("tcp",)),
    "exists": KnownName("flag", ("file", "heartbeat")),
    "missing": KnownName("flag", ("file", "heartbeat")),
    "age": KnownName("time", ("file", "heartbeat")),
}
_JSON = KnownName("any", ("http", "command"))
_ALIASES = {
    "exitcode": "exit code",
    "exit_code": "exit code",
    "exit status": "exit code",
    "exit": "exit code",
    "code": "exit code",
    "status code": "status",
    "statuscode": "status",
    "response time": "latency",
    "duration": "latency",
    "output": "stdout",
    "certificate days": "certificate",
    "cert": "certificate",
}
Value = int | float | str | Quantity
"""A measured value: a number (seconds, bytes, plain), a text, or a number with the unit it was printed with."""


class CutText(str):
    """The beginning of a text that was not read whole: what it does not contain may come later."""

    __slots__ = ()


Reading = Mapping[str, Value]
"""All measured values, by plain name."""

_ORDERS: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """`name sign literal`, or a name that is true or false by itself (an empty sign); not `positive`: its contrary.

    `shown` is the literal as it was written.
    """

    name: str
    sign: str = ""
    literal: str | Quantity = ""
    shown: str = ""
    positive: bool = True

    def judge(self, reading: Reading) -> bool | None:
        """Return whether it holds; None if there is no such value or the two cannot be compared."""
        found = self._compare(reading)
        return None if found is None else found is self.positive

    def _compare(self, reading: Reading) -> bool | None:
        value = reading.get(self.name)
        if value is None or not self.sign:
            return None if value is None else bool(value)
        if self.sign == "contains" and (self.shown in _as_text(value)):
            return True
        if isinstance(value, CutText):
            return None
        if self.sign == "contains":
            return False
        if isinstance(self.literal, str):
            same = _as_text(value).strip() == self.literal
            return same if self.sign == "==" else not same
        pair = _as_numbers(value, self.literal)
        if pair is None:
            # A text is not equal to this number, but neither above nor below it.
            return {"==": False, "!=": True}.get(self.sign) if isinstance(value, str) else None
        return _ORDERS[self.sign](*pair)

    def say(self, reading: Reading) -> str:
        """Return what was found in words, such as `status 503`, `not open` or `body does not contain "ok"`."""
        if not self.sign:
            return self.name if self._compare(reading) else f"not {self.name}"
        if self.sign == "contains":
            return f'{self.name} {"contains" if self._compare(reading) else "does not contain"} "{self.shown[:40]}"'
        return f"{self.name} {show_value(self.name, reading[self.name])}"


@dataclass(frozen=True, slots=True)
class Joined:
    """Rules of which all (`every`) or one must hold."""

    every: bool
    parts: tuple[Rule, ...]

    def judge(self, reading: Reading) -> bool | None:
        """Join the known results: one false part decides `and`, one true part decides `or`."""
        found = [part.judge(reading) for part in self.parts]
        if (not self.every) in found:
            return not self.every
        return None if None in found else self.every


Rule = Condition | Joined


def conditions(rule: Rule) -> Iterator[Condition]:
    """Yield the conditions of a rule, in order."""
    if isinstance(rule, Condition):
        yield rule
    else:
        for part in rule.parts:
            yield from conditions(part)


def show_value(name: str, value: Value) -> str:
    """Return a measured value as text in the unit of its name."""
    known = find_name(name)
    if isinstance(value, Quantity):
        return say(value)
    if isinstance(value, str):
        line = " ".join(value.split())
        return f'"{line[:40]}{"…" if len(line) > 40 else ""}"'
    if known is not None and known.kind == "time":
        return say_time(value)
    if known is not None and known.kind == "size":
        return say_size(value)
    return say_number(value)


def _as_text(value: Value) -> str:
    if isinstance(value, str):
        return value
    return say(value) if isinstance(value, Quantity) else say_number(value)


def _as_numbers(value: Value, literal: Quantity) -> tuple[float, float] | None:
    """Return both sides as numbers of one unit.

    A number printed without a unit gets the unit of the threshold. A threshold without a unit is compared with the
    number as it was printed.
    """
    if isinstance(value, str):
        read = read_quantity(value)
        if read is None:
            return None
        value = read
    if not isinstance(value, Quantity):
        return None if math.isnan(value) else (value, literal.amount)
    if not value.unit or not literal.unit:
        return value.number, literal.number
    return (value.amount, literal.amount) if value.dimension == literal.dimension else None


def plain_name(words: str) -> str:
    """Return the name as `NAMES` has it: `Status Code` is `status`; a path keeps its case."""
    if words.startswith(JSON):
        return words
    words = words.casefold()
    return _ALIASES.get(words, words)


def find_name(name: str) -> KnownName | None:
    """Return the properties of a plain name; `value[2]` and `json.a.b` are names too."""
    if name.startswith(JSON) and len(name) > len(JSON):
        return _JSON
    base, bracket, rest = name.partition("[")
    if bracket:
        return NAMES["value"] if base == "value" and rest.endswith("]") and rest[:-1].isdigit() else None
    return NAMES.get(name)


def nearest(name: str, kind: str = "") -> str:
    """Return a hint: the name that was probably meant, or all names."""
    names = [name for name, known in NAMES.items() if kind not in KINDS or kind in known.types]
    close = difflib.get_close_matches(name.casefold()[:40], names, 1)
    return f"did you mean {close[0]}?" if close else "write one of " + ", ".join(names)
