"""The words for days, months, numbers and times of day that people type and memdeck writes: one table for dates,
recurrences and cron.
"""

from __future__ import annotations

import re
from datetime import time

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = "january february march april may june july august september october november december"
MONTHS = tuple(_MONTHS.split())
"""The names of the months, in lower case."""
DAYS, SHORT_MONTHS = (tuple(name[:3] for name in names) for names in (WEEKDAYS, MONTHS))
"""The first three letters of each weekday and of each month."""
_TEN = "one two three four five six seven eight nine ten"
COUNTS = {word: count for count, word in enumerate(_TEN.split(), 1)}
"""The numbers from one to ten by their words."""
PLACES = ("last", "first", "second", "third", "fourth", "fifth")
"""The weeks of a month by their numbers, the last as 0."""
ORDINAL = r"[0-9]{1,2}(?:st|nd|rd|th)?"
"""A day of a month in numbers, such as `1st`."""
_CLOCK = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))? ?(am|pm)?", re.ASCII)


def read_clock(words: str) -> time | None:
    """Return a time of day such as `14:00`, `2pm`, `9` or `noon`; None for other words."""
    if words == "noon":
        return time(12)
    found = _CLOCK.fullmatch(words)
    if found is None:
        return None
    hour, minute = int(found[1]), int(found[2] or 0)
    if found[3]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found[3] == "pm" else 0)
    return time(hour, minute) if hour < 24 and minute < 60 else None


def weekday_number(word: str) -> int | None:
    """Return 0 (Monday) to 6 for a weekday's name or at least its first three letters."""
    return _place(word, WEEKDAYS)


def month_number(word: str) -> int | None:
    """Return 1 to 12 for a month's name or at least its first three letters; `sept` is one of them."""
    place = _place(word, MONTHS)
    return None if place is None else place + 1


def _place(word: str, names: tuple[str, ...]) -> int | None:
    places = (place for place, name in enumerate(names) if len(word) > 2 and name.startswith(word))
    return next(places, None)
