"""Board: lists side by side, one per column; one at a time where there is little room."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from memory.base.safe_text import cell_width, clip
from widgets.pane.rows import LineRow, RowKey
from widgets.text.drawing import Drawing
from widgets.text.glyphs import UNICODE, Glyphs
from widgets.text.styled_text import Piece, clip_line
from widgets.text.words import CARD_LINES

from .line_list import LineList
from .rows import Continuation

NARROWEST = 17
"""Cells that a column needs; with less, one column is shown at a time."""

MANY = 2_000
"""Above so many cards, each takes one line: counting their continuations would cost time with every key."""

ROOMY = 18
"""Lines from which cards have a blank line between them."""

WIDEST = 200
"""Cells of a column that is not laid out yet."""

MARGINS = 3
"""Cells that a column's title loses to margins: its name is aligned with the text of its cards."""


def _binding(key: str, action: str, words: str, name: str, tooltip: str) -> Binding:
    return Binding(key, action, words, id=f"board.{name}", tooltip=tooltip, show=False)


@dataclass(frozen=True, slots=True)
class Lane:
    """A column before it is drawn: its id in code, and the title that is shown."""

    id: str
    title: str


class BoardTitle(Drawing, Widget):
    """The title above a column; it changes with most keys, and always takes one line."""

    def __init__(self, words: str) -> None:
        super().__init__(classes="board--title")
        self.words = words

    def say(self, words: str) -> None:
        """Change the title."""
        if words != self.words:
            self.words = words
            self.refresh()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002
        """The words."""
        width = self.size.width
        return self.draw(clip_line((Piece(self.words),), max(0, width - 1)), width)


class BoardColumn(Vertical):
    """The name of a column and its list."""

    def __init__(self, lane: Lane, cards: LineList, resized: Callable[[], None]) -> None:
        """`resized` is called when the column has another size; its list has its new size by then."""
        super().__init__(classes="board--column")
        self.lane, self.cards, self.title = lane, cards, BoardTitle(lane.title)
        self._resized = resized

    def compose(self) -> ComposeResult:
        """Put the name above the list."""
        yield self.title
        yield self.cards

    def beyond(self, lines: int) -> tuple[bool, bool]:
        """Return whether there are cards above and below those in view."""
        height, top = self.cards.size.height, round(self.cards.scroll_y)
        return top > 0, bool(height) and top + height < len(self.cards.rows) - (lines - CARD_LINES)

    def on_resize(self) -> None:
        """Let the title be made anew: how much of it fits, and how many cards are in view, depends on the size."""
        self._resized()

    def say(self, text: str) -> None:
        """Set the title above the list."""
        self.title.say(text)


