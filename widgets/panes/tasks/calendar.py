"""The calendar of tasks: a month with dots, and beside it the agenda of its days."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import date, timedelta
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.geometry import Size
from textual.message import Message

from memory.files.tasks.agenda import Agenda, month_of
from widgets.calendar.month import Month
from widgets.list.rows import Heading, Note
from widgets.pane.base import Pane, PaneList
from widgets.pane.rows import LineRow, RowKey
from widgets.text.styled_text import Line

from .days import DayRow, Fits, MonthDays, occasion_line

WIDE, NARROW = 92, 56
"""Cells from which days have room for three dots, and from which the month is shown at all."""

LOW = 9
"""Lines that a month needs."""


class DayList(PaneList):
    """The agenda of a month."""

    def render_row(self, key: Hashable, width: int) -> Line:
        """The line of a task on a day, or of the file where no task has it."""
        if not isinstance(key, DayRow):
            return super().render_row(key, width)
        return occasion_line(key.occasion, width, self.glyphs, often=key.often)


class Calendar(Horizontal):
    """A month beside its agenda, which has the focus; its cursor and the keys left and right choose the day."""

    DEFAULT_CSS: ClassVar[str] = """
    Calendar {
        height: 1fr;
        DayList { width: 1fr; height: 1fr; }
        &.-alone Month { display: none; }
    }
    """

    DAY: ClassVar[Binding.Group] = Binding.Group("day")
    MONTH: ClassVar[Binding.Group] = Binding.Group("month")

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "day(-1)", "day before", id="calendar.left", tooltip="Go to the previous day", group=DAY),
        Binding("right,l", "day(1)", "next day", id="calendar.right", tooltip="Go to the next day", group=DAY),
        Binding(
            "shift+left",
            "month(-1)",
            "month before",
            id="calendar.before",
            tooltip="Go to the previous month",
            group=MONTH,
        ),
        Binding(
            "shift+right",
            "month(1)",
            "next month",
            id="calendar.next",
            tooltip="Go to the next month",
            group=MONTH,
        ),
        Binding("T", "today", "today", id="calendar.today", tooltip="Go to today"),
    ]

    class DayChanged(Message):
        """Another day was chosen."""

    def __init__(self, pane: Pane) -> None:
        super().__init__()
        self._pane = pane
        self.list = DayList(pane)
        self.month = Month()
        self.day: date | None = None
        self._agenda: Agenda | None = None
        self._rows: Mapping[int, RowKey] = {}
        self._fits: Fits | None = None
        self._unread: Sequence[LineRow] = ()
        self._days: MonthDays | None = None
        self._new = False
        self._left: Hashable | None = None

    def compose(self) -> ComposeResult:
        """Month and agenda."""
        yield self.month
        yield self.list

    def put(
        self,
        agenda: Agenda,
        rows: Mapping[int, RowKey],
        fits: Fits | None,
        unread: Sequence[LineRow] = (),
        *,
        to_top: bool = False,
    ) -> None:
        """Show an agenda: `rows` by the `id()` of their task; `fits` tests which rows match the filter, if any.

        `unread` are the lines of the file that are in no task; they follow the days.
        """
        self._new = True
        self._agenda, self._rows, self._fits, self._unread = agenda, rows, fits, unread
        if self.day is None:
            self.day = agenda.today
        self._arrange(to_top=to_top)

    def go_to(self, day: date) -> None:
        """Choose a day; the cursor goes to its first task."""
        before, self.day = self.day, day
        if before is None or not (self._stands(before) and self._stands(day)):
            self._arrange()
        first = next((key for key in self.list.rows if isinstance(key, DayRow) and key.occasion.day == day), None)
        if first is not None:
            self.list.cursor = first
        self._left = self.list.cursor
        self._show_month()
        self.post_message(self.DayChanged())

    def begin(self, *, found: bool) -> None:
        """Open at the cursor's day if `found`, else at today, and scroll that day to the top of the agenda."""
        if not found and self._agenda is not None:
            self.go_to(self._agenda.today)

        def show() -> None:
            rows, place = self.list.rows, self.list.position
            while place > 0 and isinstance(rows[place - 1], DayRow):
                place -= 1
            self.list.scroll_to(y=max(0, place - 1), animate=False, force=True)

        self.call_after_refresh(show)

    def find(self, row: RowKey) -> bool:
        """Put the cursor on a task in the agenda; False: the agenda does not list it, or a filter hides it."""
        assert self._agenda is not None
        for key in self.list.rows:
            if isinstance(key, DayRow) and key.item is row.item:
                self.list.cursor = key
                self._left = None
                self.follow_cursor()
                return True
        return False

    def follow_cursor(self) -> None:
        """Choose the day of the row under the cursor."""
        key = self.list.cursor
        if key is self._left:
            # The cursor was not moved: a day without tasks was chosen, and the cursor stayed.
            return
        self._left = None
        if isinstance(key, DayRow) and not key.often and self._days is not None:
            day = key.occasion.day
            if day != self.day and self._days.first <= day <= self._days.last:
                self.day = day
                self._show_month()

    def _stands(self, day: date) -> bool:
        """Whether a day of the shown month has rows, which then need not be made again."""
        return self._days is not None and self._days.holds(day)

    def _arrange(self, *, to_top: bool = False) -> None:
        """Make the rows of the agenda."""
        agenda, day = self._agenda, self.day
        if agenda is None or day is None:
            return
        if self._new or self._days is None or not self._days.first <= day <= self._days.last:
            self._days = MonthDays(agenda, day, self._rows, self._days)
            self._new = False
        before = self.list.cursor
        rows = self._days.keys(self._fits, day)
        if self._unread:
            rows += [Note(number=-1), Heading("NOT READ", f"{len(self._unread)}"), *self._unread]
        self.list.set_rows(rows, to_top=to_top)
        # If the cursor moved to a matching task, the day follows it.
        self._left = None if to_top and self.list.cursor is not before else self.list.cursor
        self._show_month()

    def _show_month(self) -> None:
        if self._agenda is not None and self.day is not None and self._days is not None:
            self.month.show(self.day, self._agenda.today, self._days.loads)

    def fit(self, size: Size) -> None:
        """Fit the month to the room, or hide it."""
        self.set_class(size.width < NARROW or size.height < LOW, "-alone")
        self.month.set_class(size.width < WIDE or size.height < 16, "-tight")

    def on_resize(self) -> None:
        """Fit the month to the new room."""
        self.fit(self.size)
        self.month.forget()
        self._show_month()

    def on_month_chosen(self, event: Month.Chosen) -> None:
        """Choose the day that was clicked."""
        event.stop()
        self._choose(event.day)

    def action_day(self, step: int) -> None:
        """Go to the day before, or the next one."""
        if self.day is not None and date.min < self.day < date.max:
            self._choose(self.day + timedelta(days=step))

    def action_month(self, step: int) -> None:
        """Go to the month before, or the next one."""
        if self.day is not None:
            self._choose(month_of(self.day, step))

    def action_today(self) -> None:
        """Go to today."""
        if self._agenda is not None:
            self._choose(self._agenda.today)

    def _choose(self, day: date) -> None:
        """Go to a day, for the person."""
        self._pane.moved()
        self.go_to(day)
