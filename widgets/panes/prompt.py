"""The prompt pane: what an agent gets, block by block, in the order in which it is sent, with the cost of each."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import datetime
from typing import Any, ClassVar, Protocol

from memory.files.snapshot import Snapshot
from memory.prompts import PromptBlock, PromptPreview
from widgets.detail import DetailLine, Labelled, Link, Prose, Spacer, Title
from widgets.list.rows import Heading, Note
from widgets.pane.base import Pane
from widgets.text.styled_text import Column, Columns, Line, Piece, Tone

_COLUMNS = Columns(
    Column("system", 7, importance=1),
    Column("text", minimum=24),
    Column("reason", 20, importance=0),
    Column("score", 5, align="right", importance=2),
    Column("tokens", 5, align="right", importance=3),
)
_TITLES = {"pin": "pinned", "mute": "muted"}


class PromptReader(Protocol):
    """Where the prompt comes from; called in threads."""

    message: str
    agent: str

    def look(self, now: datetime) -> PromptPreview | str:
        """Return the prompt of an agent now; a sentence where it cannot be read."""


class PromptPane(Pane):
    """What hooks send to all agents or to one, at the start of a session or for a message; pinned and muted by keys."""

    pane_id: ClassVar[str] = "prompt"
    title: ClassVar[str] = "Prompt"
    empty: ClassVar[str] = (
        "What hooks tell agents, block by block, with the cost of each.\n\n"
        "There is nothing to tell. {prompt.message|(} asks for a message, and shows what an agent gets with it."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("system", "ref", "reason")
    item_name: ClassVar[str] = "block"

    def __init__(self, source: PromptReader | None = None) -> None:
        """`source` provides the prompt; without it there is none."""
        super().__init__()
        self.source = source
        self._said = ""

    # What is shown

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:  # noqa: ARG002
        """The blocks that are sent, those below the budget's end, the muted and the suspicious ones."""
        found = "" if self.source is None else self.source.look(now)
        if isinstance(found, str):
            self._said = found and "cannot be read"
            return [Note(found)] if found else []
        prompt = found.prompt
        self._said = f"{prompt.used:,} of {prompt.budget:,} tokens"
        # Two lines, each of which fits into a narrow pane.
        rows: list[Any] = (
            [Note(f"{found.why.partition(':')[0]}."), Note("The tool brief answers:")] if found.why else []
        )
        for title, note, blocks in (
            ("Answered" if found.why else "Sent", self._for(), tuple(one for one in prompt.blocks if one.included)),
            ("Left out" if found.why else "Not sent", "the budget ends here", prompt.below),
            ("Muted", "", prompt.muted),
            ("Suspicious", "not sent until you approve it", prompt.suspicious),
        ):
            if blocks:
                rows += [Note(number=len(rows))] if rows else []
                rows += [Heading(title, note), *blocks]
        return rows

    def _for(self) -> str:
        if self.source is None:
            return ""
        when = f"for: {self.source.message}" if self.source.message else "at the start of a session"
        return f"{self.source.agent}, {when}" if self.source.agent else when

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """How much of the budget is used."""
        return self._said

    def mark(self, item: PromptBlock) -> Hashable:
        """A block is unchanged while all of its content is."""
        return item

    def ref(self, item: PromptBlock) -> str:
        """Its ref, or its text where it has none."""
        return item.ref or item.text

    def place(self, item: PromptBlock) -> str:
        """The ref."""
        return item.ref or ""

    def text(self, item: PromptBlock) -> str:
        """A block is found by its text, its system, its reason and the choice about it."""
        return " ".join((item.system, item.text, item.reason, item.choice))

    def draw_row(self, item: PromptBlock, width: int) -> Line:
        """System, text, reason, score, tokens."""
        tone: Tone = "plain" if item.included else "muted"
        return _COLUMNS.line(
            width,
            {
                "system": Piece(item.system, "muted"),
                "text": Piece(item.title, "accent" if item.choice == "pin" else tone),
                "reason": Piece(item.reason, "muted"),
                "score": Piece(f"{item.score:.2f}", "muted"),
                "tokens": Piece(f"{item.tokens}", tone),
            },
        )

    def source_text(self, item: PromptBlock) -> str | None:
        """The line as the agent gets it."""
        return item.text

    # The detail

    def detail(self, item: PromptBlock) -> Sequence[DetailLine]:
        """Whether it is sent, where it comes from, why, its cost, and the line as it is sent."""
        return [
            Title(item.title),
            Spacer(),
            Labelled("sent", "yes" if item.included else "no", "plain" if item.included else "alert"),
            Labelled("system", item.system),
            Labelled("ref", item.ref or "none"),
            Labelled("why", item.reason),
            Labelled("score", f"{item.score:.2f}"),
            Labelled("tokens", f"{item.tokens}"),
            Labelled("chosen", _TITLES.get(item.choice, "nothing")),
            Spacer(),
            Prose(item.text),
        ]

    def links(self, item: PromptBlock) -> Sequence[Link]:
        """The entry in its own pane, where it is edited."""
        kind = (item.ref or "").partition("#")[0]
        if not kind:
            return ()
        place = f"{kind}.md" if item.system in ("files", "search") else item.system
        return [Link("entry", item.title, (place, item.ref))]
