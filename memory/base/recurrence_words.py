"""Recurrences in words: `weekdays 9:00`, `every fri 17:00`, `monthly on the 1st`, turned into cron.

Recurrences that five cron fields cannot express, such as every two weeks, are refused with a similar one. Without a
time, it is that of the date from which the task recurs, else nine in the morning.
"""

from __future__ import annotations

import re
from datetime import date, time
from typing import NamedTuple

from memory.errors import UsageError

from .cron import BadCron, check_cron, describe
from .dates import COUNTS, month_number, read_clock, weekday_number

USUAL = time(9)
"""The time of a recurrence without one."""
_SHORT = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
_PLACES = (("first", "1st"), ("second", "2nd"), ("third", "3rd"), ("fourth", "4th"), ("fifth", "5th"))
_NTH = {"last": 0, **{word: number for number, words in enumerate(_PLACES, 1) for word in words}}
_CLOCK = r"(?:noon|midnight|\d{1,2}(?::\d{2}(?:[ap]m)?|[ap]m))"
_TIMES = re.compile(rf"(?:^|[ ,]+)(?:at )?({_CLOCK}(?:(?: and | ?, ?){_CLOCK})*)$|(?:^|[ ,]+)at (\d{{1,2}})$")
_UNIT = re.compile(
    r"(?:every|each)(?: (other|second|\d{1,4}|[a-z]+))? (minute|min|hour|h|day|week|month|quarter|year)s?\b ?(.*)"
)
_ADVERBS = {
    "hourly": "every hour", "daily": "every day", "weekly": "every week", "biweekly": "every 2 weeks",
    "fortnightly": "every 2 weeks", "monthly": "every month", "quarterly": "every 3 months", "yearly": "every year",
    "annually": "every year",
}  # fmt: skip
_SPAN = re.compile(r"(\d{1,4}) ?(m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?|months?)")
"""How often something happens in the form of a duration: `5m`, `2 hours`."""
_EXAMPLES = "write daily 9:00, weekdays, every fri 17:00, monthly on the 1st, or five cron fields"
_CRON = re.compile(r"[\d,/?-]+(?: [\d,/?L#-]+)+(?: [\w,/?#-]+)?", re.ASCII)
LONGEST = 120
"""The most characters of a recurrence in words."""


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