class Board(Horizontal):
    """Columns of cards. The keys left and right go from column to column.

    The owner makes the lists, which know how to draw a card; a card is a `RowKey` with continuations below it. A
    `LineRow` among them is one line that is no card.
    """

    DEFAULT_CSS: ClassVar[str] = """
    Board {
        height: 1fr;
        .board--column { width: 1fr; height: 1fr; }
        .board--title { height: 1; color: $foreground-muted; text-style: bold; width: 1fr; }
        .board--column.-active .board--title { color: $accent; }
        &.-one .board--column { display: none; }
        &.-one .board--column.-active { display: block; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        _binding("left,h", "column(-1)", "column before", "left", "Go to the previous column"),
        _binding("right,l", "column(1)", "next column", "right", "Go to the next column"),
    ]

    @dataclass
    class Arrived(Message):
        """Another column became the active one, to which keys apply."""

        board: Board

    def __init__(
        self, lanes: Sequence[Lane], lists: Sequence[LineList], moved: Callable[[], object] = lambda: None
    ) -> None:
        """`moved` is called when the person goes to another column."""
        super().__init__()
        self._moved = moved
        self._columns = [
            BoardColumn(lane, cards, partial(self._say_column, number))
            for number, (lane, cards) in enumerate(zip(lanes, lists, strict=True))
        ]
        self._counts = [0] * len(self._columns)
        self._active = 0
        self._roomy = True
        self._dense = False

    def compose(self) -> ComposeResult:
        """The columns."""
        yield from self._columns

    @property
    def is_dense(self) -> bool:
        """Whether cards take one line each."""
        return self._dense

    @property
    def lists(self) -> Sequence[LineList]:
        """The list of each column."""
        return [column.cards for column in self._columns]

    @property
    def active(self) -> LineList:
        """The list of the active column."""
        return self._columns[self._active].cards

    @property
    def lane(self) -> str:
        """The id of the active column."""
        return self._columns[self._active].lane.id

    def beside(self, step: int) -> str | None:
        """The id of the column `step` places to the right of the active one (negative: left); None: there is none."""
        place = self._active + step
        return self._columns[place].lane.id if 0 <= place < len(self._columns) else None

    @property
    def lines(self) -> int:
        """Lines that each card takes, with the blank line below it, if any."""
        return 1 if self._dense else CARD_LINES + self._roomy

    def put(self, cards: Mapping[str, Sequence[RowKey | LineRow]], *, to_top: bool = False) -> None:
        """Show these cards, by column; `to_top`: scroll to the first ones."""
        many = sum(map(len, cards.values())) > MANY
        self._dense = many
        for number, column in enumerate(self._columns):
            rows = cards.get(column.lane.id, ())
            lines: list[Hashable] = []
            for row in rows:
                lines.append(row)
                lines += [Continuation(row, place) for place in range(1, self.lines) if isinstance(row, RowKey)]
            column.cards.set_rows(lines, to_top=to_top)
            self._counts[number] = sum(isinstance(row, RowKey) for row in rows)
        self._say()

    def activate(self, lane: str | int, *, focus: bool = True) -> None:
        """Go to a column."""
        place = lane if isinstance(lane, int) else [column.lane.id for column in self._columns].index(lane)
        self._active = place
        for cards in self.lists:
            cards.refresh()
        self._say()
        if focus:
            self.active.focus()
        self.post_message(self.Arrived(self))

    def find(self, row: RowKey) -> bool:
        """Go to a card in any column; False: no column has it."""
        for number, column in enumerate(self._columns):
            if row in column.cards.rows:
                had_focus = any(cards.has_focus for cards in self.lists)
                self.activate(number, focus=had_focus)
                column.cards.cursor = row
                return True
        return False

    def _say(self) -> None:
        """Set the titles of all columns."""
        for number in range(len(self._columns)):
            self._say_column(number)

    def _say_column(self, number: int) -> None:
        """Write the title of a column: its name, how many cards it has, whether there are more above or below."""
        column, alone = self._columns[number], self.has_class("-one")
        glyphs: Glyphs = getattr(self.app, "glyphs", UNICODE)
        column.set_class(number == self._active, "-active")
        above, below = column.beyond(self.lines)
        # In a column without cards nothing else shows that it is active.
        bar = glyphs.cursor if number == self._active and not column.cards.rows else " "
        before = f"{glyphs.left if number else ' '} " if alone else ""
        after = (
            f"  {number + 1}/{len(self._columns)} {glyphs.right if number + 1 < len(self._columns) else ''}"
            if alone
            else ""
        )
        more = (glyphs.up if above else "") + (glyphs.down if below else "")
        rest = f"  {self._counts[number]}{after}  {more}".rstrip()
        # Before its first layout a column has no width yet.
        room = max(1, (column.outer_size.width or WIDEST) - MARGINS - len(before) - cell_width(rest))
        column.say(f"{bar} {before}{clip(column.lane.title, room)}{rest}")

    def on_mount(self) -> None:
        """Update a column's title when its list scrolls, in the same frame: it counts the cards out of view."""
        for number, cards in enumerate(self.lists):
            self.watch(cards, "scroll_y", partial(self._say_column, number), init=False)

    def on_resize(self) -> None:
        """Show one column at a time if the width is too small, and no blank lines if the height is."""
        self.follow_width(self.size.width)
        roomy = self.size.height >= ROOMY
        if roomy != self._roomy:
            self._roomy = roomy
            cards = {
                column.lane.id: [row for row in column.cards.rows if isinstance(row, RowKey | LineRow)]
                for column in self._columns
            }
            self.put(cards)
        self._say()

    def follow_width(self, width: int) -> None:
        """Show one column at a time in so few cells."""
        self.set_class(width < NARROWEST * len(self._columns), "-one")

    def action_column(self, step: int) -> None:
        """Go to a column beside this one."""
        place = self._active + step
        if 0 <= place < len(self._columns):
            self._moved()
            self.activate(place)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Go to the column under the mouse."""
        for number, column in enumerate(self._columns):
            inside = column.display and column.region.contains(event.screen_x, event.screen_y)
            if inside and number != self._active:
                self._moved()
                self.activate(number)
