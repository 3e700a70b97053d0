"""Cron expressions: checked, described in words, and turned into run times.

Five fields (minute, hour, day of month, month, day of week) or a name such as `@daily`. Where both days are given,
either one matches, as in cron. Expressions come from untrusted files: their length and the work they cause are bounded.
When clocks go forward, a run in the skipped hour moves to the first instant after it and happens once. When they go
back, runs at fixed times happen only in the first of the two hours, and runs of expressions whose minute or hour begins
with `*` happen in both.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from memory.errors import UsageError

from .clock import DAYS, PLACES, SHORT_MONTHS, aware

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Literal

_MAX_LENGTH = 200
_MAX_RUNS = 1000
_LOOKS_BACK = timedelta(days=3000)
"""How far `latest_run` looks back."""
_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_FIELDS = (
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day of month", 1, 31),
    ("month", 1, 12),
    ("day of week", 0, 7),
)
_NAMES = {
    "month": {name: number for number, name in enumerate(SHORT_MONTHS, 1)},
    "day of week": {name: number % 7 for number, name in enumerate(DAYS, 1)},
}
_LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_PART = r"(?:(\*|\?)|([0-9a-z]{1,3})(?:-([0-9a-z]{1,3}))?)(?:/([0-9]{1,3}))?"


class BadCron(UsageError, ValueError):
    """An invalid cron expression (code `cron.invalid`), or one that never runs (`cron.never`)."""

    def __init__(self, message: str, code: str = "cron.invalid") -> None:
        """Create the error with a message about the expression."""
        super().__init__(code, message, "write five fields such as 0 9 * * MON, or @daily")


def next_runs(expr: str, after: datetime, zone: tzinfo, count: int = 1) -> list[datetime]:
    """Return the next runs strictly after an instant: aware, in the zone, ascending, without duplicates.

    `count` is at most 1000; fewer runs are returned where the calendar ends, but at least one. Results are cached by
    the minute. Raises BadCron, also where nothing runs any more.
    """
    after = aware(after).astimezone(UTC)
    expr, count = check_cron(expr), min(count, _MAX_RUNS)
    # Runs are at whole minutes, so all instants of a minute have the same result.
    runs = _runs(expr, after.replace(second=0, microsecond=0), zone, count)
    return list(runs if not runs or runs[0] > after else _runs(expr, after, zone, count))


def latest_run(expr: str, now: datetime, zone: tzinfo) -> datetime | None:
    """Return the newest run at or before an instant, aware and in the zone; None if there is none within 8 years.

    Results are cached by the minute. Raises BadCron.
    """
    now = aware(now).astimezone(UTC)
    return _latest(check_cron(expr), now.replace(second=0, microsecond=0), zone)


def missed_twice(expr: str, last: datetime, now: datetime, zone: tzinfo) -> bool:
    """Return whether a schedule came due at least twice since `last`; False for an invalid one."""
    try:
        newest = latest_run(expr, now, zone)
        before = None if newest is None else latest_run(expr, newest - timedelta(minutes=1), zone)
    except BadCron:
        return False
    return before is not None and last < before


@lru_cache(maxsize=2048)
def _latest(expr: str, minute: datetime, zone: tzinfo) -> datetime | None:
    runs = _instants(expr, (minute + timedelta(minutes=1)).astimezone(zone), "get_prev")
    local = next((one for one in runs if one <= minute), None)
    return None if local is None or minute - local >= _LOOKS_BACK else local


def _instants(expr: str, start: datetime, step: Literal["get_next", "get_prev"]) -> Iterator[datetime]:
    """Yield the runs from a start on, in its zone, as far as the calendar goes."""
    # Neither the minute nor the hour begins with `*`.
    fixed = all(not field.startswith("*") for field in expr.split()[:2])
    try:
        times = _croniter()(expr, start)
        while True:
            local = getattr(times, step)(datetime).astimezone(UTC).replace(fold=0).astimezone(start.tzinfo)
            # fold: the wall clock shows this time for the second time, so a run at a fixed time has already happened.
            if not (fixed and local.fold):
                yield local
    except (ValueError, OverflowError):  # croniter's own errors are ValueErrors
        return


@cache
def _croniter() -> Any:
    """Import croniter without starting a program.

    It calls `platform.architecture` for the pointer size, which runs any program named `file` in PATH.
    """
    import platform

    asked = platform.architecture
    platform.architecture = lambda *_: ("64bit" if sys.maxsize > 1 << 32 else "32bit", "")
    try:
        from croniter import croniter
    finally:
        platform.architecture = asked
    return croniter


@lru_cache(maxsize=2048)
def _runs(expr: str, after: datetime, zone: tzinfo, count: int) -> tuple[datetime, ...]:
    runs: list[datetime] = []
    last = after
    for local in _instants(expr, after.astimezone(zone), "get_next"):
        instant = local.astimezone(UTC)
        if instant > last:
            runs.append(local)
            last = instant
        if len(runs) == count:
            break
    if not runs:
        raise BadCron(f"{expr} has no next run", "cron.never")
    return tuple(runs)


@lru_cache(maxsize=512)
def check_cron(expr: str) -> str:
    """Return the five fields of an expression in lower case with single spaces, aliases written out.

    Raises BadCron with a sentence that quotes the text as typed, and says which field is wrong, or that it never runs.
    """
    typed = expr.strip()
    if not typed or len(typed) > _MAX_LENGTH:
        raise BadCron(
            "the cron expression is empty" if not typed else f"the cron expression {typed[:30]!r}… is too long"
        )
    text = _ALIASES.get(typed.lower(), typed)
    if text.startswith("@"):
        raise BadCron(f"{text[:30]!r} is not one of {', '.join(_ALIASES)}")
    fields = text.split()
    if len(fields) in (6, 7):
        raise BadCron(f"{text[:60]!r} has {len(fields)} fields; seconds and years are not supported")
    if len(fields) != 5:
        count = "1 field" if len(fields) == 1 else f"{len(fields)} fields"
        raise BadCron(f"{text[:60]!r} has {count} instead of 5")
    values = [_read_field(field, *spec) for field, spec in zip(fields, _FIELDS, strict=True)]
    days, months = values[2], values[3]
    by_weekday = not {"*", "?"} & set(fields[4].split(","))
    if not by_weekday and days and min(days) > max(_LONGEST[month - 1] for month in months):
        raise BadCron(f"{text[:60]!r} never runs: no such month has a day {min(days)}", "cron.never")
    return " ".join(fields).lower()


def _read_field(text: str, name: str, low: int, high: int) -> set[int]:
    """Return the numbers of a field; an empty set for the last day of the month and the like."""
    values: set[int] = set()
    for typed in text.split(","):
        part = typed.lower()
        if _is_special(part, name):
            return set()
        found = re.fullmatch(_PART, typed, re.IGNORECASE | re.ASCII)
        if found is None or (found[1] == "?" and not name.startswith("day")):
            raise BadCron(f"{typed[:20]!r} is not {_article(name)}")
        step = int(found[4] or 1)
        if step == 0:
            raise BadCron(f"the step in {typed!r} is 0")
        first = low if found[1] else _read_value(found[2], name, low, high)
        if found[1] or (found[4] and not found[3]):
            last = high
        else:
            last = _read_value(found[3], name, low, high) if found[3] else first
        span = list(range(first, last + 1)) if first <= last else [*range(first, high + 1), *range(low, last + 1)]
        values.update(span[::step])
    return values


def _article(name: str) -> str:
    return f"{'an' if name == 'hour' else 'a'} {name}"


def _is_special(part: str, name: str) -> bool:
    """Return whether a part means the last day of the month, or the nth or last weekday of the month."""
    if name == "day of month":
        return part == "l"
    return (
        name == "day of week"
        and bool(re.fullmatch(r"(?:[0-7]|[a-z]{3})#[1-5]|l[0-7]", part))
        and (part[:3] in _NAMES[name] or not part[:3].isalpha())
    )


def _read_value(text: str, name: str, low: int, high: int) -> int:
    number = _NAMES.get(name, {}).get(text.lower())
    if number is None:
        if not text.isdigit():
            raise BadCron(f"{text!r} is not {_article(name)}")
        number = int(text)
    if not low <= number <= high:
        raise BadCron(f"{name} {text} is not between {low} and {high}")
    return number


@lru_cache(256)
def describe(expr: str) -> str:
    """Return in a few words when an expression runs: `Mon 09:00`, `every 5 min`, `daily 02:00`.

    An expression of another form, or an invalid one, is returned unchanged.
    """
    try:
        fields = check_cron(expr).replace("?", "*").split()
    except BadCron:
        return expr.strip()
    return _describe(*fields) or expr.strip()


def _describe(minute: str, hour: str, day: str, month: str, weekday: str) -> str | None:
    always = (day, month, weekday) == ("*", "*", "*")
    every = re.fullmatch(r"\*/([0-9]+)", minute if hour == "*" else hour)
    if hour == "*":
        if not always:
            return None
        if minute == "*" or (every and every[1] == "1"):
            return "every min"
        if every and 60 % int(every[1]) == 0:
            return f"every {every[1]} min"
        return ("every hour" if int(minute) == 0 else f"hourly at :{int(minute):02}") if minute.isdigit() else None
    if not minute.isdigit():
        return None
    if every and always:
        step = int(every[1])
        return (f"every {step} h" if step > 1 else "every hour") if minute == "0" and 24 % step == 0 else None
    hours = hour.split(",")
    if len(hours) > 4 or not all(part.isdigit() for part in hours):
        return None
    days = "daily" if always else _describe_days(day, month, weekday)
    return days and f"{days} {', '.join(f'{int(part):02}:{int(minute):02}' for part in hours)}"


def _describe_days(day: str, month: str, weekday: str) -> str | None:
    if (day, month) == ("*", "*"):
        return _describe_weekdays(weekday)
    if weekday != "*":
        return None
    if month == "*":
        if day == "l":
            return "monthly on the last day,"
        days = day.split(",")
        if len(days) > 4 or not all(one.isdigit() for one in days):
            return None
        return f"monthly on day{'s' if len(days) > 1 else ''} {', '.join(str(int(one)) for one in days)},"
    if not day.isdigit():
        return None
    months = [_NAMES["month"].get(one) or (int(one) if one.isdigit() else 0) for one in month.split(",")]
    if not all(months):
        return None
    if len(months) == 1:
        return f"{int(day)} {SHORT_MONTHS[months[0] - 1].capitalize()}"
    step = months[1] - months[0]
    if months != list(range(months[0], 13, step if step > 0 else 12)) or len(months) * step != 12:
        return None
    return f"every {step} months on day {int(day)} from {SHORT_MONTHS[months[0] - 1].capitalize()},"


def _describe_weekdays(weekday: str) -> str | None:
    if "#" in weekday or weekday.startswith("l"):
        return _describe_places(weekday)
    numbers = {number % 7 for number in _read_field(weekday, *_FIELDS[4])}
    if numbers == {1, 2, 3, 4, 5}:
        return "weekdays"
    if numbers == {0, 6}:
        return "weekends"
    if len(numbers) == 7:
        return "daily"
    return ", ".join(DAYS[place].capitalize() for place in sorted((number - 1) % 7 for number in numbers))


def _describe_places(weekday: str) -> str | None:
    """Return in words which weekdays of a month `mon#1,mon#3` or `l5` mean."""
    places, days = [], set()
    for part in weekday.split(","):
        name, _, place = part.partition("#")
        if not place and not part.startswith("l"):
            return None
        name = name if place else name[1:]
        days.add(DAYS[int(name) - 1] if name.isdigit() else name)
        places.append(PLACES[int(place or 0)])
    return f"{', '.join(places)} {days.pop().capitalize()} of the month" if len(days) == 1 else None
