"""The inbox pane: what agents want to change of a person's text, agent by agent, with what it would do beside it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from textual.message import Message

from memory.review.model import WORDS, Judged, WaitingProposal
from widgets.detail import Caption, DetailLine, Labelled, Link, Prose, Spacer, Title
from widgets.list.columns import Column, Columns
from widgets.list.rows import Heading, Note
from widgets.pane.base import Pane
from widgets.panes.changes.detail import view_lines
from widgets.panes.changes.words import plain_actor
from widgets.text.styled_text import Line, Piece

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot

KEPT = 64
"""Proposals whose entries are remembered once they were looked at."""

_COLUMNS = Columns(
    Column("kind", 7, importance=2),
    Column("summary", minimum=34),
    Column("file", 14, importance=0),
    Column("age", 10, align="right", importance=1),
)


class ProposalSource(Protocol):
    """Where proposals come from; called in threads."""

    def waiting(self) -> Sequence[WaitingProposal]:
        """The proposals that wait, newest first."""

    def judged(self, ref: str, now: datetime) -> Judged:
        """What one of them would do now."""


class InboxPane(Pane):
    """What waits for the person's decision: accepted, edited or rejected, one or many at once."""

    pane_id: ClassVar[str] = "inbox"
    title: ClassVar[str] = "Inbox"
    empty: ClassVar[str] = (
        "What agents want to rewrite or remove of your text waits here; nothing in the files changes before you accept "
        "it.\n\nNothing waits. `memdeck review policy` says what agents may do at once."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("actor", "file", "entry", "kind", "operation")
    item_name: ClassVar[str] = "proposal"

    @dataclass
    class Told(Message):
        """What a proposal would do is known."""

        pane: InboxPane
        key: Hashable
        judged: Judged

    def __init__(self, source: ProposalSource | None = None) -> None:
        """`source` gives the proposals; without one there are none."""
        super().__init__()
        self.source = source
        self._told: dict[Hashable, Judged] = {}

    # What is shown

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:  # noqa: ARG002
        """A heading for each agent, the one with the newest proposal first, then what it wants, newest first."""
        found = () if self.source is None else self.source.waiting()
        by_agent: dict[str, list[WaitingProposal]] = {}
        for one in found:
            by_agent.setdefault(one.actor, []).append(one)
        rows: list[Any] = []
        for actor, ones in by_agent.items():
            if rows:
                rows.append(Note(number=len(rows)))
            rows.append(Heading(plain_actor(actor)))
            rows += ones
        return rows

    def mark(self, item: WaitingProposal) -> Hashable:
        """What a person edited looks different."""
        return (item.ref, item.edited)

    def place(self, item: WaitingProposal) -> str:  # noqa: ARG002
        """Nothing: the detail says it."""
        return ""

    def copied_ref(self, item: WaitingProposal) -> str:
        """Its id, as `memdeck review` takes it."""
        return item.ref[:16]

    def draw_row(self, item: WaitingProposal, width: int) -> Line:
        """What it does to whose text, what, where, since when."""
        return _COLUMNS.line(
            width,
            {
                "kind": Piece(item.kinds[0] if item.kinds else "", "alert" if "remove" in item.kinds else "accent"),
                "summary": item.summary + ("  (edited)" if item.edited else ""),
                "file": Piece(item.files[0] if item.files else "", "muted"),
                "age": Piece(self._when(item), "muted"),
            },
        )

    def _when(self, item: WaitingProposal) -> str:
        local, now = item.time.astimezone(self.zone), self.now.astimezone(self.zone)
        return f"{local:%H:%M}" if local.date() == now.date() else f"{local:%Y-%m-%d}"

    def text(self, item: WaitingProposal) -> str:
        """A proposal is found by who, what, the files and the entries."""
        return " ".join((item.actor, item.operation, item.summary, *item.kinds, *item.files, *item.entries, item.ref))

    def field_text(self, item: WaitingProposal, name: str) -> str:
        """The values that `name:value` looks at."""
        match name:
            case "file":
                return " ".join(item.files)
            case "entry":
                return " ".join(item.entries)
            case "kind":
                return " ".join(item.kinds)
            case _:
                return super().field_text(item, name)

    def source_text(self, item: WaitingProposal) -> str | None:  # noqa: ARG002
        """A proposal has no source of its own."""
        return None

    def links(self, item: WaitingProposal) -> Sequence[Link]:  # noqa: ARG002
        """None: what it is about may not be there."""
        return ()

    # The detail

    def detail_title(self, item: WaitingProposal) -> str:
        """What would be done."""
        return item.summary

    def detail(self, item: WaitingProposal) -> Sequence[DetailLine]:
        """Who and when, why it waits, how it stands to the files of now, then what it does to each entry."""
        parts: list[DetailLine] = [
            Title(item.summary),
            Spacer(),
            Labelled("by", plain_actor(item.actor)),
            Labelled("at", f"{item.time.astimezone(self.zone):%Y-%m-%d %H:%M:%S}"),
            Labelled("why", ", ".join(item.kinds)),
            Labelled("operation", item.operation or "none", "muted"),
        ]
        if item.place:
            parts.append(Labelled("in", f"{item.place}, outside of this workspace"))
        if item.edited:
            parts.append(Labelled("edited", "by a person"))
        judged = self._told.get(self._key(item))
        if judged is None:
            self._tell(item)
            return parts
        standing = judged.standing
        wrong = standing.state in ("conflict", "gone")
        parts.append(Labelled("now", WORDS[standing.state], "alert" if wrong else "plain"))
        parts += [Prose(reason, tone="muted") for reason in standing.reasons[:5]]
        parts += view_lines(judged.views, self.glyphs)
        for clash in standing.clashes[:20]:
            told = clash.json()
            parts += [Spacer(), Caption(f"BOTH CHANGED  {told['entry'] or told['section']}: {told['field']}")]
            for word, side in (("before", "base"), ("proposal", "ours"), ("now", "theirs")):
                parts.append(Labelled(word, told[side] if told[side] is not None else "nothing"))
        return parts

    def _key(self, item: WaitingProposal) -> Hashable:
        """What tells what was found out about a proposal: the files may have moved on since."""
        return (item.ref, item.edited, id(self.snapshot))

    def _tell(self, item: WaitingProposal) -> None:
        """Find out in a worker what a proposal would do."""
        source, key, now = self.source, self._key(item), self.now
        if source is not None:
            self.run_worker(
                lambda: self.post_message(self.Told(self, key, source.judged(item.ref, now))),
                group="told",
                thread=True,
                exclusive=True,
                exit_on_error=False,
            )

    def on_inbox_pane_told(self, message: Told) -> None:
        """Show it, if the cursor is still there."""
        message.stop()
        while len(self._told) >= KEPT:
            del self._told[next(iter(self._told))]
        self._told[message.key] = message.judged
        item = self.current()
        if self.is_attached and item is not None and self._key(item) == message.key:
            self._show_detail()
