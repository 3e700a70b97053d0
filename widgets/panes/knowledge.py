"""The knowledge pane: an outline of sections and topics, each fact on a line, decisions with their dates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar

from memory.base.safe_text import plural
from memory.files.knowledge import KnowledgeItem
from memory.files.snapshot import Snapshot
from memory.files.verbs.knowledge import edit_knowledge
from widgets.chrome.keys import with_keys
from widgets.detail import DetailLine, Prose
from widgets.input.fields import FieldSpec
from widgets.pane.base import Badge, Build, FormPlan, Pane
from widgets.pane.operation_form import Near, edit_form_of, fields_of, form_of, operation_of
from widgets.pane.records import Record, RecordPane
from widgets.text.styled_text import Column, Columns, Piece, Tone
from widgets.text.words import dated

LONG = 60
"""A longer text, in characters, is edited on several lines."""

OF_DECISIONS = ("date", "reason")
"""The fields that only decisions have."""

STATES = ("fact", "decision")
"""The values of `is:` in the filter."""

SIGN = Column("sign", 1, importance=9)
FACT = Columns(SIGN, Column("title", minimum=24))
DECISION = Columns(SIGN, Column("date", 11, importance=6), Column("title", minimum=14))
"""The columns of a fact or group, and of a decision."""


class KnowledgePane(RecordPane):
    """Facts by section and topic in file order; decisions newest first."""

    beside_from: ClassVar[int] = Pane.beside_from
    pane_id: ClassVar[str] = "knowledge"
    title: ClassVar[str] = "Knowledge"
    files: ClassVar[tuple[str, ...]] = ("knowledge.md",)
    unread: ClassVar[str] = "not read as a fact"
    empty: ClassVar[str] = (
        "What people and agents learned about each other, the projects and the machines, and what was decided.\n\n"
        "Press {entry.add|a} to write down the first fact."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("section", "topic", "date", "reason", "is")
    filter_values: ClassVar[Mapping[str, tuple[str, ...]]] = {"is": STATES}
    item_name: ClassVar[str] = "entry"
    removes: ClassVar[str] = "knowledge remove"

    # Display

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:  # noqa: ARG002
        """Yield a group per section and per topic, and their items."""
        seen: dict[str, int] = {}
        for section in snapshot.knowledge.sections:
            count = len(section.items) + sum(len(topic.items) for topic in section.topics)
            key = _unique(f"section:{section.title}", seen)
            yield _group(key, 0, section.title, count, section.title)
            yield from (self._record(item) for item in _ordered(section.items))
            for topic in section.topics:
                ref = _unique(f"{key}/topic:{topic.title}", seen)
                yield _group(ref, 1, topic.title, len(topic.items), section.title, topic.title)
                yield from (self._record(item) for item in _ordered(topic.items))

    def _record(self, item: KnowledgeItem) -> Record:
        decision = item.kind == "decision"
        values = {"section": item.section or "", "topic": item.topic or "", "date": item.date or ""}
        return Record(
            item.ref, item.text, about=item.reason or "", depth=1 if item.topic is None else 2, thing=item,
            values={**values, "reason": item.reason or "", "is": item.kind},
            columns=DECISION if decision else FACT, cells={"date": Piece(item.date or "no date", "muted")},
        )  # fmt: skip

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """Return how many facts and decisions there are."""
        return Badge(len(snapshot.knowledge.items))

    def detail_title(self, item: Record) -> str:
        """Return section and topic."""
        return item.title if item.group else " / ".join(filter(None, (item.values["section"], item.values["topic"])))

    def detail(self, item: Record) -> Sequence[DetailLine]:
        """Return the words in full, then date and reason; for a group how many there are."""
        if item.group:
            words = f"{plural(int(item.about), 'entry')}. {{entry.add|a}} adds one here." if self._count else self.empty
            return self.lines({"": Prose(with_keys(words, self.app), tone="muted")})
        fact: KnowledgeItem = item.thing
        return self.lines({
            "": fact.text,
            "reason": fact.reason,
            "decided" if fact.kind == "decision" else "date": dated(fact.date, self.now, self.zone),
        })  # fmt: skip

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:
        """Return the form of a fact in the section and topic under the cursor; among the decisions, of a decision."""
        assert self.snapshot is not None
        item = self.current()
        section, topic = ("", "") if item is None else (item.values["section"], item.values["topic"])
        decision = section.casefold().startswith("decision") or (item is not None and "decision" in item.values["is"])
        names = ("section", "text", *OF_DECISIONS) if decision else ("section", "topic", "text")
        given = {"section": section, "topic": topic, "date": now.astimezone(self.zone).date().isoformat()}
        title, near = "New decision" if decision else "New fact", Near(self.snapshot, now)
        plan = form_of("knowledge add", title, given, "text", names=names, near=near)
        return plan._replace(fields=[_short(one) for one in plan.fields])

    def editing(self, item: Record, now: datetime) -> FormPlan | None:
        """Return the form of a fact or a decision."""
        if item.group:
            return None
        assert self.snapshot is not None
        names = ("text", *OF_DECISIONS) if item.thing.kind == "decision" else ("text",)

        def values(one: KnowledgeItem) -> dict[str, str]:
            return {name: getattr(one, name) or "" for name in names}

        near = Near(self.snapshot, now)
        fields = [_short(one) for one in fields_of(operation_of("knowledge add"), values(item.thing), names, near)]
        title = "Edit decision" if item.thing.kind == "decision" else "Edit fact"
        return edit_form_of("knowledge edit", title, item, fields, "text", values)

    def source_text(self, item: Record) -> str | None:
        """Return the source of a fact, without the sign of its bullet."""
        return None if item.group else f"{item.thing.raw}\n"

    def from_source(self, item: Record, text: str, now: datetime) -> Build | None:
        """Return the edit that replaces a fact by the text from the editor."""
        if item.group:
            return None
        ref = item.ref
        return lambda snapshot: edit_knowledge(snapshot, ref, text.strip(), reason="", now=now)


def _group(ref: str, depth: int, title: str, count: int, section: str, topic: str = "") -> Record:
    values = {"section": section, "topic": topic, "is": ""}
    tone: Tone = "plain" if depth else "strong"
    return Record(ref, title, about=str(count), depth=depth, folds=bool(count), group=True, tone=tone, values=values)


def _short(field: FieldSpec) -> FieldSpec:
    """Return a field with one line for a text that is short."""
    return replace(field, kind="text") if field.name == "text" and len(field.value) <= LONG else field


def _ordered(items: Sequence[KnowledgeItem]) -> list[KnowledgeItem]:
    """Facts in file order; then decisions by date, newest first, those without a date last."""
    newest = sorted(items, key=lambda item: item.date or "" if item.kind == "decision" else "", reverse=True)
    return sorted(newest, key=lambda item: item.kind == "decision")


def _unique(ref: str, seen: dict[str, int]) -> str:
    """The ref, with a number from its second occurrence on."""
    seen[ref] = seen.get(ref, 0) + 1
    return ref if seen[ref] == 1 else f"{ref}:{seen[ref]}"
