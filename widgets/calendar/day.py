"""Day: a dialog with one day of the journal, its entries on an axis of hours; a key or the mouse chooses an entry."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import date
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget

from memory.files.journal.kinds import author_of
from memory.files.journal.model import Journal, JournalEntry
from memory.files.journal.timeline import DayLine, busy_days, day_line, next_busy
from widgets.dialogs.dialogs import DIALOG_CSS, Dialog
from widgets.input.editors import SafeText
from widgets.list.line_list import LineList
from widgets.list.rows import Note
from widgets.text.drawing import Drawing
from widgets.text.styled_text import EMPTY, Columns, Line, Piece, line

from .day_lines import AXIS, HOURS, MEASURED, axis_rows, day_words, first_places, layout, sign_of, strip_lines


class AxisList(LineList):
    """The entries of a day beside the axis; empty hours are rows that the cursor skips."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="day.take", tooltip="Go to the entry under the cursor")
    ]

    def __init__(self) -> None:
        super().__init__(classes="dialog--body day--list")
        self.day: DayLine | None = None
        self._firsts: dict[int, int] = {}
        self._people: dict[int, str] = {}
        self._authors: Mapping[str, str] = {}
        self._layout: tuple[int, Columns] | None = None

    def show(self, day: DayLine, authors: Mapping[str, str], room: int) -> None:
        """Show a day; `authors` by the ref of an entry, for entries that do not name their author."""
        self.day = day
        self._firsts = first_places(day.slots)
        self._people, self._authors = {}, authors
        self._layout = None
        keys: list[Hashable] = []
        for row in axis_rows(day, room):
            if isinstance(row, tuple):
                hour, words = row
                keys.append(Note(f"{hour:02} {self.glyphs.dot}  {words}".rstrip(), len(keys)))
            else:
                keys.append(row)
        if not day.entries:
            keys = [Note("nothing was written on this day")]
        self.set_rows(keys)

    def render_row(self, key: Hashable, width: int) -> Line:
        """Draw the hour where it begins, then time, sign, words and author."""
        assert isinstance(key, int)
        assert self.day is not None
        one = self.day.entries[key]
        hour = self._firsts.get(key)
        bar = " " if one.minute is None else self.glyphs.separator
        axis = Piece(f"{hour:02} {bar} " if hour is not None else f"   {bar} ", "muted")
        width = max(0, width - AXIS)
        if self._layout is None or self._layout[0] != width:
            few = self.day.entries[:MEASURED]
            self._layout = (width, layout(few, [self._who(place) for place in range(len(few))], width))
        return line(axis, self._layout[1].line(width, self._cells(one.entry, self._who(key))))

    def _who(self, place: int) -> str:
        """The author of an entry; found only for entries that are drawn or measured."""
        if place not in self._people:
            assert self.day is not None
            entry = self.day.entries[place].entry
            self._people[place] = author_of(entry) or self._authors.get(entry.ref, "")
        return self._people[place]

    def _cells(self, entry: JournalEntry, name: str) -> dict[str, str | Piece | Line]:
        said = next((text.split("\n")[0] for text in entry.lines), "")
        words = line(entry.title, Piece(f"  {said}", "muted")) if said else line(entry.title)
        return {
            "at": Piece(entry.time or "", "muted"),
            "sign": Piece(sign_of(entry.title, self.glyphs), "muted"),
            "words": words,
            "title": entry.title,
            "said": Piece(f" {said}" if said else "", "muted"),
            "who": Piece(name, "muted"),
        }


