"""The inbox pane: changes that agents propose to a person's text, agent by agent, with the effect of each beside it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import datetime
from typing import Any, ClassVar, Protocol

from memory.files.snapshot import Snapshot
from memory.review.model import WORDS, Judged, WaitingProposal
from widgets.detail import Caption, DetailLine, Labelled, Link, Prose, Spacer, Title
from widgets.list.rows import Heading, Note
from widgets.panes.changes.detail import view_lines
from widgets.panes.changes.words import plain_actor
from widgets.panes.telling import TellingPane
from widgets.text.styled_text import Column, Columns, Line, Piece

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
        """Return what a proposal would do now."""


class InboxPane(TellingPane):
    """Proposals that wait for the person's decision: they are accepted, edited or rejected, one or many at once."""

    pane_id: ClassVar[str] = "inbox"
    title: ClassVar[str] = "Inbox"
    empty: ClassVar[str] = (
        "What agents want to rewrite or remove of your text waits here; nothing in the files changes before you accept "
        "it.\n\nNothing waits. `memdeck review policy` says what agents may do at once."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("actor", "file", "entry", "kind", "operation")
    item_name: ClassVar[str] = "proposal"

    def __init__(self, source: ProposalSource | None = None) -> None:
        """`source` provides the proposals; without it there are none."""
        super().__init__()
        self.source = source

    # What is shown

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:  # noqa: ARG002
        """A heading for each agent, the one with the newest proposal first, then its proposals, newest first."""
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
        """What its row depends on: a proposal looks different once it was edited."""
        return (item.ref, item.edited)

    def place(self, item: WaitingProposal) -> str:  # noqa: ARG002
        """Nothing: the detail shows it."""
        return ""

    def copied_ref(self, item: WaitingProposal) -> str:
        """Its id, as `memdeck review` accepts it."""
        return item.ref[:16]

    def draw_row(self, item: WaitingProposal, width: int) -> Line:
        """Draw kind, summary, file and time."""
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
        """A proposal is found by its actor, operation, summary, kinds, files and entries."""
        return " ".join((item.actor, item.operation, item.summary, *item.kinds, *item.files, *item.entries, item.ref))

    def field_text(self, item: WaitingProposal, name: str) -> str:
        """The value that `name:value` is compared with."""
        several = {"file": item.files, "entry": item.entries, "kind": item.kinds}
        return " ".join(several[name]) if name in several else super().field_text(item, name)

    def links(self, item: WaitingProposal) -> Sequence[Link]:  # noqa: ARG002
        """None: its entry may not exist."""
        return ()

    # The detail

    def detail_title(self, item: WaitingProposal) -> str:
        """Its summary."""
        return item.summary

    def detail(self, item: WaitingProposal) -> Sequence[DetailLine]:
        """Actor and time, why it waits, whether it still applies to the current files, and its effect on each entry."""
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
        source, now = self.source, self.now
        judged = None if source is None else self.told(item, lambda: source.judged(item.ref, now))
        if judged is None:
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

    def told_key(self, item: WaitingProposal) -> Hashable:
        """The key for what was found about a proposal; it includes the snapshot, because the files may change."""
        return (item.ref, item.edited, id(self.snapshot))
