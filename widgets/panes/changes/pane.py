"""The changes pane: the change log of every writer, newest first, entry by entry; older pages are read when needed."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any, ClassVar, Protocol

from textual.timer import Timer
from textual.worker import Worker, WorkerState

from memory.base.clock import BadMoment
from memory.base.dates import time_bound
from memory.files.diff import ChangeView
from memory.files.snapshot import Snapshot, plain_title
from widgets.chrome.frame import Frame
from widgets.detail import Caption, DetailLine, Labelled, Link, Prose, Spacer, Title
from widgets.list.rows import Heading, Note
from widgets.pane.base import Contents
from widgets.pane.filter import Needles, strange_words
from widgets.pane.rows import RowKey
from widgets.panes.journal.pane import day_title
from widgets.panes.telling import TellingPane
from widgets.text.styled_text import Line, Piece, line_text

from .detail import view_lines
from .logged_change import LoggedChange
from .words import ROW, WIDEST, folded, plain_actor, short_actor, summary_line, turned_lines

PAGE = 200
"""How many changes are read at a time."""

NEAR = 40
"""How many rows before the last one the next page is read."""

SETTLE_SECONDS = 0.2
"""How long nothing is typed into the filter before older pages are searched."""

OWN = ("human", "cli")
"""The actors that mean the person."""


class ChangeSource(Protocol):
    """Where changes come from; called in threads."""

    def page(self, limit: int, before: int | None) -> Sequence[LoggedChange]:
        """The newest changes before a place, newest first."""

    def stamp(self) -> Hashable:
        """A value that differs as soon as a listing would differ."""

    def told(self, ref: str) -> Sequence[ChangeView]:
        """Return what a change did, entry by entry."""


class ChangesPane(TellingPane):
    """Every change of every writer, memdeck's own and those from outside."""

    pane_id: ClassVar[str] = "changes"
    number: ClassVar[str] = "0"
    title: ClassVar[str] = "Changes"
    empty: ClassVar[str] = (
        "Who changed what and when: you, agents, maintenance and other programs.\n\n"
        "Nothing changed yet. u takes your last change back, U brings it again, X takes back any change in this list."
    )
    filter_fields: ClassVar[tuple[str, ...]] = (
        "actor",
        "file",
        "entry",
        "date",
        "since",
        "until",
        "operation",
        "state",
    )
    item_name: ClassVar[str] = "change"

    def __init__(self, source: ChangeSource | None = None) -> None:
        """`source` provides the changes; without it there are none."""
        super().__init__()
        self.source = source
        self._lock = threading.Lock()
        self._wanted = PAGE
        self._listed = _Listed("", None)
        self._typing: Timer | None = None

    # What is shown

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:
        """A heading per day, then its changes; a note while there are older ones."""
        found = self._read(self.filter)
        zone = snapshot.zone
        today = now.astimezone(zone).date()
        rows: list[Any] = []

        def day_of(change: LoggedChange) -> str:
            return change.time.astimezone(zone).date().isoformat()

        for day, changes in groupby(folded(found.changes, day_of), day_of):
            if rows:
                rows.append(Note(number=len(rows)))
            rows.append(Heading(day_title(day, today)))
            rows += changes
        if rows and not found.complete:
            rows.append(Note("… older changes follow", len(rows)))
        return rows

    def _read(self, text: str) -> _Listed:
        """Continue the list until it is long enough; what is listed already is not read again."""
        if self.source is None:
            return _Listed(text, None, complete=True)
        with self._lock:
            stamp = self.source.stamp()
            listed = self._listed
            if (listed.text, listed.stamp) != (text, stamp):
                listed = _Listed(text, stamp)
            needles = Needles.read(text, self.filter_fields) if text else None
            while len(listed.changes) < self._wanted and not listed.complete and text == self.filter:
                page = self.source.page(PAGE, listed.last)
                kept = page if needles is None else [one for one in page if needles.fit(RowKey(one, None), self)]
                listed = _Listed(
                    text,
                    stamp,
                    (*listed.changes, *kept),
                    page[-1].place if page else listed.last,
                    listed.seen + len(page),
                    complete=len(page) < PAGE,
                )
            self._listed = listed
            return listed

    def mark(self, item: LoggedChange) -> Hashable:
        """A change looks different once it is undone."""
        return (item.ref, item.undone_by, item.kept, len(item.turns))

    def place(self, item: LoggedChange) -> str:  # noqa: ARG002
        """Nothing: the detail shows the actor."""
        return ""

    def copied_ref(self, item: LoggedChange) -> str:
        """Its id, as `memdeck changes` accepts it."""
        return item.ref[:16]

    def draw_row(self, item: LoggedChange, width: int) -> Line:
        """Time, actor and summary; an actor other than the person stands out."""
        room = next(cells for column, cells in ROW.fit(width) if column.name == "summary")
        cells: dict[str, Piece | Line] = {
            "time": Piece(f"{item.time.astimezone(self.zone):%H:%M}", "muted"),
            "actor": Piece(short_actor(item.actor), "muted" if item.actor in OWN else "accent"),
            "summary": summary_line(item, room),
        }
        return ROW.line(width, cells)

    def text(self, item: LoggedChange) -> str:
        """A change is found by its actor, operation, summary, files and entries."""
        entries = " ".join(f"{one.title} {one.ref or ''}" for one in item.entries)
        who = f"{item.actor} {plain_actor(item.actor)}"
        return " ".join((who, item.operation, item.summary, *item.files, entries, item.ref))

    def field_text(self, item: LoggedChange, name: str) -> str:
        """The value that `name:value` is compared with; `date` is in the workspace's zone."""
        match name:
            case "actor":
                # By either name: the one in the list, and the one on the command line.
                return f"{item.actor} {plain_actor(item.actor)}"
            case "file":
                return " ".join(item.files)
            case "entry":
                return " ".join(f"{one.ref or ''} {one.title}" for one in item.entries)
            case "date":
                return f"{item.time.astimezone(self.zone):%Y-%m-%d %H:%M %A}"
            case "state":
                return "undone" if item.undone_by else "" if item.kept else "thinned"
            case _:
                return super().field_text(item, name)

    def field_fits(self, item: LoggedChange, name: str, value: str) -> bool | None:
        """`since` and `until` compare times: a day, a day and time, `today`, `yesterday`, `monday`, `-3d`."""
        if name not in ("since", "until"):
            return None
        bound = self._bound(value, end=name == "until")
        if bound is None:
            return True  # An incomplete date excludes nothing yet.
        return item.time >= bound if name == "since" else item.time <= bound

    def _bound(self, value: str, *, end: bool) -> datetime | None:
        text = value.replace("_", " ")
        try:
            return time_bound(text.upper() if text[:1].isdigit() else text, self.now, self.zone, end=end)
        except BadMoment:
            return None

    # The detail

    def detail_title(self, item: LoggedChange) -> str:
        """What was done."""
        return line_text(summary_line(replace(item, undone_by=None), WIDEST))

    def detail(self, item: LoggedChange) -> Sequence[DetailLine]:
        """Actor and time, whether it was undone or redone since, then what happened to each entry."""
        row = self.line_list.cursor
        if isinstance(row, RowKey) and row.item is item:
            # The change itself contains its links, so no search is needed.
            self.linking.known(row, self.links(item))
        parts: list[DetailLine] = [
            Title(self.detail_title(item)),
            Spacer(),
            Labelled("by", plain_actor(item.actor)),
            Labelled("at", f"{item.time.astimezone(self.zone):%Y-%m-%d %H:%M:%S}"),
            *turned_lines(item, self.zone),
            Labelled("operation", item.operation or "none", "muted"),
        ]
        source = self.source
        views = self.told(item, lambda: source.told(item.ref)) if source is not None and item.kept else None
        if views is None:
            for one in item.entries[:20]:
                parts += [
                    Spacer(),
                    Caption(f"{one.kind.upper()}  {plain_title(one.file, one.title)}"),
                    Prose(one.file, tone="muted"),
                ]
            return parts
        return [*parts, *view_lines(views, self.glyphs)]

    def links(self, item: LoggedChange) -> Sequence[Link]:
        """The first five entries that it changed and did not remove."""
        found = [one for one in item.entries if one.ref is not None and one.kind != "removed"][:5]
        return [
            Link(one.file.removesuffix(".md"), plain_title(one.file, one.title), (one.file, one.ref)) for one in found
        ]

    # Pages

    def put(self, contents: Contents, *, flash: bool = True) -> None:
        """Show what was read; new changes come at the top, so rows do not flash because a page was added below."""
        super().put(contents, flash=flash and self._wanted == PAGE and not self.filter)

    def set_filter(self, text: str) -> None:
        """Filter, and once the keys rest search the older changes as well, page by page."""
        changed = text != self.filter
        super().set_filter(text)
        if changed:
            self._wanted = PAGE
            if self._typing is not None:
                self._typing.stop()
            self._typing = self.set_timer(SETTLE_SECONDS, self._read_on)

    def follow_cursor(self) -> None:
        """Show the change under the cursor, and read the next page if the cursor is near the end."""
        super().follow_cursor()
        near = self.line_list.position + NEAR >= len(self.line_list.rows)
        if near and self.contents is not None and not self._listed.complete and self._typing is None:
            self._wanted = len(self._listed.changes) + PAGE
            self._read_on()

    def _read_on(self) -> None:
        self._typing = None
        snapshot, now, text = self.snapshot, self.now, self.filter
        if snapshot is not None and self.is_attached:
            self.run_worker(
                lambda: (text, self.read(snapshot, now)),
                group="pages",
                thread=True,
                exclusive=True,
                exit_on_error=False,
            )

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Show the page that was read, if the filter is still the same."""
        if event.worker.group != "pages":
            return
        event.stop()
        if event.state is WorkerState.SUCCESS and event.worker.result is not None:
            text, contents = event.worker.result
            if text == self.filter and contents.snapshot is self.snapshot:
                self.put(contents, flash=False)
            elif text == self.filter:
                self._read_on()

    @property
    def row_count(self) -> int:
        """How many changes were read so far, shown or not."""
        return super().row_count or self._listed.seen

    def say_title(self) -> None:
        """Show how many changes are listed, of how many that were read; a `+` means that there are more."""
        rows = [row for row in self.line_list.rows if isinstance(row, RowKey)]
        # A change that only undid or redid another one is part of that one's row.
        turns = sum(len(row.item.turns) for row in rows)
        more = "" if self._listed.complete else "+"
        count = f"{self._listed.seen - turns:,}{more}"
        said = [f"{count} change{'' if count == '1' else 's'}"] if rows else []
        if self.filter:
            said = [
                f"{len(rows) + turns:,} of {self._listed.seen:,}{more}",
                strange_words(self.filter, self.filter_fields),
            ]
            self.filter_bar.say("  ".join(filter(None, said)))
        if self.line_list.selected:
            said = [f"{len(self.line_list.selected)} selected"]
        self.query_one(".pane--list-frame", Frame).say(self.title, *said)


@dataclass(frozen=True, slots=True)
class _Listed:
    """What was read so far for one filter: the matching changes, and up to which place the log was read."""

    text: str
    stamp: Hashable
    changes: tuple[LoggedChange, ...] = ()
    last: int | None = None
    seen: int = 0
    complete: bool = False
