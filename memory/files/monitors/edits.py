"""Edits of monitors: each takes a snapshot and returns the new document; what it does not set keeps its bytes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from memory.document import Entry
from memory.errors import UsageError
from memory.files.edit import (
    Edit,
    EntryEdits,
    TitleRule,
    clean_values,
    one_line,
    started_document,
    with_changes,
    with_named_section,
)
from memory.files.find import find_monitor
from memory.files.monitors.model import FIELDS, FILE, SCHEMA, SECTION, Monitors
from memory.files.snapshot import Snapshot

_TITLE = TitleRule(("name", "title"), "monitor.name", "the name of a monitor")


def add_monitor(snapshot: Snapshot, name: str, values: Mapping[str, str], *, now: datetime) -> Edit:
    """Add a monitor at the end of the section Monitors; a missing section or file is created.

    `values` are fields by their key in the file. Raises UsageError `monitor.name` for a name that is taken or
    empty, `field.value`, BadCron, BadMoment.
    """
    title = one_line(_TITLE.code, _TITLE.what, name)
    if any(monitor.name == title for monitor in snapshot.monitors.monitors):
        raise UsageError("monitor.name", f"there is a monitor {title[:60]!r} already", "give it another name")
    document = started_document(snapshot, FILE, now)
    known = [(index, SECTION) for index in document.find(SECTION)]
    document, section = with_named_section(document, SECTION, {SECTION: SECTION}, known)
    entry = with_changes(Entry.compose(title, newline=document.newline), clean_values(values, FIELDS), SCHEMA)
    return _EDITS.added(document, section, entry)


_EDITS = EntryEdits(
    FILE, "monitor", find_monitor, lambda file, document: Monitors(file, document).monitors, SCHEMA, _TITLE
)
edit_monitor, remove_monitor, replace_monitor_text = _EDITS.changed, _EDITS.removed, _EDITS.rewritten
