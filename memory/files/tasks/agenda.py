"""The agenda: the tasks of each day, due dates, what recurs ahead by its cron expression, and what was done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal

from memory.base.cron import BadCron, next_runs
from memory.base.dates import last_day
from memory.files.fields.values import moment_or_none

from .model import Task

Kind = Literal["overdue", "due", "again", "done"]
_MOST_EXPRESSIONS = 60
"""So many different cron expressions are worked out; more would take longer than a person waits."""
_MOST_DAYS = 62
"""The longest span that recurrences are worked out for."""
_OFTEN_DAYS = 3.5
"""A task recurs often if it comes round again within fewer days, on the average."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """A task on a day: `kind` is overdue, due, again (a later run of what recurs) or done; `at` its time, if it has."""

    day: date
    at: time | None
    kind: Kind
    task: Task


@dataclass(frozen=True, slots=True)
class AgendaSpan:
    """The tasks of some days, in their order: `often` has the first further run of each task that recurs often.

    Those would be on nearly every day and hide what is due; `often_days` are the days that they run on.
    """

    occasions: list[Occasion]
    often: list[Occasion]
    often_days: frozenset[date]


class Agenda:
    """All dates of the tasks of a file, read once; `span` answers for a month in no time."""

    def __init__(self, tasks: Iterable[Task], now: datetime, zone: tzinfo) -> None:
        """Read the dates; those that do not exist are left out."""
        self.tasks, self.now, self.zone = tasks, now, zone
        self.today = now.astimezone(zone).date()
        self._days: dict[date, list[Occasion]] = {}
        self._recurring: list[tuple[str, Task, date]] = []
        for task in tasks:
            if task.section == "completed":
                self._add(task, task.completed, "done")
                continue
            due = task.due_parts
            day = self._add(task, due.date, "due")
            if due.recurring is not None:
                self._recurring.append((due.recurring, task, day or date.min))
        every = (one for day in self._days.values() for one in day)
        self.overdue = sorted((one for one in every if one.kind == "overdue"), key=_place)

    def _add(self, task: Task, text: str | None, kind: Kind) -> date | None:
        """Add a task to the day of a date, and return the day; None for no date."""
        moment = moment_or_none(text, self.zone)
        if moment is None:
            return None
        at = None
        if moment.instant is not None:
            at = moment.instant.astimezone(self.zone).time().replace(second=0, microsecond=0)
        kind = "overdue" if kind == "due" and moment.is_overdue(self.now, self.zone) else kind
        self._days.setdefault(moment.date, []).append(Occasion(moment.date, at, kind, task))
        return moment.date

    def span(self, first: date, last: date) -> AgendaSpan:
        """Return the tasks of the days from `first` to `last`, in their order; those that recur often by themselves.

        Recurrences only come after now.
        """
        found = [occasion for day in _days(first, last) for occasion in self._days.get(day, ())]
        often: list[Occasion] = []
        days: set[date] = set()
        runs_of: dict[str, list[datetime]] = {}
        for expression, task, due in self._recurring:
            if expression not in runs_of and len(runs_of) >= _MOST_EXPRESSIONS:
                continue
            if expression not in runs_of:
                runs_of[expression] = self._runs(expression, first, min(last, first + timedelta(days=_MOST_DAYS)))
            runs = runs_of[expression]
            ahead = [run for run in runs if run.date() > due]
            again = [Occasion(run.date(), run.time(), "again", task) for run in ahead]
            if len(runs) > 2 and (runs[-1].date() - runs[0].date()).days <= _OFTEN_DAYS * (len(runs) - 1):
                often += again[:1]
                days.update(run.date() for run in ahead)
            else:
                found += again
        found.sort(key=_place)
        return AgendaSpan(found, often, frozenset(days))

    def _runs(self, expression: str, first: date, last: date) -> list[datetime]:
        """Return the first run of each day, in the zone; none where the expression is wrong."""
        found: list[datetime] = []
        after = max(self.now, _before(first, self.zone))
        try:
            while (run := next_runs(expression, after, self.zone)[0]).date() <= last:
                if run.date() >= first:
                    found.append(run)
                # What runs every five minutes is one line a day.
                after = _before(run.date() + timedelta(days=1), self.zone)
        except BadCron:
            pass  # It runs no more.
        return found


def _before(day: date, zone: tzinfo) -> datetime:
    """Return the second before a day."""
    return datetime.combine(day, time(), zone).astimezone(UTC) - timedelta(seconds=1)


def _days(first: date, last: date) -> Iterator[date]:
    for number in range((last - first).days + 1):
        yield first + timedelta(days=number)


def _place(occasion: Occasion) -> tuple[date, bool, time]:
    """By day; what has no time comes first."""
    return occasion.day, occasion.at is not None, occasion.at or time()


def month_bounds(day: date) -> tuple[date, date]:
    """Return the first and the last day of a day's month."""
    return day.replace(day=1), day.replace(day=last_day(day.year, day.month))


def month_of(day: date, months: int = 0) -> date:
    """Return the same day so many months later or (negative) earlier, or the last one that month has."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        return day
    return date(year, month + 1, min(day.day, last_day(year, month + 1)))


def weeks_of(day: date) -> list[list[date | None]]:
    """Return the weeks of a month, Monday first; days of other months are None."""
    first, last = month_bounds(day)
    cells: list[date | None] = [*[None] * first.weekday(), *_days(first, last)]
    cells += [None] * (-len(cells) % 7)
    return [cells[index : index + 7] for index in range(0, len(cells), 7)]
