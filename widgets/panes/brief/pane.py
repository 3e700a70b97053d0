"""The brief: what needs attention now, what runs, what happened last; every row leads to its entry."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from memory.base.problems import Problem
from memory.files.snapshot import Snapshot
from memory.files.status import Brief, NextRun, brief
from memory.files.tasks.model import Task
from memory.files.tasks.urgency import urgency_of
from widgets.list.line_list import LineList
from widgets.list.rows import Heading, Note
from widgets.pane.base import Contents, Pane
from widgets.pane.filter import Needles
from widgets.pane.rows import RowKey
from widgets.text.styled_text import Line
from widgets.text.words import until

from .shortened_groups import DOORS, KEPT, MORE, cut, more_words, shown_of
from .words import BriefMore, BriefRow, days_since, note_of, row_line

STALE_DAYS = 7
"""Days after which a task in progress is listed as stale."""

MOST_WEIGHED = 500
"""How many tasks of a group are ordered by urgency."""


NOTES = {
    "overdue": "  most urgent first", "today": "  most urgent first", "lost": "  B restores, x dismisses",
    "waiting": "  (T)",
}  # fmt: skip
"""Hints behind the counts of groups: their order, or keys."""

WIDEST_ROW = 110
"""The most cells of a row; in a wider terminal its words stay together at the left."""


class BriefPane(Pane):
    """Overdue, due and started tasks, alerts, next runs and problems; Enter goes to the entry."""

    pane_id: ClassVar[str] = "brief"
    title: ClassVar[str] = "Brief"
    has_entry: ClassVar[bool] = False
    empty: ClassVar[str] = (
        "All is quiet: nothing is due, nothing runs, no monitor complains.\n\n"
        "Press {pane.tasks|2} and then {entry.add|a} to add the first task, or {app.help|?} to see every key."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "jump", "go there", id="brief.jump", tooltip="Go to the entry under the cursor")
    ]

    @dataclass
    class Resume(Message):
        """A form that was never saved is to be opened again."""

        draft: str

    @dataclass
    class More(Message):
        """All rows of a group are to be shown, of which only the first are shown here."""

        group: str

    def __init__(self) -> None:
        super().__init__()
        self._drafts: tuple[tuple[str, str, datetime], ...] = ()
        self._more = BriefMore()
        self._known: tuple[Snapshot, datetime, Brief] | None = None
        self._wanted_group = ""
        self._opened: set[str] = set()

    # Display

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:
        """The groups that are not empty, those that need attention first."""
        brief = self._brief(snapshot, now)
        rows: list[Any] = []
        for title, group in self._groups(brief):
            if not group:
                continue
            if rows:
                rows.append(Note(number=len(rows)))
            rows.append(Heading(title, self._heading_note(group)))
            rows.extend(group[:KEPT])
            name = group[0].group
            more = len(group) - shown_of(name)
            if more > 0:
                # How many rows stay left out even where the whole group is shown.
                beyond = max(0, len(group) - KEPT)
                rows.append(BriefRow(MORE, "", name, beyond, more_words(name, more)))
        return rows

    def unfolded(self, keys: Sequence[Hashable]) -> Sequence[Hashable]:
        """The first rows of each group; a filter searches all rows."""
        return cut(keys, self._opened)

    def kept(self, keys: Sequence[Hashable], needles: Needles) -> Sequence[Hashable]:
        """The rows that a filter keeps, from all rows of each group."""
        return super().kept([key for key in keys if not isinstance(key, RowKey) or key.item.group != MORE], needles)

    def counts(self, item: BriefRow) -> bool:
        """Whether a row is counted: all but those that only say how many more there are."""
        return item.group != MORE

    def put(self, contents: Contents, *, flash: bool = True) -> None:
        """Show what was read, and go to a group that was requested."""
        super().put(contents, flash=flash)
        self._seek()

    @staticmethod
    def _heading_note(group: Sequence[BriefRow]) -> str:
        """The note of a group's heading: the count, and a hint about order or keys for some groups."""
        name, count = group[0].group, len(group)
        hint = NOTES.get(name, "") if count > 1 or name not in ("overdue", "today") else ""
        return "" if name in ("upkeep", "beside") else f"{count}{hint}"

    def _groups(self, brief: Brief) -> Iterator[tuple[str, list[BriefRow]]]:
        def tasks(group: str, found: Iterable[Task]) -> list[BriefRow]:
            return [BriefRow(group, task.file, task.ref, task) for task in found]

        now, zone, more = brief.now, brief.snapshot.zone, self._more
        old = [task for task in brief.in_progress if days_since(task.started, now, zone) >= STALE_DAYS]
        yield "DRAFTS", [BriefRow("draft", "", draft, time, words) for draft, words, time in self._drafts]
        gone = [BriefRow("lost", "changes.log", one.id, one, ", ".join(one.titles)) for one in more.removals]
        yield "REMOVED BY OTHER PROGRAMS", gone
        states = ((one, ", ".join(one.status_at(now, zone))) for one in brief.alerts)
        yield "ALERTS", [BriefRow("alert", one.file, one.ref, one, words) for one, words in states]
        asks = ((one, f"{one.role} {one.ask.name}: {one.why}") for one in more.notice.waiting)
        yield "NEEDS APPROVAL", [BriefRow("waiting", one.place, one.ref, one, words) for one, words in asks]
        yield "OVERDUE", tasks("overdue", self._urgent(brief, brief.overdue))
        yield "TODAY", tasks("today", self._urgent(brief, brief.due_today))
        yield "PROBLEMS", [_problem_row(problem) for problem in more.problems if problem.level == "error"]
        yield "SINCE YOUR LAST VISIT", [BriefRow("news", one.file, one.ref or "", one, one.title) for one in more.news]
        yield "IN PROGRESS", tasks("progress", (task for task in brief.in_progress if task not in old))
        yield f"IN PROGRESS FOR {STALE_DAYS} DAYS OR MORE", tasks("stale", old)
        yield "JOURNAL", [BriefRow("journal", entry.file, entry.ref, entry) for entry in brief.last_entries]
        ends = ((monitor, f"until {until(end, self.now, self.zone)}") for monitor, end in more.notice.muted)
        yield "MUTED", [BriefRow("muted", "monitors.md", monitor.ref, monitor, words) for monitor, words in ends]
        yield "OTHER MEMORY", [BriefRow("beside", one.system, one.target, one, one.words) for one in more.others]
        resting = more.notice.resting
        runs = (run for run in brief.next_runs if run.kind != "monitor" or run.ref not in resting)
        yield "NEXT RUNS", [_run_row(run) for run in runs]
        yield "THIS WEEK", tasks("week", brief.due_week)
        yield "WARNINGS", [_problem_row(problem) for problem in more.problems if problem.level == "warning"]
        moves = [BriefRow("upkeep", (*system, file)[0], "", file, words) for file, words, *system in more.upkeep]
        yield "NEXT MAINTENANCE", moves

    @staticmethod
    def _urgent(brief: Brief, tasks: Sequence[Task]) -> Sequence[Task]:
        """Sort the first `MOST_WEIGHED` tasks by urgency, the most urgent first; the others keep their order."""
        zone = brief.snapshot.zone
        head = sorted(tasks[:MOST_WEIGHED], key=lambda task: -urgency_of(task, brief.now, zone))
        return [*head, *tasks[MOST_WEIGHED:]]

    def _brief(self, snapshot: Snapshot, now: datetime) -> Brief:
        known = self._known
        if known is None or known[0] is not snapshot or known[1] != now:
            known = self._known = (snapshot, now, brief(snapshot, now))
        return known[2]

    def remark(self, snapshot: Snapshot, now: datetime) -> str:
        """What day it is in the workspace's zone."""
        local = now.astimezone(snapshot.zone)
        return f"{local:%A}, {local.day} {local:%B}"

    def say_more(self, more: BriefMore) -> None:
        """Show what took longer to find; cursor and scroll position stay."""
        if more != self._more:
            self._more = more
            if self.snapshot is not None:
                self.show(self.snapshot, self.now, flash=False)
        # A requested group that is still missing will not appear any more.
        self._wanted_group = ""

    def moved(self) -> None:
        """Record that the person moved elsewhere, and drop a requested group that has not appeared yet."""
        super().moved()
        self._wanted_group = ""

    def go_to_group(self, group: str) -> None:
        """Put the cursor on the first row of a group, as soon as it has one; a filter that hides it is cleared."""
        self._arrived = True
        self._wanted_group = group
        self._seek()

    def _seek(self) -> None:
        if self.contents is not None and self._wanted_group:
            item = next((item for _, item, _ in self.contents.rows.items if item.group == self._wanted_group), None)
            if item is not None:
                self._wanted_group = ""
                self.go_to(item.ref)

    def say_drafts(self, drafts: Sequence[tuple[str, str, datetime]]) -> None:
        """Show forms that were never saved, each as the id of its draft, its subject, and when it was typed."""
        if tuple(drafts) != self._drafts:
            self._drafts = tuple(drafts)
            if self.snapshot is not None:
                self.show(self.snapshot, self.now, flash=False)

    def mark(self, item: BriefRow) -> Hashable:
        """A row is unchanged while its entry is."""
        entry = getattr(item.thing, "entry", None)
        return item.ref, entry if entry is not None else (item.words, *note_of(item))

    def text(self, item: BriefRow) -> str:
        """The words of the row."""
        return " ".join((item.group, item.title, *note_of(item)))

    # How it is drawn

    def draw_row(self, item: BriefRow, width: int) -> Line:
        """Draw when or where, what, and a note."""
        return row_line(item, min(width, WIDEST_ROW), self.now, self.zone, self.glyphs)

    def view(self) -> dict[str, str]:
        """The view without a position: the most urgent row is first, and the next visit begins there."""
        return {**super().view(), "at": ""}

    # Where a row leads

    def copied_ref(self, item: BriefRow) -> str:
        """The ref of the entry that the row leads to."""
        return item.target if "#" in item.target else ""

    def links(self, item: BriefRow) -> Sequence[Any]:  # noqa: ARG002
        """None: the row itself is the link."""
        return ()

    def on_mount(self) -> None:
        """Give the list the whole pane, and keep it at the top, where urgent rows appear."""
        self.line_list.holds_top = True
        self.query_one(".pane--detail-frame").display = False
        frame = self.query_one(".pane--list-frame")
        frame.styles.width, frame.styles.height = "100%", "1fr"

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Enter goes to the entry."""
        event.stop()
        event.prevent_default()
        self.action_jump()

    def action_jump(self) -> None:
        """Go to the entry under the cursor."""
        item = self.current()
        if item is not None and item.group == MORE:
            self._show_more(item.target)
        elif item is not None and item.group == "draft":
            self.post_message(self.Resume(item.target))
        elif item is not None and item.group == "lost":
            self.post_message(self.More("lost"))
        elif item is not None and item.file:
            self.post_message(self.Jump(item.file, item.target))

    def _show_more(self, group: str) -> None:
        """Go to the pane with the whole group; a group that no pane has is opened here."""
        if group in DOORS:
            self.post_message(self.More(group))
        else:
            self._opened.add(group)
            self._arrange()


_RUN_PLACES = {
    "heartbeat": ("config.md", "expression"),
    "maintenance": ("config.md", "maintenanceSchedule"),
    "monitor": ("monitors.md", ""),
    "task": ("tasks.md", ""),
}
"""Where the runs of each kind are configured: a file, and an entry if it is always the same."""


def _run_row(run: NextRun) -> BriefRow:
    file, entry = _RUN_PLACES.get(run.kind, ("", ""))
    return BriefRow("run", file, run.ref or entry, run, run.label)


def _problem_row(problem: Problem) -> BriefRow:
    target = f"line:{problem.line - 1}" if problem.line else ""
    return BriefRow("problem", problem.file, target, problem, problem.message)
