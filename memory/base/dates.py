"""Dates and times as users type them, turned into the form of files; every form that memdeck prints is accepted.

A day may have a time before or after it (`fri 9:00`, `2pm tomorrow`). docs/dates.md lists the forms. A weekday, a day
without its year or a time without its day is the next such one; with `past`, the latest one. Due dates are in the
future, and questions to a log are about the past.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from .clock import (
    COUNTS,
    FORM,
    UNITS,
    BadMoment,
    aware,
    format_exact,
    month_number,
    read_clock,
    read_moment,
    weekday_number,
)

_NUMBERS = {"a": 1, "an": 1, **COUNTS, "eleven": 11, "twelve": 12}
_NAMED = {"today": 0, "tomorrow": 1, "tom": 1, "tom.": 1, "yesterday": -1}
_TONIGHT = time(20)
_ENDS = {"eod": "day", "eow": "week", "eom": "month", "eoy": "year"}

_MINUTE, _DAY = 60.0, 86400.0
# How many months of the calendar a longer unit has.
_LONG = {**dict.fromkeys(("mo", "month", "months"), 1), **dict.fromkeys(("y", "yr", "year", "years"), 12)}

_SHIFT = re.compile(
    rf"(?P<side>[+-] ?|in )?(?:(?P<count>[0-9]{{1,5}}) ?|(?P<word>{'|'.join(_NUMBERS)}) )"
    r"(?P<unit>[a-z]+)(?P<ago> ago)?(?= |$)",
    re.ASCII,
)
_CLOCK_FIRST = re.compile(r"(?:at )?([0-9]{1,2}:[0-9]{2}(?: ?[ap]m)?|[0-9]{1,2} ?[ap]m|noon) (.+)", re.ASCII)
_NUMBER = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th|\.)?"
_MONTH = r"(?P<month>[a-z]{3,})\.?"
_YEAR = r"(?: (?P<year>[0-9]{4}))?(?= |$)"
_DAY_MONTH = re.compile(rf"{_NUMBER} ?{_MONTH}{_YEAR}", re.ASCII)
_MONTH_DAY = re.compile(rf"{_MONTH} ?{_NUMBER}{_YEAR}", re.ASCII)
_MONTH_ALONE = re.compile(rf"{_MONTH}{_YEAR}", re.ASCII)
_DOTTED = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})(\.?) ?([0-9]{4})?(?= |$)", re.ASCII)
_SLASHED = re.compile(r"([0-9]{1,2})/([0-9]{1,2})(?:/([0-9]{4}))?(?= |$)", re.ASCII)
_SHORT_YEAR = re.compile(r"[0-9]{1,2}([./])[0-9]{1,2}\1[0-9]{1,3}(?= |$)", re.ASCII)
_YEAR_FIRST = re.compile(r"([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})(?= |$)", re.ASCII)
_PERIOD = re.compile(
    r"(?P<end>(?:the )?end of (?:the |this )?)?(?:(?P<side>next|last) )?(?P<unit>[a-z]+)(?= |$)", re.ASCII
)

_FIX = "write it like tomorrow 14:00, fri 9:00, 2 Dec, +2d, eom or 2026-12-01"
_LEAP = 8
"""Years within which every calendar day occurs again, even 29 February across a century."""


def parse_when(text: str, now: datetime, zone: tzinfo, *, past: bool = False) -> str:
    """Return what a user typed as a date or time in the form of files: `2026-12-01 14:00` or `2026-12-01`.

    Weeks begin on Monday. A weekday is the next such day after today, with `past` the latest, today included; a day and
    month without a year is the next such day, today included, or the latest. Seconds are dropped; times with an offset
    become local ones. Raises BadMoment for anything else, with the accepted forms or the reason.
    """
    local = aware(now).astimezone(zone)
    if FORM.fullmatch(text.strip()):
        moment = read_moment(text, zone)
        assert moment is not None
        return moment.text if moment.instant is None else format_exact(moment.instant, zone)
    words = " ".join(text.lower().replace(",", " ").split())
    if words == "now":
        return format_exact(now, zone)
    try:
        found = _Reader(text, local, now, zone, past).read(words)
    except (OverflowError, ValueError) as error:
        if isinstance(error, BadMoment):
            raise
        found = None
    if found is None:
        raise BadMoment(f"{text[:40]!r} is not a date", _FIX)
    return found


def time_bound(text: str, now: datetime, zone: tzinfo, *, end: bool) -> datetime:
    """Return the aware time that a text means as the beginning, or the `end`, of a span; both are inclusive.

    A day alone means its beginning or end; at the end, a time to the minute or second means all of that minute or
    second. Accepts what `parse_when` accepts, with `past`: `fri` is the latest Friday. Raises BadMoment for anything
    else.
    """
    moment = read_moment(parse_when(text, now, zone, past=True), zone)
    if moment is None:
        raise BadMoment(f"{text!r} is not a time", "write it like 2026-12-01 14:00")
    if moment.instant is not None:
        return moment.instant + timedelta(seconds=59 if text.count(":") < 2 else 0, microseconds=999_999) * end
    day = moment.date + timedelta(days=1) if end else moment.date
    start = datetime(day.year, day.month, day.day, tzinfo=zone)
    return start - timedelta(microseconds=1) if end else start


def read_date(text: str, today: date, *, past: bool = False) -> date | None:
    """Return the day of a text that names one without a time (`2 Dec`, `fri`, `end of month`); None for others."""
    noon = datetime(today.year, today.month, today.day, 12, tzinfo=UTC)
    try:
        return date.fromisoformat(parse_when(text, noon, UTC, past=past))
    except ValueError:  # BadMoment is a ValueError too
        return None


class _Reader:
    """Reads one text; holds the values that all forms need."""

    def __init__(self, text: str, local: datetime, now: datetime, zone: tzinfo, past: bool) -> None:
        self.text = text[:40]
        self.local, self.now, self.zone, self.past = local, now, zone, past
        self.today = local.date()

    def read(self, words: str) -> str | None:
        """Return what the words mean: a day, a day and a time, a time alone, or None."""
        words = re.sub(r"^(?:on|by) ", "", words)
        found = self._day_first(words)
        if found is not None:
            return found
        clock_first = _CLOCK_FIRST.fullmatch(words)
        if clock_first:
            found = self._day_first(re.sub(r"^on ", "", clock_first[2]))
            clock = read_clock(clock_first[1])
            if found is not None and clock is not None and len(found) == 10:
                return f"{found} {clock:%H:%M}"
        return self._time_alone(words)

    def _day_first(self, words: str) -> str | None:
        shift = self._shift(words)
        if shift is not None:
            return shift
        # Each returns the day at the beginning of the words and the rest of them, or None.
        for form in (self._named, self._period, self._weekday, self._written, self._numbers, self._month):
            found = form(words)
            if found is not None:
                day, rest = found
                return self._with_clock(day, rest)
        return None

    # Shifts

    def _shift(self, words: str) -> str | None:
        """Read `+2d`, `in two weeks`, `3 d ago`; without a direction (`3d`) forward, with `past` back."""
        found = _SHIFT.match(words)
        if found is None or (found["side"] and found["ago"]):
            return None
        side = found["side"] or ""
        sign = -1 if side.startswith("-") or found["ago"] or (self.past and not side) else 1
        number = sign * (int(found["count"]) if found["count"] else _NUMBERS[found["word"]])
        unit, rest = found["unit"], words[found.end() :].strip()
        length = timedelta(seconds=number * UNITS.get(unit, 0.0))
        if UNITS.get(unit, 0.0) >= _DAY:
            return self._with_clock(self.today + length, rest)
        if UNITS.get(unit, 0.0) >= _MINUTE:
            return None if rest else format_exact(self.now + length, self.zone)
        if unit in _LONG:
            return self._with_clock(_months_on(self.today, number * _LONG[unit]), rest)
        return None

    # Days

    def _named(self, words: str) -> tuple[date, str] | None:
        head, _, rest = words.partition(" ")
        if head in _NAMED:
            return self.today + timedelta(days=_NAMED[head]), rest
        if head == "tonight":
            # After that time the whole day is meant, which lasts to its end.
            return self.today, rest or (f"{_TONIGHT:%H:%M}" if self.local.time() < _TONIGHT else "")
        return None

    def _period(self, words: str) -> tuple[date, str] | None:
        """Read `eom`, `end of next week`, `end of May`; `next month`, `next friday`, and the same with `last`."""
        head, _, rest = words.partition(" ")
        if head in _ENDS:
            return self._span(_ENDS[head], 0)[1], rest
        found = _PERIOD.match(words)
        if found is None or not (found["end"] or found["side"]):
            return None
        rest = words[found.end() :].strip()
        unit, ahead = found["unit"], {"next": 1, "last": -1}.get(found["side"], 0)
        if unit in ("week", "month", "year") or (unit == "day" and found["end"]):
            return self._span(unit, ahead)[bool(found["end"])], rest
        month, weekday = month_number(unit), weekday_number(unit)
        if found["end"] and not found["side"] and month is not None:
            return self._year_of(lambda year: date(year, month, last_day(year, month))), rest
        if found["end"] or weekday is None:
            return None
        return self._span("week", ahead)[0] + timedelta(days=weekday), rest

    def _span(self, unit: str, ahead: int) -> tuple[date, date]:
        """Return the first and the last day of this day, week, month or year, or of one `ahead`."""
        if unit == "day":
            first, length = self.today + timedelta(days=ahead), 1
        elif unit == "week":
            first, length = self.today + timedelta(days=7 * ahead - self.today.weekday()), 7
        elif unit == "month":
            first = _months_on(self.today.replace(day=1), ahead)
            length = last_day(first.year, first.month)
        else:
            return date(self.today.year + ahead, 1, 1), date(self.today.year + ahead, 12, 31)
        return first, first + timedelta(days=length - 1)

    def _weekday(self, words: str) -> tuple[date, str] | None:
        head, _, rest = words.partition(" ")
        weekday = weekday_number(head.removesuffix("."))
        if weekday is None:
            return None
        found = self._written(rest) or self._numbers(rest)
        if found is None:
            behind, ahead = (self.today.weekday() - weekday) % 7, (weekday - self.today.weekday() - 1) % 7 + 1
            return self.today + timedelta(days=-behind if self.past else ahead), rest
        if found[0].weekday() != weekday:
            raise BadMoment(
                f"{self.text!r}: {found[0].day} {found[0]:%b %Y} is a {found[0]:%A}",
                "leave the weekday out, or fix one of the two",
            )
        return found

    def _written(self, words: str) -> tuple[date, str] | None:
        """Read `2 Dec`, `2nd December 2026`, `Dec 2`, `Dec 2 2026`."""
        for pattern in (_DAY_MONTH, _MONTH_DAY):
            found = pattern.match(words)
            month = month_number(found["month"]) if found else None
            if found is not None and month is not None:
                return self._day(int(found["day"]), month, found["year"]), words[found.end() :].strip()
        return None

    def _month(self, words: str) -> tuple[date, str] | None:
        """Read `December`, `Jan 2027`: the first of the month, as for `next month`."""
        found = _MONTH_ALONE.fullmatch(words)
        month = month_number(found[1]) if found else None
        return None if found is None or month is None else (self._day(1, month, found[2]), "")

    def _numbers(self, words: str) -> tuple[date, str] | None:
        """Read `1.12.`, `1.12.2026`, `31/12`, `2026/12/31`; refuse an ambiguous day or a possible time."""
        if found := _YEAR_FIRST.match(words):
            return self._day(int(found[3]), int(found[2]), found[1]), words[found.end() :].strip()
        if found := _SHORT_YEAR.match(words):
            raise BadMoment(
                f"{self.text!r} has a year of two digits", f"write the year with four digits: {self.today.year}"
            )
        if found := _DOTTED.match(words):
            day, month = int(found[1]), int(found[2])
            if not found[3]:
                raise BadMoment(f"{self.text!r} could be a day or a time", f"write {day}.{month}. or {day}:{month:02}")
            return self._day(day, month, found[4]), words[found.end() :].strip()
        if found := _SLASHED.match(words):
            first, second = int(found[1]), int(found[2])
            year = found[3]
            if first <= 12 and second <= 12 and first != second and first and second:
                one, other = (f"{a} {date(2000, b, a):%b}" for a, b in ((first, second), (second, first)))
                raise BadMoment(f"{self.text!r} could be {one} or {other}", f"write {one} or {other}")
            day, month = (second, first) if second > 12 else (first, second)
            return self._day(day, month, year), words[found.end() :].strip()
        return None

    def _day(self, day: int, month: int, year: str | None) -> date:
        try:
            if year is not None:
                return date(int(year), month, day)
            return self._year_of(lambda year: date(year, month, day))
        except ValueError:
            raise BadMoment(f"{self.text!r} does not exist", "check day and month") from None

    def _year_of(self, day: Callable[[int], date]) -> date:
        """Return the next day that `day` returns for a year, with `past` the latest; today counts."""
        for year in range(_LEAP + 1):
            try:
                found = day(self.today.year + (-year if self.past else year))
            except ValueError:
                continue  # 29 February
            if found <= self.today if self.past else found >= self.today:
                return found
        raise ValueError(f"{self.text!r} never occurs")

    # Times

    def _with_clock(self, day: date, words: str) -> str:
        if not words:
            return day.isoformat()
        words = words.removeprefix("at ")
        if words == "midnight":
            raise BadMoment(
                f"{self.text!r}: midnight is the beginning or the end of a day",
                f"write {day} 00:00 or {day} 23:59",
            )
        clock = read_clock(words)
        if clock is None:
            raise BadMoment(
                f"{words[:20]!r} in {self.text!r} is not a time of day",
                "write it like 14:00, 2pm or noon; years have four digits",
            )
        return f"{day} {clock:%H:%M}"

    def _time_alone(self, words: str) -> str | None:
        """Return the next such time, with `past` the latest."""
        if words.isascii() and words.isdigit():
            raise BadMoment(f"{self.text!r} could be a day or an hour", f"write {words[:2]}:00, or a day such as 2 Dec")
        clock = time() if words == "midnight" else read_clock(words.removeprefix("at "))
        if clock is None:
            return None
        # Compared by instant: where clocks go back, the written time may already have passed.
        moment = read_moment(f"{self.today} {clock:%H:%M}", self.zone)
        assert moment is not None
        assert moment.instant is not None
        been = moment.instant <= self.now
        days = 0 if been == self.past else -1 if self.past else 1
        return f"{self.today + timedelta(days=days)} {clock:%H:%M}"


def last_day(year: int, month: int) -> int:
    """Return the number of the last day of a month."""
    return 31 if month == 12 else (date(year, month + 1, 1) - timedelta(days=1)).day


def _months_on(day: date, months: int) -> date:
    """Return the same day `months` later; where that month is too short, its last day."""
    years, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(years, month + 1, min(day.day, last_day(years, month + 1)))
