"""The state pane: a project's status, bundle, backlog for a recall, sources of sessions, checkpoints and history."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from textual.message import Message

from memory.errors import MemdeckError
from memory.state.files.json_text import canonical
from memory.state.files.model import KEYS, plural
from memory.state.look import StateLook
from widgets.chrome.keys import with_keys
from widgets.detail import Caption, DetailLine, Labelled, Lines, Link, Prose, Spacer, Title
from widgets.list.outline import OutlinePane
from widgets.pane.base import Badge, Build, FormPlan, Removal
from widgets.text.styled_text import Line, Piece, clip_line, line, line_width

from . import detail as details
from . import forms as state_forms
from .lines import row_cells
from .rows import (
    LISTS,
    CheckpointRow,
    EntryRow,
    EventRow,
    EvidenceRow,
    SectionRow,
    SourceRow,
    StatusRow,
    entry_ref,
    rows_of,
)

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot
    from memory.state.diff import SectionDiff
    from memory.state.status import Status

FOLLOWING = {
    "memdeck state recall": ("{state.recall|n}", "recalls them"),
    "memdeck state sync --all": ("{state.sync|I}", "imports again"),
    "memdeck state update": ("{state.update|N}", "renews the state"),
    "memdeck state prune": ("{upkeep.maintain|M}", "does the maintenance"),
    "memdeck state validate --repair": ("{state.repair|*}", "shows what can be mended"),
}
"""The key for the command that a status suggests, and what it does."""


def _look(snapshot: Snapshot) -> StateLook | None:
    return snapshot.of("state", StateLook)


class StatePane(OutlinePane):
    """A project's state as an outline; a recall is shown before it is applied, and checkpoints are compared."""

    pane_id: ClassVar[str] = "state"
    title: ClassVar[str] = "State"
    files: ClassVar[tuple[str, ...]] = (".agent-memory/state.json",)
    empty: ClassVar[str] = (
        "What this repository is, what is worked on, its traps and next steps, kept for people and agents. Sessions of "
        "agents are imported as events, and a recall takes what they say into it.\n\n"
        "Press {state.update|N} to make it from the repository as it is: manifests, README, tree, test commands, git. "
        "Nothing is run. `memdeck state init` does the same."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("part", "source")
    filter_values: ClassVar[dict[str, tuple[str, ...]]] = {
        "part": ("status", "bundle", "backlog", "sources", "checkpoints", "history")
    }

    @dataclass
    class Compared(Message):
        """What a checkpoint changed was found."""

        ref: str

    def __init__(self) -> None:
        super().__init__()
        self._found: tuple[StateLook | None, details.Findings] | None = None
        self._stood: tuple[StateLook, date, Status | None] | None = None
        self._changed: tuple[StateLook | None, dict[str, tuple[SectionDiff, ...] | str]] = (None, {})

    def state(self) -> StateLook | None:
        """The state as it was last read."""
        return None if self.snapshot is None else _look(self.snapshot)

    @property
    def findings(self) -> details.Findings | None:
        """What the last validation found, as long as the state is the same."""
        known = self._found
        return None if known is None or known[0] is not self.state() else known[1]

    @property
    def _seen(self) -> details.DetailContext:
        return details.DetailContext(self.now, self.zone, self.glyphs, lambda text: with_keys(text, self.app))

    def say_findings(self, findings: details.Findings) -> None:
        """Show what a validation found, in the detail of the status row."""
        self._found = (self.state(), findings)
        self.go_to(StatusRow.ref)
        self.line_list.refresh()
        if self.has_class("-single"):
            self.open_detail()
        self._show_detail()

    # What is shown

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:
        """The status, then bundle, backlog, sources, checkpoints and what was recalled."""
        look = _look(snapshot)
        return () if look is None else tuple(rows_of(look, self._status(look, now)))

    def _status(self, look: StateLook, now: datetime) -> Status | None:
        """The status of a look, cached until the files or the day change; the day decides what is too old."""
        known, day = self._stood, now.date()
        if known is None or known[0] is not look or known[1] != day:
            try:
                status = None if look.problem is not None else look.status(now)
            except MemdeckError:
                status = None
            known = self._stood = (look, day, status)
        return known[2]

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """How many events wait."""
        look = _look(snapshot)
        return f"{len(look.backlog):,} waiting" if look is not None and look.backlog else ""

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """How many events wait; an unreadable state or a failed source needs attention."""
        look = _look(snapshot)
        if look is None or (look.state is None and not look.events):
            return Badge(None, look is not None and look.problem is not None and look.problem.code != "state.missing")
        failed = any(source["lastSyncStatus"] == "failed" for source in look.sources)
        return Badge(len(look.backlog) or None, look.problem is not None or failed)

    def depth(self, item: Any) -> int:
        """Entries are below their section, events below their group."""
        return item.depth if isinstance(item, EventRow) else int(isinstance(item, EntryRow))

    def folds(self, item: Any) -> bool:
        """Sections with entries, and groups of events."""
        return isinstance(item, EvidenceRow) or (
            isinstance(item, SectionRow) and item.name in LISTS and bool(item.value)
        )

    def mark(self, item: Any) -> Hashable:
        """What its row depends on: an event looks different once it was recalled."""
        match item:
            case StatusRow():
                return (item.ref, "" if item.problem is None else item.problem.message)
            case EventRow():
                return (item.event["id"], item.event["contentHash"], item.waits)
            case EvidenceRow():
                return item.evidence.event_ids
            case CheckpointRow():
                return (item.point, item.latest)
            case SourceRow():
                return tuple(map(str, item.record.values()))
            case _:
                return (item.ref, hash(repr(item.value)))

    def counts(self, item: Any) -> bool:
        """Whether an item is counted: everything but the status row."""
        return not isinstance(item, StatusRow)

    def go_to(self, ref: str) -> bool:
        """Put the cursor on an entry; search refers to gotchas and next steps by their numbers."""
        look = self.state()
        for name, noun in LISTS.items():
            lead, _, number = ref.rpartition("-")
            if lead == f"state#{noun.replace(' ', '-')}" and number.isdecimal() and look is not None and look.bundle:
                entries = look.bundle[KEYS[name]]
                if 0 < int(number[:9]) <= len(entries):
                    ref = entry_ref(name, str(entries[int(number) - 1]["title"]))
        return super().go_to(ref)

    def place(self, item: Any) -> str:
        """The name or id of an item on the command line."""
        if isinstance(item, SectionRow):
            return item.name
        return str(item.event["id"]) if isinstance(item, EventRow) else ""

    def copied_ref(self, item: Any) -> str:
        """The same as `place`, and also the ids of checkpoints and sources."""
        return item.title if isinstance(item, CheckpointRow | SourceRow) else self.place(item)

    def text(self, item: Any) -> str:
        """The text that the filter searches."""
        match item:
            case SectionRow() | EntryRow():
                return f"{item.title} {item.value}"
            case EventRow():
                signals = (text for texts in item.event["signals"].values() for text in texts)
                return " ".join((item.event["id"], item.title, item.source, item.event["createdAt"], *signals))
            case EvidenceRow():
                return f"{item.title} {item.source}"
            case SourceRow():
                return " ".join(map(str, item.record.values()))
            case CheckpointRow():
                return f"{item.point.id} {item.point.summary} {item.point.why} {item.point.created}"
            case _:
                return str(item.title)

    def field_text(self, item: Any, name: str) -> str:
        """The part that an item belongs to, or where an event comes from."""
        return str(getattr(item, name, None) or "")

    # Rows

    def draw_row(self, item: Any, width: int) -> Line:
        """One line for each kind of row."""
        if isinstance(item, StatusRow):
            return clip_line(self._standing(item), width)
        lead = line(self.indent(item))
        return line(lead, row_cells(item, self._seen, max(0, width - line_width(lead))))

    def _standing(self, item: StatusRow) -> Line:
        glyphs = self.glyphs
        if item.problem is not None:
            return line(Piece(f"{glyphs.alert} ", "alert"), Piece(item.problem.message, "alert"))
        if self.findings is not None and (failed := len(self.findings.of("fail"))):
            return line(Piece(f"{glyphs.alert} ", "alert"), Piece(f"{plural(failed, 'finding')} to mend", "alert"))
        if item.status is None or item.status.next.command is None:
            return line(Piece(f"{glyphs.check} ", "good"), Piece("Nothing waits", "muted"))
        why = item.status.next.why
        return line(
            Piece(f"{glyphs.right} ", "accent"),
            Piece(why[:1].upper() + why[1:], "strong"),
            "  ",
            self._following(item),
        )

    def _following(self, item: StatusRow) -> Line:
        """The key for the suggested command; empty where there is none."""
        command = None if item.status is None else item.status.next.command
        if command is None:
            return ()
        key, words = FOLLOWING.get(command, ("", command))
        return line(Piece(with_keys(key, self.app), "accent"), Piece(f" {words}", "muted"))

    # The detail

    def detail(self, item: Any) -> Sequence[DetailLine]:
        """Everything in full."""
        seen = self._seen
        if isinstance(item, StatusRow):
            return list(details.standing_detail(item, seen, self._following(item), self.findings))
        if isinstance(item, CheckpointRow):
            return self._point_detail(item, seen)
        return list(details.DETAILS[type(item)](item, seen))

    def _point_detail(self, item: CheckpointRow, seen: details.DetailContext) -> list[DetailLine]:
        point = item.point
        lines: list[DetailLine] = [Title(item.title)]
        if point.why:
            return [*lines, Prose(point.why, tone="alert")]
        lines += [Prose(point.summary), Spacer(), Labelled("at", seen.when(point.created))]
        if item.latest:
            lines.append(Labelled("", "the latest", "accent"))
        hint = "{state.compare|=} compares it with the latest, or two that are selected."
        lines.append(Spacer())
        if item.before is None:
            lines.append(Prose("No checkpoint before it is kept.", tone="muted"))
        else:
            found = self._changed[1].get(item.ref)
            lines.append(Caption(f"SINCE {item.before}"))
            words = (line(Piece(found, "alert")),) if isinstance(found, str) else None
            lines.append(Lines(words or details.changed_lines(found, seen.glyphs), 4))  # type: ignore[arg-type]
        return [*lines, Spacer(), Prose(seen.with_keys(hint), tone="muted")]

    def links(self, item: Any) -> Sequence[Link]:
        """Link an event to its source, a checkpoint to its event; also find what a checkpoint changed."""
        look = self.state()
        if look is None:
            return ()
        if isinstance(item, CheckpointRow):
            self._compare(look, item)
            if item.point.event is not None:
                return [Link("event", item.point.event, (self.files[0], f"state#{item.point.event}"))]
        if isinstance(item, EventRow):
            name = item.event["sourceId"]
            if any(source["id"] == name for source in look.sources):
                return [Link("source", name, (self.files[0], f"state#source:{name}"))]
        return ()

    def _compare(self, look: StateLook, item: CheckpointRow) -> None:
        """Find what a checkpoint changed; in a worker, once the cursor rests on it."""
        if self._changed[0] is not look:
            self._changed = (look, {})
        known = self._changed[1]
        if item.before is None or item.point.why or item.ref in known:
            return
        try:
            known[item.ref] = look.diff(item.before, item.point.id)
        except MemdeckError as error:
            known[item.ref] = error.message
        self.post_message(self.Compared(item.ref))

    def on_state_pane_compared(self, message: Compared) -> None:
        """Show what a checkpoint changed, if the cursor is still there."""
        message.stop()
        item = self.current()
        if item is not None and self.ref(item) == message.ref and self.is_attached:
            self._show_detail()

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """The form of a gotcha or next step if the cursor is in that section, else of a source of sessions."""
        look, item = self.state(), self.current()
        if look is None or look.bundle is None:
            return None
        section = item.name if isinstance(item, SectionRow) else item.section if isinstance(item, EntryRow) else ""
        return state_forms.new_entry(section, look.bundle) if section in LISTS else state_forms.new_source()

    def editing(self, item: Any, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """The form of a gotcha, a next step, the project or the current focus; other sections have E."""
        if isinstance(item, EntryRow):
            return state_forms.edit_entry(item)
        return state_forms.edit_section(item) if isinstance(item, SectionRow) else None

    def removing(self, items: Sequence[Any]) -> Removal | None:
        """Remove gotchas and next steps, all in one change."""
        return state_forms.removal([item for item in items if isinstance(item, EntryRow)])

    def source_text(self, item: Any) -> str | None:
        """A section or an entry of it as JSON."""
        return canonical(item.value) + "\n" if isinstance(item, SectionRow | EntryRow) else None

    def from_source(self, item: Any, text: str, now: datetime) -> Build | None:  # noqa: ARG002
        """The edit of a section or of one of its entries; other items are not edited."""
        return state_forms.from_source(item, text) if isinstance(item, SectionRow | EntryRow) else None
