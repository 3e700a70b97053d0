"""Urgency: one number that says which task comes first.

The number is the sum of the parts below; `docs/views.md` lists them. A completed task has none.
"""

from __future__ import annotations

from datetime import datetime, tzinfo

from memory.base.clock import Moment
from memory.base.cron import BadCron, next_runs
from memory.files.values import moment_or_none

from .model import Task

PRIORITY_POINTS: dict[str | None, float] = {"HIGH": 6.0, "NORMAL": 3.0, None: 2.0, "LOW": 1.0}
DUE_POINTS = 12.0
"""The points of a date that passed a week ago or more; they grow evenly from `DUE_LEAST` of it, `AHEAD` days before."""
DUE_LEAST = 0.2
AHEAD, LATE = 14.0, 7.0
STARTED_POINTS = 4.0
AGE_POINTS = 2.0
"""The points of a year since `created`, less for less."""
TAG_POINTS = {
    **dict.fromkeys(("urgent", "critical", "next"), 5.0),
    **dict.fromkeys(("someday", "later", "maybe"), -3.0),
    **dict.fromkeys(("blocked", "waiting", "on-hold"), -5.0),
}
"""The points of tags, casefolded; of several with the same points one counts."""


def urgency_of(task: Task, now: datetime, zone: tzinfo, known: dict[str, Moment | None] | None = None) -> float:
    """Return how urgent a task is at a moment, in points with one decimal.

    `known` holds the dates that were read already: thousands of tasks have the same few.
    """
    if task.section not in ("pending", "in-progress"):
        return 0.0
    known = {} if known is None else known

    def read(text: str | None) -> Moment | None:
        if text and text not in known:
            known[text] = moment_or_none(text, zone)
        return known[text] if text else None

    points = PRIORITY_POINTS[task.priority] + sum({TAG_POINTS.get(tag.casefold(), 0.0) for tag in task.tags})
    if task.section == "in-progress":
        points += STARTED_POINTS
    if created := read(task.created):
        points += round(AGE_POINTS * min(1.0, max(0, (now.astimezone(zone).date() - created.date).days) / 365), 1)
    due = read(task.due)
    instant = _next_run(task.recurring, now, zone) if due is None else due.due_at(zone)
    if instant is not None and (due is not None or not task.due):
        late = (now - instant).total_seconds() / 86400
        share = (late + AHEAD) / (AHEAD + LATE) * (1 - DUE_LEAST) + DUE_LEAST
        points += round(DUE_POINTS * min(1.0, max(DUE_LEAST, share)), 1)
    return round(points, 1)


def _next_run(expression: str | None, now: datetime, zone: tzinfo) -> datetime | None:
    try:
        return next_runs(expression, now, zone)[0] if expression else None
    except BadCron:
        return None
