"""Year: a dialog with a heat map of the days of a year; a key or the mouse chooses a day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

from memory.base.safe_text import plural
from memory.files.journal.model import WEEKS, step_of, weeks_until
from widgets.dialogs.dialogs import DIALOG_CSS, Dialog
from widgets.input.editors import SafeText
from widgets.text.drawing import Drawing
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Line, Piece, line

LABEL = 4
"""The width of the day names at the left, in cells."""

ROWS = 10
"""Lines of a map: months, seven days, a blank one, the legend."""

GRID = 8
"""The lines that stay where there is little room: months and days."""

DAYS = ("Mon", "", "Wed", "", "Fri", "", "Sun")

LEGEND = ("none", "1", "2-3", "4-7", "8+ a day")
"""The numbers of entries of each step, in words."""


def heat_line(
    y: int, weeks: Sequence[Sequence[date]], counts: Mapping[date, int], today: date, glyphs: Glyphs,
    chosen: date | None = None,
) -> Line:  # fmt: skip
    """Return a line of a map, a cell per day: months above, days of the week at the left, a legend below.

    Busier days have a denser sign, not only another colour, and the chosen day has its own; days to come are blank.
    """
    if y == 0:
        # Each month's name begins at the week of its first day.
        cells = [glyphs.rule] * len(weeks)
        for place, week in enumerate(weeks):
            if name := next((f"{day:%b}"[: len(weeks) - place] for day in week if day.day == 1), ""):
                cells[place : place + len(name)] = name
        return line(Piece(" " * LABEL + "".join(cells), "muted"))
    if y <= len(DAYS):
        pieces = [Piece(f"{DAYS[y - 1]:<{LABEL}}", "muted")]
        for week in weeks:
            day, count = week[y - 1], counts.get(week[y - 1], 0)
            sign = " " if day > today and not count else glyphs.heat[step_of(count)]
            pieces.append(
                Piece(glyphs.chosen, "strong") if day == chosen else Piece(sign, "accent" if count else "muted")
            )
        return tuple(pieces)
    signs = [(Piece(f"{glyphs.heat[step]} ", "accent" if step else "muted"), Piece(f"{words}  ", "muted"))
             for step, words in enumerate(LEGEND)]  # fmt: skip
    return line(" " * LABEL, *(piece for pair in signs for piece in pair)) if y == ROWS - 1 else ()


class YearMap(Drawing, Widget):
    """The map itself; the dialog around it has the keys."""

    DEFAULT_CSS: ClassVar[str] = f"""
    YearMap {{ height: {ROWS}; width: 1fr; background: $background; color: $foreground; }}
    """

    @dataclass
    class Chosen(Message):
        """A day was clicked."""

        day: date
        twice: bool

    def __init__(self, day: date, today: date, counts: Mapping[date, int]) -> None:
        super().__init__(classes="dialog--body")
        self.day, self.today, self.counts = day, today, counts

    @property
    def weeks(self) -> list[list[date]]:
        """The weeks shown: as many as fit, up to today, and paged until the chosen day is among them."""
        room = max(1, min(WEEKS, self.content_size.width - LABEL))
        last = max(self.today, self.day)
        while self.day < weeks_until(last, room)[0][0]:
            last -= timedelta(weeks=room)
        return weeks_until(last, room)

    @property
    def _top(self) -> int:
        """Lines left out at the top: with too little room, the names of months are dropped."""
        return 0 if self.content_size.height >= GRID else 1

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        content = heat_line(y + self._top, self.weeks, self.counts, self.today, self.glyphs, self.day)
        return self.draw(content, self.content_size.width)

    def on_click(self, event: events.Click) -> None:
        """Choose the day under the mouse."""
        offset, weeks = event.get_content_offset(self), self.weeks
        if offset is not None:
            row, place = offset.y + self._top, offset.x - LABEL
            if 1 <= row <= len(DAYS) and 0 <= place < len(weeks):
                self.post_message(self.Chosen(weeks[place][row - 1], twice=event.chain == 2))


class YearScreen(Dialog, ModalScreen["date | None"]):
    """Returns the chosen day; None if it is closed without a choice."""

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
        Binding("left,h", "step(-7)", "previous week", id="year.left", tooltip="A week earlier", show=False),
        Binding("right,l", "step(7)", "next week", id="year.right", tooltip="A week later", show=False),
        Binding("up,k", "step(-1)", "previous day", id="year.up", tooltip="A day earlier", show=False),
        Binding("down,j", "step(1)", "next day", id="year.down", tooltip="A day later", show=False),
        Binding("n", "busy(1)", "next day with entries", id="year.next", tooltip="The next day that has entries"),
        Binding(
            "N", "busy(-1)", "one before", id="year.previous", tooltip="The previous day that has entries", show=False
        ),
        Binding("T", "today", "today", id="year.today", tooltip="Today", show=False),
        Binding("escape,q,c", "leave", "close", id="year.leave", tooltip="Close and stay on the current day"),
    ]

    def __init__(self, day: date, today: date, counts: Mapping[date, int]) -> None:
        super().__init__()
        self.map = YearMap(day, today, counts)

    def parts(self) -> ComposeResult:
        """Yield the map."""
        yield self.map

    def on_mount(self) -> None:
        """Show the summary of the day."""
        self._go_to(self.map.day)

    def take_counts(self, counts: Mapping[date, int]) -> None:
        """Show new counts, once the archives were read."""
        self.map.counts = counts
        self._go_to(self.map.day)

    def _go_to(self, day: date) -> None:
        self.map.day = day
        self.map.refresh()
        count = self.map.counts.get(day, 0)
        held = plural(count, "entry") if count else "no entry"
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
        if 1 <= number <= self.map.today.toordinal():
            self._go_to(date.fromordinal(number))

    def action_busy(self, step: int) -> None:
        """Go to the next (1) or previous (-1) day that has entries."""
        here = self.map.day
        days = [day for day, count in self.map.counts.items() if count and (day > here if step > 0 else day < here)]
        if days:
            self._go_to(min(days) if step > 0 else max(days))

    def action_today(self) -> None:
        """Go to today."""
        self._go_to(self.map.today)

    def action_take(self) -> None:
        """Leave with the chosen day, which is then shown."""
        self.dismiss(self.map.day)
