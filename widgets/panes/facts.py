"""The facts pane: short notes for the prompts of agents, the newest first, and what a message would inject."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from memory.facts.system import Facts
from memory.files.snapshot import Snapshot
from memory.files.tasks.values import moment_or_none
from memory.systems.acts import act
from widgets.detail import DetailLine, Labelled, Link, Prose, Spacer
from widgets.input.date_fields import by_use
from widgets.input.fields import FieldSpec
from widgets.pane.base import Badge, Build, FormPlan, Pane, Removal
from widgets.text.styled_text import Column, Columns, Line, Piece, line
from widgets.text.words import dated, short_moment

from .edit_chain import question

if TYPE_CHECKING:
    from memory.facts import Fact, FactsLook
    from memory.facts.inject import Injection

ROW = Columns(
    Column("id", 7, importance=3),
    Column("text", minimum=20),
    Column("tags", 18, importance=1),
    Column("scope", 9, importance=0),
    Column("day", 10, "right", importance=2),
)
"""The columns of a fact: id, text, tags, scope, day."""

GAUGE = 30
"""Cells of a bar that shows how much of a budget is used."""


class FactsPane(Pane):
    """Facts, the newest first. They are not edited: a wrong fact is removed and another one stored."""

    pane_id: ClassVar[str] = "facts"
    title: ClassVar[str] = "Facts"
    files: ClassVar[tuple[str, ...]] = (".aegis/memory/memories.jsonl",)
    empty: ClassVar[str] = (
        "Short notes that agents keep for their prompts: what a person prefers, how the project is set up.\n\n"
        "Press {entry.add|a} to store the first fact, and {facts.inject|i} to see what a message would inject. "
        "An agent stores one with `memdeck facts store`."
    )
    sorts: ClassVar[tuple[str, ...]] = ("newest", "tags", "scope", "length")
    asked_message = ""
    """The message for which an injection was shown last."""
    filter_fields: ClassVar[tuple[str, ...]] = ("tags", "tag", "scope", "id")
    item_name: ClassVar[str] = "fact"

    def facts(self) -> FactsLook | None:
        """The facts as they were last read."""
        return None if self.snapshot is None else _look(self.snapshot)

    # What is shown

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:  # noqa: ARG002
        """All facts, the newest first."""
        look = _look(snapshot)
        return () if look is None else tuple(look.reading.newest)

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """How many facts there are and may be, and how many lines are not facts."""
        look = _look(snapshot)
        if look is None:
            return ""
        unread = len(look.reading.unread)
        return f"{len(look.reading.facts):,} of {look.settings.max_total:,}" + (f", {unread} unread" if unread else "")

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """How many facts there are; lines that are not facts need attention."""
        look = _look(snapshot)
        return Badge() if look is None else Badge(len(look.reading.facts), bool(look.reading.unread))

    def mark(self, item: Fact) -> Hashable:
        """A fact is unchanged while its content is, whatever its line."""
        return item[:5]

    def ref(self, item: Fact) -> str:
        """The ref; a later fact with the same id gets its line number added."""
        look = self.facts()
        first = None if look is None else look.reading.get(item.id)
        return item.ref if first is None or first.line == item.line else f"{item.ref}:{item.line + 1}"

    def place(self, item: Fact) -> str:
        """The id."""
        return item.id

    def detail_title(self, item: Fact) -> str:
        """The id: the text is the detail itself."""
        return item.id

    def text(self, item: Fact) -> str:
        """A fact is found by its id, its tags and its text."""
        return " ".join((item.id, *item.tags, item.text))

    def field_text(self, item: Fact, name: str) -> str:
        """The value of a field; `tag` and `tags` both mean the tags."""
        return " ".join(item.tags) if name in ("tag", "tags") else super().field_text(item, name)

    def sort_key(self, item: Fact, name: str) -> Any:
        """The sort key: by tags, by scope, or by length, the longest first."""
        if name == "tags":
            return (not item.tags, *(tag.casefold() for tag in item.tags))
        return item.scope if name == "scope" else -len(item.text)

    def draw_row(self, item: Fact, width: int) -> Line:
        """Id, text, tags, scope, day."""
        return ROW.line(
            width,
            {
                "id": Piece(item.id, "muted"),
                "text": item.title,
                "tags": Piece(", ".join(item.tags), "accent"),
                "scope": Piece(item.scope, "muted"),
                "day": Piece(self._day(item), "muted"),
            },
        )

    def _day(self, item: Fact) -> str:
        """When it was stored, worded as in other lists; a value that is no time is cut to ten characters."""
        moment = moment_or_none(item.ts, self.zone)
        return item.ts[:10] if moment is None else short_moment(moment, self.now, self.zone)

    def detail(self, item: Fact) -> Sequence[DetailLine]:
        """The text in full, then tags, scope and other properties."""
        day = dated(item.ts, self.now, self.zone) if item.ts else "no time"
        return [
            Prose(item.text),
            Spacer(),
            Labelled("tags", ", ".join(item.tags) or "none"),
            Labelled("scope", item.scope),
            Labelled("stored", day or item.ts),
            Labelled("length", f"{len(item.text):,} characters"),
            Labelled("line", str(item.line + 1)),
        ]

    def links(self, item: Fact) -> Sequence[Link]:  # noqa: ARG002
        """None: a fact stands for itself."""
        return ()

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """The form of a new fact."""
        from memory.facts.model import DEFAULT_SCOPE, SCOPES

        look = self.facts()
        facts = () if look is None else look.reading.facts
        fields = [
            FieldSpec("text", "text", "multiline", validate=_sayable, hint=_room, required=True),
            FieldSpec("tags", "tags", "tags", suggestions=lambda: by_use(tag for fact in facts for tag in fact.tags)),
            FieldSpec("scope", "scope", "choice", DEFAULT_SCOPE, options=SCOPES),
        ]

        def build(_changed: dict[str, str], values: dict[str, str], now: datetime) -> Build:  # noqa: ARG001

            text, tags, scope = values["text"].strip(), _tags(values["tags"]), values["scope"]
            return act("facts", Facts, lambda system, actor, at: system.add(text, tags, scope, actor=actor, now=at))

        def check(values: dict[str, str]) -> dict[str, str]:
            from memory.facts.model import refusal

            why = refusal(values["text"].strip(), _tags(values["tags"]), values["scope"])
            return {} if why is None else {"tags" if "tag" in why else "text": why}

        return FormPlan("New fact", fields, build, "facts.store", focus="text", check=check)

    def removing(self, items: Sequence[Fact]) -> Removal | None:
        """Remove facts, all in one change; u brings them back."""

        facts = tuple(items)
        if not facts:
            return None

        def build(_now: datetime) -> Build:
            return act("facts", Facts, lambda system, actor, at: system.remove(facts, actor=actor, now=at))

        return Removal(*question("fact", [fact.title for fact in facts]), build, "facts.delete")

    def source_text(self, item: Fact) -> str | None:
        """The text, for copying."""
        return item.text


def _look(snapshot: Snapshot) -> FactsLook | None:
    from memory.facts import FactsLook

    return snapshot.of("facts", FactsLook)


def injection_lines(found: Injection) -> list[Line]:
    """What a message injects, as lines: the budget as bars, the injected facts, and those left out with the limit."""
    limits = found.settings
    count = f"{found.most} newest facts are" if found.most != 1 else "newest fact is"
    said = {
        "off": "Injection is off (inject_mode in .aegis/agent.json).",
        "match": f"Words that count: {', '.join(found.words)}",
        "recent": f"Nothing matches, so at most the {count} in.",
        "recent_only": "The newest facts, whatever the message is (inject_mode).",
    }[found.reason]
    lines: list[Line] = [
        line(Piece(said, "muted")),
        (),
        _gauge("characters", found.characters, limits.max_inject_chars),
        _gauge("facts", len(found.facts), found.most),
    ]
    if found.most < limits.max_inject_count:
        lines.append(line(Piece(f"{'':<11}without a match; with one up to {limits.max_inject_count}", "muted")))
    scored = found.reason == "match"
    score_head = f"{'score':<10} " if scored else ""
    columns = line(Piece(f"{'fact':<7} {score_head}{'chars':>6}  text", "muted"))
    by_id = {one.fact: one for one in found.candidates}
    for heading, why, facts in (
        ("INJECTED", "", found.facts),
        ("FELL OFF", f"  {found.limit}", tuple(one.fact for one in found.candidates if not one.fits)),
    ):
        if facts:
            lines += [(), line(Piece(heading, "heading"), Piece(why, "muted")), columns]
        for fact in facts:
            one = by_id[fact]
            score = f"{len(one.words)} + {one.bonus:.2f}" if one.words else ""
            lines.append(
                line(
                    Piece(f"{fact.id:<7} ", "muted"),
                    *((Piece(f"{score:<10} ", "accent"),) if scored else ()),
                    Piece(f"{one.total:>6,}  ", "muted"),
                    Piece(fact.title, "plain" if heading == "INJECTED" else "muted"),
                )
            )
    if by_id:
        lines += [(), line(Piece("chars: characters of text so far, with this fact", "muted"))]
        if scored:
            lines.append(line(Piece("score: words in common + bonus for being new", "muted")))
    return lines


def _gauge(name: str, used: int, most: int) -> Line:
    full = min(GAUGE, round(GAUGE * used / most)) if most else 0
    return line(
        Piece(f"{name:<11}", "muted"),
        Piece("█" * full, "good"),
        Piece("░" * (GAUGE - full), "muted"),
        Piece(f"  {used:,} of {most:,}"),
    )


def _tags(text: str) -> tuple[str, ...]:
    return tuple(tag.strip() for tag in text.split(",") if tag.strip())


def _sayable(text: str) -> str | None:
    from memory.facts.model import MOST_CHARACTERS

    return f"at most {MOST_CHARACTERS} characters" if len(text.strip()) > MOST_CHARACTERS else None


def _room(text: str) -> str:
    from memory.facts.model import MOST_CHARACTERS

    left = MOST_CHARACTERS - len(text.strip())
    return f"{left} characters left" if 0 <= left < MOST_CHARACTERS else ""
