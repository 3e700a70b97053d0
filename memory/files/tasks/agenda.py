"""The agenda: what stands on which day, due dates, what recurs ahead by its cron expression, and what was done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal

from memory.base.cron import BadCron, next_runs
from memory.base.dates import last_day
from memory.files.values import moment_or_none

from .model import Task
from .values import read_due

Kind = Literal["overdue", "due", "again", "done"]

MAX_EXPRESSIONS = 60
"""So many different cron expressions are worked out; more would take longer than anybody waits."""

MAX_DAYS = 62
"""The longest span that recurrences are worked out for."""


OFTEN_DAYS = 3.5
"""What comes round again within fewer days, on the average, is one that recurs often."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """A task on a day: `kind` is overdue, due, again (a later run of what recurs) or done; `at` its time, if it has."""

    day: date
    at: time | None
    kind: Kind
    task: Task


@dataclass(frozen=True, slots=True)
class AgendaSpan:
    """What stands on some days, in their order: `often` has the first further run of each task that recurs often.

    Those would stand on nearly every day and hide what is due; `often_days` are the days that they run on.
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
        self.overdue: list[Occasion] = []
        self._days: dict[date, list[Occasion]] = {}
        self._recurring: list[tuple[str, Task, date]] = []
        self._known: dict[str, tuple[date, time | None, bool] | None] = {}
        for task in tasks:
            raw = task.entry.raw
            if task.section == "completed":
                if b"completed:" in raw:
                    self._add(task, task.completed, "done")
                continue
            if b"due:" not in raw:
                continue
            due = read_due(task.entry.fields.get("due"))
            if due.date is not None:
                self._add(task, due.date, "due")
            if due.recurring is not None:
                known = self._known.get(due.date or "")
                self._recurring.append((due.recurring, task, known[0] if known else date.min))
        self.overdue.sort(key=_place)

    def _add(self, task: Task, text: str | None, kind: Kind) -> None:
        if not text:
            return
        if text not in self._known:
            self._known[text] = self._read(text)
        found = self._known[text]
        if found is None:
            return
        day, at, over = found
        occasion = Occasion(day, at, "overdue" if kind == "due" and over else kind, task)
        self._days.setdefault(day, []).append(occasion)
        if occasion.kind == "overdue":
            self.overdue.append(occasion)

    def _read(self, text: str) -> tuple[date, time | None, bool] | None:
        """The day and the time of a date, and whether it is over."""
        moment = moment_or_none(text, self.zone)
        if moment is None:
            return None
        at = None
        if moment.instant is not None:
            at = moment.instant.astimezone(self.zone).time().replace(second=0, microsecond=0)
        return moment.date, at, moment.is_overdue(self.now, self.zone)

    def span(self, first: date, last: date) -> AgendaSpan:
        """Return what stands on the days from `first` to `last`, in their order, with what recurs often by itself.

        Recurrences only come after now.
        """
        found = [occasion for day in _days(first, last) for occasion in self._days.get(day, ())]
        often: list[Occasion] = []
        days: set[date] = set()
        for runs, task, due in self._again(first, last):
            if not _is_often(runs):
                found.extend(Occasion(run.date(), run.time(), "again", task) for run in runs if run.date() > due)
                continue
            ahead = next((run for run in runs if run.date() > due), None)
            if ahead is not None:
                often.append(Occasion(ahead.date(), ahead.time(), "again", task))
                days.update(run.date() for run in runs if run.date() >= ahead.date())
        found.sort(key=_place)
        return AgendaSpan(found, often, frozenset(days))

    def _again(self, first: date, last: date) -> Iterator[tuple[list[datetime], Task, date]]:
        """Yield every task that recurs, its first run of each day, and the day of the run that its date names."""
        last = min(last, first + timedelta(days=MAX_DAYS))
        runs: dict[str, list[datetime]] = {}
        for expression, task, due in self._recurring:
            if expression not in runs:
                if len(runs) >= MAX_EXPRESSIONS:
                    continue
                runs[expression] = self._runs(expression, first, last)
            yield runs[expression], task, due

    def _runs(self, expression: str, first: date, last: date) -> list[datetime]:
        found: list[datetime] = []
        after = max(self.now, _midnight(first, self.zone) - timedelta(seconds=1))
        while (run := self._first_run(expression, after)) is not None and run.date() <= last:
            if run.date() >= first:
                found.append(run)
            # What runs every five minutes is one line a day.
            after = _midnight(run.date() + timedelta(days=1), self.zone) - timedelta(seconds=1)
        return found

    def _first_run(self, expression: str, after: datetime) -> datetime | None:
        """Return the next run after a time, in the zone; None where there is none, or the expression is wrong."""
        try:
            return next_runs(expression, after, self.zone)[0]
        except (BadCron, IndexError):
            return None


def _is_often(runs: list[datetime]) -> bool:
    """Whether runs follow each other so closely that they would stand on every few days."""
    return len(runs) > 2 and (runs[-1].date() - runs[0].date()).days <= OFTEN_DAYS * (len(runs) - 1)


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


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
    number = day.year * 12 + day.month - 1 + months
    year, month = divmod(number, 12)
    if not 1 <= year <= 9999:
        return day
    first = date(year, month + 1, 1)
    return first.replace(day=min(day.day, month_bounds(first)[1].day))


def weeks_of(day: date) -> list[list[date | None]]:
    """Return the weeks of a month, Monday first; days of other months are None."""
    first, last = month_bounds(day)
    cells: list[date | None] = [None] * first.weekday()
    cells += list(_days(first, last))
    cells += [None] * (-len(cells) % 7)
    return [cells[index : index + 7] for index in range(0, len(cells), 7)]
