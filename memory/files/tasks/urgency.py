"""Urgency: one number that says which task comes first, and the terms it is made of, so that it can be argued with.

The number is the sum of its terms; `docs/views.md` says what each is worth. What is completed has none.
"""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from memory.base.clock import Moment, humanize, late_words
from memory.base.cron import BadCron, next_runs
from memory.base.values import is_absent

from .values import moment_or_none

if TYPE_CHECKING:
    from .model import Task

PRIORITY_POINTS: dict[str | None, float] = {"HIGH": 6.0, "NORMAL": 3.0, None: 2.0, "LOW": 1.0}
"""What a priority is worth; a heading without one lies between NORMAL and LOW."""

DUE_POINTS = 12.0
"""What a date is worth that passed a week ago or more; it grows evenly from `DUE_LEAST` of it, `AHEAD` days before."""
DUE_LEAST = 0.2
AHEAD, LATE = 14.0, 7.0

STARTED_POINTS = 4.0
"""What counts for a task that somebody works on: finish what was begun."""

AGE_POINTS = 2.0
"""What a year since `created` is worth, less for less."""

BLOCKED_POINTS = -5.0
URGENT_POINTS = 5.0
LATER_POINTS = -3.0
BLOCKED = frozenset({"blocked", "waiting", "on-hold"})
URGENT = frozenset({"urgent", "critical", "next"})
LATER = frozenset({"someday", "later", "maybe"})
"""Tags that say something about urgency, casefolded."""

BLOCKING_FIELDS = ("blocked", "blockedBy", "waitingFor")
"""Fields that say what a task waits for."""


class UrgencyTerm(NamedTuple):
    """One part of the number: what it looks at, what that is worth here, and why in a few words."""

    name: str
    points: float
    words: str


class Urgency(NamedTuple):
    """The number and its terms, the weightiest first; both empty for what is completed."""

    points: float
    terms: tuple[UrgencyTerm, ...]

    def json(self) -> dict[str, object]:
        """Return it under the keys of the interface."""
        return {
            "urgency": self.points,
            "terms": [{"name": term.name, "points": term.points, "why": term.words} for term in self.terms],
        }


NONE = Urgency(0.0, ())
"""What is completed or archived."""


Moments = dict[str, "Moment | None"]
"""Texts of dates that were read already; thousands of tasks have the same few."""


def urgency_of(task: Task, now: datetime, zone: tzinfo, known: Moments | None = None, *, words: bool = True) -> Urgency:
    """Return how urgent a task is at a moment, in points with one decimal.

    Who asks for many tasks gives a dictionary, `known`, and no `words`: the term of the date then comes without any.
    """
    if task.section not in ("pending", "in-progress"):
        return NONE
    known = {} if known is None else known
    terms = [UrgencyTerm("priority", PRIORITY_POINTS[task.priority], task.priority or "none given")]
    for term in (
        _due(task, now, zone, known, words),
        _started(task),
        _age(task, now, zone, known),
        *_tags(task),
        _blocked(task),
    ):
        if term is not None and term.points:
            terms.append(term)
    # The weightiest first; what weighs the same stays in the order above.
    terms.sort(key=lambda term: -abs(term.points))
    return Urgency(round(sum(term.points for term in terms), 1), tuple(terms))


def _moment(text: str, zone: tzinfo, known: Moments) -> Moment | None:
    if text not in known:
        known[text] = moment_or_none(text, zone)
    return known[text]


def _due(task: Task, now: datetime, zone: tzinfo, known: Moments, words: bool) -> UrgencyTerm | None:
    """The nearer a date is, and the longer it is over, the more; it stops growing a week after."""
    parts = task.due_parts
    if parts.date is not None:
        moment = _moment(parts.date, zone, known)
        if moment is None:
            return None
        instant = moment.due_at(zone)
    elif parts.recurring is not None:
        try:
            instant = next_runs(parts.recurring, now, zone)[0]
        except BadCron:
            return None
        moment = Moment("", instant.date(), instant)
    else:
        return None
    late = (now - instant).total_seconds() / 86400
    share = min(1.0, max(DUE_LEAST, (late + AHEAD) / (AHEAD + LATE) * (1 - DUE_LEAST) + DUE_LEAST))
    why = "" if not words else late_words(moment, now, zone) if late >= 0 else humanize(moment, now, zone)
    return UrgencyTerm("due", round(DUE_POINTS * share, 1), why)


def _started(task: Task) -> UrgencyTerm | None:
    if task.section != "in-progress":
        return None
    return UrgencyTerm("started", STARTED_POINTS, "in progress" if task.progress is None else f"at {task.progress}%")


def _age(task: Task, now: datetime, zone: tzinfo, known: Moments) -> UrgencyTerm | None:
    moment = _moment(task.created, zone, known) if task.created else None
    if moment is None:
        return None
    days = (now.astimezone(zone).date() - moment.date).days
    points = round(AGE_POINTS * min(1.0, max(0, days) / 365), 1)
    return UrgencyTerm("age", points, f"created {days} d ago") if points else None


def _tags(task: Task) -> list[UrgencyTerm]:
    """Tags that everybody understands; each kind counts once."""
    tags = {tag.casefold(): tag for tag in task.tags}
    found: list[UrgencyTerm] = []
    if not tags:
        return found
    for names, points in ((URGENT, URGENT_POINTS), (LATER, LATER_POINTS)):
        named = [tag for folded, tag in tags.items() if folded in names]
        if named:
            found.append(UrgencyTerm("tags", points, f"tagged {named[0]}"))
    return found


def _blocked(task: Task) -> UrgencyTerm | None:
    """What waits for something else is less urgent than what can be done."""
    fields = task.fields
    for key in BLOCKING_FIELDS:
        value = fields.get(key)
        if value and not is_absent(value) and value.strip().casefold() not in ("no", "false"):
            return UrgencyTerm("blocked", BLOCKED_POINTS, f"{key}: {value.strip()[:60]}")
    tag = next((tag for tag in task.tags if tag.casefold() in BLOCKED), None)
    return None if tag is None else UrgencyTerm("blocked", BLOCKED_POINTS, f"tagged {tag}")
