"""Channels, routes and people as entries."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.errors import UsageError

from .in_files import InFiles
from .values import texts_of

if TYPE_CHECKING:
    from memory.entries.model import Changes
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot
    from memory.search import Record


class ContactEntries(InFiles):
    """The rows and people of contacts.md; `kind` in the fields is channel, route or person."""

    name = verb = "contacts"
    compact = True

    def located(self, snapshot: Snapshot, ref: str) -> Record:
        """Return the record of a contact."""
        from memory.files.contacts.model import find_contact
        from memory.search.records import contact_record

        return contact_record(find_contact(snapshot, ref))

    def source(self, record: Record) -> str:
        """Return what is said about a person; rows have no text."""
        text: str = getattr(record.item, "text", None) or ""
        return text

    def added(self, snapshot: Snapshot, title: str, fields: Mapping[str, Any], text: str | None, now: datetime) -> Edit:
        """Add a person, or what the field `kind` says; the title is the name, of a route its channel."""
        from memory.files.contacts.model import add_contact

        values = texts_of(fields)
        kind = values.pop("kind", "person")
        values["channel" if kind == "route" else "name"] = title
        if text and text.strip():
            if kind != "person":
                raise UsageError("entry.field", f"a {kind} has no text", "use fields")
            values.setdefault("text", text.strip())
        return add_contact(snapshot, kind, values, now=now)

    def edited(self, snapshot: Snapshot, record: Record, ref: str, changes: Changes, now: datetime) -> Edit:
        """Set values; an empty one clears it."""
        from memory.files.contacts.model import edit_contact

        values = texts_of({**changes.set, **dict.fromkeys(changes.unset)})
        if changes.text is not None:
            values.setdefault("text", changes.text)
        return edit_contact(snapshot, ref, values, now=now)

    def removed(self, snapshot: Snapshot, ref: str, now: datetime) -> Edit:
        """Remove a contact."""
        from memory.files.contacts.model import remove_contact

        return remove_contact(snapshot, ref, now=now)