class HourStrip(Drawing, Widget):
    """The whole day at a glance, above its entries."""

    DEFAULT_CSS: ClassVar[str] = """
    HourStrip { height: 3; width: 1fr; background: $background; color: $foreground; padding: 0 0 1 2; }
    """

    def __init__(self) -> None:
        super().__init__(classes="day--strip")
        self._counts: Sequence[int] = (0,) * HOURS

    def show(self, counts: Sequence[int]) -> None:
        """Show how many entries were written in each hour."""
        self._counts = counts
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the hours, or their cells."""
        inner = self.content_size.width
        rows = strip_lines(self._counts, inner, self.glyphs)
        return self.draw(rows[y] if y < len(rows) else EMPTY, inner)


class DayScreen(Dialog, ModalScreen["tuple[str, str] | date | None"]):
    """Returns the chosen entry as `(file, ref)`, the day whose year is to be shown, or None."""

    DEFAULT_CSS: ClassVar[str] = f"""
    DayScreen {{
        {DIALOG_CSS}
        & > .dialog {{ max-width: 108; }}
        .day--list {{ height: auto; }}
        &.-low .day--list {{ height: 1fr; }}
        &.-low .day--strip {{ display: none; }}
        &.-low KeyHints {{ display: none; }}
        KeyHints {{ margin-top: 1; }}
    }}
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "step(-1)", "day before", id="day.before", tooltip="The day before that has entries"),
        Binding("right,l", "step(1)", "next day", id="day.next", tooltip="The next day that has entries"),
        Binding("c", "year", "year", id="day.year", tooltip="The year of this day"),
        Binding("full_stop", "today", "today", id="day.today", tooltip="Today", show=False),
        Binding("escape,q,b", "leave", "cancel", id="day.leave", tooltip="Stay where you are"),
    ]

    def __init__(self, day: date, today: date, journals: Sequence[Journal], at: JournalEntry | None = None) -> None:
        """`at` is the entry to begin at."""
        super().__init__()
        self.day, self._today = day, today
        self._journals = tuple(journals)
        self._days = busy_days(self._journals)
        self._authors: Mapping[str, str] = {}
        self._begin = at
        self.strip = HourStrip()
        self.list = AxisList()

    def parts(self) -> ComposeResult:
        """Yield the hours of the day and its entries."""
        yield self.strip
        yield self.list

    def on_mount(self) -> None:
        """Show the day."""
        self._show()
        self.list.focus()

    def on_resize(self) -> None:
        """Show the day again: there may be room for more hours, or for fewer."""
        super().on_resize()
        self._show()

    def take_more(self, journals: Sequence[Journal], authors: Mapping[str, str]) -> None:
        """Show more, once the archives were read; `authors` are from the change log, by ref."""
        self._journals = tuple(journals)
        self._days = busy_days(self._journals)
        self._authors = authors
        self._show()

    def _show(self) -> None:
        found = day_line(self._journals, self.day)
        size = self.app.size
        place = self.list.cursor
        if self._begin is not None:
            at = [number for number, one in enumerate(found.entries) if one.entry is self._begin]
            place = at[0] if at else place
            self._begin = None
        self.list.show(found, self._authors, max(1, size.height - 11))
        if place is not None:
            self.list.cursor = place
        self.strip.show(found.counts)
        self.query_one(".dialog--title", SafeText).say(day_words(found, short=size.width < 64))

    def action_step(self, step: int) -> None:
        """Go to the next (1) or previous (-1) day that has entries."""
        wanted = next_busy(self._days, self.day, step)
        if wanted is not None:
            self._go_to(wanted)

    def action_today(self) -> None:
        """Go to today."""
        self._go_to(self._today)

    def _go_to(self, day: date) -> None:
        self.day = day
        self._show()
        self.list.action_first()

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Go to the entry on Enter or a double click."""
        event.stop()
        if self.list.day is not None and isinstance(self.list.cursor, int):
            entry = self.list.day.entries[self.list.cursor].entry
            self.dismiss((entry.file, entry.ref))

    def on_line_list_highlighted(self, event: LineList.Highlighted) -> None:
        """Stop the message: nothing else depends on the cursor."""
        event.stop()

    def action_year(self) -> None:
        """Show the year of the day."""
        self.dismiss(self.day)
