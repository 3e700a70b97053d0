"""Moving facts and decisions to another section or topic of knowledge.md, in one edit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memory.errors import UsageError
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot, WrittenFiles

from .model import FILE, add_knowledge, find_knowledge, remove_knowledge


def move_knowledge(
    snapshot: Snapshot, refs: Sequence[str], section: str, topic: str | None = None, *, now: datetime
) -> Edit:
    """Put facts at the end of a section, or of a topic in it; both are made where they are missing.

    What stands there already stays where it is. Raises UsageError `knowledge.here` where nothing would move, and as
    `add_knowledge` and `find_knowledge`; then nothing is moved.
    """
    moved = 0
    last: Edit | None = None
    look = snapshot
    for ref in refs:
        item = find_knowledge(look, ref)
        if item.section.casefold() == section.casefold() and (item.topic or None) == (topic or None):
            continue
        reason = item.reason if item.kind == "decision" else None
        date = item.date if item.kind == "decision" else None
        gone = remove_knowledge(look, ref, now=now)
        look = Snapshot(WrittenFiles(snapshot, gone.documents), lambda: snapshot.zone)
        last = add_knowledge(look, item.text, section=section, topic=topic, date=date, reason=reason, now=now)
        look = Snapshot(WrittenFiles(snapshot, last.documents), lambda: snapshot.zone)
        moved += 1
    if last is None:
        raise UsageError("knowledge.here", f"this stands in {section[:60]!r} already", "choose another section")
    place = f"{section} / {topic}" if topic else section
    words = "moved a line" if moved == 1 else f"moved {moved} lines"
    return Edit({FILE: last.documents[FILE]}, f"{words} to {place[:80]}", last.ref if moved == 1 else None)
