"""Year: a dialog with a heat map of the days of a year; a key or the mouse chooses a day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget

from memory.files.journal.heat import WEEKS, step_of, weeks_until
from widgets.dialogs.dialogs import DIALOG_CSS, Dialog
from widgets.input.editors import SafeText
from widgets.text.drawing import Drawing
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Line, Piece, line, line_width

LABEL = 4
"""Cells of the names of days at the left."""

ROWS = 10
"""Lines of a map: months, seven days, a blank one, the legend."""

GRID = 8
"""The lines that stay where there is little room: months and days."""

DAYS = ("Mon", "", "Wed", "", "Fri", "", "Sun")


def month_line(weeks: list[list[date]], glyphs: Glyphs) -> str:
    """The scale above the weeks: each month's name begins at the week of its first day, a rule leads to the next."""
    cells = [glyphs.rule] * len(weeks)
    for place, week in enumerate(weeks):
        first = next((day for day in week if day.day == 1), None)
        if first is not None:
            name = f"{first:%b}"[: len(weeks) - place]
            cells[place : place + len(name)] = name
    return "".join(cells)


def heat_lines(
    weeks: list[list[date]], counts: Mapping[date, int], today: date, glyphs: Glyphs, room: int = 80
) -> list[Line]:
    """The lines of a map, a cell per day: months above, days of the week at the left, a legend below.

    Busier days have a denser sign, not only another colour; days to come are blank. The chosen day has its own sign,
    which the map draws over the cell. `room` is the cells of a line.
    """
    rows: list[Line] = [line(Piece(" " * LABEL + month_line(weeks, glyphs), "muted"))]
    for weekday, name in enumerate(DAYS):
        pieces = [Piece(f"{name:<{LABEL}}", "muted")]
        for week in weeks:
            day = week[weekday]
            count = counts.get(day, 0)
            if day > today and not count:
                pieces.append(Piece(" "))
            else:
                pieces.append(Piece(glyphs.heat[step_of(count)], "accent" if count else "muted"))
        rows.append(tuple(pieces))
    rows += [(), line(" " * LABEL, *legend(glyphs, room - LABEL))]
    return rows


LEGEND = ("none", "1", "2-3", "4-7", "8+")
"""The numbers of entries of each step, in words."""


def legend(glyphs: Glyphs, room: int) -> Line:
    """The meaning of the signs, in one line; `a day` and the chosen day are added if they fit in `room`."""
    pieces: list[Piece] = []
    for step, words in enumerate(LEGEND):
        sign = Piece(glyphs.heat[step], "accent" if step else "muted")
        pieces += [Piece("  " if step else ""), sign, Piece(f" {words}", "muted")]
    for words in (" a day", f"  {glyphs.chosen} the chosen day"):
        if line_width((*pieces, Piece(words))) <= room:
            pieces.append(Piece(words, "muted"))
    return tuple(pieces)


class YearMap(Drawing, Widget):
    """The map itself; the dialog around it has the keys.

    | Component class | Styles |
    | :- | :- |
    | `year--day` | the chosen day |
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"year--day"}

    DEFAULT_CSS: ClassVar[str] = f"""
    YearMap {{
        height: {ROWS};
        width: 1fr;
        background: $background;
        color: $foreground;
        & > .year--day {{ background: $accent; color: $background; text-style: bold; }}
    }}
    """

    @dataclass
    class Chosen(Message):
        """A day was clicked."""

        day: date
        twice: bool

    def __init__(self, day: date, today: date, counts: Mapping[date, int]) -> None:
        super().__init__(classes="dialog--body")
        self.day, self.today = day, today
        self._counts = counts
        self._weeks: list[list[date]] = []
        self._lines: list[Line] = []

    def show(self, day: date, counts: Mapping[date, int] | None = None) -> None:
        """Choose a day, and replace the counts if any are given."""
        self.day = day
        if counts is not None:
            self._counts = counts
            self._lines = []
        if not self._weeks or not self._weeks[0][0] <= day <= self._weeks[-1][6]:
            self._lines = []
        self.refresh()

    def on_resize(self) -> None:
        """Lay out again, with as many weeks as fit."""
        self._lines = []

    @property
    def _top(self) -> int:
        """Lines left out at the top: with too little room, the names of months are dropped."""
        return 0 if self.content_size.height >= GRID else 1

    def _lay_out(self) -> None:
        if not self._lines:
            room = max(1, min(WEEKS, self.content_size.width - LABEL))
            last = self.today
            while self.day < weeks_until(last, room)[0][0]:
                last -= timedelta(weeks=room)
            self._weeks = weeks_until(max(last, self.day) if self.day > self.today else last, room)
            self._lines = heat_lines(self._weeks, self._counts, self.today, self.glyphs, self.content_size.width)

    def render_line(self, y: int) -> Strip:
        """Draw one line; the chosen day is highlighted."""
        self._lay_out()
        width = self.content_size.width
        y += self._top
        if y >= len(self._lines):
            return Strip.blank(width, self.tone_styles()["plain"])
        strip = self.draw(self._lines[y], width)
        place = next((at for at, week in enumerate(self._weeks) if week[0] <= self.day <= week[6]), None)
        if place is None or y != self.day.weekday() + 1:
            return strip
        at = LABEL + place
        # Another sign, not only another colour: a full cell in reverse looks empty, and some terminals have no colours.
        chosen = self.draw(line(self.glyphs.chosen), 1, "year--day")
        return Strip.join([strip.crop(0, at), chosen, strip.crop(at + 1, width)])

    def on_click(self, event: events.Click) -> None:
        """Choose the day under the mouse."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        row, place = offset.y + self._top, offset.x - LABEL
        if 1 <= row <= 7 and 0 <= place < len(self._weeks):
            self.post_message(self.Chosen(self._weeks[place][row - 1], twice=event.chain == 2))


