"""A row of the brief, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class BriefRow:
    """One row: the group it stands in, where it leads, and the thing itself."""

    group: str
    file: str
    target: str
    thing: Any = field(compare=False)
    words: str = ""

    @property
    def ref(self) -> str:
        """Unique in the pane: one entry may stand in two groups."""
        return f"{self.group}:{self.file}:{self.target}:{self.words}"

    @property
    def monitor(self) -> Any:
        """The monitor that the row is about; None for what waits that is about no monitor."""
        return self.thing.monitor if self.group == "waiting" else self.thing

    @property
    def title(self) -> str:
        """What the row is about."""
        if self.group == "waiting":
            return str(self.thing.ask.name)
        if self.group == "muted":
            return str(self.thing.name)
        return self.words or str(getattr(self.thing, "title", getattr(self.thing, "name", "")))
