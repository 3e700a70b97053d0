"""The heat of a journal: how many entries each day has, how busy that is, and the weeks of the year before a day."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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


STEPS = 4
"""How busy a day with entries can be said to be."""

_STEPS = {0: (), 1: (2,), 2: (2, 4), 3: (2, 3, 4), 4: (1, 2, 3, 4)}
"""The steps in use by how many there are: days with one number of entries are neither busy nor quiet."""


@dataclass(frozen=True, slots=True)
class HeatSpan:
    """A step of a scale, from 1 to `STEPS`, and the fewest and the most entries of a day that is in it."""

    step: int
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Scale:
    """How busy days are beside each other; `spans` go from the quiet to the busy and leave no number out."""

    spans: tuple[HeatSpan, ...] = ()

    def step(self, count: int) -> int:
        """Return the step of a day with so many entries; 0 is none, and more than all others is the last step."""
        if count <= 0 or not self.spans:
            return 0
        return next((span.step for span in self.spans if count <= span.most), self.spans[-1].step)


def scale_of(counts: Iterable[int]) -> Scale:
    """Return the scale of days with so many entries each; days without any do not count.

    A quarter of the days each is quiet, usual, busy and very busy, so that one day with very many entries makes none
    of the others quiet. Days with the same number are in the same step.
    """
    days = sorted(count for count in counts if count > 0)
    tops = sorted({days[-(-len(days) * step // STEPS) - 1] for step in range(1, STEPS + 1)}) if days else []
    bottoms = [1, *(top + 1 for top in tops)]
    return Scale(tuple(map(HeatSpan, _STEPS[len(tops)], bottoms, tops)))
