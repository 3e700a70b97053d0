"""The parts of a plan: its tasks, its phases, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

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
