"""The next date of a recurring task: the first run of its schedule that is still to come."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

from memory.base.clock import format_exact
from memory.base.cron import BadCron, next_runs
from memory.files.values import moment_or_none

from .values import DueValue


def next_due(due: DueValue, now: datetime, zone: tzinfo) -> DueValue:
    """Return `due` at the first occurrence that is after now and not the one that `due` says already.

    What is finished before it was due is done for that time, so the occurrence after it is the next; occurrences that
    were missed are not made up for. Recurrence and remark stay; a local time that happens twice because clocks go back
    is written as `format_exact` does. Raises BadCron for an expression that is none or never runs.
    """
    assert due.recurring is not None
    run = _run_after(due, now, zone)
    return DueValue(format_exact(run, zone), due.recurring, due.remark)


def _run_after(due: DueValue, now: datetime, zone: tzinfo) -> datetime:
    """Return the first run strictly after now and after `due`; a date alone stands for every run of its day."""
    assert due.recurring is not None
    moment = moment_or_none(due.date, zone)
    after = now
    if moment is not None:
        # A date alone lasts until the midnight after it, and a run at that midnight is one of the next day.
        after = max(now, moment.due_at(zone) - timedelta(minutes=0 if moment.instant is not None else 1))
    try:
        return next_runs(due.recurring, after, zone)[0]
    except BadCron:
        if after == now:
            raise
        # Due at the end of the calendar, behind which nothing runs.
        return next_runs(due.recurring, now, zone)[0]
