"""The heat of a journal: how many entries each day has, how busy that is, and the weeks of the year before a day."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_OF_FEW = {1: (2,), 2: (2, 4), 3: (2, 3, 4)}
"""Steps of the different numbers where there are fewer of them than steps: a day alone is neither busy nor quiet."""


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
    of the others quiet. Days with the same number are in the same step, the lower one; and where there are four
    different numbers or more, each step has one at least.
    """
    days = sorted(count for count in counts if count > 0)
    numbers = sorted(set(days))
    if len(numbers) < STEPS:
        lasts = list(range(len(numbers)))
        steps: Iterable[int] = _OF_FEW.get(len(numbers), ())
    else:
        lasts = []
        for step in range(1, STEPS):
            last = numbers.index(days[-(-len(days) * step // STEPS) - 1])
            free = lasts[-1] + 1 if lasts else 0
            lasts.append(max(free, min(last, len(numbers) - 1 - STEPS + step)))
        lasts.append(len(numbers) - 1)
        steps = range(1, STEPS + 1)
    spans = []
    least = 1
    for step, last in zip(steps, lasts, strict=True):
        spans.append(HeatSpan(step, least, numbers[last]))
        least = numbers[last] + 1
    return Scale(tuple(spans))
