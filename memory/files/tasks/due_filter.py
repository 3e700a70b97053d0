"""Which tasks are due when a person says: the words and dates of `due:` in a filter and of `tasks list --due`."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, tzinfo
from functools import lru_cache

from memory.base.clock import BadMoment, read_moment
from memory.base.dates import parse_when, read_date

from .model import Task

STATES = {"today": ("today",), "overdue": ("overdue",), "week": ("today", "week"), "later": ("later",)}
"""Words for how near a due date is; what only recurs is due at its next run."""

_PART = re.compile(r"[0-9]{4}(?:-[0-9]{2})?")


@lru_cache(maxsize=64)
def days_asked(text: str, today: date) -> frozenset[date]:
    """Return the days that a text may mean: what is due lies ahead, what is overdue behind; none for other texts."""
    return frozenset(day for past in (False, True) if (day := read_date(text, today, past=past)) is not None)


def due_when(text: str, now: datetime, zone: tzinfo) -> Callable[[Task], bool]:
    """Return a function that tells whether a task is due when a text says.

    That is one of `STATES`; a year or month (`2024-01`); else a date as people type it, where one without a year, or
    a weekday, is the next such and the latest such. With a time it is that minute. Raises BadMoment for other texts.
    """
    words = " ".join(text.lower().split())
    states = STATES.get(words)
    if states is not None:
        return lambda task: task.due_state(now, zone) in states
    if _PART.fullmatch(words):
        return lambda task: _day(task, zone)[: len(words)] == words
    days = days_asked(words, now.astimezone(zone).date())
    if days:
        named = {day.isoformat() for day in days}
        return lambda task: _day(task, zone) in named
    times = _times_asked(text, now, zone)

    def at(task: Task) -> bool:
        moment = task.due_moment(zone)
        return (
            moment is not None
            and moment.instant is not None
            and moment.instant.replace(second=0, microsecond=0) in times
        )

    return at


def _day(task: Task, zone: tzinfo) -> str:
    moment = task.due_moment(zone)
    return "" if moment is None else moment.date.isoformat()


def _times_asked(text: str, now: datetime, zone: tzinfo) -> set[datetime]:
    """Return the next and the latest time that a text means; it may be one of them only (`Fri 27 Nov 9:00`)."""
    found = set()
    refused = None
    for past in (False, True):
        try:
            moment = read_moment(parse_when(text, now, zone, past=past), zone)
        except BadMoment as error:
            refused = refused or error
        else:
            if moment is not None and moment.instant is not None:
                found.add(moment.instant.replace(second=0, microsecond=0))
    if refused is not None and not found:
        raise refused
    return found
