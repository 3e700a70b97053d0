"""The knowledge pane: an outline of sections and topics, each fact on a line, decisions with their dates."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar

from memory.files.knowledge.hints import Twin, near_twins
from memory.files.knowledge.model import KnowledgeItem, edit_knowledge, find_knowledge, remove_knowledge
from memory.files.snapshot import Snapshot
from widgets.detail import DetailLine, Labelled, Prose, Spacer, Title
from widgets.input.fields import FieldSpec
from widgets.list.outline import Branch, OutlinePane
from widgets.list.rows import Note
from widgets.pane.base import Badge, Build, Contents, FormPlan, Removal
from widgets.pane.operation_form import Near, edit_form_of, fields_of, form_of, operation_of
from widgets.pane.removing import removal
from widgets.pane.unread import unread_rows
from widgets.text.styled_text import Line, Piece, line, line_width, pad_line
from widgets.text.words import dated

from .hints import WORDS, hint_lines, row_mark, states_of

LONG = 60
"""A longer text, in characters, is edited on several lines."""

DECISION = ("date", "reason")
"""The fields that only decisions have."""


class KnowledgePane(OutlinePane):
    """Facts by section and topic in file order; decisions newest first."""

    pane_id: ClassVar[str] = "knowledge"
    title: ClassVar[str] = "Knowledge"
    files: ClassVar[tuple[str, ...]] = ("knowledge.md",)
    empty: ClassVar[str] = (
        "What people and agents learned about each other, the projects and the machines, and what was decided.\n\n"
        "Press {entry.add|a} to write down the first fact."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("section", "topic", "date", "reason", "is")
    filter_words: ClassVar[tuple[str, ...]] = WORDS
    filter_values: ClassVar[Mapping[str, tuple[str, ...]]] = {"is": tuple(word.removeprefix("is:") for word in WORDS)}
    item_name: ClassVar[str] = "fact"

    def __init__(self) -> None:
        super().__init__()
        self._twins: Mapping[str, Sequence[Twin]] = {}

    # Display

    def read(self, snapshot: Snapshot, now: datetime) -> Contents:
        """Read the rows, and find duplicate items."""
        self._twins = near_twins(snapshot.knowledge)
        return super().read(snapshot, now)

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:  # noqa: ARG002
        """A branch per section and per topic, and their items."""
        rows: list[Any] = []
        seen: dict[str, int] = {}
        for number, section in enumerate(snapshot.knowledge.sections):
            if number:
                rows.append(Note(number=number))
            count = len(section.items) + sum(len(topic.items) for topic in section.topics)
            key = _unique(f"section:{section.title}", seen)
            rows.append(Branch(key, section.title, 0, count, kind="section", name=section.title))
            rows.extend(_ordered(section.items))
            for topic in section.topics:
                ref = _unique(f"{key}/topic:{topic.title}", seen)
                rows.append(Branch(ref, topic.title, 1, len(topic.items), section.title, "topic", topic.title))
                rows.extend(_ordered(topic.items))
        return [*rows, *unread_rows("knowledge.md", snapshot, "not read as a fact", first=len(rows))]

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """How many facts and decisions there are."""
        items = snapshot.knowledge.items
        decisions = sum(item.kind == "decision" for item in items)
        facts = len(items) - decisions
        return _plural(facts, "fact") + (f", {_plural(decisions, 'decision')}" if decisions else "")

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """How many facts and decisions there are."""
        return Badge(len(snapshot.knowledge.items))

    def depth(self, item: Any) -> int:
        """Sections, then topics or facts, then facts of topics."""
        if isinstance(item, Branch):
            return item.depth
        return 1 if item.topic is None else 2

    def mark(self, item: Any) -> Hashable:
        """A fact is unchanged while its words and its place in the outline are; moving to another line is no change."""
        return super().mark(item) if isinstance(item, Branch) else item.ref

    def text(self, item: Any) -> str:
        """A fact is found by its own words and by its section and topic."""
        if isinstance(item, Branch):
            return item.title
        parts = (item.section, item.topic, item.date, item.text, item.reason)
        return " ".join(part for part in parts if part)

    def draw_row(self, item: Any, width: int) -> Line:
        """Draw a branch with its count, a fact, or a decision after its date."""
        if isinstance(item, Branch):
            right = line(Piece(str(item.count), "muted"))
            left = line(self.indent(item), Piece(item.title, "strong" if item.depth == 0 else "plain"))
            return line(pad_line(left, max(0, width - line_width(right) - 1)), " ", right)
        mark = row_mark(self._twins.get(item.ref, ()), width, self.glyphs)
        room = width - line_width(mark)
        words = line(self.indent(item), item.text)
        if item.kind == "decision":
            words = line(self.indent(item), Piece(f"{item.date or 'no date':<10}  ", "muted"), item.text)
            reason = Piece(f"  {item.reason}", "muted")
            if item.reason and line_width(line(words, reason)) <= room:
                words = line(words, reason)
        return line(pad_line(words, max(0, room)), mark) if mark else words

    def detail_title(self, item: Any) -> str:
        """Its section and topic."""
        if isinstance(item, Branch):
            return item.title
        return " / ".join(part for part in (item.section, item.topic) if part)

    def detail(self, item: Any) -> Sequence[DetailLine]:
        """The words in full, then date and reason."""
        if isinstance(item, Branch):
            return [
                Title(item.title),
                Spacer(),
                Prose(f"{_plural(item.count or 0, 'entry', 'entries')}. a adds one here.", tone="muted"),
            ]
        more = [
            Labelled(label, value)
            for label, value in (
                ("reason", item.reason),
                ("decided" if item.kind == "decision" else "date", dated(item.date, self.now, self.zone)),
                ("section", item.section),
                ("topic", item.topic),
            )
            if value
        ]
        return [Prose(item.text, markdown=True), Spacer(), *more, *hint_lines(self._twins.get(item.ref, ()))]

    def field_text(self, item: Any, name: str) -> str:
        """The value of a field for `name:value`; `is` has the kind of the item, and whether it is said twice."""
        if name == "is" and not isinstance(item, Branch):
            return states_of(item, self._twins.get(item.ref, ()))
        return super().field_text(item, name)

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:
        """A fact in the section and topic under the cursor; among the decisions, a decision."""
        assert self.snapshot is not None
        section, topic = _place(self.current())
        decision = section.casefold().startswith("decision") or getattr(self.current(), "kind", "") == "decision"
        names = ("section", "text", *DECISION) if decision else ("section", "topic", "text")
        given = {"section": section, "topic": topic, "date": now.astimezone(self.zone).date().isoformat()}
        title, near = "New decision" if decision else "New fact", Near(self.snapshot, now)
        plan = form_of("knowledge add", title, given, "text", names=names, near=near)
        return plan._replace(fields=[_short(one) for one in plan.fields])

    def editing(self, item: Any, now: datetime) -> FormPlan | None:
        """The form of a fact or a decision."""
        if isinstance(item, Branch):
            return None
        assert self.snapshot is not None
        names = ("text", *DECISION) if item.kind == "decision" else ("text",)

        def values(one: KnowledgeItem) -> dict[str, str]:
            return {name: getattr(one, name) or "" for name in names}

        def current(snapshot: Snapshot) -> dict[str, str] | None:
            return next((values(one) for one in snapshot.knowledge.items if one.ref == item.ref), None)

        near = Near(self.snapshot, now)
        fields = [_short(one) for one in fields_of(operation_of("knowledge add"), values(item), names, near)]
        title = "Edit decision" if item.kind == "decision" else "Edit fact"
        return edit_form_of("knowledge edit", title, item, fields, "text")._replace(current=current)

    def removing(self, items: Sequence[Any]) -> Removal | None:
        """Remove facts, all in one change; branches cannot be removed."""
        facts = [item for item in items if not isinstance(item, Branch)]
        if not facts:
            return None
        return removal(
            "fact",
            [item.text for item in facts],
            facts,
            "knowledge.remove",
            find=find_knowledge,
            among=lambda look: look.knowledge.items,
            remove=remove_knowledge,
        )

    def source_text(self, item: Any) -> str | None:
        """The source of a fact, without the sign of its bullet."""
        return None if isinstance(item, Branch) else f"{item.raw}\n"

    def from_source(self, item: Any, text: str, now: datetime) -> Build | None:
        """Replace a fact by the text from the editor."""
        if isinstance(item, Branch):
            return None

        ref = item.ref
        return lambda snapshot: edit_knowledge(snapshot, ref, text.strip(), reason="", now=now)


def _short(field: FieldSpec) -> FieldSpec:
    """Return a field with one line for a text that is short."""
    return replace(field, kind="text") if field.name == "text" and len(field.value) <= LONG else field


def _ordered(items: Sequence[KnowledgeItem]) -> list[KnowledgeItem]:
    """Facts in file order; then decisions by date, newest first, those without a date last."""
    facts = [item for item in items if item.kind != "decision"]
    decisions = sorted(
        (item for item in items if item.kind == "decision"), key=lambda item: item.date or "", reverse=True
    )
    return [*facts, *decisions]


def _place(item: Any) -> tuple[str, str]:
    """The section and topic of an item or branch."""
    if item is None:
        return "", ""
    if isinstance(item, Branch):
        return (item.name, "") if item.depth == 0 else (item.note, item.name)
    return item.section or "", item.topic or ""


def _plural(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def _unique(ref: str, seen: dict[str, int]) -> str:
    """The ref, with a number from its second occurrence on."""
    seen[ref] = seen.get(ref, 0) + 1
    return ref if seen[ref] == 1 else f"{ref}:{seen[ref]}"
