"""What a threshold is made of once it is read: comparisons, joined; each judged as true, false or not known."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from .names import find_name
from .units import Quantity, read_quantity, say, say_number, say_size, say_time

Value = int | float | str | Quantity
"""What was measured: a number (seconds, bytes, plain), a text, or a number with the unit it was printed with."""
Reading = Mapping[str, Value]
"""Everything that was measured, by plain name."""

_ORDERS: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Compare:
    """`name sign literal`; `shown` is the literal as it was written."""

    name: str
    sign: str
    literal: str | Quantity
    shown: str

    def judge(self, reading: Reading) -> bool | None:
        """Compare; None where there is no such value or the two cannot be compared."""
        value = reading.get(self.name)
        if value is None:
            return None
        if self.sign == "contains":
            return self.shown in _as_text(value)
        if isinstance(self.literal, str):
            same = _as_text(value).strip() == self.literal
            return same if self.sign == "==" else not same
        pair = _as_numbers(value, self.literal)
        if pair is None:
            # A text is surely not this number, but neither above nor below it.
            return {"==": False, "!=": True}.get(self.sign) if isinstance(value, str) else None
        return _ORDERS[self.sign](*pair)

    def say(self, reading: Reading, truth: bool) -> str:
        """Say what was found, such as `status 503` or `body does not contain "ok"`."""
        if self.sign == "contains":
            return f'{self.name} {"contains" if truth else "does not contain"} "{self.shown[:40]}"'
        return f"{self.name} {show_value(self.name, reading[self.name])}"


@dataclass(frozen=True, slots=True)
class Flag:
    """A name that is true or false by itself, such as `open`."""

    name: str

    def judge(self, reading: Reading) -> bool | None:
        """Return whether it is set; None where it was not measured."""
        value = reading.get(self.name)
        return None if value is None else bool(value)

    def say(self, _reading: Reading, truth: bool) -> str:
        """Say what was found, such as `not open`."""
        return self.name if truth else f"not {self.name}"


@dataclass(frozen=True, slots=True)
class Not:
    """The contrary of a rule."""

    part: Rule

    def judge(self, reading: Reading) -> bool | None:
        """Return the contrary; not known stays not known."""
        found = self.part.judge(reading)
        return None if found is None else not found


@dataclass(frozen=True, slots=True)
class Joined:
    """Rules of which all (`every`) or one must hold."""

    every: bool
    parts: tuple[Rule, ...]

    def judge(self, reading: Reading) -> bool | None:
        """Join what is known: one false part decides `and`, one true part decides `or`."""
        found = [part.judge(reading) for part in self.parts]
        if (not self.every) in found:
            return not self.every
        return None if None in found else self.every


Rule = Compare | Flag | Not | Joined


def leaves(rule: Rule, positive: bool = True) -> Iterator[tuple[Compare | Flag, bool]]:
    """Yield the comparisons of a rule, each with the truth that it must have to make the rule true."""
    if isinstance(rule, Not):
        yield from leaves(rule.part, not positive)
    elif isinstance(rule, Joined):
        for part in rule.parts:
            yield from leaves(part, positive)
    else:
        yield rule, positive


def show_value(name: str, value: Value) -> str:
    """Say a measured value in the unit of its name."""
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

    A number that was printed without a unit is taken in the unit of the threshold, a threshold without one
    means the number as it was printed.
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
