"""Monitors as entries: their fields are text; what a monitor may run stays behind a person's consent."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.errors import UsageError

from .in_files import InFiles
from .values import sent_source, texts_of

if TYPE_CHECKING:
    from memory.entries.model import Changes
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot
    from memory.search import Record


class MonitorEntries(InFiles):
    """The monitors of monitors.md."""

    name = verb = "monitors"
    compact = True

    def located(self, snapshot: Snapshot, ref: str) -> Record:
        """Return the record of a monitor."""
        from memory.files.monitors import find_monitor
        from memory.search.records import monitor_record

        return monitor_record(find_monitor(snapshot, ref))

    def source(self, record: Record) -> str:
        """Return the source of the monitor."""
        text: str = record.item.entry.text
        return text

    def added(self, snapshot: Snapshot, title: str, fields: Mapping[str, Any], text: str | None, now: datetime) -> Edit:
        """Add a monitor of that name."""
        from memory.files.monitors import add_monitor
        from memory.monitoring.problems import runnable

        if text and text.strip():
            raise UsageError("entry.field", "a monitor has no text", "use fields")
        return runnable(lambda looked: add_monitor(looked, title, texts_of(fields), now=now))(snapshot)

    def edited(self, snapshot: Snapshot, record: Record, ref: str, changes: Changes, now: datetime) -> Edit:
        """Set and unset fields, or replace the source."""
        from memory.files.monitors import edit_monitor, replace_monitor_text
        from memory.monitoring.problems import runnable

        if (source := sent_source(record, changes)) is not None:
            return runnable(lambda looked: replace_monitor_text(looked, ref, source, now=now))(snapshot)
        values = texts_of(changes.set)
        return runnable(lambda looked: edit_monitor(looked, ref, values, changes.unset, now=now))(snapshot)

    def removed(self, snapshot: Snapshot, ref: str, now: datetime) -> Edit:
        """Remove a monitor."""
        from memory.files.monitors import remove_monitor

        return remove_monitor(snapshot, ref, now=now)
