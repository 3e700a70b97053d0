"""The changes pane: the change log of every writer, newest first, entry by entry."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Any, ClassVar, Protocol

from memory.base.clock import BadMoment
from memory.base.dates import time_bound
from memory.files.diff import ChangeView
from memory.files.snapshot import Snapshot, plain_title
from widgets.detail import Caption, DetailLine, Labelled, Link, Prose, Spacer, Title
from widgets.list.rows import Heading, Note
from widgets.pane.rows import RowKey
from widgets.panes.journal.pane import day_title
from widgets.panes.telling import TellingPane
from widgets.text.styled_text import Line, Piece, line_text

from .detail import view_lines
from .logged_change import LoggedChange
from .words import ROW, WIDEST, folded, plain_actor, short_actor, summary_line, turned_lines

OWN = ("human", "cli")
"""The actors that mean the person."""


MOST = 2_000
"""How many of the newest changes are listed."""


class ChangeSource(Protocol):
    """Where changes come from; called in threads."""

    def newest(self, limit: int) -> Sequence[LoggedChange]:
        """The newest changes, the newest first."""

    def stamp(self) -> Hashable:
        """A value that differs as soon as a listing would differ."""

    def told(self, ref: str) -> Sequence[ChangeView]:
        """Return what a change did, entry by entry."""


class ChangesPane(TellingPane):
    """Every change of every writer, memdeck's own and those from outside."""

    pane_id: ClassVar[str] = "changes"
    title: ClassVar[str] = "Changes"
    empty: ClassVar[str] = (
        "Who changed what and when: you, agents, maintenance and other programs.\n\n"
        "Nothing changed yet. {change.undo|u} undoes your last change, {change.redo|U} does it again, {change.revert|X}"
        " takes back any change in this list."
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
        """List the changes of a source; none without one."""
        super().__init__()
        self.source = source
        self._newest: tuple[Hashable, Sequence[LoggedChange]] = (None, ())
        self._count = 0

    # Display

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:
        """The newest changes under their days; a change that only undid another one is part of that one's row."""
        if self.source is not None and self._newest[0] != (stamp := self.source.stamp()):
            self._newest = (stamp, self.source.newest(MOST))
        found, zone = self._newest[1], snapshot.zone
        today = now.astimezone(zone).date()
        rows: list[Any] = []

        def day_of(change: LoggedChange) -> str:
            return change.time.astimezone(zone).date().isoformat()

        shown = folded(found, day_of)
        self._count = len(shown)
        for day, changes in groupby(shown, day_of):
            if rows:
                rows.append(Note(number=len(rows)))
            rows.append(Heading(day_title(day, today)))
            rows += changes
        if len(found) == MOST:
            rows.append(Note(f"… the newest {MOST:,}; `memdeck changes list` has all", len(rows)))
        return rows

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """How many changes are listed."""
        count = self._count
        return "" if not count else "1 change" if count == 1 else f"{count:,} changes"

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
        """Time, actor and summary; an actor other than the person is highlighted."""
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
        views = self.told_later(item, lambda: source.told(item.ref)) if source is not None and item.kept else None
        if views is None:
            for one in item.entries[:20]:
                parts += [
                    Spacer(),
                    Caption(f"{one.kind.upper()}  {plain_title(one.file, one.title)}"),
                    Prose(one.file, tone="muted"),
                ]
            return parts
        return [*parts, *view_lines(views, self.glyphs, self.detail_view.scrollable_content_region.width)]

    def links(self, item: LoggedChange) -> Sequence[Link]:
        """The first five entries that it changed and did not remove."""
        found = [one for one in item.entries if one.ref is not None and one.kind != "removed"][:5]
        return [
            Link(one.file.removesuffix(".md"), plain_title(one.file, one.title), (one.file, one.ref)) for one in found
        ]
