"""The archive: months, the entries moved to them, and each entry in full."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any, ClassVar

from memory.base.safe_text import plural
from memory.document import Document
from memory.errors import MemdeckError
from memory.files.journal.model import Journal
from memory.files.plans.model import Plans
from memory.files.snapshot import Snapshot
from memory.files.tasks.model import TaskList
from widgets.chrome.keys import with_keys
from widgets.detail import DetailLine, Prose, Spacer, Title
from widgets.pane.base import Pane
from widgets.pane.records import Record, RecordPane
from widgets.text.styled_text import Column, Columns, Content, Piece, line
from widgets.text.words import short_date

from .plans import plan_told
from .tasks.detail import task_detail

KINDS = {"tasks": "Tasks", "journal": "Journal", "orchestration": "Plans"}
"""The kinds in the names of archive files, with their names here."""

ROW = Columns(Column("sign", 1, importance=9), Column("day", 7, importance=3), Column("title", minimum=14))

_NAME = re.compile(r"archive/(tasks|journal|orchestration)-(.+)\.md")
_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")


class ArchivePane(RecordPane):
    """Months, newest first, with their tasks, journal entries and plans; nothing here can be changed."""

    beside_from: ClassVar[int] = Pane.beside_from
    pane_id: ClassVar[str] = "archive"
    title: ClassVar[str] = "Archive"
    files: ClassVar[tuple[str, ...]] = ("archive/",)
    empty: ClassVar[str] = (
        "Completed tasks, journal entries and plans that maintenance moved out of the way, month by month.\n\n"
        "Nothing is archived yet: {upkeep.archive|A} archives completed tasks, {upkeep.prune|P} prunes the journal, "
        "{upkeep.maintain|M} does everything. Each shows first what it would move."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("assigned", "tags", "priority", "date", "title")

    def __init__(self) -> None:
        super().__init__()
        self._views: dict[str, tuple[Document, tuple[Record, ...]]] = {}

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:  # noqa: ARG002
        """Yield months, the newest first, and their files with their entries."""
        months: dict[str, list[tuple[str, str]]] = {}
        for name in snapshot.archive_names:
            if found := _NAME.fullmatch(name):
                months.setdefault(found[2], []).append((found[1], name))
        for month in sorted(months, key=lambda one: (bool(_MONTH.fullmatch(one)), one), reverse=True):
            files = sorted(months[month], key=lambda file: list(KINDS).index(file[0]))
            rows = [row for kind, name in files for row in self._file(snapshot, kind, name)]
            count = plural(sum(not row.group for row in rows), "entry")
            yield Record(f"month:{month}", month_name(month), about=count, tone="strong", folds=True, group=True)
            yield from rows

    def _file(self, snapshot: Snapshot, kind: str, name: str) -> Iterator[Record]:
        group = Record(name, KINDS[kind], depth=1, folds=True, group=True, values={"file": name})
        try:
            document = snapshot.document(name)
        except MemdeckError as error:
            yield replace(group, about=error.message, folds=False)
            return
        known = self._views.get(name)
        if known is None or known[0] is not document:
            known = self._views[name] = (document, tuple(_read(kind, name, document)))
        yield replace(group, about=f"{len(known[1]):,}")
        yield from known[1]

    def links(self, item: Record) -> Sequence[Any]:
        """Return the links of an entry."""
        return () if item.group else super(RecordPane, self).links(item.thing)

    def text(self, item: Record) -> str:
        """Return the day and the text of an entry."""
        return item.title if item.group else f"{item.values['date']} {item.thing.entry.text}"

    def place(self, item: Record) -> str:
        """Return the ref of an entry, the file of a group."""
        return item.values.get("file", "") if item.group else item.ref

    def detail(self, item: Record) -> Sequence[DetailLine]:
        """Return an entry's fields or its text."""
        entry = item.thing
        match item.values.get("part"):
            case "tasks":
                return task_detail(entry, self.now, self.zone, self.glyphs)
            case "orchestration":
                return self.lines(plan_told(entry, self.now, self.zone, self.glyphs))
            case "journal":
                when = f"{entry.date} {entry.time or ''}".strip()
                body = entry.entry.body.strip("\r\n")
                return [Title(item.title), Prose(when, tone="muted"), Spacer(), Prose(body, markdown=True)]
            case _:
                words = "{entry.restore|B} on an entry puts it back where it came from."
                hint = Prose(with_keys(words, self.app), tone="muted")
                return self.lines({"file": self.place(item), "holds": item.about, "": hint})


def month_name(month: str) -> str:
    """Return a month in words: `2024-01` is `January 2024`; any other name stays as it is."""
    return f"{date.fromisoformat(month + '-01'):%B %Y}" if _MONTH.fullmatch(month) else month


def _read(kind: str, name: str, document: Document) -> Iterator[Record]:
    """Yield the entries of a file, tasks by the day of their completion."""
    match kind:
        case "tasks":
            entries: Sequence[Any] = sorted(TaskList(name, document).items, key=_day, reverse=True)
        case "journal":
            entries = Journal(name, document).entries()
        case _:
            entries = Plans(name, document).items
    for entry in entries:
        values = {"part": kind, "date": _day(entry), "title": entry.title, "file": name}
        if kind == "tasks":
            values |= {"assigned": entry.assigned or "", "priority": entry.priority or "", "tags": " ".join(entry.tags)}
        journal = kind == "journal"
        about = "  ".join(entry.lines[:2]) if journal else getattr(entry, "outcome", None) or ""
        cells: dict[str, Content] = {"day": short_date(_day(entry))}
        if journal:
            cells["title"] = line(Piece(f"{entry.time or '':<7}", "muted"), entry.title, Piece(f"  {about}", "muted"))
        yield Record(entry.ref, entry.title, about, depth=2, values=values, mark=hash(entry.entry.raw.rstrip()),
                     thing=entry, columns=ROW, cells=cells)  # fmt: skip


def _day(entry: Any) -> str:
    """Return the day by which an entry is listed: the date of a journal entry, else the day of completion."""
    return (getattr(entry, "date", None) or getattr(entry, "completed", None) or "")[:10]
