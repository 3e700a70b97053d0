"""The parts of a plan: its tasks, its phases, what its JSON block says, and what is wrong with it.

Wrong are cycles, unknown dependencies, tasks of no phase, and JSON that does not parse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any, Literal

_DONE = frozenset({"completed", "done"})


@dataclass(frozen=True, slots=True)
class PlanTask:
    """One task of a plan; `minutes` is the estimate, `line` (from 0) where its row stands, -1 if only in the JSON."""

    id: str
    project: str | None
    title: str
    phase: str | None
    depends_on: tuple[str, ...]
    status: str | None
    progress: int | None
    minutes: float | None
    line: int

    @property
    def share(self) -> int:
        """How much of it is done, 0 to 100; a completed task is done whatever its progress says."""
        return 100 if (self.status or "").casefold() in _DONE else self.progress or 0

    def json(self) -> dict[str, Any]:
        """Return the task under the keys of the interface."""
        return {
            "id": self.id,
            "project": self.project,
            "title": self.title,
            "phase": self.phase,
            "dependsOn": list(self.depends_on),
            "status": self.status,
            "progress": self.progress,
            "estimatedMinutes": self.minutes,
        }


@dataclass(frozen=True, slots=True)
class JsonPlan:
    """What the JSON block of a plan says; `line` (from 0, in the entry's body) is where it begins.

    `phases` are the ids of their tasks, `phase_of` is the number of the first phase of each id, `problems` are lines
    with a sentence each.
    """

    line: int
    plan_id: str | None = None
    tasks: tuple[PlanTask, ...] = ()
    phases: tuple[tuple[str, ...], ...] = ()
    phase_of: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PlanPhase:
    """One phase, in the order in which phases run; tasks of no phase stand in the last one, named empty."""

    name: str
    tasks: tuple[PlanTask, ...]


@dataclass(frozen=True, slots=True)
class PlanProblem:
    """What is wrong with a plan; `line` from 0 in the file."""

    line: int
    level: Literal["error", "warning", "note"]
    code: str
    message: str


def plan_problems(
    tasks: Sequence[PlanTask], plan: JsonPlan | None, title_line: int, plan_id: str | None
) -> list[PlanProblem]:
    """Return the findings of one plan in line order; lines from 0 in the file, `title_line` that of its heading."""
    body = title_line + 1
    json_line = body + plan.line if plan else title_line
    found: list[PlanProblem] = []

    def add(line: int, level: Literal["error", "warning"], code: str, message: str) -> None:
        found.append(PlanProblem(json_line if line < 0 else line, level, f"plan.{code}", message))

    known = {task.id for task in tasks}
    seen: set[str] = set()
    if plan is not None:
        for line, message in plan.problems:
            add(body + line, "error", "json", message)
        if plan.plan_id and plan_id and plan.plan_id != plan_id:
            message = f"the JSON plan calls itself {plan.plan_id[:40]!r}, the field says {plan_id[:40]!r}"
            add(-1, "warning", "id_differs", message)
        for at, names in enumerate(plan.phases, 1):
            for name in names:
                if name not in known:
                    add(-1, "warning", "unknown_task", f"phase {at} names {name[:40]!r}, which is not in the plan")
    for task in tasks:
        if not task.id:
            add(task.line, "warning", "task_id", f"the task {task.title[:60]!r} has no id")
        elif task.id in seen:
            add(task.line, "warning", "task_twice", f"the task {task.id[:40]!r} stands in the plan twice")
        seen.add(task.id)
        for name in task.depends_on:
            if name not in known:
                message = f"{task.id[:40]!r} depends on {name[:40]!r}, which is not in the plan"
                add(task.line, "error", "unknown_dependency", message)
        if task.phase is None:
            add(task.line, "warning", "no_phase", f"the task {task.id[:40]!r} is in no phase")
    cycle = _cycle(tasks)
    if cycle:
        words = ", ".join(task.id[:40] for task in cycle[:8]) + (", …" if len(cycle) > 8 else "")
        add(cycle[0].line, "error", "cycle", f"these tasks wait for each other: {words}")
    return sorted(found, key=lambda one: one.line)


def _cycle(tasks: Sequence[PlanTask]) -> list[PlanTask]:
    """Return the tasks of a cycle in the order of the plan, where there is one."""
    needs = {task.id: task.depends_on for task in reversed(tasks)}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        names = set(error.args[1])
        return [task for task in tasks if task.id in names]
    return []
