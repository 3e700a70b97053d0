"""The archive: months, the entries moved to them, and each entry in full; files are read when they are opened."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any, ClassVar

from textual.worker import Worker, WorkerState

from memory.document import Document
from memory.errors import MemdeckError
from memory.files.journal.model import read_journal
from memory.files.plans.model import read_plans
from memory.files.snapshot import Snapshot
from memory.files.tasks.model import read_tasks
from widgets.detail import DetailLine, Labelled, Prose, Spacer, Title
from widgets.list.outline import Branch, OutlinePane
from widgets.list.rows import Note
from widgets.pane.base import Contents
from widgets.text.styled_text import Line, Piece, line, line_width, pad_line
from widgets.text.words import short_date

from .plans.detail import plan_detail
from .tasks.detail import task_detail

KINDS = {"tasks": "Tasks", "journal": "Journal", "orchestration": "Plans"}
"""The kinds in the names of archive files, with their names here."""

_NAME = re.compile(r"archive/(tasks|journal|orchestration)-(.+)\.md")
_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")


class ArchivePane(OutlinePane):
    """Months, newest first, with their tasks, journal entries and plans; nothing here can be changed."""

    pane_id: ClassVar[str] = "archive"
    title: ClassVar[str] = "Archive"
    files: ClassVar[tuple[str, ...]] = ("archive/",)
    empty: ClassVar[str] = (
        "Nothing is archived yet.\n\n"
        "Maintenance moves old entries here: {upkeep.archive|A} archives completed tasks, {upkeep.prune|P} prunes the "
        "journal, {upkeep.maintain|M} does everything. "
        "Each shows first what it would move."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("assigned", "tags", "priority", "date", "title")

    def __init__(self) -> None:
        super().__init__()
        self._asked: frozenset[str] = frozenset()
        self._views: dict[str, tuple[Document, tuple[Any, ...]]] = {}
        self._jump = ""

    # Display

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:  # noqa: ARG002
        """Months and their files, with the entries of the newest month and of files that were requested."""
        months: dict[str, list[tuple[str, str]]] = {}
        for name in snapshot.archive_names:
            if found := _NAME.fullmatch(name):
                months.setdefault(found[2], []).append((found[1], name))
        wanted = set(self._asked)
        rows: list[Any] = []
        for number, month in enumerate(sorted(months, key=_newest, reverse=True)):
            if number:
                rows.append(Note(number=number))
            else:
                wanted |= {name for _, name in months[month]}
            files = sorted(months[month], key=lambda file: list(KINDS).index(file[0]))
            rows.append(Branch(f"month:{month}", month_name(month), 0, len(files), kind="month", name=month))
            for kind, name in files:
                rows.extend(self._file_rows(snapshot, kind, name, read=name in wanted))
        return rows

    def _file_rows(self, snapshot: Snapshot, kind: str, name: str, *, read: bool) -> list[Any]:
        branch = Branch(name, KINDS[kind], 1, None, kind=kind, name=name)
        if not read:
            return [branch]
        try:
            items = self._items(snapshot, kind, name)
        except MemdeckError as error:
            return [replace(branch, count=0, note=error.message)]
        return [replace(branch, count=len(items)), *items]

    def _items(self, snapshot: Snapshot, kind: str, name: str) -> tuple[Any, ...]:
        document = snapshot.document(name)
        known = self._views.get(name)
        if known is None or known[0] is not document:
            known = self._views[name] = (document, _read(kind, name, document))
        return known[1]

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """How many months there are."""
        count = len({found[2] for name in snapshot.archive_names if (found := _NAME.fullmatch(name))})
        return "" if not count else "1 month" if count == 1 else f"{count} months"

    def depth(self, item: Any) -> int:
        """Month, file, entry."""
        return item.depth if isinstance(item, Branch) else 2

    def is_folded(self, item: Any) -> bool:
        """A file that was not read yet is folded."""
        return super().is_folded(item) or (isinstance(item, Branch) and item.count is None)

    def draw_row(self, item: Any, width: int) -> Line:
        """Draw a month, a file with its count, or an entry after its date."""
        if isinstance(item, Branch):
            if item.depth == 0:
                return line(self.indent(item), Piece(item.title, "strong"))
            note = "reading…" if item.count is None and item.name in self._asked else item.note
            right = line(Piece(note or ("" if item.count is None else str(item.count)), "muted"))
            left = line(self.indent(item), item.title)
            return line(pad_line(left, max(0, width - line_width(right))), right)
        stamp = Piece(f"{short_date(entry_date(item)):<6}  ", "muted")
        sign = line(Piece(f"{item.time or '':<5}  ", "muted")) if hasattr(item, "time") else ()
        return line(self.indent(item), stamp, sign, item.title)

    def detail(self, item: Any) -> Sequence[DetailLine]:
        """An entry's fields or its text."""
        if isinstance(item, Branch):
            return self._branch_detail(item)
        if hasattr(item, "time"):
            when = f"{item.date} {item.time or ''}".strip()
            body = item.entry.body.strip("\r\n")
            return [Title(item.title), Prose(when, tone="muted"), Spacer(), Prose(body, markdown=True)]
        if hasattr(item, "priority"):
            return task_detail(item, self.now, self.zone, self.glyphs)

        return plan_detail(item, self.now, self.zone, self.glyphs)

    def _branch_detail(self, item: Branch) -> Sequence[DetailLine]:
        lines: list[DetailLine] = [Title(item.title), Spacer()]
        if item.depth == 0:
            return lines
        count = "not read yet" if item.count is None else str(item.count)
        lines += [Labelled("file", item.name), Labelled("entries", count)]
        return [*lines, Spacer(), Prose(item.note, tone="alert")] if item.note else lines

    def field_text(self, item: Any, name: str) -> str:
        """The fields of tasks; `date` is the day by which an entry is listed."""
        if name == "date" and not isinstance(item, Branch):
            return entry_date(item)
        return super().field_text(item, name)

    def text(self, item: Any) -> str:
        """An entry is found by its source and its day."""
        return item.title if isinstance(item, Branch) else f"{entry_date(item)} {super().text(item)}"

    # Files are read when they are needed

    def unread(self) -> frozenset[str]:
        """The files whose entries are not shown yet."""
        return frozenset(
            item.name
            for _, item, _ in self.arrangement.rows.items
            if isinstance(item, Branch) and item.depth and item.count is None
        )

    def unfold(self, item: Any) -> None:
        """Open a branch; a file that was not read yet is read in a worker."""
        if isinstance(item, Branch) and item.count is None:
            self._folded.discard(self.ref(item))
            self._ask({item.name})
        else:
            super().unfold(item)

    def set_filter(self, text: str) -> None:
        """Filter all files: those that were not read yet are read in a worker."""
        super().set_filter(text)
        if text:
            self._ask(self.unread())

    def moved(self) -> None:
        """Record that the person moved elsewhere, and drop a jump that waits for files."""
        super().moved()
        self._jump = ""

    def go_to(self, ref: str) -> bool:
        """Put the cursor on an entry; if it is not in the files read so far, read the others."""
        if super().go_to(ref):
            return True
        unread = self.unread()
        if unread:
            self._jump = ref
            self._ask(unread)
        return bool(unread)

    def _ask(self, names: frozenset[str] | set[str]) -> None:
        if names - self._asked and self.snapshot is not None:
            self._asked |= names
            self._read_again()

    def _read_again(self) -> None:
        snapshot, now = self.snapshot, self.now
        if snapshot is not None:
            self.line_list.refresh()
            self.run_worker(
                lambda: self.read(snapshot, now), thread=True, exclusive=True, group="archive", exit_on_error=False
            )

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Show what was read, if the files are still the same."""
        contents = event.worker.result if event.state is WorkerState.SUCCESS else None
        if not isinstance(contents, Contents):
            return
        event.stop()
        if contents.snapshot is self.snapshot:
            self.put(contents, flash=False)
        else:
            self._read_again()

    def put(self, contents: Contents, *, flash: bool = True) -> None:
        """Show what was read, then continue a jump that waited for it."""
        super().put(contents, flash=flash)
        # Files that are open stay open, even when maintenance makes another month the newest.
        self._asked |= {
            item.name
            for _, item, _ in contents.rows.items
            if isinstance(item, Branch) and item.depth and item.count is not None
        }
        if self._jump and not self.unread():
            ref, self._jump = self._jump, ""
            super().go_to(ref)


def month_name(month: str) -> str:
    """A month in words: `2024-01` is `January 2024`; any other name stays as it is."""
    return f"{date.fromisoformat(month + '-01'):%B %Y}" if _MONTH.fullmatch(month) else month


def entry_date(item: Any) -> str:
    """The day by which an archived entry is listed: the date of a journal entry, else the day of completion."""
    return (getattr(item, "date", None) or getattr(item, "completed", None) or "")[:10]


def _newest(month: str) -> tuple[bool, str]:
    return bool(_MONTH.fullmatch(month)), month


def _read(kind: str, name: str, document: Document) -> tuple[Any, ...]:
    match kind:
        case "tasks":
            tasks = read_tasks(name, document).tasks
            return tuple(sorted(tasks, key=entry_date, reverse=True))
        case "journal":
            return tuple(read_journal(name, document).entries())
        case _:
            return tuple(read_plans(name, document).plans)
