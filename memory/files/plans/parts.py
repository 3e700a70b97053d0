"""The parts of a plan: its tasks, its phases, and what is wrong with it.

Wrong are cycles, unknown dependencies, tasks of no phase, and JSON that does not parse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .json_block import JsonPlan

_DONE = frozenset({"completed", "done"})


@dataclass(frozen=True, slots=True)
class PlanTask:
    """One task of a plan; `minutes` is the estimate, `line` (from 0) where its row stands, -1 if only in the JSON.

    `completed` is when it was done, as its row or the JSON says it, mostly not at all.
    """

    id: str
    project: str | None
    title: str
    phase: str | None
    depends_on: tuple[str, ...]
    status: str | None
    progress: int | None
    minutes: float | None
    line: int
    completed: str | None = None

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
    found: list[PlanProblem] = []
    if plan is not None:
        found += [PlanProblem(body + line, "error", "plan.json", message) for line, message in plan.problems]
        if plan.plan_id and plan_id and plan.plan_id != plan_id:
            message = f"the JSON plan calls itself {plan.plan_id[:40]!r}, the field says {plan_id[:40]!r}"
            found.append(PlanProblem(body + plan.line, "warning", "plan.id_differs", message))
    json_line = body + plan.line if plan else title_line
    known: dict[str, int] = {}
    for task in tasks:
        line = json_line if task.line < 0 else task.line
        if not task.id:
            found.append(PlanProblem(line, "warning", "plan.task_id", f"the task {task.title[:60]!r} has no id"))
        elif task.id in known:
            message = f"the task {task.id[:40]!r} stands in the plan twice"
            found.append(PlanProblem(line, "warning", "plan.task_twice", message))
        known.setdefault(task.id, line)
    for task in tasks:
        line = json_line if task.line < 0 else task.line
        for name in task.depends_on:
            if name not in known:
                message = f"{task.id[:40]!r} depends on {name[:40]!r}, which is not in the plan"
                found.append(PlanProblem(line, "error", "plan.unknown_dependency", message))
        if task.phase is None:
            message = f"the task {task.id[:40]!r} is in no phase"
            found.append(PlanProblem(line, "warning", "plan.no_phase", message))
    for at, names in enumerate(plan.phases if plan else (), 1):
        for name in names:
            if name not in known:
                message = f"phase {at} names {name[:40]!r}, which is not in the plan"
                found.append(PlanProblem(json_line, "warning", "plan.unknown_task", message))
    cycle = _in_cycles({task.id: task.depends_on for task in reversed(tasks)})
    if cycle:
        circle = [task.id for task in tasks if task.id in cycle]
        message = "these tasks wait for each other: " + ", ".join(name[:40] for name in circle[:8])
        message += ", …" if len(circle) > 8 else ""
        found.append(PlanProblem(known[circle[0]], "error", "plan.cycle", message))
    return sorted(found, key=lambda one: one.line)


def _in_cycles(needs: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the tasks that are part of a cycle, or stand between two of them."""
    forward = {name: {one for one in wanted if one in needs} for name, wanted in needs.items()}
    backward: dict[str, set[str]] = {name: set() for name in needs}
    for name, wanted in forward.items():
        for one in wanted:
            backward[one].add(name)
    left = set(needs)
    for edges, other in ((forward, backward), (backward, forward)):
        count = {name: len(edges[name] & left) for name in left}
        ready = [name for name in left if not count[name]]
        while ready:
            name = ready.pop()
            left.discard(name)
            for behind in other[name]:
                if behind in left and behind in count:
                    count[behind] -= 1
                    if not count[behind]:
                        ready.append(behind)
    return left
