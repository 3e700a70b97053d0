"""Month: the days of a month as a grid, with a dot for each item on a day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, NamedTuple, TypeAlias

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from memory.files.tasks.agenda import weeks_of
from widgets.text.drawing import Drawing
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Line, Piece, Tone, line

WIDE, TIGHT = 6, 4
"""Cells of a day: with room for three dots, and with room for one."""

NAMES = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")


class Load(NamedTuple):
    """How many items a day has, and whether any of them is overdue; `open` counts those not done.

    `again` counts the further runs of recurring items, which get no dots: a daily item would fill every day ahead.
    """

    open: int = 0
    done: int = 0
    overdue: bool = False
    again: int = 0


MonthLine: TypeAlias = tuple[Line, tuple[tuple[date, int], ...]]
"""A line of a month with its days, each with the cell where it begins."""


def month_lines(day: date, today: date, loads: Mapping[date, Load], cell: int, glyphs: Glyphs) -> list[MonthLine]:
    """The lines of a month: each with its days and the cell where each day begins.

    Today is in brackets, and a day with overdue items has the alert sign: nothing is shown by colour alone.
    In days of `TIGHT` cells the brackets leave no room for dots; the agenda lists the items of today.
    """
    names = "".join(f"{name:>3}" + " " * (cell - 3) for name in NAMES)
    rows: list[MonthLine] = [
        (line(Piece(f" {day:%B} {day.year}", "strong")), ()),
        ((), ()),
        (line(Piece(names, "muted")), ()),
    ]
    for week in weeks_of(day):
        pieces: list[Piece] = []
        places = []
        for place, one in enumerate(week):
            if one is None:
                pieces.append(Piece(" " * cell))
                continue
            places.append((one, place * cell))
            pieces += _day(one, today, loads.get(one, Load()), cell, glyphs)
        rows.append((tuple(pieces), tuple(places)))
        if cell == WIDE:
            rows.append(((), ()))
    return rows


def _day(one: date, today: date, load: Load, cell: int, glyphs: Glyphs) -> list[Piece]:
    # The closing bracket after today takes one cell of the room for dots.
    closing = one == today
    room = cell - 3 - closing
    tone: Tone = "strong" if one == today else "plain" if load.open else "muted"
    number = Piece(f"{'[' if one == today else ' '}{one.day:>2}", tone)
    if load.overdue:
        marks, mark_tone = glyphs.alert + glyphs.bullet * min(load.open - 1, room - 2 + closing), "alert"
    elif load.open:
        marks, mark_tone = glyphs.bullet * min(load.open, max(1, room - 1 + closing)), "accent"
    else:
        marks, mark_tone = (glyphs.check if load.done else glyphs.dot if load.again else ""), "muted"
    brackets = [Piece("]", "strong")] if closing else []
    if not room:
        number = Piece(number.text, mark_tone if marks or load.overdue else tone)  # type: ignore[arg-type]
    return [number, *brackets, Piece(f"{marks:<{room}}"[:room], mark_tone)]  # type: ignore[arg-type]


class Month(Drawing, Widget):
    """A month; a click chooses a day.

    | Component class | Styles |
    | :- | :- |
    | `month--day` | the chosen day |
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"month--day"}

    DEFAULT_CSS: ClassVar[str] = """
    Month {
        width: 44;
        height: 1fr;
        padding: 0 0 0 1;
        background: $background;
        color: $foreground;
        &.-tight { width: 30; }
        & > .month--day { background: $accent-muted; color: $block-cursor-foreground; text-style: bold; }
        &:nocolor > .month--day { text-style: bold reverse; }
    }
    """

    @dataclass
    class Chosen(Message):
        """A day was clicked."""

        day: date

    def __init__(self) -> None:
        super().__init__()
        self.day = self._today = date(2000, 1, 1)
        """The chosen day, and the day of today."""
        self.loads: Mapping[date, Load] = {}
        self._lines: list[MonthLine] | None = None

    @property
    def cell(self) -> int:
        """Cells of a day."""
        return TIGHT if self.has_class("-tight") else WIDE

    def show(self, day: date, today: date, loads: Mapping[date, Load]) -> None:
        """Set the chosen day and its month; the next `say_below` draws them."""
        if (day.replace(day=1), today, loads) != (self.day.replace(day=1), self._today, self.loads):
            self._lines = None
        self.day, self._today, self.loads = day, today, loads

    def forget(self) -> None:
        """Redraw everything, because the room changed."""
        self._lines = None
        self.refresh()

    def on_resize(self) -> None:
        """Redraw: days may be wider or narrower now."""
        self.forget()

    @property
    def rows(self) -> list[MonthLine]:
        """The lines of the month, each with its days and the cell where each day begins."""
        if self._lines is None:
            glyphs = self.glyphs
            self._lines = month_lines(self.day, self._today, self.loads, self.cell, glyphs)
            if len(self._lines) + 1 < self.size.height:
                self._lines += [((), ()), (self._legend(glyphs), ()), ((), ())]
        return self._lines

    def _legend(self, glyphs: Glyphs) -> Line:
        """What the signs mean."""
        gap, late = ("  ", "overdue") if self.cell == WIDE else (" ", "late")
        signs: tuple[tuple[str, Tone, str], ...] = (
            (glyphs.bullet, "accent", "due"),
            (glyphs.alert, "alert", late),
            (glyphs.check, "muted", "done"),
            (glyphs.dot, "muted", "recurs"),
        )
        pieces = [Piece(f"{gap if place else ' '}{sign}", tone) for place, (sign, tone, _) in enumerate(signs)]
        words = [Piece(f" {name}", "muted") for _, _, name in signs]
        return tuple(piece for pair in zip(pieces, words, strict=True) for piece in pair)

    def _content(self, y: int) -> tuple[Line, int | None]:
        """Return the line `y`, and where the chosen day begins in it."""
        if y >= len(self.rows):
            return (), None
        content, places = self.rows[y]
        return content, next((start for day, start in places if day == self.day), None)

    def render_line(self, y: int) -> Strip:
        """Draw one line; the chosen day is highlighted."""
        width = self.size.width
        content, at = self._content(y)
        strip = self.draw(content, width)
        if at is None:
            return strip
        end = min(width, at + self.cell)
        text = strip.crop(at, end).text
        # Marked by a sign as well, because there may be no colours; today has its brackets.
        text = self.glyphs.cursor + text[1:] if text.startswith(" ") else text
        drawn = self.draw(line(Piece(text)), end - at, "month--day")
        return Strip.join([strip.crop(0, at), drawn, strip.crop(end, width)])

    def on_click(self, event: events.Click) -> None:
        """Choose the day under the mouse."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y >= len(self.rows):
            return
        for day, start in self.rows[offset.y][1]:
            if start <= offset.x < start + self.cell:
                self.post_message(self.Chosen(day))
