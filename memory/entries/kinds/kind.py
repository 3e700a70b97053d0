"""What every kind of entries does, and what it is asked with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from memory.entries.model import Changes, Check, Made
    from memory.search import Record
    from memory.workspace import Workspace


@dataclass(frozen=True, slots=True)
class EntryCall:
    """In which workspace, in whose name and when something is asked for; `now` is aware.

    `reason` is why, for the change log; empty where nobody said.
    """

    workspace: Workspace
    actor: str
    now: datetime
    reason: str = ""

    def because(self, summary: str) -> str:
        """Return the summary of a change with the reason behind it, on one line."""
        return f"{summary}: {' '.join(self.reason.split())[:200]}" if self.reason.strip() else summary


class EntryKind(Protocol):
    """The entries of one kind; a method that cannot do what it is asked says so by UsageError or RefusedError.

    `compact` tells that the fields say all, so that a list goes without the text.
    """

    @property
    def compact(self) -> bool:
        """Whether the fields of an entry say all that its text says."""

    def find(self, call: EntryCall, ref: str) -> Record:
        """Return the record that a ref names, archives included; NotFoundError or AmbiguousError."""

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002 - the name of the argument
        """Yield the records that pass a filter, in the order in which a person would list them."""

    def add(self, call: EntryCall, title: str, fields: Mapping[str, Any], text: str | None) -> Made:
        """Add an entry."""

    def edit(self, call: EntryCall, ref: str, changes: Changes, check: Check) -> Made:
        """Change an entry that passes the check, under the lock."""

    def remove(self, call: EntryCall, ref: str, check: Check) -> Made:
        """Remove an entry that passes the check, under the lock."""
