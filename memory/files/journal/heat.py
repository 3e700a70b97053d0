"""The heat of a journal: how many entries each day has, how busy that is, and the weeks of the year before a day."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

from .model import Journal

WEEKS = 53
"""Weeks that touch a year."""


def entries_by_day(journals: Iterable[Journal]) -> dict[date, int]:
    """Return how many entries stand under each day; headings without a date that exists are left out.

    No entry is cut out for it: this costs as much as there are days.
    """
    counts: dict[date, int] = {}
    for journal in journals:
        for day in journal.days:
            if day.date is None or not day.size:
                continue
            try:
                found = date.fromisoformat(day.date)
            except ValueError:
                continue
            counts[found] = counts.get(found, 0) + day.size
    return counts


def weeks_until(last: date, weeks: int = WEEKS) -> list[list[date]]:
    """Return so many weeks, Monday first, of which the last one holds `last`; fewer where time began."""
    monday = last - timedelta(days=last.weekday())
    found = []
    for number in range(weeks - 1, -1, -1):
        days = monday.toordinal() - 7 * number
        if days >= 1 and days + 6 <= date.max.toordinal():
            found.append([date.fromordinal(days + day) for day in range(7)])
    return found


TOPS = (1, 3, 7)
"""The most entries of a day of each step from 1; the last step has more."""


def step_of(count: int) -> int:
    """Return how busy a day with so many entries is, from 0 for none."""
    return 0 if count <= 0 else next((step for step, top in enumerate(TOPS, 1) if count <= top), len(TOPS) + 1)
