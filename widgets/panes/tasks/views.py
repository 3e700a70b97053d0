"""The views of the tasks pane: the list, a board with a column per section, a calendar; grouped and sorted."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, ClassVar

from memory.files.refs import SHORT
from memory.files.tasks.order import GROUP_WORDS, GROUPS, SORTS, grouped, sort_key
from memory.files.tasks.values import is_run
from widgets.list.line_list import LineList
from widgets.list.rows import Continuation, Heading, Note
from widgets.pane.base import Contents, Pane, PaneList
from widgets.pane.rows import LineRow, RowKey
from widgets.pane.unread import unread_rows
from widgets.pane.visible_rows import REVERSED
from widgets.text.styled_text import Line, clip_line
from widgets.text.words import CARD_LINES

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot
    from memory.files.tasks.agenda import Agenda
    from memory.files.tasks.model import Task
    from widgets.list.board import Board

    from .calendar import Calendar

VIEWS = ("list", "board", "calendar")
"""The ways to show tasks."""

ORDERS = (SORTS[0], SORTS[0] + REVERSED)
"""The names of file order, as the title shows them."""

LANES = (("pending", "PENDING"), ("in-progress", "IN PROGRESS"), ("completed", "COMPLETED"))
"""The columns of the board."""


WRONG_HEADING = "not a task section: treated as pending"
"""The note of a heading that is not a section of tasks."""


class CardList(PaneList):
    """One column of the board."""

    def __init__(self, pane: TaskViews) -> None:
        super().__init__(pane)
        self._views = pane

    def render_row(self, key: Hashable, width: int) -> Line:
        """The lines of a card."""
        number = key.number if isinstance(key, Continuation) else 0
        owner = key.owner if isinstance(key, Continuation) else key
        if not isinstance(owner, RowKey):
            return super().render_row(key, width)
        board = self._views.board
        if board is not None and board.is_dense:
            return self._views.draw_row(owner.item, width)
        return clip_line(self._views.draw_card(owner.item, number, width), width)

    def _states(self, position: int, key: Hashable) -> tuple[str, ...]:
        """Only the active column shows its cursor, and the blank line between two cards shows no state."""
        if isinstance(key, Continuation) and key.number >= CARD_LINES:
            return ()
        states = super()._states(position, key)
        if self._views.line_list is self:
            return states
        return tuple(state for state in states if not state.startswith("line-list--cursor"))


class TaskViews(Pane):
    """A pane whose rows are tasks, shown as a list, a board or a calendar; board and calendar are made on first use."""

    DEFAULT_CSS: ClassVar[str] = """
    TaskViews {
        &.-board > .pane--list-frame > .pane--list { display: none; }
        &.-calendar > .pane--list-frame > .pane--list { display: none; }
        Board { display: none; }
        Calendar { display: none; }
        &.-board Board { display: block; }
        &.-calendar Calendar { display: block; }
        &.-stacked CardList { overflow-y: auto; }
    }
    """

    sorts: ClassVar[tuple[str, ...]] = SORTS
    groups: ClassVar[tuple[str, ...]] = GROUPS

    def __init__(self) -> None:
        super().__init__()
        self.view_name = VIEWS[0]
        self.group = GROUPS[0]
        self._board: Board | None = None
        self._calendar: Calendar | None = None
        self.board: Board | None = None
        """The board, while it is shown."""
        self.calendar: Calendar | None = None
        """The calendar, while it is shown."""
        self._agenda: tuple[Snapshot, Agenda] | None = None

    def draw_card(self, item: Task, number: int, width: int) -> Line:
        """A line of a card on the board, from 0."""
        raise NotImplementedError

    # Display

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:
        """A heading per group, then its tasks."""
        rows: list[Any] = []
        for title, tasks in grouped(snapshot.tasks, self.group, now, snapshot.zone):
            if rows:
                rows.append(Note(number=len(rows)))
            wrong = self.group == GROUPS[0] and tasks[0].heading is not None
            rows.append(Heading(title, f"{len(tasks)}  {WRONG_HEADING}" if wrong else str(len(tasks))))
            # Of many thousands of tasks few are shown: only those are made.
            rows.extend(tasks)
        return [*rows, *unread_rows("tasks.md", snapshot, "not read as part of a task", first=len(rows))]

    def mark(self, item: Task) -> Hashable:
        """The entry as it is written: to read each of thousands takes longer than the first frame."""
        return hash(item.raw.raw.rstrip())

    def has_ref(self, item: Task, ref: str) -> bool:
        """Whether this is the ref of a task; for the usual ref the tasks behind it need not be read."""
        digits = ref.partition("#")[2]
        if len(digits) == SHORT:
            return item.identity == digits and not is_run(item.entry)
        return super().has_ref(item, ref)

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
            parts.append(self.sort if self.sort in ORDERS else f"sorted by {self.sort}")
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
        from memory.files.tasks.agenda import Agenda

        return Agenda(snapshot.tasks.tasks, now, snapshot.zone)

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

    def set_sort(self, name: str) -> None:
        """Sort and redraw, because the words of a row may depend on the sort."""
        before = self.sort
        super().set_sort(name)
        if self.sort != before:
            for cards in self._lists:
                cards.refresh()

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
        frame = self.query_one(".pane--list-frame")
        if name == "board" and self._board is None:
            from widgets.list.board import Board, Lane

            self._board = Board([Lane(*lane) for lane in LANES], [CardList(self) for _ in LANES], self.moved)
            self._board.follow_width(frame.content_size.width)
            frame.mount(self._board, before=self.instead)
        if name == "calendar" and self._calendar is None:
            from .calendar import Calendar

            self._calendar = Calendar(self)
            self._calendar.fit(frame.content_size)
            frame.mount(self._calendar, before=self.filter_bar)
        for cards in self._lists:
            cards.select(())
        self.view_name = name
        self.board = self._board if name == "board" else None
        self.calendar = self._calendar if name == "calendar" else None
        self.remove_class("-open")
        for view in VIEWS[1:]:
            self.set_class(view == name, f"-{view}")
        self.set_class(name != "list", "-full")
        if self.contents is not None:
            self._arrange()
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
        return [key for cards in self._lists for key in cards.rows]

    def put_keys(self, keys: Sequence[Hashable], *, to_top: bool) -> None:
        """Give the rows to the view that is shown."""
        if self.board is not None:
            self.board.put(self._lanes(keys), to_top=to_top)
        elif self.calendar is not None:
            assert self.snapshot is not None
            if self._agenda is None or self._agenda[0] is not self.snapshot:
                self._agenda = (self.snapshot, self._make_agenda(self.snapshot, self.now))
            rows = {id(item): row for row, item, _ in self.arrangement.rows.items}
            unread = [key for key in keys if isinstance(key, LineRow)]
            self.calendar.put(self._agenda[1], rows, self.arrangement.fits, unread, to_top=to_top)
        else:
            super().put_keys(keys, to_top=to_top)

    def say_instead(self, words: str) -> None:
        """Show a message below the names of the board's columns, or above a calendar that has no files yet.

        The room for it is set here and not by a class, which would look up every style of the pane.
        """
        super().say_instead(words)
        apart = bool(words) and self.view_name != VIEWS[0]
        if self.instead.display != apart:
            self.instead.display = apart
            if self._board is not None:
                self._board.styles.height = 1 if apart else None

    def _lanes(self, keys: Sequence[Hashable]) -> Mapping[str, Sequence[RowKey | LineRow]]:
        """Return the rows by the section of their tasks; lines that are in no task are at the end of the first."""
        lanes: dict[str, list[RowKey | LineRow]] = {lane: [] for lane, _ in LANES}
        for key in keys:
            if isinstance(key, RowKey):
                lanes.setdefault(key.item.section, []).append(key)
        lanes[LANES[0][0]] += [key for key in keys if isinstance(key, LineRow)]
        return lanes

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

    def on_board_arrived(self, event: Any) -> None:
        """Show the entry of another active column."""
        event.stop()
        if self.contents is not None:
            self._show_detail()
            self.tell_current()
