"""What waits for the user: proposals of agents, commands to approve, entries that another program removed.

Below that is what was decided in the last days, which a key takes back.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from datetime import datetime
from typing import Any, ClassVar, Protocol

from memory.base.cron import describe
from memory.base.safe_text import plural
from memory.files.snapshot import Snapshot
from memory.history.outside import OutsideRemoval
from memory.monitoring.overview import WaitingAsk
from memory.review.inbox import STANDINGS, Judged
from memory.review.proposals import Proposal
from memory.trust.consent import ConsentRecord
from widgets.detail import Caption, DetailLine, Labelled, Lines, Link, Prose, Spacer
from widgets.list.rows import Heading, Note
from widgets.pane.base import Contents
from widgets.pane.records import Record, RecordPane
from widgets.panes.changes import place_name, short_actor, view_lines
from widgets.panes.memory.clients import ClientDeletion, deletions
from widgets.text.styled_text import Piece, Tone, line
from widgets.text.words import dated

DONE = {"added": "WOULD ADD", "removed": "WOULD REMOVE", "edited": "WOULD CHANGE", "moved": "WOULD MOVE"}
"""What accepting a proposal would do to an entry."""

ROLES = {
    "check": "The check of this monitor.",
    "fix": "The fix of this monitor; it runs when the check fails.",
    "action": "The action of this task; it runs when you run the task.",
    "folders": "Folders in which a prune deletes old files.",
    "validation": "A command that validates the project's state; it runs when you run it.",
}
"""What an approval is about, by the role of what would run."""

Decision = Proposal | ConsentRecord
"""A proposal that was accepted or rejected, or a command that was approved or denied."""


class WaitingSource(Protocol):
    """Where they come from; called in threads."""

    def proposals(self) -> Sequence[Proposal]:
        """Return the proposals that wait, newest first."""

    def approvals(self, snapshot: Snapshot, now: datetime) -> Sequence[WaitingAsk]:
        """Return what needs an approval."""

    def removals(self) -> Sequence[OutsideRemoval]:
        """Return the changes by other programs that removed entries which are still missing."""

    def decided(self, now: datetime) -> Sequence[Decision]:
        """Return what was decided lately and can be taken back, newest first."""

    def judged(self, ref: str, now: datetime) -> Judged:
        """Return what a proposal would do now, entry by entry, and whether it fits the current files."""


class WaitingPane(RecordPane):
    """`a` accepts the row under the cursor, `r` rejects it; undo takes either back, and so does `r` later."""

    pane_id: ClassVar[str] = "waiting"
    title: ClassVar[str] = "Waiting"
    empty: ClassVar[str] = (
        "What waits for you: changes that agents propose to your text, commands that need your approval, and entries "
        "that another program removed.\n\nNothing waits. What you decide stays listed here for a week; you can "
        "revert it. `memdeck review policy` says what agents may do at once."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("part", "actor", "file", "entry", "kind", "operation")
    item_name: ClassVar[str] = "proposal"

    source: WaitingSource | None

    def __init__(self, source: WaitingSource | None = None) -> None:
        super().__init__(source)
        self._shown = 0
        """How often files were shown."""

    # Display

    def put(self, contents: Contents, *, flash: bool = True) -> None:
        """Show what was read; what a proposal would do now is found anew, because it depends on the files."""
        self._shown += 1
        super().put(contents, flash=flash)

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:
        """Yield proposals, approvals and removals, each under a heading; then what was decided."""
        source = self.source
        if source is None:
            return
        waits = False
        for title, found in (
            ("PROPOSALS OF AGENTS", [_proposal(one) for one in source.proposals()]),
            ("NEEDS YOUR APPROVAL", list(_asks(source.approvals(snapshot, now)))),
            ("REMOVED BY OTHER PROGRAMS", [_removal(one) for one in source.removals()]),
            ("DELETED BY CLIENTS", [_deletion(one) for one in deletions(snapshot, now)]),
            ("DECIDED LATELY", [_decided(one) for one in source.decided(now)]),
        ):
            if found and not waits and found[0].part == "decided":
                yield Note("Nothing waits for you.")
            waits = waits or bool(found)
            if found:
                yield Heading(title, f"{len(found)}")
                yield from found

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """Return nothing: the headings say how many there are."""
        return ""

    def copied_ref(self, item: Record) -> str:
        """Return the id of a proposal, as `memdeck review` accepts it."""
        return item.ref[:16] if isinstance(item.thing, Proposal) else item.ref

    def detail_title(self, item: Record) -> str:
        """Return what the row is about; for a command the monitor or task that would run it."""
        return item.values.get("name", item.title)

    def detail(self, item: Record) -> Sequence[DetailLine]:
        """Show what would happen, who asks for it, and why."""
        thing: Decision | WaitingAsk | OutsideRemoval | ClientDeletion = item.thing
        match thing:
            case Proposal() as one:
                return self._proposal_detail(item, one)
            case WaitingAsk(ask=ask) | ConsentRecord(ask=ask) as one:
                interval, role = ask.detail("interval"), WaitingAsk(ask, "", "").role
                done: dict[str, str] = {one.verdict: one.when} if isinstance(one, ConsentRecord) else {"why": one.why}
                return self.lines({
                    "": Prose(ROLES.get(role, role), tone="muted"), " ": Prose(ask.shown or ask.text), "  ": Spacer(),
                    "runs": describe(interval) if interval else "", "in": f"{ask.file}, line {ask.line + 1}", **done,
                })  # fmt: skip
            case OutsideRemoval(entries=entries):
                rows = [line(title, Piece(f"  {place_name(file)}", "muted")) for file, _, title in entries]
                return [Lines(tuple(rows)), Spacer(), Labelled("removed", plural(len(rows), "entry"))]
            case ClientDeletion() as one:
                files = tuple(line(lost.path) for lost in one.lost)
                return [Lines(files), Spacer(), Labelled("folder", one.source.shown)]

    def _proposal_detail(self, item: Record, one: Proposal) -> list[DetailLine]:
        source, now = self.source, self.now
        judged = None if source is None else self.told_later(item, lambda: source.judged(one.id, now))
        parts: list[DetailLine] = [
            Labelled("by", f"{short_actor(one.actor)}, {dated(one.time.isoformat(), now, self.zone)}"),
            Labelled("asks", "to " + " and ".join(one.kinds) + (", edited by a person" if one.edited else "")),
        ]
        if one.decided_at is not None:
            parts.append(Labelled(one.state, dated(one.decided_at.isoformat(), now, self.zone)))
        if one.place:
            parts.append(Labelled("in", f"{one.place}, outside this workspace"))
        if judged is None:
            return parts
        views, state = judged
        bad = state.state in ("conflict", "gone")
        if one.state == "waiting":
            parts.append(Labelled("now", STANDINGS[state.state], "alert" if bad else "plain"))
        parts += [Prose(reason, tone="muted") for reason in state.reasons[:5]]
        names = None if one.state == "accepted" else DONE
        parts += view_lines(views, self.glyphs, self.detail_view.scrollable_content_region.width, names)
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
    title = one.wanted or one.operation
    values = {
        "part": "proposals", "actor": one.actor, "file": " ".join(one.files), "entry": entries,
        "kind": " ".join(one.kinds), "operation": one.operation,
    }  # fmt: skip
    tone: Tone = "warn" if "remove" in one.kinds else "plain"
    about = short_actor(one.actor) + ("  edited" if one.edited else "")
    return Record(one.id, title[:1].upper() + title[1:], about=about, when=one.time.isoformat(), tone=tone,
                  values=values, mark=one.edited, thing=one)  # fmt: skip


def _decided(one: Decision) -> Record:
    values = {"part": "decided"}
    words: str
    if isinstance(one, Proposal):
        when = (one.decided_at or one.time).isoformat()
        words, title, about, good = one.state, one.wanted, short_actor(one.actor), one.state == "accepted"
    else:
        when, good, about = one.when, one.verdict == "approved", " ".join((one.ask.shown or one.ask.text)[:200].split())
        words, title = one.verdict, one.ask.name
    return Record(f"decided:{one.id}", f"{words.capitalize()}: {title}", about=about, when=when,
                  sign="check" if good else "cross", tone="good" if good else "muted", values=values, thing=one,
                  mark=words)  # fmt: skip


def _asks(waiting: Sequence[WaitingAsk]) -> Iterator[Record]:
    """Yield what needs an approval; what else one monitor or task would run is below its first row."""
    groups: dict[tuple[str, str], list[WaitingAsk]] = {}
    for one in waiting:
        groups.setdefault((one.ask.file, one.ask.name), []).append(one)
    for some in groups.values():
        for one in some:
            first, text = one is some[0], " ".join((one.ask.shown or one.ask.text)[:200].split())
            title, about = (one.ask.name, f"{one.role}: {text}") if first else (one.role, text)
            yield Record("|".join(map(str, one.ask.slot)), title, about=about, depth=0 if first else 1, mark=one.why,
                         values={"part": "approvals", "file": one.ask.file, "name": one.ask.name}, thing=one,
                         leads=[Link("entry", one.ask.name, (one.place, one.ref))] if one.ref else ())  # fmt: skip


def _removal(one: OutsideRemoval) -> Record:
    values = {"part": "removals", "file": " ".join(one.files)}
    about = ", ".join(dict.fromkeys(map(place_name, one.files)))
    return Record(one.id, ", ".join(one.titles), about=about, when=one.time.isoformat(), sign="alert", tone="warn",
                  values=values, thing=one)  # fmt: skip


def _deletion(one: ClientDeletion) -> Record:
    source, newest, number = one.source, one.lost[0], len(one.lost)
    values = {"part": "removals", "file": source.shown}
    title = f"{plural(number, 'memory')}, {source.title}"
    return Record(source.shown, title, about=newest.path, when=newest.record.time.isoformat(), sign="alert",
                  tone="warn", values=values, mark=number, thing=one)  # fmt: skip
