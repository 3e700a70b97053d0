"""The critical path of a plan: the chain of open tasks that takes longest, which is how long the plan still takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .parts import PlanTask


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """The open tasks of the longest chain, the first to do first; `minutes` is what is left of their estimates.

    `minutes` is None where not every open task has an estimate: then the chain is the one of the most tasks.
    """

    tasks: tuple[PlanTask, ...]
    minutes: float | None


def critical_path(tasks: Sequence[PlanTask]) -> CriticalPath | None:
    """Return the longest chain of open tasks; None where nothing is open, or where they wait for each other in a ring.

    What a task depends on counts only where the plan has it; what is done already takes no time.
    """
    todo = {task.id: task for task in tasks if task.share < 100}
    if not todo:
        return None
    estimated = all(task.minutes for task in todo.values())

    def cost(task: PlanTask) -> float:
        return (task.minutes or 0) * (100 - task.share) / 100 if estimated else 1

    waits = {name: [one for one in dict.fromkeys(task.depends_on) if one in todo] for name, task in todo.items()}
    longest: dict[str, float] = {}
    came: dict[str, str | None] = {}
    try:
        for name in TopologicalSorter(waits).static_order():
            came[name] = max(waits[name], key=longest.__getitem__, default=None)
            longest[name] = cost(todo[name]) + max((longest[one] for one in waits[name]), default=0)
    except CycleError:
        return None
    last = max(longest, key=longest.__getitem__)
    total, at = longest[last], came[last]
    chain = [todo[last]]
    while at is not None:
        chain.append(todo[at])
        at = came[at]
    return CriticalPath(tuple(reversed(chain)), total if estimated else None)
