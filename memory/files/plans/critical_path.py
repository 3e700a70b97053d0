"""The critical path of a plan: the chain of open tasks that takes longest, which is how long the plan still takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
    followers: dict[str, list[str]] = {name: [] for name in todo}
    for name, before in waits.items():
        for one in before:
            followers[one].append(name)
    left = {name: len(before) for name, before in waits.items()}
    ready = [name for name, count in left.items() if not count]
    longest: dict[str, float] = {}
    came: dict[str, str | None] = {}
    for name in ready:  # it grows while it is walked: a task is ready when all before it are known
        came[name] = max(waits[name], key=longest.__getitem__) if waits[name] else None
        longest[name] = cost(todo[name]) + max((longest[one] for one in waits[name]), default=0)
        for follower in followers[name]:
            left[follower] -= 1
            if not left[follower]:
                ready.append(follower)
    if len(longest) < len(todo):
        return None
    last = max(longest, key=longest.__getitem__)
    total, at = longest[last], came[last]
    chain = [todo[last]]
    while at is not None:
        chain.append(todo[at])
        at = came[at]
    return CriticalPath(tuple(reversed(chain)), total if estimated else None)
