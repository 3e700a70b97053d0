"""Facts and decisions of knowledge.md as entries."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.errors import UsageError

from .in_files import InFiles
from .values import date_of, refuse_unknown, text_of, texts_of

if TYPE_CHECKING:
    from memory.entries.model import Changes
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot
    from memory.search import Record

_DECISIONS, _FACTS = "Decisions Made", "Technical Facts"


class KnowledgeItems(InFiles):
    """The bullets of knowledge.md."""

    name = verb = "knowledge"
    compact = True

    def located(self, snapshot: Snapshot, ref: str) -> Record:
        """Return the record of a bullet."""
        from memory.files.knowledge.model import find_knowledge
        from memory.search.records import knowledge_record

        return knowledge_record(find_knowledge(snapshot, ref))

    def source(self, record: Record) -> str:
        """Return the bullet as it stands, with date and reason."""
        text: str = record.item.raw
        return text

    def added(self, snapshot: Snapshot, title: str, fields: Mapping[str, Any], text: str | None, now: datetime) -> Edit:
        """Add a fact, or a decision where a date, a reason or `kind: decision` is given; text goes below the title."""
        from memory.files.knowledge.model import add_knowledge

        refuse_unknown(fields, ("section", "topic", "date", "reason", "kind"), "knowledge")
        values = texts_of(fields)
        decision = values.get("kind") == "decision" or "date" in values or "reason" in values
        date = date_of(values["date"], now, snapshot.zone, past=True)[:10] if values.get("date") else None
        if date is None and decision:
            date = date_of("today", now, snapshot.zone, past=True)[:10]
        section = values.get("section") or (_DECISIONS if decision else _FACTS)
        said = f"{title}\n{text}" if text and text.strip() else title
        return add_knowledge(
            snapshot, said, section=section, topic=values.get("topic"), date=date, reason=values.get("reason"), now=now
        )

    def edited(self, snapshot: Snapshot, record: Record, ref: str, changes: Changes, now: datetime) -> Edit:
        """Give it another text, date or reason."""
        from memory.files.knowledge.model import edit_knowledge

        values = {**changes.set, **dict.fromkeys(changes.unset)}
        refuse_unknown(values, ("text", "title", "date", "reason"), "knowledge")
        given = [one for one in (changes.text, values.get("text"), values.get("title")) if one is not None]
        if len(given) > 1:
            raise UsageError("entry.arguments", "two texts are given", "send one")
        text = text_of("text", given[0]) if given else record.item.text
        date = values.get("date")
        day = None if date is None else date_of(text_of("date", date), now, snapshot.zone, past=True)[:10]
        reason = None if "reason" not in values else text_of("reason", values["reason"] or "")
        return edit_knowledge(snapshot, ref, text, date=day, reason=reason, now=now)

    def removed(self, snapshot: Snapshot, ref: str, now: datetime) -> Edit:
        """Remove a bullet."""
        from memory.files.knowledge.model import remove_knowledge

        return remove_knowledge(snapshot, ref, now=now)
