"""The days of a month with their tasks: the rows of the calendar's agenda, and how much stands on each day."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from math import inf

from memory.base.cron import describe
from memory.files.tasks.agenda import Agenda, Occasion, month_bounds
from widgets.calendar.month import Load
from widgets.list.columns import Column, Columns
from widgets.list.rows import Heading, Note
from widgets.pane.filter import Fits
from widgets.pane.rows import RowKey
from widgets.panes.journal.pane import day_title
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Line, Piece
from widgets.text.words import PRIORITY_TONES

LONGEST_DAY = 100
"""Rows of one day; more are counted in a note."""

MANY = 2_000
"""Tasks from which a month is looked through in two steps: what is in view, and the rest."""

OFTEN = "RECURRING OFTEN"
"""The heading of what comes round every few days; it stands once, not on each of them."""

ALL_DAY, SHORT_ALL_DAY = "all day", "day"
"""What stands in the place of a time where a task has none."""

WIDE_ENOUGH = 34
"""Cells from which there is room for `all day`."""

ROW, NARROW_ROW = (
    Columns(
        Column("at", width, importance=3),
        Column("sign", 1, importance=2),
        Column("title", minimum=14),
        Column("priority", 6),
    )
    for width in (len(ALL_DAY), 5)
)
"""Time, what kind of occasion, title, priority."""

OFTEN_ROW, NARROW_OFTEN_ROW = (
    Columns(
        Column("sign", 1, importance=3), Column("title", minimum=8), Column("when", width, "right", importance=2), gap=2
    )
    for width in (16, 11)
)
"""What recurs often: a sign, title, how often."""

MOST_CHOSEN = 8
"""So many filters are remembered with what they chose: a letter taken back has its answer already."""

Place = tuple[Occasion, RowKey]
"""A task on a day, and its row in the list."""


class DayRow(RowKey):
    """A task on one of its days; it stays the same object while the task stands there."""

    __slots__ = ("occasion", "often")

    def __init__(self, occasion: Occasion, mark: Hashable, *, often: bool = False) -> None:
        """`often`: it stands for many days, and below a heading of its own."""
        super().__init__(occasion.task, mark)
        self.occasion = occasion
        self.often = often


def occasion_line(occasion: Occasion, width: int, glyphs: Glyphs, *, often: bool = False) -> Line:
    """A task on a day in `width` cells; one that recurs `often` says how often instead of when."""
    task, kind = occasion.task, occasion.kind
    muted = kind in ("done", "again")
    title = Piece(task.title, "muted" if muted else "plain")
    if often:
        when = Piece(describe(task.recurring or ""), "muted")
        columns = OFTEN_ROW if width >= WIDE_ENOUGH else NARROW_OFTEN_ROW
        return columns.line(width, {"sign": Piece(glyphs.recurring, "muted"), "title": title, "when": when})
    sign = {
        "overdue": Piece(glyphs.alert, "alert"),
        "again": Piece(glyphs.recurring, "muted"),
        "done": Piece(glyphs.check, "muted"),
    }.get(kind, Piece(glyphs.recurring if task.recurring else " ", "muted"))
    wide = width >= WIDE_ENOUGH
    untimed = "" if kind == "done" else ALL_DAY if wide else SHORT_ALL_DAY
    return (ROW if wide else NARROW_ROW).line(
        width,
        {
            "at": Piece(f"{occasion.at:%H:%M}" if occasion.at else untimed, "muted"),
            "sign": sign,
            "title": title,
            "priority": Piece(task.priority or "", "muted" if muted else PRIORITY_TONES.get(task.priority, "muted")),
        },
    )


@dataclass(slots=True)
class Chosen:
    """What a filter chose from a month: what is late from before, each day as far as it was asked for, and the rest."""

    late: list[Place]
    days: dict[date, list[Place]] = field(default_factory=dict)
    often: list[Place] = field(default_factory=list)
    loads: Mapping[date, Load] | None = None
    """How much stands on each day, and with it `often`; None: not all days were asked for yet."""


class MonthDays:
    """What stands in one month, worked out once; a filter then only chooses from it."""

    def __init__(self, agenda: Agenda, day: date, rows: Mapping[int, RowKey], before: MonthDays | None) -> None:
        """`rows` by the id of their task; `before` has the rows of days as they were, which are used again."""
        self.first, self.last = month_bounds(day)
        self._today = agenda.today
        span = agenda.span(self.first, self.last)
        places = [(one, rows[id(one.task)]) for one in span.occasions if id(one.task) in rows]
        self._days: dict[date, list[Place]] = {}
        for place in places:
            self._days.setdefault(place[0].day, []).append(place)
        self._often = [(one, rows[id(one.task)]) for one in span.often if id(one.task) in rows]
        self._often_days = span.often_days
        self.is_full = len(places) > MANY
        late = agenda.overdue if self.first <= agenda.today <= self.last else ()
        self._late = [(one, rows[id(one.task)]) for one in late if one.day < self.first and id(one.task) in rows]
        self._made: dict[Hashable, DayRow] = {} if before is None else before._used
        self._used: dict[Hashable, DayRow] = {}
        self._row_of_place: dict[int, DayRow] = {}
        self._titles: dict[date, str] = {}
        self.loads: Mapping[date, Load] = {}
        self._chosen: dict[Fits | None, Chosen] = {}

    def holds(self, day: date) -> bool:
        """Whether a day is one of this month that has rows of its own."""
        return day in self.loads

    def keys(self, fits: Fits | None, chosen: date, wanted: float = inf) -> list[Hashable]:
        """The rows of the agenda: what is late from before, each day with something, and what recurs often.

        `fits` is a filter, None that there is none. The days end where so many rows as are `wanted` stand, and what
        comes round often does not follow then; `loads` are those of before.
        """
        found = self._chosen.get(fits)
        if found is None:
            while len(self._chosen) >= MOST_CHOSEN:
                del self._chosen[next(iter(self._chosen))]
            found = self._chosen[fits] = Chosen(fitting(self._late, fits))
        days = found.days
        keys: list[Hashable] = []
        if found.late:
            keys += self._part("OVERDUE SINCE BEFORE", found.late, 0)
        for day in sorted({*self._days, chosen}):
            if len(keys) >= wanted:
                return keys
            if day not in days:
                days[day] = fitting(self._days.get(day, []), fits)
            places = days[day]
            if not places and day != chosen:
                continue
            keys += self._part(self._title(day), places, len(keys))
            if not places:
                words = "only what recurs often" if day in self._often_days else "nothing stands on this day"
                keys.append(Note(words, len(keys)))
        if found.loads is None:
            found.loads = {day: load_of(places) for day, places in days.items() if places}
            found.often = fitting(self._often, fits)
        self.loads = found.loads
        if found.often:
            keys += self._part(OFTEN, found.often, len(keys), often=True)
        return keys

    def _title(self, day: date) -> str:
        """What stands above a day; it is the same with each letter of a filter."""
        title = self._titles.get(day)
        if title is None:
            title = self._titles[day] = day_title(day.isoformat(), self._today)
        return title

    def _part(self, title: str, places: Sequence[Place], above: int, *, often: bool = False) -> list[Hashable]:
        """A heading and its rows, below so many rows."""
        keys: list[Hashable] = [Note(number=above)] if above else []
        keys.append(Heading(title, str(len(places)) if places else ""))
        keys += [
            self._row_of_place.get(id(place)) or self._make_row(place, often=often) for place in places[:LONGEST_DAY]
        ]
        if len(places) > LONGEST_DAY:
            keys.append(Note(f"… and {len(places) - LONGEST_DAY} more", above))
        return keys

    def _make_row(self, place: Place, *, often: bool) -> DayRow:
        """The row of a place, the one that it had before."""
        one, row = place
        name = (row, one.day, one.kind, often)
        key = self._made.get(name) or DayRow(one, row.mark, often=often)
        key.occasion, key.item, key.mark = one, one.task, row.mark
        self._used[name] = self._row_of_place[id(place)] = key
        return key


def fitting(places: list[Place], fits: Fits | None) -> list[Place]:
    """What fits a filter; all of it where there is none."""
    return places if fits is None else fits.pairs(places)


def load_of(places: Sequence[Place]) -> Load:
    """How much stands on a day."""
    kinds = [place[0].kind for place in places]
    late = kinds.count("overdue")
    return Load(open=kinds.count("due") + late, done=kinds.count("done"), overdue=late > 0, again=kinds.count("again"))
