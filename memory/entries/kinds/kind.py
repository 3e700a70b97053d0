"""The interface of every kind of entries, and the context of its calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from memory.entries.model import Changes, Check, Made
    from memory.search.records import Record
    from memory.workspace import Workspace


@dataclass(frozen=True, slots=True)
class EntryCall:
    """The context of a call: workspace, actor and time; `now` is aware.

    `reason` is for the change log; empty if none was given.
    """

    workspace: Workspace
    actor: str
    now: datetime
    reason: str = ""

    def because(self, summary: str) -> str:
        """Return the summary of a change followed by the reason, on one line."""
        return f"{summary}: {' '.join(self.reason.split())[:200]}" if self.reason.strip() else summary


class EntryKind(Protocol):
    """The entries of one kind; a method that cannot do what is requested raises UsageError or RefusedError.

    `compact` means that the fields contain everything, so that a list leaves the text out. `filters` are the filters
    that it has beside its fields.
    """

    compact: bool
    filters: tuple[str, ...]

    def find(self, call: EntryCall, ref: str) -> Record:
        """Return the record of a ref, archives included; NotFoundError or AmbiguousError."""

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002 - the name of the argument
        """Yield the records that pass a filter, in the usual order of a listing."""

    def add(self, call: EntryCall, title: str, fields: Mapping[str, Any], text: str | None) -> Made:
        """Add an entry."""

    def edit(self, call: EntryCall, ref: str, changes: Changes, check: Check) -> Made:
        """Change an entry that passes the check, under the lock."""

    def remove(self, call: EntryCall, ref: str, check: Check) -> Made:
        """Remove an entry that passes the check, under the lock."""
