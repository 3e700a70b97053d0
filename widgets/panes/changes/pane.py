"""The changes pane: the change log of every writer, newest first, entry by entry."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from itertools import groupby
from typing import Any, ClassVar, Protocol

from memory.base.clock import BadMoment
from memory.base.dates import time_bound
from memory.files.diff import ChangeView
from memory.files.snapshot import Snapshot, plain_title
from widgets.detail import Caption, DetailLine, Link, Prose, Spacer
from widgets.list.rows import Heading, Note
from widgets.pane.records import Record, RecordPane
from widgets.panes.journal.pane import day_title
from widgets.panes.telling import TellingPane
from widgets.text.styled_text import Column, Columns, Content, Piece, line

from .detail import view_lines
from .logged_change import LoggedChange
from .words import folded, plain_actor, short_actor, summary_of, turned_lines

OWN = ("human", "cli")
"""The actors that mean the person."""

MOST = 2_000
"""How many of the newest changes are listed."""

ROW = Columns(Column("time", 5, importance=3), Column("actor", 12, importance=1), Column("title", minimum=18))


class ChangeSource(Protocol):
    """Where changes come from; called in threads."""

    def newest(self, limit: int) -> Sequence[LoggedChange]:
        """The newest changes, the newest first."""

    def stamp(self) -> Hashable:
        """A value that differs as soon as a listing would differ."""

    def told(self, ref: str) -> Sequence[ChangeView]:
        """Return what a change did, entry by entry."""


class ChangesPane(TellingPane, RecordPane):
    """Every change of every writer, memdeck's own and those from outside."""

    pane_id: ClassVar[str] = "changes"
    title: ClassVar[str] = "Changes"
    empty: ClassVar[str] = (
        "Who changed what and when: you, agents, maintenance and other programs.\n\n"
        "Nothing changed yet. {change.undo|u} undoes your last change, {change.redo|U} does it again, {change.revert|X}"
        " takes back any change in this list."
    )
    filter_fields: ClassVar[tuple[str, ...]] = (
        "actor", "file", "entry", "date", "since", "until", "operation", "state",
    )  # fmt: skip
    item_name: ClassVar[str] = "change"

    def __init__(self, source: ChangeSource | None = None) -> None:
        """List the changes of a source; none without one."""
        super().__init__()
        self.source = source
        self._newest: tuple[Hashable, Sequence[LoggedChange]] = (None, ())
        self._count = 0

    # Display

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:
        """Yield the newest changes under their days; one that only undid another one is part of that one's row."""
        if self.source is not None and self._newest[0] != (stamp := self.source.stamp()):
            self._newest = (stamp, self.source.newest(MOST))
        found, zone = self._newest[1], snapshot.zone
        today = now.astimezone(zone).date()

        def day_of(change: LoggedChange) -> str:
            return change.time.astimezone(zone).date().isoformat()

        shown = folded(found, day_of)
        self._count = len(shown)
        for day, changes in groupby(shown, day_of):
            yield Heading(day_title(day, today))
            yield from (_record(change, zone) for change in changes)
        if len(found) == MOST:
            yield Note(f"… the newest {MOST:,}; `memdeck changes list` has all")

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """Return how many changes are listed."""
        count = self._count
        return "" if not count else "1 change" if count == 1 else f"{count:,} changes"

    def place(self, item: Record) -> str:  # noqa: ARG002
        """Return nothing: the detail shows the actor."""
        return ""

    def copied_ref(self, item: Record) -> str:
        """Return its id, as `memdeck changes` accepts it."""
        return item.ref[:16]

    def field_fits(self, item: Record, name: str, value: str) -> bool | None:
        """Compare times for `since` and `until`: a day, a day and time, `today`, `yesterday`, `monday`, `-3d`."""
        if name not in ("since", "until"):
            return None
        text = value.replace("_", " ")
        text = text.upper() if text[:1].isdigit() else text
        try:
            bound = time_bound(text, self.now, self.zone, end=name == "until")
        except BadMoment:
            return True  # An incomplete date excludes nothing yet.
        time: datetime = item.thing.time
        return time >= bound if name == "since" else time <= bound

    # The detail

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return actor and time, and whether it was undone or redone since."""
        change: LoggedChange = item.thing
        return {
            "by": plain_actor(change.actor),
            "at": f"{change.time.astimezone(self.zone):%Y-%m-%d %H:%M:%S}",
            **turned_lines(change, self.zone),
            "operation": Piece(change.operation or "none", "muted"),
        }

    def detail(self, item: Record) -> Sequence[DetailLine]:
        """Return what is told of the change, then what happened to each entry."""
        change, source = item.thing, self.source
        parts = [*super().detail(item)]
        views = self.told_later(item, lambda: source.told(item.ref)) if source is not None and change.kept else None
        if views is not None:
            return [*parts, *view_lines(views, self.glyphs, self.detail_view.scrollable_content_region.width)]
        for one in change.entries[:20]:
            title = plain_title(one.file, one.title)
            parts += [Spacer(), Caption(f"{one.kind.upper()}  {title}"), Prose(one.file, tone="muted")]
        return parts

    def links(self, item: Record) -> Sequence[Link]:
        """Return the first five entries that it changed and did not remove."""
        found = [one for one in item.thing.entries if one.ref is not None and one.kind != "removed"][:5]
        return [
            Link(one.file.removesuffix(".md"), plain_title(one.file, one.title), (one.file, one.ref)) for one in found
        ]


def _record(change: LoggedChange, zone: tzinfo) -> Record:
    title, about = summary_of(change)
    time = change.time.astimezone(zone)
    values = {
        # By either name: the one in the list, and the one on the command line.
        "actor": f"{change.actor} {plain_actor(change.actor)}",
        "file": " ".join(change.files),
        "entry": " ".join(f"{one.ref or ''} {one.title}" for one in change.entries),
        "date": f"{time:%Y-%m-%d %H:%M %A}",
        "operation": change.operation,
        "state": "undone" if change.undone_by else "" if change.kept else "thinned",
    }
    cells: dict[str, Content] = {
        "time": Piece(f"{time:%H:%M}", "muted"),
        "actor": Piece(short_actor(change.actor), "muted" if change.actor in OWN else "accent"),
    }
    if change.undone_by:
        cells["title"] = line(Piece("undone  ", "accent"), Piece(f"{title}  {about}".rstrip(), "muted"))
    return Record(
        change.ref, title, about=about, values=values, words=change.ref, thing=change, columns=ROW, cells=cells,
        mark=(change.undone_by, change.kept, len(change.turns)),
    )  # fmt: skip
