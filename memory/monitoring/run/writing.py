"""What a run writes into the memory files: lastCheck and lastStatus of every monitor it measured, and the journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from memory.base.clock import format_utc
from memory.errors import UsageError
from memory.files.edit import Edit

if TYPE_CHECKING:
    from memory.document import Document
    from memory.files.snapshot import Snapshot

MONITORS, JOURNAL = "monitors.md", "journal.md"


@dataclass(frozen=True, slots=True)
class JournalNote:
    """One journal entry: when it happened, its title, its lines."""

    at: datetime
    title: str
    lines: tuple[str, ...]


def write_back(snapshot: Snapshot, statuses: Mapping[str, str], notes: Sequence[JournalNote], now: datetime) -> Edit:
    """Return the edit of one run: `statuses` maps names of monitors to their `lastStatus`.

    Monitors that are gone by now are left out.
    """
    documents: dict[str, Document] = {}
    if statuses:
        documents[MONITORS] = _with_statuses(snapshot, statuses, format_utc(now))
    if notes:
        documents[JOURNAL] = _with_notes(snapshot, notes, now)
    parts = [f"checked {len(statuses):,} monitor{'' if len(statuses) == 1 else 's'}"] if statuses else []
    parts += [note.title for note in notes[:3]]
    if len(notes) > 3:
        parts.append(f"{len(notes) - 3:,} more entries")
    return Edit(documents, ", ".join(parts) or "nothing to write")


def _with_statuses(snapshot: Snapshot, statuses: Mapping[str, str], checked: str) -> Document:
    monitors = snapshot.monitors
    document = monitors.document
    by_section: dict[int, dict[int, str]] = {}
    for monitor in monitors.monitors:
        status = statuses.get(monitor.name)
        if status is not None:
            section, number = monitor.at
            by_section.setdefault(section, {})[number] = status
    for index, changed in by_section.items():
        section_now = document.sections[index]
        entries = [
            entry
            if number not in changed
            else entry.set_field("lastCheck", checked).set_field("lastStatus", changed[number])
            for number, entry in enumerate(section_now.entries)
        ]
        document = document.with_section(index, section_now.with_entries(entries))
    return document


def _with_notes(snapshot: Snapshot, notes: Iterable[JournalNote], now: datetime) -> Document:
    from memory.files.journal.edits import with_notes

    wanted = [(note.at, note.title, note.lines) for note in notes]
    try:
        return with_notes(snapshot, wanted, now)
    except UsageError:
        # A name or an output that Markdown takes for more than a line: its signs go, the words stay.
        return with_notes(snapshot, [(at, title, [_tame(line) for line in lines]) for at, title, lines in wanted], now)


def _tame(line: str) -> str:
    words = " ".join("".join(" " if char in "`~<>#|*_+-=[]" else char for char in line).split())
    return words if words[:1].isalpha() else f"Monitor {words}"
