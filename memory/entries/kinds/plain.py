"""Entries of systems that offer nothing to change them by: they are found and read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from memory.entries.model import Check, Made, derived_ref
from memory.errors import NotFoundError, RefusedError

from .filters import passes
from .kind import EntryCall

if TYPE_CHECKING:
    from memory.entries.model import Changes
    from memory.search import Record


class PlainEntries:
    """The records of one kind, whichever system has them."""

    compact = False

    def __init__(self, name: str) -> None:
        """`name` is that of the kind."""
        self.name = name

    def find(self, call: EntryCall, ref: str) -> Record:
        """Return the record that a ref names."""
        for record in self.list(call, {}):
            if ref in (record.ref, derived_ref(record)):
                return record
        raise NotFoundError("entry.not_found", f"no entry has the ref {ref[:60]!r}", "list them to see their refs")

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002
        """Yield the records that pass the filter, as the system has them."""
        from memory.systems import records_of_all

        for record in records_of_all(call.workspace, (self.name,)):
            if record.kind == self.name and passes(record, filter):
                yield record

    def add(self, call: EntryCall, title: str, fields: Mapping[str, Any], text: str | None) -> Made:
        """Refuse."""
        raise self._refusal()

    def edit(self, call: EntryCall, ref: str, changes: Changes, check: Check) -> Made:
        """Refuse."""
        raise self._refusal()

    def remove(self, call: EntryCall, ref: str, check: Check) -> Made:
        """Refuse."""
        raise self._refusal()

    def _refusal(self) -> RefusedError:
        return RefusedError("entry.read_only", f"{self.name} are only read here", "use the tool that they belong to")
