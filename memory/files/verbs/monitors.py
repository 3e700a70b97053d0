"""The edits of monitors.md."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from memory.document import Entry
from memory.errors import UsageError
from memory.files.edit import Edit, EntryEdits, Step, one_line, started_document, titled
from memory.files.find import MONITORS
from memory.files.monitors import FILE, SCHEMA, SECTION, plain_section
from memory.files.snapshot import Snapshot

_CODE, _NAME = "monitor.name", "the name of a monitor"
_SETTERS = dict.fromkeys(("name", "title"), titled(_CODE, _NAME))
MONITOR_EDITS = EntryEdits(
    MONITORS, "monitors", "monitor", schema=SCHEMA, setters=_SETTERS, plain=plain_section, titles={SECTION: SECTION}
)


def add_monitor(snapshot: Snapshot, name: str, values: Mapping[str, str], *, now: datetime) -> Edit:
    """Add a monitor at the end of the section Monitors; UsageError `monitor.name` for a name that is taken."""
    title = one_line(_CODE, _NAME, name)
    if any(monitor.name == title for monitor in snapshot.monitors):
        raise UsageError(_CODE, f"there already is a monitor {title[:60]!r}", "give it another name")
    document = started_document(snapshot, FILE, now)
    entry = MONITOR_EDITS.composed(title, values, document.newline, snapshot.zone)
    return MONITOR_EDITS.add(document, SECTION, entry, title)


def edit_monitor(snapshot: Snapshot, ref: str, values: Mapping[str, str], base: Entry | None = None) -> Edit:
    """Set fields and the name; an empty value removes a field. What others changed since `base` stays."""
    zone = snapshot.zone
    return MONITOR_EDITS.edit(snapshot, ref, lambda item: Step(MONITOR_EDITS.with_values(item, base, values, zone)))
