"""One day of the journal on an axis of hours: what was written when, and how long nothing was."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from .heat import entries_by_day

if TYPE_CHECKING:
    from .model import Journal, JournalEntry


@dataclass(frozen=True, slots=True)
class Timed:
    """An entry and the minute of the day (from 0) that its heading names; None where it names no time that exists."""

    entry: JournalEntry
    minute: int | None


@dataclass(frozen=True, slots=True)
class Hour:
    """An hour of the day (0 to 23) in which something was written."""

    hour: int
    entries: tuple[Timed, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """Hours (both inclusive) in which nothing was written; `minutes` lie between the entries around them."""

    first: int
    last: int
    minutes: int

    @property
    def hours(self) -> int:
        """How many hours are empty."""
        return self.last - self.first + 1


Slot: TypeAlias = Hour | Gap


@dataclass(frozen=True)
class DayLine:
    """The entries of a day: `timed` by their time (file order where that is the same), then those without one."""

    day: date
    timed: tuple[Timed, ...]
    untimed: tuple[Timed, ...]

    @property
    def entries(self) -> tuple[Timed, ...]:
        """All of them."""
        return (*self.timed, *self.untimed)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many entries each of the 24 hours has."""
        hours = [(one.minute or 0) // 60 for one in self.timed]
        return tuple(map(hours.count, range(24)))

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The axis from the hour of the first entry to that of the last: hours with entries, gaps between them."""
        found: list[Slot] = []
        last = None
        for hour, group in groupby(self.timed, key=lambda one: (one.minute or 0) // 60):
            entries = tuple(group)
            if last is not None and hour - last // 60 > 1:
                found.append(Gap(last // 60 + 1, hour - 1, (entries[0].minute or 0) - last))
            found.append(Hour(hour, entries))
            last = entries[-1].minute or 0
        return tuple(found)


def minute_of(time: str | None) -> int | None:
    """Return the minute of the day of `HH:MM` or `HH:MM:SS`; None for none, and for one that does not exist."""
    parts = (time or "").split(":")
    if len(parts) < 2 or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    hour, minute = int(parts[0]), int(parts[1])
    return hour * 60 + minute if hour < 24 and minute < 60 else None


def day_line(journals: Iterable[Journal], day: date) -> DayLine:
    """Return a day of some journals, those of the archive as well where they are given; other days cost nothing."""
    wanted = day.isoformat()
    found = [
        Timed(entry, minute_of(entry.time))
        for journal in journals
        for section in journal.days
        if section.date == wanted
        for entry in journal.of_day(section)
    ]
    timed = sorted((one for one in found if one.minute is not None), key=lambda one: one.minute or 0)
    return DayLine(day, tuple(timed), tuple(one for one in found if one.minute is None))


def busy_days(journals: Iterable[Journal]) -> tuple[date, ...]:
    """Return the days that have entries, in order."""
    return tuple(sorted(entries_by_day(journals)))


def next_busy(days: Sequence[date], day: date, step: int) -> date | None:
    """Return the next of some sorted days after `day`, or (`step` -1) the one before it; None: there is none."""
    place = bisect_right(days, day) if step > 0 else bisect_left(days, day) - 1
    return days[place] if 0 <= place < len(days) else None
