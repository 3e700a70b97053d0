"""The calendar of tasks: a month with dots, and beside it the agenda of its days."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from datetime import date, timedelta
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message

from memory.files.agenda import Agenda, Occasion, month_bounds, month_of
from widgets.columns import Column, Columns
from widgets.glyphs import Glyphs
from widgets.month import Load, Month
from widgets.pane import Pane, PaneList
from widgets.pane_rows import Row
from widgets.pieces import Line, Piece
from widgets.rows import Heading, Note
from widgets.task_words import PRIORITY_TONES

from .journal import day_title

WIDE, NARROW = 92, 56
"""Cells from which days have room for three dots, and from which there is a month at all."""

LOW = 9
"""Lines that a month needs."""

LONGEST_DAY = 200
"""Rows of one day; more are counted in a note."""

ROW = Columns(
    Column("at", 5, importance=3), Column("sign", 1, importance=2), Column("title", minimum=14), Column("priority", 6)
)
"""Time, what kind of occasion, title, priority."""


class DayRow(Row):
    """A task on one of its days; it stays the same object while the task stands there."""

    __slots__ = ("occasion",)

    def __init__(self, occasion: Occasion, mark: Hashable) -> None:
        super().__init__(occasion.task, mark)
        self.occasion = occasion


def occasion_line(occasion: Occasion, width: int, glyphs: Glyphs) -> Line:
    """A task on a day in `width` cells."""
    task, kind = occasion.task, occasion.kind
    muted = kind in ("done", "again")
    sign = {
        "overdue": Piece(glyphs.alert, "alert"),
        "again": Piece(glyphs.recurring, "muted"),
        "done": Piece(glyphs.check, "muted"),
    }.get(kind, Piece(glyphs.recurring if task.recurring else " ", "muted"))
    return ROW.line(
        width,
        {
            "at": Piece(f"{occasion.at:%H:%M}" if occasion.at else "", "muted"),
            "sign": sign,
            "title": Piece(task.title, "muted" if muted else "plain"),
            "priority": Piece(task.priority or "", "muted" if muted else PRIORITY_TONES.get(task.priority, "muted")),
        },
    )


class DayList(PaneList):
    """The agenda of a month."""

    def render_row(self, key: Hashable, width: int) -> Line:
        """The line of a task on a day."""
        assert isinstance(key, DayRow)
        return occasion_line(key.occasion, width, self.glyphs)


class Calendar(Horizontal):
    """The agenda has the focus; its cursor and the keys left and right choose the day."""

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
        Binding("left,h", "day(-1)", "day before", id="calendar.left", tooltip="Go to the day before", group=DAY),
        Binding("right,l", "day(1)", "next day", id="calendar.right", tooltip="Go to the next day", group=DAY),
        Binding(
            "less_than_sign,shift+left",
            "month(-1)",
            "month before",
            id="calendar.before",
            tooltip="Go to the month before",
            group=MONTH,
        ),
        Binding(
            "greater_than_sign,shift+right",
            "month(1)",
            "next month",
            id="calendar.next",
            tooltip="Go to the next month",
            group=MONTH,
        ),
        Binding("full_stop", "today", "today", id="calendar.today", tooltip="Go to today"),
    ]

    class DayChanged(Message):
        """Another day is the one that is looked at."""

    def __init__(self, pane: Pane) -> None:
        super().__init__()
        self.list = DayList(pane)
        self.month = Month()
        self.day: date | None = None
        self._agenda: Agenda | None = None
        self._rows: Mapping[int, Row] = {}
        self._shown: Collection[Row] | None = None
        self._month: tuple[date, list[Occasion], list[Occasion]] | None = None
        self._known: dict[tuple[Row, date, str], DayRow] = {}
        self._left: Hashable | None = None
        self._loads: Mapping[date, Load] = {}

    def compose(self) -> ComposeResult:
        """Month and agenda."""
        yield self.month
        yield self.list

    def put(self, agenda: Agenda, rows: Mapping[int, Row], shown: Collection[Row] | None, *, redraw: bool) -> None:
        """Show an agenda: `rows` are those of tasks by the id of the task, `shown` those that fit a filter, if any."""
        self._agenda, self._rows, self._shown = agenda, rows, shown
        self._month = None
        if self.day is None:
            self.day = agenda.today
        self._arrange(redraw=redraw)

    def go_to(self, day: date) -> None:
        """Look at a day: the cursor goes to the first of what stands there."""
        before, self.day = self.day, day
        if before is None or not (self._stands(before) and self._stands(day)):
            self._arrange(redraw=False)
        first = next((key for key in self.list.rows if isinstance(key, DayRow) and key.occasion.day == day), None)
        if first is not None:
            self.list.cursor = first
        self._left = self.list.cursor
        self._show_month()
        self.post_message(self.DayChanged())

    def begin(self, *, found: bool) -> None:
        """Open at the cursor's day, else today; what stands there is at the top of the agenda."""
        if not found and self._agenda is not None:
            self.go_to(self._agenda.today)

        def show() -> None:
            rows, place = self.list.rows, self.list.position
            while place > 0 and isinstance(rows[place - 1], DayRow):
                place -= 1
            self.list.scroll_to(y=max(0, place - 1), animate=False, force=True)

        self.call_after_refresh(show)

    def find(self, row: Row) -> bool:
        """Put the cursor on a task, on the day that it is due; False: it has none, or one that is filtered out."""
        assert self._agenda is not None
        for key in self.list.rows:
            if isinstance(key, DayRow) and key.item is row.item:
                self.list.cursor = key
                self._left = None
                self.follow_cursor()
                return True
        return False

    def follow_cursor(self) -> None:
        """The cursor stands on another day."""
        key = self.list.cursor
        if key is self._left:
            # Nobody moved it: a day without entries was chosen, and the cursor stands where it stood.
            return
        self._left = None
        if isinstance(key, DayRow) and key.occasion.day != self.day and self._agenda is not None:
            first, last = month_bounds(self.day or self._agenda.today)
            if first <= key.occasion.day <= last:
                self.day = key.occasion.day
                self._show_month()

    def _stands(self, day: date) -> bool:
        """Whether a day of the month that is shown has rows, which then need not be made anew."""
        shown = self._month is not None and self._month[0] == day.replace(day=1)
        return shown and day in self._loads

    def _fits(self, occasion: Occasion) -> bool:
        row = self._row(occasion)
        return row is not None and (self._shown is None or row in self._shown)

    def _arrange(self, *, redraw: bool) -> None:
        agenda = self._agenda
        if agenda is None or self.day is None:
            return
        first, last = month_bounds(self.day)
        if self._month is None or self._month[0] != first:
            fitting = [one for one in agenda.between(first, last) if self._fits(one)]
            late = [one for one in agenda.overdue if one.day < first and self._fits(one)]
            self._month = (first, fitting, late)
        _, fitting, late = self._month
        keys: list[Hashable] = []
        known: dict[tuple[Row, date, str], DayRow] = {}

        def add(title: str, occasions: list[Occasion]) -> None:
            if keys:
                keys.append(Note(number=len(keys)))
            keys.append(Heading(title, str(len(occasions)) if occasions else ""))
            for one in occasions[:LONGEST_DAY]:
                row = self._row(one)
                assert row is not None
                name = (row, one.day, one.kind)
                key = self._known.get(name)
                if key is None:
                    key = DayRow(one, row.mark)
                key.occasion, key.item, key.mark = one, one.task, row.mark
                known[name] = key
                keys.append(key)
            if len(occasions) > LONGEST_DAY:
                keys.append(Note(f"… and {len(occasions) - LONGEST_DAY} more", len(keys)))

        if late and first <= agenda.today <= last:
            add("OVERDUE SINCE BEFORE", late)
        days: dict[date, list[Occasion]] = {self.day: []}
        for one in fitting:
            days.setdefault(one.day, []).append(one)
        for day in sorted(days):
            add(day_title(day.isoformat(), agenda.today), days[day])
            if not days[day]:
                keys.append(Note("nothing stands on this day", len(keys)))
        self._known = known
        self._loads = loads_of(fitting)
        self.list.set_rows(keys, redraw=True)
        if redraw:
            self.list.redraw()
        self._left = self.list.cursor
        self._show_month()

    def _row(self, occasion: Occasion) -> Row | None:
        return self._rows.get(id(occasion.task))

    def _show_month(self) -> None:
        if self._agenda is not None and self.day is not None:
            self.month.show(self.day, self._agenda.today, self._loads)

    _loads: Mapping[date, Load] = {}

    def on_resize(self) -> None:
        """The month takes what room there is, or none."""
        self.set_class(self.size.width < NARROW or self.size.height < LOW, "-alone")
        self.month.set_class(self.size.width < WIDE or self.size.height < 16, "-tight")
        self.month.forget()

    def on_month_chosen(self, event: Month.Chosen) -> None:
        """A day was clicked."""
        event.stop()
        self.go_to(event.day)

    def action_day(self, step: int) -> None:
        """Go to the day before, or the next one."""
        if self.day is not None and date.min < self.day < date.max:
            self.go_to(self.day + timedelta(days=step))

    def action_month(self, step: int) -> None:
        """Go to the month before, or the next one."""
        if self.day is not None:
            self.go_to(month_of(self.day, step))

    def action_today(self) -> None:
        """Go to today."""
        if self._agenda is not None:
            self.go_to(self._agenda.today)


def loads_of(occasions: Collection[Occasion]) -> dict[date, Load]:
    """How much stands on each day."""
    loads: dict[date, Load] = {}
    for one in occasions:
        load = loads.get(one.day, Load())
        if one.kind == "done":
            loads[one.day] = load._replace(done=load.done + 1)
        elif one.kind == "again":
            loads[one.day] = load._replace(again=load.again + 1)
        else:
            loads[one.day] = load._replace(open=load.open + 1, overdue=load.overdue or one.kind == "overdue")
    return loads
