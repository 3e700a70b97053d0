"""What waits for the user: proposals of agents, commands to approve, entries that another program removed."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from datetime import datetime
from typing import Any, ClassVar, Protocol

from memory.base.safe_text import plural
from memory.files.snapshot import Snapshot
from memory.history.outside import OutsideRemoval
from memory.monitoring.overview import WaitingAsk
from memory.review.inbox import STANDINGS, Judged
from memory.review.proposals import Proposal
from widgets.detail import Caption, DetailLine, Labelled, Lines, Prose, Spacer
from widgets.list.rows import Heading
from widgets.pane.base import Contents
from widgets.pane.records import Record, RecordPane
from widgets.panes.changes import short_actor, view_lines
from widgets.panes.memory.clients import ClientDeletion, deletions
from widgets.text.styled_text import Piece, Tone, line


class WaitingSource(Protocol):
    """Where they come from; called in threads."""

    def proposals(self) -> Sequence[Proposal]:
        """Return the proposals that wait, newest first."""

    def approvals(self, snapshot: Snapshot, now: datetime) -> Sequence[WaitingAsk]:
        """Return what needs an approval."""

    def removals(self) -> Sequence[OutsideRemoval]:
        """Return the changes by other programs that removed entries which are still missing."""

    def judged(self, ref: str, now: datetime) -> Judged:
        """Return what a proposal would do now, entry by entry, and whether it fits the current files."""


class WaitingPane(RecordPane):
    """`a` accepts the row under the cursor, `r` rejects it; undo takes either back."""

    DEFAULT_CSS: ClassVar[str] = """
    WaitingPane > .pane--list-frame { width: 2fr; }
    WaitingPane > .pane--detail-frame { width: 3fr; }
    """
    pane_id: ClassVar[str] = "waiting"
    title: ClassVar[str] = "Waiting"
    lead_cells: ClassVar[int] = 10
    empty: ClassVar[str] = (
        "What waits for you: changes that agents propose to your text, commands that need your approval, and entries "
        "that another program removed.\n\nNothing waits. `memdeck review policy` says what agents may do at once."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("part", "actor", "file", "entry", "kind", "operation")
    item_name: ClassVar[str] = "proposal"

    def __init__(self, source: WaitingSource | None = None) -> None:
        """`source` provides what waits; without it nothing does."""
        super().__init__()
        self.source = source
        self._shown = 0
        """How often files were shown."""

    # Display

    def put(self, contents: Contents, *, flash: bool = True) -> None:
        """Show what was read; what a proposal would do now is found anew, because it depends on the files."""
        self._shown += 1
        super().put(contents, flash=flash)

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:
        """Yield proposals, approvals and removals, each under a heading that names its keys."""
        source = self.source
        if source is None:
            return
        for title, hint, found in (
            ("PROPOSALS", "a accepts, r rejects", [_proposal(one) for one in source.proposals()]),
            ("NEEDS APPROVAL", "a reviews", [_ask(one) for one in source.approvals(snapshot, now)]),
            ("REMOVED BY OTHER PROGRAMS", "a restores, r dismisses", [_removal(one) for one in source.removals()]),
            ("DELETED BY CLIENTS", "a restores, r dismisses", [_deletion(one) for one in deletions(snapshot, now)]),
        ):
            if found:
                yield Heading(title, f"{len(found)}  {hint}")
                yield from found

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """Return nothing: the headings say how many there are."""
        return ""

    def copied_ref(self, item: Record) -> str:
        """Return the id of a proposal, as `memdeck review` accepts it."""
        return item.ref[:16] if isinstance(item.thing, Proposal) else item.ref

    def detail(self, item: Record) -> Sequence[DetailLine]:
        """Show who asks and why, and what would happen."""
        thing: Proposal | WaitingAsk | OutsideRemoval | ClientDeletion = item.thing
        match thing:
            case Proposal() as one:
                return self._proposal_detail(item, one)
            case WaitingAsk() as one:
                text = one.ask.shown or one.ask.text
                return [
                    Labelled("what", one.role), Labelled("in", one.ask.file),
                    Labelled("why", one.why), Spacer(), Caption("WOULD RUN"), Prose(text),
                ]  # fmt: skip
            case OutsideRemoval(entries=entries):
                rows = [line(title, Piece(f"  {file}", "muted")) for file, _, title in entries]
                return [Labelled("removed", f"{len(rows)} entries"), Spacer(), Lines(tuple(rows))]
            case ClientDeletion() as one:
                files = tuple(line(lost.path) for lost in one.lost)
                return [Labelled("folder", one.source.shown), Spacer(), Lines(files)]

    def _proposal_detail(self, item: Record, one: Proposal) -> list[DetailLine]:
        parts: list[DetailLine] = [
            Labelled("by", short_actor(one.actor)),
            Labelled("at", f"{one.time.astimezone(self.zone):%Y-%m-%d %H:%M:%S}"),
            Labelled("why", ", ".join(one.kinds)),
        ]
        if one.place:
            parts.append(Labelled("in", f"{one.place}, outside this workspace"))
        if one.edited:
            parts.append(Labelled("edited", "by a person"))
        source, now = self.source, self.now
        judged = None if source is None else self.told_later(item, lambda: source.judged(item.ref, now))
        if judged is None:
            return parts
        views, state = judged
        parts.append(
            Labelled("now", STANDINGS[state.state], "alert" if state.state in ("conflict", "gone") else "plain")
        )
        parts += [Prose(reason, tone="muted") for reason in state.reasons[:5]]
        width = self.detail_view.scrollable_content_region.width
        parts += view_lines(views, self.glyphs, width)
        for clash in state.clashes[:20]:
            told = clash.json()
            parts += [Spacer(), Caption(f"BOTH CHANGED  {told['entry'] or told['section']}: {told['field']}")]
            for word, side in (("before", "base"), ("proposal", "ours"), ("now", "theirs")):
                parts.append(Labelled(word, told[side] if told[side] is not None else "nothing"))
        return parts

    def told_key(self, item: Record) -> Hashable:
        """Return the key of what was found about a proposal, with the files that are shown."""
        return (item.ref, item.mark, self._shown)


def _proposal(one: Proposal) -> Record:
    entries = " ".join(f"{part.title} {part.ref or ''}" for part in one.touched)
    title, kind = one.wanted or one.operation, one.kinds[0] if one.kinds else ""
    values = {
        "part": "proposals", "actor": one.actor, "file": " ".join(one.files), "entry": entries,
        "kind": " ".join(one.kinds), "operation": one.operation,
    }  # fmt: skip
    tone: Tone = "warn" if "remove" in one.kinds else "plain"
    about = short_actor(one.actor) + ("  edited" if one.edited else "")
    return Record(one.id, title, kind, about, one.time.isoformat(), tone=tone,
                  values=values, mark=one.edited, thing=one)  # fmt: skip


def _ask(one: WaitingAsk) -> Record:
    values = {"part": "approvals", "file": one.ask.file}
    ref = "|".join(map(str, one.ask.slot))
    return Record(ref, one.ask.name, one.role, one.why, values=values, mark=one.why, thing=one)


def _removal(one: OutsideRemoval) -> Record:
    values = {"part": "removals", "file": " ".join(one.files)}
    return Record(one.id, ", ".join(one.titles), "removed", ", ".join(one.files), one.time.isoformat(), sign="alert",
                  tone="warn", values=values, thing=one)  # fmt: skip


def _deletion(one: ClientDeletion) -> Record:
    source, newest, number = one.source, one.lost[0], len(one.lost)
    values = {"part": "removals", "file": source.shown}
    title = f"{plural(number, 'memory')}, {source.title}"
    return Record(source.shown, title, "deleted", newest.path, newest.record.time.isoformat(), sign="alert",
                  tone="warn", values=values, mark=number, thing=one)  # fmt: skip
