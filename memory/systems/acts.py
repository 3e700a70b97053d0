"""Changes of other systems than the memory files, as values that a pane hands on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory.workspace import Outcome, Workspace


@dataclass(frozen=True, slots=True)
class Act:
    """A change of another system than the memory files, which a pane asks for: `do(system, actor, now)` makes it."""

    system: str
    do: Callable[[Any, str, datetime], Outcome]

    def run(self, workspace: Workspace, *, actor: str, now: datetime) -> Outcome:
        """Make it; errors as the system raises them."""
        return self.do(workspace.system(self.system), actor, now)