class _Reader:
    """Reads the words of one recurrence; `start` and `clock` supply what they leave out."""

    def __init__(self, text: str, start: date, clock: time | None) -> None:
        self.text = text
        self.start = start
        self.clock = clock

    def read(self) -> Recurrence:
        words = self.text.casefold().replace("on the ", "on ").removeprefix("repeat ").strip()
        if span := _SPAN.fullmatch(words):
            unit = {"m": "minute", "h": "hour", "d": "day", "w": "week"}[span[2][0]]
            words = f"every {span[1]} {'month' if span[2].startswith('mo') else unit}".replace("every 1 ", "every ")
        first, _, rest = words.partition(" ")
        if first.rstrip(",") in _ADVERBS:
            words = f"{_ADVERBS[first.rstrip(',')]} {rest}".strip()
        days, minute, hours = self._times(words)
        every = _UNIT.fullmatch(days)
        if every is not None:
            return self._every(every[1] or "", every[2], every[3].removeprefix("on ").strip(), minute, hours)
        named = re.sub(r"^(?:every|each|on)\b ?", "", days).strip()
        bare = not days.startswith(("every", "each"))
        return self._days(named, minute, hours, bare=bare)

    def _times(self, words: str) -> tuple[str, str, str]:
        """Return the words without their times, and minute and hours as cron fields."""
        found = _TIMES.search(words)
        if found is None:
            usual = self.clock or USUAL
            return words, str(usual.minute), str(usual.hour)
        parts = re.split(r" and | ?, ?", found[1]) if found[1] else [found[2]]
        times = [self._clock(part) for part in parts]
        if len({one.minute for one in times}) > 1:
            raise BadRecurrence(
                f"cron cannot express {found[1]!r}: both times need one minute", "write two tasks", "cron.beyond"
            )
        hours = ",".join(str(hour) for hour in sorted({one.hour for one in times}))
        return words[: found.start()].rstrip(" ,"), str(times[0].minute), hours

    def _clock(self, word: str) -> time:
        clock = time() if word == "midnight" else read_clock(word)
        if clock is None:
            raise BadRecurrence(f"{word!r} in {self.text!r} is not a time of day", "write it like 14:00, 2pm or noon")
        return clock

    def _every(self, count: str, unit: str, rest: str, minute: str, hours: str) -> Recurrence:
        number = 2 if count in ("other", "second") else COUNTS.get(count, 0) or (int(count) if count.isdigit() else 0)
        if count and number == 0:
            raise self._unknown()
        number = number or 1
        timed = _TIMES.search(self.text.casefold()) is not None
        match unit:
            case "minute" | "min" | "hour" | "h":
                if rest.strip():
                    raise self._unknown()
                return self._clocked(number, "minute" if unit in ("minute", "min") else "hour", timed=timed)
            case "day" if number == 1 and not rest:
                return self._made(minute, hours)
            case "week" if number == 1:
                if rest:
                    return self._days(rest, minute, hours, bare=False)
                return self._made(minute, hours, weekday=_SHORT[self.start.weekday()])
            case "month" | "quarter":
                return self._monthly(number * (3 if unit == "quarter" else 1), rest, minute, hours)
            case "year" if number == 1:
                if rest:
                    return self._days(rest, minute, hours, bare=False)
                return self._made(minute, hours, str(self.start.day), str(self.start.month))
        if rest and number == 1:
            raise self._unknown()
        near = {"day": "every day, or weekdays", "week": "every week, or monthly on the 1st and 15th"}
        raise self._beyond(f"every {number} {unit}s", near.get(unit, "every year"))

    def _clocked(self, number: int, unit: str, *, timed: bool) -> Recurrence:
        """Return the recurrence of every `number` minutes or hours, if that divides the hour or the day."""
        size = 60 if unit == "minute" else 24
        if timed:
            raise self._unknown()
        if number >= size or size % number:
            fitting = ", ".join(str(step) for step in range(2, size) if size % step == 0)
            raise self._beyond(f"every {number} {unit}s", f"a number that {size} can be divided by: {fitting}")
        if unit == "minute":
            return self._of(f"*/{number} * * * *" if number > 1 else "* * * * *")
        start = str(self.clock.minute) if self.clock is not None else "0"
        return self._of(f"{start} */{number} * * *" if number > 1 else f"{start} * * * *")

    def _monthly(self, number: int, rest: str, minute: str, hours: str) -> Recurrence:
        if number > 12 or 12 % number:
            raise self._beyond(f"every {number} months", "every 1, 2, 3, 4, 6 or 12 months")
        months = "*"
        begin = self.start.month
        if found := re.search(r",? ?\bfrom ([a-z]+)$", rest):
            begin = month_number(found[1]) or 0
            if not begin or number == 1:
                raise self._unknown()
            rest = rest[: found.start()]
        if number > 1:
            first = (begin - 1) % number
            months = ",".join(str(month + 1) for month in range(first, 12, number))
        if not rest:
            return self._made(minute, hours, str(self.start.day), months)
        return self._in_month(rest, minute, hours, months) or self._fail()

    def _days(self, words: str, minute: str, hours: str, *, bare: bool) -> Recurrence:
        """Return a recurrence by days: `mon and wed`, `mon-fri`, `first mon of the month`, `1st`, `24 dec`."""
        if words == "" and not bare:
            raise self._unknown()
        if words in ("weekdays", "weekday", "workdays", "workday"):
            return self._made(minute, hours, weekday="MON-FRI")
        if words in ("weekends", "weekend"):
            return self._made(minute, hours, weekday="SAT,SUN")
        if words in ("day", "days"):
            return self._made(minute, hours)
        weekdays = _weekdays(words)
        if weekdays is not None:
            return self._made(minute, hours, weekday=weekdays)
        if re.match(r"(?:other|second|2nd) ", words) and _weekdays(words.partition(" ")[2]) and not bare:
            name = words.partition(" ")[2]
            raise self._beyond(f"every other {name}", f"every {name}, or first and third {name} of the month")
        found = self._in_month(words, minute, hours, "*")
        bare = bare and not re.fullmatch(r"\d{1,2} [a-z]{3}", words)
        if found is not None and (not bare or "month" in words or "day" in words):
            return found
        day, month = _day_and_month(words)
        if day and month and not bare:
            if day > (29 if month == 2 else 30 if month in (4, 6, 9, 11) else 31):
                raise BadRecurrence(f"{words!r} does not exist", "check day and month")
            return self._made(minute, hours, str(day), str(month))
        raise self._unknown()

    def _in_month(self, words: str, minute: str, hours: str, months: str) -> Recurrence | None:
        """Return a recurrence by days of the month: `1st and 15th`, `day 3`, `last day`, `first mon`; else None."""
        words = re.sub(r",? ?\b(?:of (?:the|every|each) )?months?$", "", words).removeprefix("on ").strip(" ,")
        words = words.removeprefix("the ").strip()
        if words in ("last day", "last"):
            return self._made(minute, hours, "L", months)
        ordinals = re.fullmatch(r"(\w+(?:(?: and | ?, ?)\w+)*) ([a-z]+)", words)
        if ordinals and (weekday := _weekday(ordinals[2])) is not None:
            nth = [_NTH.get(part) for part in re.split(r" and | ?, ?", ordinals[1])]
            if None not in nth:
                number = (weekday + 1) % 7
                parts = [f"L{number}" if place == 0 else f"{_SHORT[weekday]}#{place}" for place in nth]
                return self._made(minute, hours, "*", months, ",".join(parts))
        days = []
        for part in re.split(r" and | ?, ?", words.removeprefix("days ").removeprefix("day ")):
            day = _day_number(part.removeprefix("the ").removeprefix("day "))
            if day is None:
                return None
            days.append(day)
        return self._made(minute, hours, ",".join(str(day) for day in sorted(set(days))), months)

    def _made(self, minute: str, hours: str, day: str = "*", month: str = "*", weekday: str = "*") -> Recurrence:
        return self._of(f"{minute} {hours} {day} {month} {weekday}")

    def _of(self, cron: str) -> Recurrence:
        check_cron(cron)
        day = cron.split(" ")[2]
        late = [number for number in day.split(",") if number in ("29", "30", "31")]
        yearly = cron.split(" ")[3].isdigit()
        note = f"months without day {late[0]} are left out; `last day of the month` is in all" if late else ""
        if late and yearly:
            note = "only in leap years" if cron.split(" ")[2:4] == ["29", "2"] else ""
        return Recurrence(cron, describe(cron), note)

    def _unknown(self) -> BadRecurrence:
        return BadRecurrence(f"{self.text[:60]!r} is not a recurrence")

    def _fail(self) -> Recurrence:
        raise self._unknown()

    def _beyond(self, what: str, near: str) -> BadRecurrence:
        return BadRecurrence(f"cron cannot express {what!r}", f"write {near}", "cron.beyond")


