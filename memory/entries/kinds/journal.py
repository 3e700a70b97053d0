"""Journal entries as entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .filters import passes
from .in_files import InFiles
from .kind import EntryCall
from .values import date_of, lines_of, list_of, refuse_unknown, sent_source, text_of

if TYPE_CHECKING:
    from memory.entries.model import Changes
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot
    from memory.search import Record


class JournalEntries(InFiles):
    """The entries of journal.md and its archive, the newest first."""

    name = verb = "journal"
    compact = True

    def located(self, snapshot: Snapshot, ref: str) -> Record:
        """Return the record of an entry."""
        from memory.files.journal.model import find_entry
        from memory.search.records import journal_record

        return journal_record(find_entry(snapshot, ref, archived=True))

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002
        """Yield the entries that pass the filter, the newest first; `date` takes words too."""
        from memory.search.records import journal_record

        snapshot = call.workspace.snapshot()
        rest = dict(filter)
        archived = str(rest.pop("section", "")).casefold() in ("archived", "all")
        if "date" in rest:
            rest["date"] = date_of(str(rest["date"]), call.now, snapshot.zone, past=True)[:10]
        for journal in (snapshot.journal, *(snapshot.archived_journals() if archived else ())):
            for entry in journal.entries():
                record = journal_record(entry)
                if not rest or passes(record, rest):
                    yield self._told(record)

    def source(self, record: Record) -> str:
        """Return the source of the entry."""
        text: str = record.item.entry.text
        return text

    def added(self, snapshot: Snapshot, title: str, fields: Mapping[str, Any], text: str | None, now: datetime) -> Edit:
        """Add an entry on top of its day: `time` is when it was (default: now), each line of the text a bullet."""
        from memory.files.journal.edits import add_entry

        refuse_unknown(fields, ("time", "lines"), "a journal entry")
        lines = list_of("lines", fields["lines"]) if isinstance(fields.get("lines"), list) else []
        time = fields.get("time")
        return add_entry(
            snapshot,
            title,
            [*lines, *lines_of(text or "")],
            at=None if time is None else _time(str(time), snapshot, now),
            now=now,
        )

    def edited(self, snapshot: Snapshot, record: Record, ref: str, changes: Changes, now: datetime) -> Edit:
        """Set title, time or lines, or replace the source."""
        from memory.files.journal.edits import edit_entry, replace_entry_text

        if (source := sent_source(record, changes)) is not None:
            return replace_entry_text(snapshot, ref, source, now=now)
        values = {**changes.set, **dict.fromkeys(changes.unset)}
        refuse_unknown(values, ("title", "time", "lines"), "a journal entry")
        lines = None
        if "lines" in values:
            given = values["lines"]
            lines = lines_of(given) if isinstance(given, str) else list_of("lines", given or [])
        title = text_of("title", values["title"]) if "title" in values else None
        time = None if "time" not in values else "" if values["time"] is None else text_of("time", values["time"])
        return edit_entry(snapshot, ref, title=title, lines=lines, time=time, now=now)

    def removed(self, snapshot: Snapshot, ref: str, now: datetime) -> Edit:
        """Remove an entry."""
        from memory.files.journal.edits import remove_entry

        return remove_entry(snapshot, ref, now=now)


def _time(text: str, snapshot: Snapshot, now: datetime) -> str:
    """Return a time as the file has it: a bare time of day is one of today."""
    import re

    if found := re.fullmatch(r"(\d{1,2}):(\d\d)", text.strip(), re.ASCII):
        return f"{int(found[1]):02}:{found[2]}"
    return date_of(text, now, snapshot.zone, past=True)
