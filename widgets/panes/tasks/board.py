"""The board of tasks: a list of cards for each section, side by side; one at a time where there is little room."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from memory.files.tasks.model import Task
from widgets.list.line_list import LineList
from widgets.list.rows import Continuation
from widgets.pane.base import Pane, PaneList
from widgets.pane.rows import LineRow, RowKey
from widgets.text.drawing import Drawing
from widgets.text.styled_text import Line, Piece, clip_line, line, line_width, wrap_line
from widgets.text.words import due_words, progress_line

LANES = (("pending", "PENDING"), ("in-progress", "IN PROGRESS"), ("completed", "COMPLETED"))
"""The columns: the sections of tasks, and their titles."""

NARROWEST = 17
"""Cells that a column needs; with less, one column is shown at a time."""

CARD_LINES = 2
"""Lines of a card; where there are `ROOMY` lines, one more separates it from the next."""

SHORTEST = 4
"""Cells from which on the name of an assignee that is too long is cut, not left out."""

ROOMY = 18

NARROW = 26
"""Cells of a column below which titles take up to two lines."""


class CardList(PaneList):
    """One column of the board."""

    def __init__(self, pane: Pane, board: Board) -> None:
        super().__init__(pane)
        self._board = board
        self.card_lines = CARD_LINES

    def render_row(self, key: Hashable, width: int) -> Line:
        """Return a line of a card: its title; date, progress, priority and assignee; a blank line."""
        number, owner = (key.number, key.owner) if isinstance(key, Continuation) else (0, key)
        if not isinstance(owner, RowKey):
            return super().render_row(key, width)
        if number >= CARD_LINES and number >= self.card_lines:
            return ()
        titles = self._title(owner.item, width)
        if number < len(titles):
            return clip_line(titles[number], width)
        return clip_line(self._more(owner.item, width), width) if number == len(titles) else ()

    def fit_cards(self) -> int:
        """Set and return the lines of a card: in a narrow column its title has a second one."""
        self.card_lines = CARD_LINES + (self.size.width < NARROW)
        return self.card_lines

    def _title(self, task: Task, width: int) -> Sequence[Line]:
        """Return the lines of the title."""
        done = task.section in ("completed", "archived")
        title = Piece(task.title, "muted" if done else "strong" if task.priority == "HIGH" else "plain")
        wrong = "" if task.heading is None else f"  {self.glyphs.alert} {task.heading.strip() or 'no heading'}"
        words = line(title, Piece(wrong, "warn"))
        if self.card_lines == CARD_LINES:
            return (words,)
        first, *rest = wrap_line(words, width)
        return (first, line(*rest)) if rest else (first,)

    def _more(self, task: Task, width: int) -> Line:
        """Return what else there is room for, the most important first."""
        when = due_words(task, self._pane.now, self._pane.zone, self.glyphs)
        roomy = self.card_lines == CARD_LINES
        parts: list[Line] = [line(when)] if when.text else []
        if task.section == "in-progress" and task.progress:
            parts.append(progress_line(task.progress, self.glyphs, 4) if roomy else line(f"{task.progress}%"))
        if task.priority:
            parts.append(line(Piece(task.priority, "muted")))
        name = line(Piece(task.assigned or "", "muted"))
        if task.assigned:
            parts.append(name)
        gap = Piece(f" {self.glyphs.dot} " if roomy else " ", "muted")
        while len(parts) > 1 and (over := sum(map(line_width, parts)) + len(gap.text) * (len(parts) - 1) - width) > 0:
            last = parts.pop()
            if last is name and (room := line_width(last) - over) >= SHORTEST:
                parts.append(clip_line(last, room))
        return line(*(one for index, part in enumerate(parts) for one in ((gap, *part) if index else part)))

    def _states(self, position: int, key: Hashable) -> tuple[str, ...]:
        """Only the active column shows its cursor, and the blank line between two cards shows no state."""
        if isinstance(key, Continuation) and key.number >= CARD_LINES and key.number >= self.card_lines:
            return ()
        states = super()._states(position, key)
        if self._board.active is self:
            return states
        return tuple(state for state in states if not state.startswith("line-list--cursor"))


class BoardTitles(Drawing, Widget):
    """The line above the columns: a name, how many cards there are, and where other columns are that are not shown."""

    ALLOW_SELECT = False

    COMPONENT_CLASSES: ClassVar[set[str]] = {"board-titles--usual", "board-titles--active"}

    DEFAULT_CSS: ClassVar[str] = """
    BoardTitles {
        dock: top;
        height: 1;
        & > .board-titles--usual { color: $foreground-muted; text-style: bold; }
        & > .board-titles--active { color: $accent; text-style: bold; }
    }
    """

    def __init__(self, board: Board) -> None:
        super().__init__()
        self._board = board

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        """Return the line."""
        board = self._board
        shown = [number for number, cards in enumerate(board.lists) if cards.display]
        return Strip.join([self._title(number, alone=len(shown) == 1) for number in shown])

    def _title(self, number: int, *, alone: bool) -> Strip:
        cards, is_active = self._board.lists[number], self._board.active is self._board.lists[number]
        # In a column without cards nothing else shows that it is active.
        bar = self.glyphs.cursor if is_active and not cards.rows else " "
        words = f"{LANES[number][1]}  {self._board.count(number)}"
        if alone:
            left, right = self.glyphs.left if number else " ", self.glyphs.right if number + 1 < len(LANES) else ""
            words = f"{left} {words}  {number + 1}/{len(LANES)} {right}"
        state = "board-titles--active" if is_active else "board-titles--usual"
        return self.draw(line(f"{bar} {words}"), cards.outer_size.width, state)


class Board(Horizontal):
    """Columns of cards. The keys left and right go from column to column."""

    DEFAULT_CSS: ClassVar[str] = """
    Board {
        height: 1fr;
        CardList { width: 1fr; height: 1fr; }
        &.-one CardList { display: none; }
        &.-one CardList.-active { display: block; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "column(-1)", "previous column", id="board.left", tooltip="Go to the previous column",
                show=False),
        Binding("right,l", "column(1)", "next column", id="board.right", tooltip="Go to the next column", show=False),
    ]  # fmt: skip

    @dataclass
    class Arrived(Message):
        """Another column became the active one, to which keys apply."""

        board: Board

    def __init__(self, pane: Pane) -> None:
        super().__init__()
        self._pane = pane
        self.lists = [CardList(pane, self) for _ in LANES]
        """The list of each column."""
        self._titles = BoardTitles(self)
        self._active = 0
        self._lanes: Sequence[Sequence[RowKey]] = [()] * len(LANES)
        self._unread: Sequence[LineRow] = ()

    def compose(self) -> ComposeResult:
        """Put the titles above the lists."""
        yield self._titles
        yield from self.lists

    @property
    def active(self) -> LineList:
        """The list of the active column."""
        return self.lists[self._active]

    @property
    def shown(self) -> Sequence[Hashable]:
        """The tasks of all columns, and the lines that are in no task."""
        return [*chain.from_iterable(self._lanes), *self._unread]

    def beside(self, step: int) -> str | None:
        """Return the section `step` columns to the right of the active one (negative: left); None: there is none."""
        place = self._active + step
        return LANES[place][0] if 0 <= place < len(LANES) else None

    def put(self, keys: Sequence[Hashable], *, to_top: bool = False) -> None:
        """Show tasks by their sections; lines that are in no task follow in the first column."""
        lanes: dict[str, list[RowKey]] = {lane: [] for lane, _ in LANES}
        for key in keys:
            if isinstance(key, RowKey):
                lanes[key.item.section].append(key)
        self._lanes, self._unread = list(lanes.values()), [key for key in keys if isinstance(key, LineRow)]
        lines = max([cards.fit_cards() for cards in self.lists]) + (self._pane.size.height >= ROOMY)
        for number, (cards, tasks) in enumerate(zip(self.lists, self._lanes, strict=True)):
            rows: list[Hashable] = []
            for task in tasks:
                rows += (task, *(Continuation(task, place) for place in range(1, lines)))
            cards.set_rows([*rows, *(() if number else self._unread)], to_top=to_top)
        self._say()

    def find(self, row: RowKey) -> bool:
        """Go to a card in any column; False: no column has it."""
        for number, cards in enumerate(self.lists):
            if row in self._lanes[number]:
                self._activate(number, focus=any(one.has_focus for one in self.lists))
                cards.cursor = row
                return True
        return False

    def _activate(self, number: int, *, focus: bool = True) -> None:
        self._active = number
        for cards in self.lists:
            cards.refresh()
        self._say()
        if focus:
            self.active.focus()
        self.post_message(self.Arrived(self))

    def count(self, number: int) -> int:
        """Return how many cards a column has."""
        return len(self._lanes[number])

    def _say(self) -> None:
        """Mark the active column, and draw the titles again."""
        for number, cards in enumerate(self.lists):
            cards.set_class(number == self._active, "-active")
        self._titles.refresh()

    def fit(self, size: Size) -> None:
        """Show one column at a time where there is too little room for all."""
        self.set_class(size.width < NARROWEST * len(LANES), "-one")

    def on_mount(self) -> None:
        """Mark the active column."""
        self._say()

    def on_resize(self) -> None:
        """Fit columns and cards to the new room."""
        self.fit(self.size)
        self._pane.rearrange()

    def action_column(self, step: int) -> None:
        """Go to a column beside this one."""
        if self.beside(step) is not None:
            self._pane.moved()
            self._activate(self._active + step)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Go to the column under the mouse."""
        for number, cards in enumerate(self.lists):
            left, right = cards.region.column_span
            if number != self._active and cards.display and left <= event.screen_x < right:
                self._pane.moved()
                self._activate(number)
