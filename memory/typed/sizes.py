"""Sizes, ages and tokens in the form that people read and write."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from memory.base.clock import say_span

_SIZE = re.compile(r"([0-9][0-9_]*)\s*([km]?)", re.IGNORECASE | re.ASCII)
_AGE = re.compile(r"([0-9]+)\s*(s|m|h|d|w)?", re.IGNORECASE | re.ASCII)
_FACTORS = {"": 1, "k": 1_000, "m": 1_000_000}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_MOST_SECONDS = 1000 * 366 * 86400
BYTES_PER_TOKEN = 4
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FARTHEST = 1900 * 365 * 86400 * 1_000_000
"""Microseconds from 1970 that the calendar holds in both directions."""


def read_size(value: object) -> int:
    """Return a number of tokens written as `200k`, `1M` or a plain number; ValueError for anything else.

    `k` is a thousand, `m` a million. An empty value, zero and negative numbers are not sizes.
    """
    number = 0
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str) and (found := _SIZE.fullmatch(value.strip())) and len(value) <= 20:
        number = int(found[1].replace("_", "")) * _FACTORS[found[2].lower()]
    if number <= 0:
        raise ValueError(f"{value!r} is not a size")
    return number


def read_age(value: object) -> timedelta:
    """Return an age written as `7d`, `12h`, `30m`, `45s`, `2w`, or as a number of seconds; ValueError for others."""
    if isinstance(value, timedelta) and value >= timedelta(0):
        return value
    seconds = -1.0
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = float(value)
    elif isinstance(value, str) and len(value) <= 20 and (found := _AGE.fullmatch(value.strip())):
        seconds = int(found[1]) * _SECONDS[(found[2] or "s").lower()]
    if not 0 <= seconds <= _MOST_SECONDS:
        raise ValueError(f"{value!r} is not an age")
    return timedelta(seconds=seconds)


def moment_of(nanoseconds: int) -> datetime:
    """Return the time of a change, given in nanoseconds since 1970, as aware UTC.

    It is rounded down to microseconds, so that it is before a time of a whole microsecond exactly where the change is.
    """
    return _EPOCH + timedelta(microseconds=max(-_FARTHEST, min(nanoseconds // 1000, _FARTHEST)))


def bytes_text(size: int) -> str:
    """Return a size for people: `812 B`, `4.0 KB`, `1.2 MB`."""
    if size < 1000:
        return f"{size} B"
    for unit in ("KB", "MB", "GB"):
        amount = size / 1000
        if amount < 999.95 or unit == "GB":
            return f"{amount:,.1f} {unit}"
        size //= 1000
    raise AssertionError("the last unit returns")


def age_text(seconds: float) -> str:
    """Return an age for people: `3 d`, `5 h`, `12 min`, `now`."""
    return say_span(seconds) or "now"
