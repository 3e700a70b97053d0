"""Month: the days of a month as a grid, with a sign for what is on a day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, NamedTuple

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from memory.files.tasks.order import weeks_of
from widgets.text.drawing import Drawing
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Line, Piece, Tone, line

CELL = 4
"""Cells of a day: a bracket around today, the number, a sign."""

TOP = 3
"""Lines above the weeks."""

ROOMY = 18
"""Lines from which there is a blank one between two weeks."""

NAMES = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")


class Load(NamedTuple):
    """How many items a day has, and whether any of them is overdue; `open` counts those not done.

    `again` counts the further runs of recurring items, which are quiet: a daily item would fill every day ahead.
    """

    open: int = 0
    done: int = 0
    overdue: bool = False
    again: int = 0


def day_cell(day: date, today: date, load: Load, glyphs: Glyphs) -> Line:
    """Return a day in `CELL` cells; today is in brackets: nothing is shown by colour alone."""
    sign, tone = " ", "muted"
    if load.overdue:
        sign, tone = glyphs.alert, "alert"
    elif load.open:
        sign, tone = glyphs.bullet, "accent"
    elif load.done or load.again:
        sign = glyphs.check if load.done else glyphs.recurring
    number: Tone = "plain" if load.open else "muted"
    if day == today:
        number = "alert" if load.overdue else "strong"
    before, after = ("[", "]") if day == today else (" ", sign)
    return line(Piece(f"{before}{day.day:>2}", number), Piece(after, number if day == today else tone))  # type: ignore[arg-type]


class Month(Drawing, Widget):
    """A month; a click chooses a day.

    | Component class | Styles |
    | :- | :- |
    | `month--day` | the chosen day |
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"month--day"}

    DEFAULT_CSS: ClassVar[str] = """
    Month {
        width: 31;
        height: 1fr;
        padding: 0 0 0 1;
        background: $background;
        color: $foreground;
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

    def show(self, day: date, today: date, loads: Mapping[date, Load]) -> None:
        """Set the chosen day and its month."""
        if (day, today, loads) != (self.day, self._today, self.loads):
            same_month = (day.year, day.month) == (self.day.year, self.day.month)
            self.day, self._today, self.loads = day, today, loads
            weeks = [y for y in range(self.size.height) if self._week(y)] if same_month else []
            self.refresh(*(Region(0, y, self.size.width, 1) for y in weeks))

    @property
    def _step(self) -> int:
        """Lines from one week to the next."""
        return 2 if self.size.height >= ROOMY else 1

    def _week(self, y: int) -> list[date | None]:
        """Return the days in the line `y`; empty where it has none."""
        number, between = divmod(y - TOP, self._step)
        weeks = weeks_of(self.day)
        return weeks[number] if not between and 0 <= number < len(weeks) else []

    def render_line(self, y: int) -> Strip:
        """Draw the title, the names of the days, a week, or what the signs mean."""
        glyphs, width = self.glyphs, self.size.width
        match y:
            case 0:
                return self.draw(line(Piece(f" {self.day:%B} {self.day.year}", "strong")), width)
            case 2:
                return self.draw(line(Piece("".join(f"{name:>3} " for name in NAMES), "muted")), width)
            case _ if y == TOP + 1 + len(weeks_of(self.day)) * self._step:
                signs: tuple[tuple[str, Tone, str], ...] = (
                    (glyphs.bullet, "accent", "due"), (glyphs.alert, "alert", "late"),
                    (glyphs.check, "muted", "done"), (glyphs.recurring, "muted", "recurs"),
                )  # fmt: skip
                pieces = [
                    piece
                    for sign, tone, name in signs
                    for piece in (Piece(f" {sign}", tone), Piece(f" {name}", "muted"))
                ]
                return self.draw(tuple(pieces), width)
        strips = []
        for day in self._week(y):
            content = (
                line(" " * CELL) if day is None else day_cell(day, self._today, self.loads.get(day, Load()), glyphs)
            )
            if day == self.day:
                # Marked by a sign as well, because there may be no colours; today has its brackets.
                mark = glyphs.cursor if day != self._today else content[0].text[0]
                content = line(Piece(mark), Piece(content[0].text[1:]), content[1])
            strips.append(self.draw(content, CELL, *(("month--day",) if day == self.day else ())))
        return Strip.join([*strips, self.draw((), max(0, width - CELL * len(strips)))])

    def on_click(self, event: events.Click) -> None:
        """Choose the day under the mouse."""
        offset = event.get_content_offset(self)
        week = self._week(offset.y) if offset is not None else []
        if offset is not None and 0 <= offset.x // CELL < len(week):
            day = week[offset.x // CELL]
            if day is not None:
                self.post_message(self.Chosen(day))
