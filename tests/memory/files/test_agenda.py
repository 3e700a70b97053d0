"""The agenda: days, times and recurrences of tasks, and the weeks of a month."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.document import parse
from memory.files.tasks.model import TaskList
from memory.files.tasks.order import Agenda, month_bounds, month_of, weeks_of

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
TEXT = """\
## Pending

### late
- due: 2024-01-12

### today
- due: 2024-01-15 14:00

### never
- due: 2024-02-31

### weekly
- due: 2024-01-22 09:00 (recurring: 0 9 * * MON)

### often
- due: (recurring: */5 * * * *)

### broken
- due: (recurring: soon)

## Completed

### done
- completed: 2024-01-14 08:00
"""


def agenda(text: str = TEXT) -> Agenda:
    """The agenda of a file."""
    return Agenda(TaskList("tasks.md", parse(text.encode())).items, NOW, UTC)


def words(found: Agenda, first: date, last: date) -> list[tuple[str, str, str]]:
    """Day and time, kind, and title of what stands between two days."""
    return [
        (f"{one.day:%m-%d} {one.at or ''}".strip()[:11], one.kind, one.task.title)
        for one in found.span(first, last).occasions
    ]


def test_each_day_holds_what_stands_on_it() -> None:
    """Due dates, what is late, what was done, and what recurs: the run that a date names stands there once."""
    found = words(agenda(), date(2024, 1, 12), date(2024, 1, 16))
    assert found == [
        ("01-12", "overdue", "late"),
        ("01-14 08:00", "done", "done"),
        ("01-15 10:35", "again", "often"),
        ("01-15 14:00", "due", "today"),
        ("01-16 00:00", "again", "often"),
    ]
    weekly = [one for one in words(agenda(), date(2024, 1, 1), date(2024, 2, 29)) if one[2] == "weekly"]
    assert weekly[:3] == [
        ("01-22 09:00", "due", "weekly"),
        ("01-29 09:00", "again", "weekly"),
        ("02-05 09:00", "again", "weekly"),
    ]


def test_nothing_recurs_in_the_past() -> None:
    """Runs before now are not shown: nobody knows whether they were."""
    assert not [one for one in agenda().span(date(2023, 12, 1), date(2024, 1, 14)).occasions if one.kind == "again"]


@given(st.dates())
def test_weeks_hold_each_day_of_the_month_once(day: date) -> None:
    """The days stand in order, seven in a week, each under its weekday."""
    first, last = month_bounds(day)
    weeks = weeks_of(day)
    days = [cell for week in weeks for cell in week if cell is not None]
    assert days[0] == first
    assert days[-1] == last
    assert len(days) == last.day
    assert all(len(week) == 7 for week in weeks)
    assert all(cell is None or cell.weekday() == at for week in weeks for at, cell in enumerate(week))


@pytest.mark.parametrize(
    ("day", "months", "expected"),
    [
        (date(2024, 1, 31), 1, date(2024, 2, 29)),
        (date(2024, 1, 15), -1, date(2023, 12, 15)),
        (date(2024, 1, 15), 24, date(2026, 1, 15)),
        (date(9999, 12, 1), 1, date(9999, 12, 1)),
        (date(1, 1, 5), -1, date(1, 1, 5)),
    ],
)
def test_months_go_by(day: date, months: int, expected: date) -> None:
    """The day stays where the month has it; time has ends."""
    assert month_of(day, months) == expected


def test_what_recurs_often_stands_by_itself() -> None:
    """In a span the runs of every few days are one occasion, the first one ahead; weekly ones keep their days."""
    found = agenda().span(date(2024, 1, 1), date(2024, 1, 31))
    assert [(one.task.title, one.day.day) for one in found.often] == [("often", 15)]
    assert found.often_days == {date(2024, 1, day) for day in range(15, 32)}
    assert [one.day.day for one in found.occasions if one.kind == "again"] == [29]
