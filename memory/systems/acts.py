"""Changes of other systems than the memory files, as values that a pane hands on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from . import System, system_of

if TYPE_CHECKING:
    from memory.workspace import Outcome, Workspace

S = TypeVar("S", bound=System)


@dataclass(frozen=True, slots=True)
class Act:
    """A change of another system than the memory files, which a pane asks for; make one with `act`."""

    system: str
    make: Callable[[Workspace, str, datetime], Outcome]

    def run(self, workspace: Workspace, *, actor: str, now: datetime) -> Outcome:
        """Make it; errors as the system raises them."""
        return self.make(workspace, actor, now)


def act(name: str, kind: type[S], do: Callable[[S, str, datetime], Outcome]) -> Act:
    """Return the change `do(system, actor, now)` of the system of a name and a type."""
    return Act(name, lambda workspace, actor, now: do(system_of(workspace, name, kind), actor, now))
