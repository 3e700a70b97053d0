"""The journal pane: what happened, day by day, the newest first; an entry is shown as it was written."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, ClassVar

from memory.base.safe_text import plural
from memory.files.journal.edits import JOURNAL_EDITS
from memory.files.journal.model import JournalEntry
from memory.files.links import quoted
from memory.files.snapshot import Snapshot
from widgets.detail import DetailLine, Prose, Spacer, Title
from widgets.list.rows import Heading, Note
from widgets.pane.base import Badge, Build, FormPlan, Pane
from widgets.pane.operation_form import Near, edit_form_of, fields_of, form_of, join_lines, operation_of
from widgets.pane.rows import unread_rows
from widgets.text.styled_text import Column, Columns, Line, Piece, line

ROW = Columns(Column("time", 5, importance=1), Column("title"))
"""The columns of an entry: time, and title with the first lines."""

SHOWN_LINES = 4
"""How many lines of an entry follow its title, as far as there is room."""


def day_title(day: str, today: date) -> str:
    """A day as a heading in capitals: `MON 15 JAN`, with `TODAY` or `YESTERDAY`, and the year if it is another one."""
    try:
        found = date.fromisoformat(day)
    except ValueError:
        return day
    year = "" if found.year == today.year else f" {found.year}"
    name = {0: "  today", 1: "  yesterday"}.get((today - found).days, "")
    return f"{found:%a} {found.day} {found:%b}{year}{name}".upper()


class JournalPane(Pane):
    """Entries under their days."""

    pane_id: ClassVar[str] = "journal"
    title: ClassVar[str] = "Journal"
    files: ClassVar[tuple[str, ...]] = ("journal.md",)
    empty: ClassVar[str] = "What agents and people did, day by day.\n\nPress {entry.add|a} to write the first entry."
    filter_fields: ClassVar[tuple[str, ...]] = ("date", "title", "time", "about")
    removes: ClassVar[str] = "journal remove"

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:
        """A heading per day, then its entries."""
        today = now.astimezone(snapshot.zone).date()
        rows: list[Any] = []
        for day, group in groupby(snapshot.journal.entries(), attrgetter("date")):
            entries = list(group)
            if rows:
                rows.append(Note(number=len(rows)))
            rows.append(Heading(day_title(day or "", today), str(len(entries))))
            rows += entries
        return [*rows, *unread_rows("journal.md", snapshot, "not read as an entry", first=len(rows))]

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """How many entries there are."""
        return plural(snapshot.journal.count, "entry")

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """How many there are."""
        return Badge(snapshot.journal.count)

    def draw_row(self, item: JournalEntry, width: int) -> Line:
        """Draw time, title, and the first lines of the entry."""
        says = f" {self.glyphs.dot} ".join(" ".join(text[:width].split()) for text in item.lines[:SHOWN_LINES])
        title = line(item.title, Piece(f"  {says}", "muted")) if says else item.title
        # The detail has the seconds.
        time = item.clock[:5] if item.clock and len(item.clock) > 5 else item.time
        return ROW.line(width, {"time": Piece(time or "", "muted"), "title": title})

    def detail_title(self, item: JournalEntry) -> str:
        """Day and time."""
        return f"{item.date} {item.time or ''}".strip()

    def detail(self, item: JournalEntry) -> Sequence[DetailLine]:
        """The entry as Markdown."""
        body = item.entry.body.strip("\r\n")
        text = Prose(body, markdown=True) if body else Prose("nothing more was written", tone="muted")
        return [Title(item.title), Spacer(), text]

    def text(self, item: JournalEntry) -> str:
        """Date, time and the whole entry."""
        return f"{item.date} {item.entry.text}"

    def field_text(self, item: JournalEntry, name: str) -> str:
        """The value of a field for `name:value`; `about` has the titles that the entry quotes."""
        return ", ".join(quoted(item.entry.text)) if name == "about" else super().field_text(item, name)

    def adding(self, now: datetime) -> FormPlan | None:
        """The form of a new entry, at this moment unless another time is given."""
        assert self.snapshot is not None
        near = Near(self.snapshot, now)
        return form_of("journal add", "New entry", focus="title", names=("title", "at", "lines"), near=near)

    def editing(self, item: JournalEntry, now: datetime) -> FormPlan | None:
        """The form of an entry."""
        assert self.snapshot is not None
        values = {"title": item.title, "at": item.time or "", "lines": join_lines(item.lines)}
        fields = fields_of(operation_of("journal add"), values, tuple(values), Near(self.snapshot, now))
        return edit_form_of("journal edit", "Edit entry", item, fields, "title")

    def from_source(self, item: JournalEntry, text: str, now: datetime) -> Build | None:  # noqa: ARG002
        """Replace the entry's source."""
        ref, base = item.ref, item.entry
        return lambda snapshot: JOURNAL_EDITS.rewrite(snapshot, ref, text, base=base)
