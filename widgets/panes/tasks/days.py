"""The days of a month with their tasks: the rows of the calendar's agenda, and the load of each day."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import date

from memory.base.cron import describe
from memory.files.tasks.agenda import Agenda, Occasion, month_bounds
from widgets.calendar.month import Load
from widgets.list.rows import Heading, Note
from widgets.pane.rows import RowKey
from widgets.panes.journal.pane import day_title
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Column, Columns, Line, Piece
from widgets.text.words import PRIORITY_TONES

LONGEST_DAY = 100
"""The most rows of one day; more are counted in a note."""

OFTEN = "RECURRING OFTEN"
"""The heading of tasks that recur every few days; they are listed once, not on each day."""

ALL_DAY = "all day"
"""The text in place of a time for tasks without one."""

ROW = Columns(Column("at", len(ALL_DAY), importance=3), Column("sign", 1, importance=2), Column("title", minimum=14))
"""The columns of a task on a day: time, kind of occasion, title."""

OFTEN_ROW = Columns(
    Column("sign", 1, importance=3), Column("title", minimum=14), Column("when", 16, "right", importance=2), gap=2
)
"""The columns of a task that recurs often: sign, title, how often."""

Fits = Callable[[RowKey], bool]
Place = tuple[Occasion, RowKey]
"""A task on a day, and its row in the list."""


class DayRow(RowKey):
    """A task on one of its days; it stays the same object as long as the task is on that day."""

    __slots__ = ("occasion", "often")

    def __init__(self, occasion: Occasion, mark: Hashable, *, often: bool = False) -> None:
        """`often`: it represents many days, and is listed below its own heading."""
        super().__init__(occasion.task, mark)
        self.occasion = occasion
        self.often = often


def occasion_line(occasion: Occasion, width: int, glyphs: Glyphs, *, often: bool = False) -> Line:
    """A task on a day in `width` cells; one that recurs `often` shows how often instead of when."""
    task, kind = occasion.task, occasion.kind
    muted = kind in ("done", "again")
    title = Piece(task.title, "muted" if muted else PRIORITY_TONES.get(task.priority, "plain"))
    if often:
        when = Piece(describe(task.recurring or ""), "muted")
        return OFTEN_ROW.line(width, {"sign": Piece(glyphs.recurring, "muted"), "title": title, "when": when})
    sign = {
        "overdue": Piece(glyphs.alert, "alert"),
        "again": Piece(glyphs.recurring, "muted"),
        "done": Piece(glyphs.check, "muted"),
    }.get(kind, Piece(glyphs.recurring if task.recurring else " ", "muted"))
    untimed = "" if kind == "done" else ALL_DAY
    return ROW.line(
        width,
        {
            "at": Piece(f"{occasion.at:%H:%M}" if occasion.at else untimed, "muted"),
            "sign": sign,
            "title": title,
        },
    )


class MonthDays:
    """The tasks of one month, computed once; a filter then only selects from them."""

    def __init__(self, agenda: Agenda, day: date, rows: Mapping[int, RowKey], before: MonthDays | None) -> None:
        """`rows` by the `id()` of their task; `before` is the former object, whose rows are reused."""
        self.first, self.last = month_bounds(day)
        self._today = agenda.today
        span = agenda.span(self.first, self.last)
        places = [(one, rows[id(one.task)]) for one in span.occasions if id(one.task) in rows]
        self._days: dict[date, list[Place]] = {}
        for place in places:
            self._days.setdefault(place[0].day, []).append(place)
        self._often = [(one, rows[id(one.task)]) for one in span.often if id(one.task) in rows]
        self._often_days = span.often_days
        late = agenda.overdue if self.first <= agenda.today <= self.last else ()
        self._late = [(one, rows[id(one.task)]) for one in late if one.day < self.first and id(one.task) in rows]
        self._made: dict[Hashable, DayRow] = {} if before is None else before._used
        self._used: dict[Hashable, DayRow] = {}
        self.loads: Mapping[date, Load] = {}

    def holds(self, day: date) -> bool:
        """Whether a day is in this month and has matching tasks."""
        return day in self.loads

    def keys(self, fits: Fits | None, chosen: date) -> list[Hashable]:
        """The rows of the agenda: tasks overdue from before, each day with tasks, and what recurs often.

        `fits` is a filter, None for no filter; `chosen` is a day that is listed even without tasks.
        """
        keys: list[Hashable] = []
        if late := fitting(self._late, fits):
            keys += self._part("OVERDUE SINCE BEFORE", late, 0)
        days = {day: places for day in self._days if (places := fitting(self._days[day], fits))}
        for day in sorted({*days, chosen}):
            places = days.get(day, [])
            keys += self._part(day_title(day.isoformat(), self._today), places, len(keys))
            if not places:
                words = "only what recurs often" if day in self._often_days else "nothing on this day"
                keys.append(Note(words, len(keys)))
        self.loads = {day: load_of(places) for day, places in days.items()}
        if often := fitting(self._often, fits):
            keys += self._part(OFTEN, often, len(keys), often=True)
        return keys

    def _part(self, title: str, places: Sequence[Place], above: int, *, often: bool = False) -> list[Hashable]:
        """A heading and its rows; `above` is how many rows precede them."""
        keys: list[Hashable] = [Note(number=above)] if above else []
        keys.append(Heading(title, str(len(places)) if places else ""))
        keys += [self._row_of(place, often=often) for place in places[:LONGEST_DAY]]
        if len(places) > LONGEST_DAY:
            keys.append(Note(f"… and {len(places) - LONGEST_DAY} more", above))
        return keys

    def _row_of(self, place: Place, *, often: bool) -> DayRow:
        """The row of a place; the former one if there was one."""
        one, row = place
        name = (row, one.day, one.kind, often)
        key = self._used.get(name) or self._made.get(name) or DayRow(one, row.mark, often=often)
        key.occasion, key.item, key.mark = one, one.task, row.mark
        self._used[name] = key
        return key


def fitting(places: list[Place], fits: Fits | None) -> list[Place]:
    """The places that match a filter; all of them where there is none."""
    return places if fits is None else [place for place in places if fits(place[1])]


def load_of(places: Sequence[Place]) -> Load:
    """The load of a day with these tasks."""
    kinds = [place[0].kind for place in places]
    late = kinds.count("overdue")
    return Load(open=kinds.count("due") + late, done=kinds.count("done"), overdue=late > 0, again=kinds.count("again"))
