"""What the kinds of the memory files share: a change is one edit under the lock, checked against the file as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.entries.model import Check, EntryItem, Made, item_of
from memory.errors import RefusedError

from .kind import EntryCall

if TYPE_CHECKING:
    from memory.entries.model import Changes
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot
    from memory.search import Record
    from memory.workspace import Outcome


class InFiles:
    """The entries of one memory file; a kind says how one is found, added, edited and removed."""

    name = ""
    verb = ""
    compact = False

    def located(self, snapshot: Snapshot, ref: str) -> Record:
        """Return the record of a ref, archives included."""
        raise NotImplementedError

    def source(self, record: Record) -> str:
        """Return what `read` gives as the text of an entry, which an edit may send back."""
        return record.text

    def added(self, snapshot: Snapshot, title: str, fields: Mapping[str, Any], text: str | None, now: datetime) -> Edit:
        """Return the edit that adds an entry."""
        raise NotImplementedError

    def edited(self, snapshot: Snapshot, record: Record, ref: str, changes: Changes, now: datetime) -> Edit:
        """Return the edit that changes an entry."""
        raise NotImplementedError

    def removed(self, snapshot: Snapshot, ref: str, now: datetime) -> Edit:
        """Return the edit that removes an entry."""
        raise NotImplementedError

    # -- the protocol -------------------------------------------------------------------------------------------

    def find(self, call: EntryCall, ref: str) -> Record:
        """Return the record that a ref names."""
        return self._told(self.located(call.workspace.snapshot(), ref))

    def _told(self, record: Record) -> Record:
        return record._replace(text=self.source(record))

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002
        """Yield the records of the file that pass the filter; archived ones where it asks for them."""
        from memory.search import records

        from .filters import passes

        wanted = str(filter.get("section", "")).casefold() in ("archived", "all")
        for record in records(call.workspace.snapshot(), (self.name,)):
            if (wanted or not record.file.startswith("archive/")) and passes(record, filter):
                yield self._told(record)

    def add(self, call: EntryCall, title: str, fields: Mapping[str, Any], text: str | None) -> Made:
        """Add an entry, in one change."""

        def build(snapshot: Snapshot) -> Edit:
            return self.added(snapshot, title, fields, text, call.now)

        return self._made(call, call.workspace.change(f"{self.verb}.add", build, actor=call.actor, now=call.now))

    def edit(self, call: EntryCall, ref: str, changes: Changes, check: Check) -> Made:
        """Change an entry, in one change; it is compared with what was read under the lock."""

        def build(snapshot: Snapshot) -> Edit:
            record = self._checked(snapshot, ref, check)
            return self.edited(snapshot, record, ref, changes, call.now)

        outcome = call.workspace.change(f"{self.verb}.edit", build, actor=call.actor, now=call.now)
        return self._made(call, outcome, ref)

    def remove(self, call: EntryCall, ref: str, check: Check) -> Made:
        """Remove an entry, in one change."""

        def build(snapshot: Snapshot) -> Edit:
            self._checked(snapshot, ref, check)
            edit = self.removed(snapshot, ref, call.now)
            return edit._replace(summary=call.because(edit.summary))

        outcome = call.workspace.change(f"{self.verb}.remove", build, actor=call.actor, now=call.now)
        return Made(None, outcome.change.id if outcome.change.files else None, outcome.summary)

    def _checked(self, snapshot: Snapshot, ref: str, check: Check) -> Record:
        record = self._told(self.located(snapshot, ref))
        check(item_of(record))
        if record.file.startswith("archive/"):
            raise RefusedError(
                "entry.archived", f"{ref} is in {record.file}, and the archive is only read", "a person can restore it"
            )
        return record

    def _made(self, call: EntryCall, outcome: Outcome, ref: str = "") -> Made:
        # The change is made: what another program wrote since must not turn it into a failure.
        snapshot = outcome.snapshot or call.workspace.snapshot()
        item: EntryItem = item_of(self._told(self.located(snapshot, outcome.ref or ref)))
        return Made(item, outcome.change.id if outcome.change.files else None, outcome.summary)
