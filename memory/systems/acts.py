"""Changes of systems other than the memory files, as values that a pane passes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from memory.system import System
from memory.workspace import Outcome, Workspace

from . import system_of

S = TypeVar("S", bound=System)


@dataclass(frozen=True, slots=True)
class Act:
    """A change, requested by a pane, of a system other than the memory files; create one with `act`."""

    system: str
    make: Callable[[Workspace, str, datetime], Outcome]

    def run(self, workspace: Workspace, *, actor: str, now: datetime) -> Outcome:
        """Make the change; errors as the system raises them."""
        return self.make(workspace, actor, now)


def act(name: str, kind: type[S], do: Callable[[S, str, datetime], Outcome]) -> Act:
    """Return an `Act` that calls `do(system, actor, now)` with the system of this name and type."""
    return Act(name, lambda workspace, actor, now: do(system_of(workspace, name, kind), actor, now))
