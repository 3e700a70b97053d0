"""The calendar of tasks: a month with a sign on each day, and beside it the agenda of its days."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.geometry import Size
from textual.message import Message

from memory.base.cron import describe
from memory.files.tasks.order import Agenda, AgendaSpan, Occasion, month_bounds, month_of
from widgets.calendar.month import Load, Month
from widgets.list.rows import Heading, Note
from widgets.pane.base import Pane, PaneList
from widgets.pane.rows import LineRow, RowKey
from widgets.panes.journal import day_title
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Column, Columns, Line, Piece, line
from widgets.text.words import PRIORITY_TONES

NARROW, LOW = 56, 9
"""Cells and lines from which the month is shown beside the agenda."""

ROW = Columns(Column("sign", 1, importance=4), Column("at", 5, importance=3), Column("title", minimum=14))
"""The columns of a task on a day: kind of occasion, time, title."""


class DayRow(RowKey):
    """A task on one of its days; it stays the same object as long as the task is on that day.

    `often`: it represents many days, and is listed below its own heading.
    """

    __slots__ = ("occasion", "often")

    def __init__(self, occasion: Occasion, mark: Hashable, *, often: bool) -> None:
        super().__init__(occasion.task, mark)
        self.occasion, self.often = occasion, often


@dataclass(frozen=True)
class EmptyDay:
    """The row of a chosen day that has no task; `often`: only tasks that recur often."""

    day: date
    often: bool


class DayList(PaneList):
    """The agenda of a month."""

    def render_row(self, key: Hashable, width: int) -> Line:
        """Return the line of a task on a day, of a day without tasks, or of the file where no task has it."""
        if isinstance(key, EmptyDay):
            return line(Piece("only what recurs often" if key.often else "nothing on this day", "muted"))
        if not isinstance(key, DayRow):
            return super().render_row(key, width)
        return occasion_line(key.occasion, width, self.glyphs, often=key.often)


def occasion_line(occasion: Occasion, width: int, glyphs: Glyphs, *, often: bool = False) -> Line:
    """Return a task on a day in `width` cells; one that recurs `often` shows how often instead of when."""
    task, kind = occasion.task, occasion.kind
    title = Piece(task.title, "muted" if kind in ("done", "again") else PRIORITY_TONES.get(task.priority, "plain"))
    sign = {
        "overdue": Piece(glyphs.alert, "alert"),
        "again": Piece(glyphs.recurring, "muted"),
        "done": Piece(glyphs.check, "muted"),
    }.get(kind, Piece(glyphs.recurring if task.recurring else " ", "muted"))
    at = f"{occasion.at:%H:%M}" if occasion.at and not often else ""
    often_words = Piece(f"  {describe(task.recurring or '')}" if often else "", "muted")
    return ROW.line(width, {"at": Piece(at, "muted"), "sign": sign, "title": line(title, often_words)})


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
        Binding("left,h", "day(-1)", "previous day", id="calendar.left", tooltip="Go to the previous day", group=DAY),
        Binding("right,l", "day(1)", "next day", id="calendar.right", tooltip="Go to the next day", group=DAY),
        Binding("shift+left", "month(-1)", "previous month", id="calendar.before", tooltip="Go to the previous month",
                group=MONTH),
        Binding("shift+right", "month(1)", "next month", id="calendar.next", tooltip="Go to the next month",
                group=MONTH),
        Binding("T", "today", "today", id="calendar.today", tooltip="Go to today"),
    ]  # fmt: skip

    class DayChanged(Message):
        """Another day was chosen."""

    def __init__(self, pane: Pane) -> None:
        super().__init__()
        self._pane = pane
        self.list = DayList(pane)
        self.month = Month()
        self.day: date | None = None
        """The chosen day."""
        self._agenda: Agenda | None = None
        self._rows: Mapping[int, RowKey] = {}
        self._unread: Sequence[LineRow] = ()
        self._span: tuple[date, AgendaSpan] | None = None
        self._made: dict[Hashable, DayRow] = {}
        self._loads: Mapping[date, Load] = {}

    def compose(self) -> ComposeResult:
        """Month and agenda."""
        yield self.month
        yield self.list

    def put(
        self, agenda: Agenda, rows: Mapping[int, RowKey], unread: Sequence[LineRow] = (), *, to_top: bool = False
    ) -> None:
        """Show an agenda: `rows`, those that match the filter, by the `id()` of their task.

        `unread` are the lines of the file that are in no task; they follow the days.
        """
        if agenda is not self._agenda:
            self._agenda, self._span = agenda, None
        self._rows, self._unread = rows, unread
        self.day = self.day or agenda.today
        self._arrange(to_top=to_top)

    def go_to(self, day: date) -> None:
        """Choose a day; the cursor goes to its first row."""
        self.day = day
        self._arrange()
        self.list.cursor = next((key for key in self.list.rows if _day_of(key) == day), self.list.cursor)
        self.post_message(self.DayChanged())

    def begin(self, *, found: bool) -> None:
        """Open at the cursor's day if `found`, else at today, and scroll that day to the top of the agenda."""
        if not found and self._agenda is not None:
            self.go_to(self._agenda.today)

        def show() -> None:
            rows, place = self.list.rows, self.list.position
            while place > 0 and isinstance(rows[place - 1], DayRow):
                place -= 1
            self.list.scroll_to(y=max(0, place - 1), animate=False, force=True, immediate=True)

        self.call_after_refresh(show)

    def find(self, row: RowKey) -> bool:
        """Put the cursor on a task in the agenda; False: the agenda does not list it, or a filter hides it."""
        key = next((key for key in self.list.rows if isinstance(key, DayRow) and key.item is row.item), None)
        if key is not None:
            self.list.cursor = key
            self.follow_cursor()
        return key is not None

    def follow_cursor(self) -> None:
        """Choose the day of the row under the cursor."""
        day = _day_of(self.list.cursor)
        if day is not None and self._span is not None and day.replace(day=1) == self._span[0]:
            self.day = day
            self._show_month()

    def _arrange(self, *, to_top: bool = False) -> None:
        """Make the rows of the month: what is overdue from before, each day with tasks, and what recurs often.

        The chosen day is listed even without tasks.
        """
        agenda, chosen = self._agenda, self.day
        if agenda is None or chosen is None:
            return
        first, last = month_bounds(chosen)
        if self._span is None or self._span[0] != first:
            self._span = (first, agenda.span(first, last))
        span, made, self._made = self._span[1], self._made, {}

        def rows_of(found: Iterable[Occasion], *, often: bool = False) -> list[DayRow]:
            rows = []
            for one in found:
                row = self._rows.get(id(one.task))
                if row is not None:
                    name = (row, one.day, one.kind, often)
                    key = made.get(name) or DayRow(one, row.mark, often=often)
                    key.occasion, key.item, key.mark = one, one.task, row.mark
                    self._made[name] = key
                    rows.append(key)
            return rows

        days: dict[date, list[Hashable]] = {}
        for row in rows_of(span.occasions):
            days.setdefault(row.occasion.day, []).append(row)
        self._loads = {day: _load(rows) for day, rows in days.items()}
        days.setdefault(chosen, [EmptyDay(chosen, chosen in span.often_days)])
        late = agenda.overdue if first <= agenda.today <= last else ()
        parts: list[tuple[str, Sequence[Hashable]]] = [
            ("OVERDUE FROM EARLIER", rows_of(one for one in late if one.day < first)),
            *((day_title(day.isoformat(), agenda.today), days[day]) for day in sorted(days)),
            ("RECURRING OFTEN", rows_of(span.often, often=True)),
            ("NOT READ", self._unread),
        ]
        keys: list[Hashable] = []
        for title, rows in parts:
            if rows:
                count = sum(not isinstance(row, EmptyDay) for row in rows)
                keys += [*([Note(number=len(keys))] if keys else []), Heading(title, str(count or "")), *rows]
        self.list.set_rows(keys, to_top=to_top)
        self._show_month()

    def _show_month(self) -> None:
        if self._agenda is not None and self.day is not None:
            self.month.show(self.day, self._agenda.today, self._loads)

    def fit(self, size: Size) -> None:
        """Hide the month where there is no room for it."""
        self.set_class(size.width < NARROW or size.height < LOW, "-alone")

    def on_resize(self) -> None:
        """Fit the month to the new room."""
        self.fit(self.size)

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


def _day_of(key: Hashable) -> date | None:
    """Return the day of a row; None for one that is about no single day."""
    if isinstance(key, DayRow):
        return None if key.often else key.occasion.day
    return key.day if isinstance(key, EmptyDay) else None


def _load(rows: Sequence[Hashable]) -> Load:
    """Return the load of a day with these rows."""
    kinds = [row.occasion.kind for row in rows if isinstance(row, DayRow)]
    late = kinds.count("overdue")
    return Load(open=kinds.count("due") + late, done=kinds.count("done"), overdue=late > 0, again=kinds.count("again"))
