"""Whole numbers as callers write them: every count of every surface is read here, within bounds."""

from __future__ import annotations

from memory.errors import UsageError

MOST = 1_000_000_000
"""The largest count where an operation names no other: SQLite and Python take it everywhere."""


def whole(value: object, least: int = 0, most: int = MOST, *, name: str, code: str = "usage.value") -> int:
    """Return a number or its decimal digits as a whole number from `least` to `most`, both included.

    UsageError `code` names the bounds for anything else: a float, a truth value, other digits, more digits.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        number: int | None = value
    else:
        digits = value.removeprefix("-") if isinstance(value, str) else ""
        plain = digits.isascii() and digits.isdecimal() and len(digits) < 19
        number = int(str(value)) if plain else None
    if number is None or not least <= number <= most:
        said = str(value) if not isinstance(value, int) or abs(value) <= 10**40 else "so many digits"
        raise UsageError(code, f"{name} takes a whole number from {least} to {most}, not {said[:40]!r}", argument=name)
    return number
