"""The tasks pane: pending, in-progress and completed tasks, as a list, a board or a calendar; grouped and sorted."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.message import Message

from memory.base.clock import BadMoment
from memory.files.tasks.order import GROUP_WORDS, GROUPS, SORTS, due_when, grouped, sort_key
from widgets.detail import DetailLine
from widgets.list.line_list import LineList
from widgets.list.rows import Heading, Note
from widgets.pane.base import Badge, Build, Contents, FormPlan, Pane
from widgets.pane.rows import LineRow, RowKey, unread_rows
from widgets.text.styled_text import Line
from widgets.text.words import task_row

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot
    from memory.files.tasks.model import Task
    from memory.files.tasks.order import Agenda

    from .board import Board
    from .calendar import Calendar

VIEWS = ("list", "board", "calendar")
"""The ways to show tasks."""

WRONG_HEADING = "not a task section: treated as pending"
"""The note of a heading that is not a section of tasks."""


class TasksPane(Pane):
    """Tasks by section and urgency, or grouped and sorted as the person chose; other views are made on first use."""

    DEFAULT_CSS: ClassVar[str] = """
    TasksPane {
        &.-board > .pane--list-frame > .pane--list { display: none; }
        &.-calendar > .pane--list-frame > .pane--list { display: none; }
        Board { display: none; }
        Calendar { display: none; }
        &.-board Board { display: block; }
        &.-calendar Calendar { display: block; }
        &.-stacked CardList { overflow-y: auto; }
    }
    """

    pane_id: ClassVar[str] = "tasks"
    title: ClassVar[str] = "Tasks"
    files: ClassVar[tuple[str, ...]] = ("tasks.md",)
    empty: ClassVar[str] = "Tasks for people and agents.\n\nPress {entry.add|a} to add the first task."
    filter_fields: ClassVar[tuple[str, ...]] = (
        "title",
        "tag",
        "priority",
        "assigned",
        "due",
        "section",
        "notes",
        "action",
    )
    filter_values: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "priority": ("high", "normal", "low"),
        "section": ("pending", "in-progress", "completed"),
    }
    item_name: ClassVar[str] = "task"
    removes: ClassVar[str] = "tasks remove"

    sorts: ClassVar[tuple[str, ...]] = SORTS
    groups: ClassVar[tuple[str, ...]] = GROUPS

    @dataclass
    class Pasted(Message):
        """A text was pasted into the list."""

        text: str

    def __init__(self) -> None:
        super().__init__()
        self.view_name = VIEWS[0]
        self.group = GROUPS[0]
        self._made: dict[str, Board | Calendar] = {}
        """The other views that were shown, by name."""
        self.board: Board | None = None
        """The board, while it is shown."""
        self.calendar: Calendar | None = None
        """The calendar, while it is shown."""
        self._agenda: tuple[Snapshot, Agenda] | None = None

    # Display

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:
        """A heading per group, then its tasks."""
        rows: list[Any] = []
        key = sort_key(self.sorts[0], now, snapshot.zone)
        for title, tasks in grouped(snapshot.tasks, self.group, now, snapshot.zone):
            if rows:
                rows.append(Note(number=len(rows)))
            wrong = self.group == GROUPS[0] and tasks[0].heading is not None
            rows.append(Heading(title, f"{len(tasks)}  {WRONG_HEADING}" if wrong else str(len(tasks))))
            # Finished tasks come to the top of their section; to read thousands of them takes longer than a frame.
            rows += tasks if self.group == GROUPS[0] and tasks[0].section == "completed" else sorted(tasks, key=key)
        return [*rows, *unread_rows("tasks.md", snapshot, "not read as part of a task", first=len(rows))]

    def sorting(self, name: str, now: datetime, zone: tzinfo) -> Callable[[Any], Any]:
        """The key of one of `sorts`."""
        return sort_key(name, now, zone)

    def arranged(self) -> Sequence[str]:
        """The view and group if they are not the usual ones, and the sort except in a calendar."""
        parts = [] if self.view_name == VIEWS[0] else [self.view_name]
        if self.group != GROUPS[0] and self.view_name == "list":
            parts.append(
                "one group" if self.group == "none" else f"grouped by {GROUP_WORDS.get(self.group, self.group)}"
            )
        if self.view_name != "calendar":
            # Always shown: people stop trusting a list that looks sorted by date but is not.
            parts.append(self.sort if self.sort.startswith(SORTS[-1]) else f"sorted by {self.sort}")
        return parts

    def read(self, snapshot: Snapshot, now: datetime) -> Contents:
        """Read the rows; the dates of all tasks are read here too, in the worker, where no key waits."""
        contents = super().read(snapshot, now)
        if self.view_name == "calendar":
            # Put together with the rows: until then keys apply to the shown rows and their dates.
            return contents._replace(beside=self._make_agenda(snapshot, now))
        return contents

    def put(self, contents: Contents, *, flash: bool = True) -> None:
        """Show what was read, with its dates."""
        if contents.beside is not None:
            self._agenda = (contents.snapshot, contents.beside)
        super().put(contents, flash=flash)

    @staticmethod
    def _make_agenda(snapshot: Snapshot, now: datetime) -> Agenda:
        from memory.files.tasks.order import Agenda

        return Agenda(snapshot.tasks.items, now, snapshot.zone)

    def lacks(self, value: Any, name: str) -> bool:  # noqa: ARG002
        """Whether a task has nothing to be sorted by."""
        return bool(value[0])

    def look(self) -> dict[str, str]:
        """Return how the pane is arranged, with view and group, for the next start."""
        return {**super().look(), "view": self.view_name, "group": self.group}

    def restore(self, view: Mapping[str, str]) -> None:
        """Go back to a view."""
        self.set_group(view.get("group", GROUPS[0]))
        self.show_view(view.get("view", VIEWS[0]))
        super().restore(view)

    def set_group(self, name: str) -> None:
        """Group by one of `groups`."""
        if name in GROUPS and name != self.group:
            self.group = name
            if self.snapshot is not None:
                self.show(self.snapshot, self.now, flash=False)

    # Which view

    def show_view(self, name: str) -> None:
        """Show the tasks as a list, a board or a calendar; the task under the cursor stays under it."""
        if name not in VIEWS or name == self.view_name:
            return
        item = self.current() if self.contents is not None else None
        wanted = next((row for row, other, _ in self.arrangement.rows.items if other is item), None)
        had_focus = self.line_list.has_focus
        if name != "list" and name not in self._made:
            from .board import Board
            from .calendar import Calendar

            made = self._made[name] = Board(self) if name == "board" else Calendar(self)
            frame = self.query_one(".pane--list-frame")
            made.fit(frame.content_size)
            frame.mount(made, before=self.filter_bar)
        for cards in self._lists:
            cards.select(())
        self.view_name = name
        self.board = self._made.get(name) if name == "board" else None  # type: ignore[assignment]
        self.calendar = self._made.get(name) if name == "calendar" else None  # type: ignore[assignment]
        self.remove_class("-open")
        for view in VIEWS[1:]:
            self.set_class(view == name, f"-{view}")
        self.set_class(name != "list", "-full")
        if self.contents is not None:
            self.rearrange()
            if wanted is not None:
                placed = self.place_cursor(wanted)
                if self.calendar is not None:
                    self.calendar.begin(found=placed)
            self._show_detail()
        if had_focus:
            self.call_after_refresh(self.focus_list)

    @property
    def _lists(self) -> Sequence[LineList]:
        """All lists of the view that is shown."""
        if self.board is not None:
            return self.board.lists
        return (self.line_list,)

    @property
    def line_list(self) -> LineList:
        """The list to which keys apply."""
        if self.board is not None:
            return self.board.active
        return self._list if self.calendar is None else self.calendar.list

    @property
    def has_items(self) -> bool:
        """Whether any task is shown; always true for a calendar, which shows its month even when it is empty."""
        return self.calendar is not None or any(cards.cursor is not None for cards in self._lists)

    @property
    def shown_keys(self) -> Sequence[Hashable]:
        """The rows of all columns."""
        return self.line_list.rows if self.board is None else self.board.shown

    def put_keys(self, keys: Sequence[Hashable], *, to_top: bool) -> None:
        """Give the rows to the view that is shown."""
        if self.board is not None:
            self.board.put(keys, to_top=to_top)
        elif self.calendar is not None:
            assert self.snapshot is not None
            if self._agenda is None or self._agenda[0] is not self.snapshot:
                self._agenda = (self.snapshot, self._make_agenda(self.snapshot, self.now))
            found = self.arrangement.fitting
            rows = {id(row.item): row for row in (self.arrangement.rows.rows if found is None else found)}
            unread = [key for key in keys if isinstance(key, LineRow)]
            self.calendar.put(self._agenda[1], rows, unread, to_top=to_top)
        else:
            super().put_keys(keys, to_top=to_top)

    def say_instead(self, words: str) -> None:
        """Show a message in place of the rows, on the board in its first column."""
        super().say_instead(words)
        if self.board is not None:
            self.board.lists[0].say(words)

    def place_cursor(self, row: RowKey) -> bool:
        """Put the cursor on a task in the current view."""
        if self.board is not None:
            return self.board.find(row)
        if self.calendar is not None:
            return self.calendar.find(row)
        return super().place_cursor(row)

    def go_to(self, ref: str) -> bool:
        """Put the cursor on a task; if the view cannot show it, switch to the list."""
        if self.contents is None or self.view_name == "list":
            return super().go_to(ref)
        row = self.arrangement.row_of(ref)
        if row is None:
            return False
        if not self.place_cursor(row):
            self.set_filter("")
            self.filter_bar.close()
            if not self.place_cursor(row):
                self.show_view("list")
                return super().go_to(ref)
        return True

    def follow_cursor(self) -> None:
        """Let the month follow the agenda, and show the entry."""
        if self.calendar is not None:
            self.calendar.follow_cursor()
        super().follow_cursor()

    def on_line_list_highlighted(self, event: LineList.Highlighted) -> None:
        """Ignore moves in columns other than the active one."""
        if event.line_list is not self.line_list:
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Report what was pasted into the list: it is to become tasks."""
        event.stop()
        if event.text.strip():
            # Terminals send a carriage return for each line end.
            self.post_message(self.Pasted("\n".join(event.text.splitlines())))

    def on_board_arrived(self, event: Any) -> None:
        """Show the entry of another active column."""
        event.stop()
        if self.contents is not None:
            self._show_detail()
            self.tell_current()

    # One task

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """How many are open, as the sidebar counts them."""
        return f"{len(snapshot.tasks.open):,} open"

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """How many are open; tasks under a heading that is no section need attention."""
        return Badge(len(snapshot.tasks.open), any(task.heading is not None for task in snapshot.tasks))

    def draw_row(self, item: Task, width: int) -> Line:
        """Draw priority, title, and date or progress."""
        return task_row(item, width, self.now, self.zone, self.glyphs)

    def detail(self, item: Task) -> Sequence[DetailLine]:
        """Every field, then the rest of the entry."""
        from .detail import task_detail

        return task_detail(item, self.now, self.zone, self.glyphs)

    def field_text(self, item: Task, name: str) -> str:
        """The value of a field for `name:value`."""
        match name:
            case "tag":
                return ", ".join(item.tags)
            case "due":
                state = item.due_state(self.now, self.zone)
                return f"{state or ''} {item.due or ''} {item.recurring or ''}".strip()
            case "section" if item.heading is not None:
                return f"{item.section} {item.heading}"
            case _:
                return super().field_text(item, name)

    def field_fits(self, item: Task, name: str, value: str) -> bool | None:
        """Let `due` also accept a day as people write it: `due:2dec`, `due:tomorrow`, `due:next_week`."""
        try:
            return (name == "due" and due_when(value.replace("_", " "), self.now, self.zone)(item)) or None
        except BadMoment:
            return None

    def adding(self, now: datetime) -> FormPlan | None:
        """The form of a new task."""
        from .forms import adding

        assert self.snapshot is not None
        day = self.calendar.day if self.calendar is not None else None
        return adding(self.snapshot, now, due=day.isoformat() if day is not None else "")

    def editing(self, item: Task, now: datetime) -> FormPlan | None:
        """The form of a task."""
        from .forms import editing

        assert self.snapshot is not None
        return editing(self.snapshot, item, now)

    def from_source(self, item: Task, text: str, now: datetime) -> Build | None:  # noqa: ARG002
        """Replace the task's source."""
        from memory.files.tasks.edits import TASK_EDITS

        ref, base = item.ref, item.entry
        return lambda snapshot: TASK_EDITS.rewrite(snapshot, ref, text, base=base)
