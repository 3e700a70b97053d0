"""A change of the log as the changes pane lists it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class ChangedEntry:
    """One entry of a change; `ref` None: it has none."""

    file: str
    ref: str | None
    title: str
    kind: str


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """One change as this pane lists it.

    `actor` is `human`, `cli`, `maintain`, `agent:<name>` or `outside`; `undone_by` is the change that undid it;
    `kept` means that its bytes are still stored, so that it can be undone. `turns_ref` is the change that this one
    undid or redid; `turns` are the changes that undid or redid this one on the same day, the oldest first.
    """

    ref: str
    time: datetime
    actor: str
    summary: str
    operation: str = ""
    undone_by: str | None = None
    kept: bool = True
    files: tuple[str, ...] = ()
    entries: tuple[ChangedEntry, ...] = ()
    turns_ref: str | None = None
    turns: tuple[LoggedChange, ...] = ()

    @property
    def title(self) -> str:
        """What happened."""
        return self.summary
