"""Recurrences in words: `weekdays 9:00`, `every fri 17:00`, `monthly on the 1st`, turned into cron.

A text is brought into plain words (`every fri`, `every month 1,15`), which have one of a few shapes. Recurrences that
five cron fields cannot express, such as every two weeks, are refused with a similar one. Without a time, it is that of
the date from which the task recurs, else nine in the morning.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, time
from typing import NamedTuple

from memory.errors import UsageError

from .clock import COUNTS, DAYS, PLACES, SHORT_MONTHS, month_number, read_clock, weekday_number
from .cron import BadCron, check_cron, describe

USUAL = time(9)
"""The time of a recurrence without one."""
LONGEST = 120
"""The most characters of a recurrence in words."""
_EXAMPLES = "write daily 9:00, weekdays, every fri 17:00, monthly on the 1st, or five cron fields"
_CRON = re.compile(r"[\d,/?-]+(?: [\d,/?L#-]+)+(?: [\w,/?#-]+)?", re.ASCII)
_CLOCK = r"(?:noon|midnight|\d{1,2}(?::\d{2}(?:[ap]m)?|[ap]m))"
_TIMES = re.compile(rf"(?:^|[ ,]+)(?:at )?({_CLOCK}(?:(?: and | ?, ?){_CLOCK})*)$|(?:^|[ ,]+)at (\d{{1,2}})$")
_ADVERBS = {
    "hourly": "every hour", "daily": "every day", "weekly": "every week", "biweekly": "every 2 weeks",
    "fortnightly": "every 2 weeks", "monthly": "every month", "quarterly": "every 3 months", "yearly": "every year",
    "annually": "every year",
}  # fmt: skip
_SPAN = re.compile(r"(?:every )?(\d{1,4}) ?(m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?|months?)", re.ASCII)
"""How often something happens in the form of a duration: `5m`, `2 hours`."""
_UNITS = {
    "minute": "m min mins minutes", "hour": "h hr hrs hours", "day": "d days", "week": "w weeks", "month": "months",
    "quarter": "quarters", "year": "years",
}  # fmt: skip
_PLAIN = {
    **{word: unit for unit, words in _UNITS.items() for word in words.split()},
    **{word: str(count) for word, count in COUNTS.items()},
    **{word: f"{place}." for place, word in enumerate(PLACES) if place},
    **dict.fromkeys(("weekday", "weekdays", "workday", "workdays"), "mon-fri"),
    **dict.fromkeys(("weekend", "weekends"), "sat,sun"),
    **dict.fromkeys(("on", "the", "of", "repeat"), ""),
    "each": "every", "other": "2x",
}  # fmt: skip
"""The plain form of the words that have several; empty for those that say nothing."""
_DAY, _MONTH = "|".join(DAYS), "|".join(SHORT_MONTHS)
_WEEK = rf"(?P<week>(?:{_DAY})(?:-(?:{_DAY})|(?:,(?:{_DAY}))*))"
_EVERY = r"every (?:(?P<count>\d{1,4}|2\.|2x) )?"
_NAMED = rf"(?P<last>last day|last(?! month))|(?P<places>(?:[1-5]\.|last)(?:,(?:[1-5]\.|last))*) (?P<weekday>{_DAY})"
_IN_MONTH = rf"(?:(?P<days>\d{{1,2}}\.?(?:,\d{{1,2}}\.?)*)|{_NAMED})"


class BadRecurrence(BadCron):
    """Words that are not a recurrence (code `cron.invalid`), or one that cron cannot express (`cron.beyond`)."""

    def __init__(self, message: str, hint: str = _EXAMPLES, code: str = "cron.invalid") -> None:
        """Store the message and the hint."""
        super().__init__(message, code)
        self.hint = hint


class Recurrence(NamedTuple):
    """A parsed recurrence: as cron, in a few words, and a note on what the user may not expect ("": none)."""

    cron: str
    meaning: str
    note: str = ""


def read_recurrence(text: str, start: date | None = None, clock: time | None = None) -> Recurrence:
    """Return the recurrence of a text; five cron fields and names such as `@daily` stay as they are.

    `start` and `clock` are the day and the time of the date from which it recurs: they supply what the words leave out,
    such as the day of the month. Without them it is Monday, the first, January, nine o'clock. Raises BadRecurrence, and
    BadCron for invalid cron fields.
    """
    words = " ".join(text.split())
    if not words or len(words) > LONGEST:
        raise BadRecurrence("the recurrence is empty" if not words else "the recurrence is too long")
    if words[0] == "@" or "*" in words or _CRON.fullmatch(words):
        check_cron(words)
        return Recurrence(words, describe(words))
    return _Reader(words, start or date(2024, 1, 1), clock).read()


def says_recurrence(text: str) -> bool:
    """Return whether words are a recurrence, even one that cron cannot express."""
    try:
        read_recurrence(text)
    except BadRecurrence as error:
        return error.code == "cron.beyond"
    except UsageError:
        return False
    return True


class _Reader:
    """Reads the words of one recurrence; `start` and `clock` supply what they leave out."""

    def __init__(self, text: str, start: date, clock: time | None) -> None:
        self.text, self.start, self.clock = text, start, clock
        self.words = ""

    def read(self) -> Recurrence:
        words = self.text.casefold()
        if span := _SPAN.fullmatch(words):
            words = f"every {span[1]} {span[2]}"
        first, _, rest = words.partition(" ")
        self.words, minute, hours = self._times(f"{_ADVERBS.get(first.rstrip(','), first)} {rest}".strip())
        plain = _plain(self.words)
        for shape, meaning in _SHAPES:
            if found := re.fullmatch(shape, plain, re.ASCII):
                when = meaning(self, **found.groupdict())
                # What repeats within a day names its minute and hour itself.
                return _made(when if when.count(" ") == 4 else f"{minute} {hours} {when}")
        raise self._unknown()

    def _times(self, words: str) -> tuple[str, str, str]:
        """Return the words without their times, and minute and hours as cron fields."""
        found = _TIMES.search(words)
        if found is None:
            usual = self.clock or USUAL
            return words, str(usual.minute), str(usual.hour)
        times = [self._clock(part) for part in re.split(r" and | ?, ?", found[1] or found[2])]
        if len({one.minute for one in times}) > 1:
            raise self._beyond(found[1], "two tasks: both times need one minute")
        hours = ",".join(str(hour) for hour in sorted({one.hour for one in times}))
        return words[: found.start()].rstrip(" ,"), str(times[0].minute), hours

    def _clock(self, word: str) -> time:
        clock = time() if word == "midnight" else read_clock(word)
        if clock is None:
            raise BadRecurrence(f"{word!r} in {self.text!r} is not a time of day", "write it like 14:00, 2pm or noon")
        return clock

    # Each returns the fields for the day, the month and the weekday.

    def _within_day(self, count: str | None, unit: str) -> str:
        size, number = 60 if unit == "minute" else 24, self._number(count)
        if _TIMES.search(self.text.casefold()):
            raise self._unknown()
        if number >= size or size % number:
            fitting = ", ".join(str(step) for step in range(2, size) if size % step == 0)
            raise self._beyond(f"every {number} {unit}s", f"a number that {size} can be divided by: {fitting}")
        step = f"*/{number}" if number > 1 else "*"
        minute = self.clock.minute if self.clock is not None else 0
        return f"{step} * * * *" if unit == "minute" else f"{minute} {step} * * *"

    def _period(self, count: str | None, unit: str) -> str:
        if (number := self._number(count)) > 1:
            near = {"day": "every day, or weekdays", "week": "every week, or monthly on the 1st and 15th"}
            raise self._beyond(f"every {number} {unit}s", near.get(unit, "every year"))
        if unit == "year":
            return f"{self.start.day} {self.start.month} *"
        return "* * *" if unit == "day" else f"* * {DAYS[self.start.weekday()].upper()}"

    def _weekly(self, week: str) -> str:
        days = [week] if "-" in week else sorted(set(week.split(",")), key=DAYS.index)
        return f"* * {','.join(days).upper()}"

    def _other(self, week: str) -> str:  # noqa: ARG002
        name = self.words.split(" ", 2)[2]
        near = f"every {name}, or first and third {name} of the month"
        raise self._beyond(f"every other {name}", near)

    def _monthly(
        self,
        days: str | None = None,
        last: str | None = None,
        places: str | None = None,
        weekday: str | None = None,
        count: str | None = None,
        unit: str = "month",
        begin: str | None = None,
    ) -> str:
        number, months = self._number(count) * (3 if unit == "quarter" else 1), "*"
        if number > 12 or 12 % number:
            raise self._beyond(f"every {number} months", "every 1, 2, 3, 4, 6 or 12 months")
        if number > 1:
            start = SHORT_MONTHS.index(begin) if begin else self.start.month - 1
            months = ",".join(str(month + 1) for month in range(start % number, 12, number))
        elif begin:
            raise self._unknown()
        if places and weekday:
            cron = (DAYS.index(weekday) + 1) % 7
            parts = [f"L{cron}" if place == "last" else f"{weekday.upper()}#{place[0]}" for place in places.split(",")]
            return f"* {months} {','.join(parts)}"
        listed = sorted({int(day.rstrip(".")) for day in days.split(",")}) if days else [self.start.day]
        return f"{'L' if last else ','.join(map(str, listed))} {months} *"

    def _yearly(self, day: str, month: str) -> str:
        return f"{int(day)} {SHORT_MONTHS.index(month) + 1} *"

    def _number(self, count: str | None) -> int:
        number = 1 if count is None else int(count.rstrip(".x"))
        if number == 0:
            raise self._unknown()
        return number

    def _unknown(self) -> BadRecurrence:
        return BadRecurrence(f"{self.text[:60]!r} is not a recurrence")

    def _beyond(self, what: str, near: str) -> BadRecurrence:
        return BadRecurrence(f"cron cannot express {what!r}", f"write {near}", "cron.beyond")


_OF_MONTH = "(?: (?:every )?month)"
_SHAPES: tuple[tuple[str, Callable[..., str]], ...] = (
    (rf"{_EVERY}(?P<unit>minute|hour)", _Reader._within_day),
    (rf"{_EVERY}(?P<unit>day|week|year)", _Reader._period),
    (rf"(?:every )?(?:week )?{_WEEK}", _Reader._weekly),
    (rf"every (?:2\.|2x) {_WEEK}", _Reader._other),
    (rf"{_EVERY}(?P<unit>month|quarter)(?: {_IN_MONTH}{_OF_MONTH}?)?(?: from (?P<begin>{_MONTH}))?", _Reader._monthly),
    (rf"(?:every )?{_IN_MONTH}{_OF_MONTH}", _Reader._monthly),
    (r"every (?!2\.$)(?P<days>\d{1,2}\.(?:,\d{1,2}\.)*)", _Reader._monthly),
    (rf"(?:every )?(?:{_NAMED})", _Reader._monthly),
    (rf"(?:every )?(?:year )?(?P<day>\d{{1,2}})\.? (?P<month>{_MONTH})", _Reader._yearly),
    (rf"(?:every )?(?:year )?(?P<month>{_MONTH}) (?P<day>\d{{1,2}})\.?", _Reader._yearly),
)
"""The shapes of a recurrence in plain words, each with what it means."""


def _plain(words: str) -> str:
    """Return words in the form of the shapes: short names, `2` for two, `2.` for second, `2x` for other, commas in
    lists, and nothing that says nothing.
    """
    words = re.sub(r" ?(?:-|–|\bto\b|\bthrough\b) ?", "-", words)
    words = re.sub(r",? and |, ?| ?& ?|/", ",", words)
    words = re.sub(r"\b(\d+)(st|nd|rd|th|\.)?|([a-z]+)\.?", lambda found: _plain_word(*found.groups()), words)
    words = " ".join(words.replace(", ", ",").split()).strip(" ,")
    return re.sub(r"(?<!every )\bday (?=\d)", "", words)


def _plain_word(digits: str | None, ordinal: str | None, word: str) -> str:
    if digits:
        return f"{digits}." if ordinal else digits
    if word in _PLAIN:
        return _PLAIN[word]
    weekday, month = weekday_number(word.removesuffix("s") if len(word) > 4 else word), month_number(word)
    if weekday is not None:
        return DAYS[weekday]
    return word if month is None else SHORT_MONTHS[month - 1]


def _made(cron: str) -> Recurrence:
    check_cron(cron)
    day, month = cron.split(" ")[2:4]
    late = [number for number in day.split(",") if number in ("29", "30", "31")]
    note = f"months without day {late[0]} are left out; `last day of the month` is in all" if late else ""
    if month.isdigit():
        note = "only in leap years" if (day, month) == ("29", "2") else ""
    return Recurrence(cron, describe(cron), note)
