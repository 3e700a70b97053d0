"""The tab of facts: short notes for the prompts of agents, the newest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar

from memory.facts import FactsLook
from memory.files.snapshot import Snapshot
from widgets.input.date_fields import by_use
from widgets.pane.base import Badge, FormPlan
from widgets.pane.operation_form import form_of
from widgets.pane.records import Record, RecordPane
from widgets.text.styled_text import Column, Columns

ROW = Columns(Column("title", minimum=20), Column("when", 8, "right", importance=3))


class FactsPane(RecordPane):
    """Facts are not edited: a wrong one is removed and another one stored."""

    pane_id: ClassVar[str] = "facts"
    title: ClassVar[str] = "Facts"
    files: ClassVar[tuple[str, ...]] = (".aegis/memory/memories.jsonl",)
    purpose: ClassVar[str] = "Sent to agents with the messages they match."
    empty: ClassVar[str] = (
        "Short notes that agents keep for their prompts: what a person prefers, how the project is set up.\n\n"
        "Press {entry.add|a} to store the first fact. An agent stores one with `memdeck facts store`."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("tags", "tag", "scope", "id")
    item_name: ClassVar[str] = "fact"
    removes: ClassVar[str] = "facts delete"

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Record]:  # noqa: ARG002
        """Yield all facts, the newest first; a later one with the id of another has its line in its ref."""
        look = _look(snapshot)
        for fact in () if look is None else look.reading.newest:
            first = look.reading.get(fact.id) if look is not None else None
            ref = fact.ref if first is None or first.line == fact.line else f"{fact.ref}:{fact.line + 1}"
            tags = ", ".join(fact.tags)
            values = {"tags": tags, "tag": tags, "scope": fact.scope, "id": fact.id, "fact_id": fact.id}
            yield Record(ref, fact.title, tags, fact.ts, values=values, words=fact.text, mark=fact[:5], thing=fact,
                         columns=ROW)  # fmt: skip

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """Return how many facts there are; lines that are not facts need attention."""
        look = _look(snapshot)
        return Badge() if look is None else Badge(len(look.reading.facts), bool(look.reading.unread))

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return the text in full, unless the title is all of it, then its other properties."""
        fact = item.thing
        return {
            "": "" if fact.text == item.title else fact.text,
            "tags": ", ".join(fact.tags) or "none",
            "scope": fact.scope,
            "stored": fact.ts or "no time",
            "id": fact.id,
        }

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """Return the form of a new fact."""
        look = None if self.snapshot is None else _look(self.snapshot)
        facts = () if look is None else look.reading.facts
        plan = form_of("facts store", "New fact", focus="text")
        known = by_use(tag for fact in facts for tag in fact.tags)
        return plan._replace(
            fields=[replace(one, suggestions=known) if one.name == "tags" else one for one in plan.fields]
        )

    def removed_by(self, item: Record) -> Mapping[str, str] | None:
        """Return the id of a fact."""
        return {"fact_id": item.thing.id}


def _look(snapshot: Snapshot) -> FactsLook | None:
    return snapshot.of("facts", FactsLook)
