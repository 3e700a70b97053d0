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
    """One change as this pane lists it; `place` is its number in the order of all changes.

    `actor` is `human`, `cli`, `maintain`, `agent:<name>` or `outside`; `undone_by` the change that took it back;
    `kept` says that its bytes are there, so that it can be taken back. `turns_ref` is the change that this one took
    back or brought again; `turns` are those that did so with this one on the same day, the oldest first.
    """

    ref: str
    place: int
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