class YearScreen(Dialog, ModalScreen["date | None"]):
    """Returns the chosen day; None when left."""

    DEFAULT_CSS: ClassVar[str] = f"""
    YearScreen {{
        {DIALOG_CSS}
        & > .dialog {{ max-width: 64; }}
        & > .dialog > YearMap.dialog--body {{ height: {ROWS}; }}
        &.-low > .dialog > YearMap.dialog--body {{ height: 1fr; }}
        KeyHints {{ margin-top: 1; }}
        &.-low KeyHints {{ display: none; }}
    }}
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", "open", id="year.take", tooltip="Go to the entries of the day"),
        Binding("left,h", "step(-7)", "week before", id="year.left", tooltip="A week earlier", show=False),
        Binding("right,l", "step(7)", "next week", id="year.right", tooltip="A week later", show=False),
        Binding("up,k", "step(-1)", "day before", id="year.up", tooltip="A day earlier", show=False),
        Binding("down,j", "step(1)", "next day", id="year.down", tooltip="A day later", show=False),
        Binding("n", "busy(1)", "next with entries", id="year.next", tooltip="The next day that has entries"),
        Binding(
            "N", "busy(-1)", "one before", id="year.previous", tooltip="The previous day that has entries", show=False
        ),
        Binding("T", "today", "today", id="year.today", tooltip="Today", show=False),
        Binding("escape,q", "leave", "close", id="year.leave", tooltip="Close and stay on the current day"),
    ]

    def __init__(self, day: date, today: date, counts: Mapping[date, int]) -> None:
        super().__init__()
        self._today = today
        self._counts = counts
        self.map = YearMap(day, today, counts)

    def parts(self) -> ComposeResult:
        """Yield the map."""
        yield self.map

    def on_mount(self) -> None:
        """Show the summary of the day."""
        self._go_to(self.map.day)

    def take_counts(self, counts: Mapping[date, int]) -> None:
        """Show new counts, once the archives were read."""
        self._counts = counts
        self.map.show(self.map.day, counts)
        self._go_to(self.map.day)

    def _go_to(self, day: date) -> None:
        self.map.show(day)
        count = self._counts.get(day, 0)
        held = "no entry" if not count else "1 entry" if count == 1 else f"{count} entries"
        self.query_one(".dialog--title", SafeText).say(f"{day:%A} {day.day} {day:%B %Y}: {held}")

    def on_year_map_chosen(self, event: YearMap.Chosen) -> None:
        """Choose a day on a click, open it on a double click."""
        event.stop()
        self._go_to(event.day)
        if event.twice:
            self.action_take()

    def action_step(self, days: int) -> None:
        """Go to another day."""
        number = self.map.day.toordinal() + days
        if 1 <= number <= self._today.toordinal():
            self._go_to(date.fromordinal(number))

    def action_busy(self, step: int) -> None:
        """Go to the next (1) or previous (-1) day that has entries."""
        here = self.map.day
        days = [day for day, count in self._counts.items() if count and (day > here if step > 0 else day < here)]
        if days:
            self._go_to(min(days) if step > 0 else max(days))

    def action_today(self) -> None:
        """Go to today."""
        self._go_to(self._today)

    def action_take(self) -> None:
        """Leave with the chosen day, which is then shown."""
        self.dismiss(self.map.day)