def _weekday(word: str) -> int | None:
    """Return 0 (Monday) to 6 for a weekday's name, its plural, or at least its first three letters."""
    return weekday_number(word.rstrip(".").removesuffix("s") if len(word) > 4 else word.rstrip("."))


def _weekdays(words: str) -> str | None:
    """Return the cron field of weekdays such as `mon`, `mon and wed`, `mon-fri`; None for other words."""
    if found := re.fullmatch(r"([a-z]+) ?(?:-|–|to|through) ?([a-z]+)", words):
        first, last = _weekday(found[1]), _weekday(found[2])
        return None if first is None or last is None else f"{_SHORT[first]}-{_SHORT[last]}"
    numbers = [_weekday(part) for part in re.split(r",? and | ?, ?| ?& ?|/", words)]
    if None in numbers:
        return None
    return ",".join(_SHORT[number] for number in sorted({number for number in numbers if number is not None}))


def _day_number(word: str) -> int | None:
    found = re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th|\.)?", word)
    return int(found[1]) if found and 1 <= int(found[1]) <= 31 else None


def _day_and_month(words: str) -> tuple[int | None, int | None]:
    """Return day and month of `24 dec`, `dec 24`, `24th of december`."""
    parts = words.replace(" of ", " ").split(" ")
    if len(parts) != 2:
        return None, None
    for day, month in (parts, parts[::-1]):
        number = month_number(month)
        if number is not None and _day_number(day) is not None:
            return _day_number(day), number
    return None, None


def says_recurrence(text: str) -> bool:
    """Return whether words are a recurrence, even one that cron cannot express."""
    try:
        read_recurrence(text)
    except BadRecurrence as error:
        return error.code == "cron.beyond"
    except UsageError:
        return False
    return True
