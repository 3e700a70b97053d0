"""How a plan came to where it is: its done tasks and phases by day or week, as far as anybody noted when.

What the change log saw counts first, for it saw the moment; then the dates that the plan or the task list name. A
task that is done and of which nobody knows when is in no day: it is counted apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Literal

from memory.document import Entry
from memory.files.tasks.values import moment_or_none

from .model import tasks_of_plan

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot
    from memory.files.tasks.model import Task

    from .model import Plan
    from .parts import PlanTask

DAYS = 21
"""The longest time that is told by days; longer ones are told by weeks."""

WEEKS = 26
"""So many weeks are told, the last ones; what was done before them is in the first."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A day, or a week from Monday on: how many tasks and phases were done at its end, all before it included."""

    first: date
    last: date
    tasks: int
    phases: int


@dataclass(frozen=True, slots=True)
class PlanProgress:
    """The progress of a plan over time.

    `done` and `total` are tasks, `phases_done` and `phases` phases, as they are now; of the done tasks `undated` are in
    no stretch. `logged` is how many dates came from the change log, `latest` the task that was done last, and when.
    """

    unit: Literal["day", "week"]
    stretches: tuple[Stretch, ...]
    done: int
    total: int
    phases_done: int
    phases: int
    undated: int
    logged: int
    latest: tuple[date, PlanTask]

    @property
    def dated(self) -> int:
        """How many done tasks have a date."""
        return self.done - self.undated


def done_in_log(versions: Iterable[tuple[datetime, str | None]], zone: tzinfo) -> dict[str, date]:
    """Return when tasks of a plan became done, by their id, from versions of its entry: the oldest first.

    Only a task that was seen both before and after counts: what was done already when the log first saw it was done
    at a time that nobody knows. A version that is not kept (None) breaks no chain, it only says nothing.
    """
    found: dict[str, date] = {}
    before: Mapping[str, bool] | None = None
    for time, source in versions:
        if source is None:
            continue
        now = {task.id: task.share >= 100 for task in tasks_of_plan(Entry.from_text(source)) if task.id}
        for name, done in now.items():
            if not done:
                found.pop(name, None)
            elif before is not None and before.get(name) is False:
                found[name] = time.astimezone(zone).date()
        before = now
    return found


def done_by_dates(snapshot: Snapshot, plan: Plan) -> dict[str, date]:
    """Return when tasks of a plan were done, by their id, as far as dates say so.

    These are the plan's own (`completed` in its table, `completedAt` in its JSON), then that of a completed task of the
    same title that names the plan, in tasks.md or in its archives, which are read only where something is missing.
    """
    zone = snapshot.zone
    found: dict[str, date] = {}
    missing: dict[str, str] = {}
    for task in plan.tasks:
        if not task.id or task.share < 100:
            continue
        moment = moment_or_none(task.completed, zone)
        if moment is not None:
            found[task.id] = moment.date
        elif plan.plan_id:
            missing[task.title.casefold()] = task.id
    for other in _completed(snapshot, plan.plan_id or "") if missing else ():
        name = missing.get(other.title.casefold())
        moment = None if name is None else moment_or_none(other.completed, zone)
        if name is not None and moment is not None:
            found.setdefault(name, moment.date)
            missing.pop(other.title.casefold())
            if not missing:
                break
    return found


def _completed(snapshot: Snapshot, plan_id: str) -> Iterator[Task]:
    wanted = plan_id.encode("utf-8", "surrogateescape")
    for task in snapshot.tasks.in_section("completed"):
        if wanted in task.entry.raw and task.orchestration_id == plan_id:
            yield task
    for tasks in snapshot.readable().archived_tasks():
        for task in tasks.tasks:
            if wanted in task.entry.raw and task.orchestration_id == plan_id:
                yield task


def plan_progress(
    plan: Plan, logged: Mapping[str, date], dated: Mapping[str, date], today: date, zone: tzinfo
) -> PlanProgress | None:
    """Return a plan's progress over time from what the log and dates say; None where no date of anything is known."""
    known: dict[int, date] = {}
    from_log = 0
    for place, task in enumerate(plan.tasks):
        if task.share >= 100 and task.id:
            day = logged.get(task.id) or dated.get(task.id)
            if day is not None:
                known[place] = day
                from_log += task.id in logged
    if not known:
        return None
    places = {id(task): place for place, task in enumerate(plan.tasks)}
    phases: list[date] = []
    phases_done = 0
    for phase in plan.phases:
        if all(task.share >= 100 for task in phase.tasks):
            phases_done += 1
            days = [known.get(places[id(task)]) for task in phase.tasks]
            if all(days):
                phases.append(max(day for day in days if day is not None))
    unit, spans = _spans(plan, min(known.values()), max(known.values()), today, zone)
    stretches = tuple(
        Stretch(first, last, sum(day <= last for day in known.values()), sum(day <= last for day in phases))
        for first, last in spans
    )
    done = sum(task.share >= 100 for task in plan.tasks)
    newest = max(known, key=lambda place: (known[place], place))
    return PlanProgress(
        unit,
        stretches,
        done,
        len(plan.tasks),
        phases_done,
        len(plan.phases),
        done - len(known),
        from_log,
        (known[newest], plan.tasks[newest]),
    )


def _spans(
    plan: Plan, first: date, last: date, today: date, zone: tzinfo
) -> tuple[Literal["day", "week"], list[tuple[date, date]]]:
    """Return the days, or the weeks, from the plan's beginning to its end, or to today where it is not over."""
    created, ended = moment_or_none(plan.created, zone), moment_or_none(plan.completed, zone)
    start = min(first, created.date) if created is not None else first
    end = max(last, ended.date) if ended is not None else max(last, today if plan.section == "active" else last)
    count = (end - start).days + 1
    if count <= DAYS:
        return "day", [(day, day) for day in (start + timedelta(days=number) for number in range(count))]
    monday = end.toordinal() - end.weekday()
    begin = start.toordinal() - start.weekday()
    weeks = range(max(begin, monday - 7 * (WEEKS - 1), 1), monday + 1, 7)
    top = date.max.toordinal()
    return "week", [(date.fromordinal(week), date.fromordinal(min(week + 6, top))) for week in weeks]
