"""The edits of monitors; what they do not set keeps its bytes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from memory.errors import UsageError
from memory.files.edit import Edit, EntryEdits, TitleRule
from memory.files.find import find_monitor
from memory.files.snapshot import Snapshot

from .model import FILE, SCHEMA, SECTION, Monitors

MONITOR_EDITS = EntryEdits(
    FILE,
    "monitor",
    find_monitor,
    lambda file, document: Monitors(file, document).monitors,
    SCHEMA,
    TitleRule(("name", "title"), "monitor.name", "the name of a monitor"),
    {SECTION: SECTION},
    lambda section: SECTION if section.name == SECTION.casefold() else None,
)


def add_monitor(snapshot: Snapshot, name: str, values: Mapping[str, str], *, now: datetime) -> Edit:
    """Add a monitor at the end of the section Monitors; UsageError `monitor.name` for a name that is taken."""
    if any(monitor.name == name.strip() for monitor in snapshot.monitors.monitors):
        raise UsageError("monitor.name", f"there is a monitor {name.strip()[:60]!r} already", "give it another name")
    return MONITOR_EDITS.added(snapshot, SECTION, name, values, now=now)
