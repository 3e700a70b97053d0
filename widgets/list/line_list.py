"""LineList: a list that draws lines instead of mounting widgets, so that 100,000 rows cost what 40 do."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.timer import Timer

from memory.base.safe_text import cell_width
from widgets.chrome.keys import GoPrefix, go_binding
from widgets.text.drawing import Drawing, LateTimers, PlainLines, Scrolling
from widgets.text.styled_text import Line, Piece, line, pad_line

from .rows import Continuation, Heading, Note, extent, find, is_item, item_from, nearest, owner_of

GUTTER = 2
"""Cells before each row's content: the mark of a selected row, else the cursor's bar; a blank one."""

MARGIN = 1
"""Blank cells after each row's content."""

FLASH_SECONDS = 1.2
"""How long a changed row stays highlighted."""

RowRenderer = Callable[[Hashable, int], Line]
"""Draws the row of a key in so many cells; called only for rows that come into view."""


def _binding(key: str, action: str, words: str, name: str, tooltip: str) -> Binding:
    return Binding(key, action, words, id=f"list.{name}", tooltip=tooltip, show=False)


@dataclass
class _ListMessage(Message):
    """A message that a list sends; `control` lets `@on` select by the list's id."""

    line_list: LineList


class LineList(LateTimers, GoPrefix, Drawing, Scrolling, can_focus=True, inherit_bindings=False):
    """A list of rows known by key. A row is its key and nothing else until it is drawn.

    `set_rows` takes any sequence of hashable keys; `Heading`, `Continuation` and `Note` among them are rows
    that the cursor skips. The renderer given to the constructor (or `render_row` of a subclass) draws items
    and continuations; headings and notes are drawn here. Cursor and selection are kept by key.

    | Component class | Styles |
    | :- | :- |
    | `line-list--cursor` | the row under the cursor |
    | `line-list--cursor-blurred` | the same while the list has no focus |
    | `line-list--selected` | selected rows |
    | `line-list--flash` | rows that changed a moment ago |
    | `line-list--bar` | the cursor's bar and the mark of a selected row |
    """

    ALLOW_SELECT = False

    holds_top = False
    """Whether a view scrolled to the top stays there even when the cursor's row leaves it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "line-list--cursor",
        "line-list--cursor-blurred",
        "line-list--selected",
        "line-list--flash",
        "line-list--bar",
    }

    DEFAULT_CSS = """
    LineList {
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        & > .line-list--bar { color: $accent; }
        & > .line-list--selected { background: $primary-muted; }
        & > .line-list--flash { background: $accent-muted; }
        & > .line-list--cursor-blurred { background: $block-cursor-blurred-background; }
        & > .line-list--cursor {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
            text-style: $block-cursor-text-style;
        }
        &:nocolor > .line-list--cursor { text-style: reverse; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        _binding("enter", "open", "open", "open", "Open the row under the cursor"),
        _binding("j,down", "move(1)", "down", "down", "Move to the next row"),
        _binding("k,up", "move(-1)", "up", "up", "Move to the previous row"),
        _binding("ctrl+d", "page(0.5)", "half page down", "half_down", "Move half a page down"),
        _binding("ctrl+u", "page(-0.5)", "half page up", "half_up", "Move half a page up"),
        _binding("pagedown", "page(1)", "page down", "page_down", "Move a page down"),
        _binding("pageup", "page(-1)", "page up", "page_up", "Move a page up"),
        _binding("home", "first", "first", "first", "Move to the first row"),
        _binding("G,end", "last", "last", "last", "Move to the last row"),
        go_binding("list"),
        _binding("space", "mark", "select", "select", "Select or deselect the row"),
        _binding("v", "range", "range", "range", "Start or end the selection of a range"),
        Binding("escape", "clear", "clear selection", id="list.clear", tooltip="Clear the selection"),
    ]

    selects = True
    """Whether rows can be selected; those of a menu cannot."""

    cursor: reactive[Hashable | None] = reactive(None, repaint=False)
    """The key under the cursor; None while there is no item. Setting a key that is not an item changes nothing."""

    @dataclass
    class Highlighted(_ListMessage):
        """The cursor moved to another key (None: the list has no items); also sent once on mount."""

        key: Hashable | None

        def can_replace(self, message: Message) -> bool:
            """Only the last move of a burst matters."""
            return isinstance(message, LineList.Highlighted) and message.line_list is self.line_list

    @dataclass
    class Opened(_ListMessage):
        """A row was opened with Enter or a double click."""

        key: Hashable

    @dataclass
    class SelectionChanged(_ListMessage):
        """The set of selected keys changed."""

        keys: frozenset[Hashable]

        def can_replace(self, message: Message) -> bool:
            """Only the last set of a burst matters."""
            return isinstance(message, LineList.SelectionChanged) and message.line_list is self.line_list

    def __init__(
        self,
        renderer: RowRenderer | None = None,
        rows: Sequence[Hashable] = (),
        *,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._styles_cache = PlainLines()
        self._renderer = renderer
        self._rows: Sequence[Hashable] = ()
        self._position = -1
        self._chosen: frozenset[Hashable] = frozenset()
        self._range_from: Hashable | None = None
        self._flashing: frozenset[Hashable] = frozenset()
        self._flash_timer: Timer | None = None
        # The mouse may move over a row before the first frame.
        self._shown_selection: frozenset[Hashable] = frozenset()
        self._width = 0
        self.set_rows(rows)

    @property
    def rows(self) -> Sequence[Hashable]:
        """All rows, in the order they are drawn."""
        return self._rows

    @property
    def position(self) -> int:
        """The cursor's place among the rows, from 0; -1 while there is no item."""
        return self._position

    def set_rows(self, rows: Sequence[Hashable], *, to_top: bool = False) -> None:
        """Replace the rows. The cursor stays on its key, else it goes to the nearest key that is left.

        A view scrolled to the top stays there as long as the cursor's row is in it, and always with `holds_top`.
        Further down, the anchor row (the cursor's, or the top one when the cursor is out of sight) keeps its place on
        the screen. `to_top` scrolls to the top; the cursor goes to the first item if its own row is not in view there.
        `rows` must not change afterwards.
        """
        if to_top and self._range_from is not None:
            # The range must not grow by what the cursor jumps over.
            self.action_range()
        old, position = self._rows, self._position
        top = 0 if to_top else round(self.scroll_y)
        in_sight = top <= position < top + max(1, self.size.height)
        self._rows = rows
        self._position = self._in_first_view(self.cursor) if to_top else nearest(old, position, rows)
        self._keep_selection()
        self.set_extent(Size(self.size.width, len(rows)))
        # Scrolled at once: later it would be a second frame for the same key.
        if not self.is_attached:
            pass
        elif to_top or (top <= 0 and (self.holds_top or self._fits_from_top())):
            if self.scroll_y or self.scroll_target_y:
                self.scroll_to(y=0, animate=False, force=True, immediate=True)
        elif in_sight:
            first = item_from(rows, 0, 1) == self._position
            y = 0 if first else max(0, self._position - (position - top))
            self.scroll_to(y=y, animate=False, force=True, immediate=True)
            self._show_cursor()
        elif 0 < top < len(old):
            place = find(rows, old[top], top)
            self.scroll_to(y=place if place >= 0 else top, animate=False, force=True, immediate=True)
        self.refresh()
        self._follow_position()

    def _fits_from_top(self) -> bool:
        """Whether the cursor's row is in view when scrolled to the top."""
        height = self.size.height
        return height <= 0 or self._position < 0 or self._position + extent(self._rows, self._position) <= height

    def _in_first_view(self, key: Hashable | None) -> int:
        """The place of a key among the rows in view at the top; the place of the first item if it is not among them."""
        height = max(1, self.size.height)
        place = find(self._rows[:height], key)
        return place if place >= 0 and place + extent(self._rows, place) <= height else item_from(self._rows, 0, 1)

    def _refresh_items(self, items: frozenset[Hashable]) -> None:
        """Redraw the lines of some items, as far as they are in view."""
        top = max(0, round(self.scroll_y)) if items else 0
        for place, key in enumerate(self._rows[top : top + self.size.height] if items else (), top):
            if (key.owner if isinstance(key, Continuation) else key) in items:
                self.refresh_line(place)

    def rows_of_focus(self) -> range:
        """Return the row of the cursor."""
        return range(self.position, self.position + extent(self.rows, self.position)) if self.rows else range(0)

    def render_row(self, key: Hashable, width: int) -> Line:
        """The content of an item (or a continuation) in `width` cells; the gutter is drawn by the list."""
        return self._renderer(key, width) if self._renderer else line(str(key))

    def flash(self, keys: Iterable[Hashable]) -> None:
        """Highlight rows that changed for a moment; a second call replaces the first."""
        before, self._flashing = self._flashing, frozenset(keys)
        if self._flash_timer is not None:
            self._flash_timer.stop()
        if self._flashing and self.is_attached:
            self._flash_timer = self.set_timer(FLASH_SECONDS, self.end_flash)
        self._refresh_items(before | self._flashing)

    def end_flash(self) -> None:
        """Stop highlighting changed rows now."""
        before, self._flashing = self._flashing, frozenset()
        self._refresh_items(before)

    # The cursor

    def move_to(self, position: int, *, direction: int = 1) -> None:
        """Put the cursor on the item nearest to a position, searching in a direction (1 down, -1 up) first."""
        if self._rows:
            place = item_from(self._rows, min(max(position, 0), len(self._rows) - 1), direction)
            if place >= 0:
                self._go_to(place)
                self._follow_position()

    def validate_cursor(self, key: Hashable | None) -> Hashable | None:
        """Move to the item with this key; keep the current key if it is not an item of this list."""
        current = self._rows[self._position] if self._position >= 0 else None
        if key is None or key == current or not is_item(key):
            return current
        place = find(self._rows, key)
        if place < 0:
            return current
        self._go_to(place)
        return key

    def watch_cursor(self, key: Hashable | None) -> None:
        """Report that the cursor moved."""
        if self.is_attached:
            self.post_message(self.Highlighted(self, key))

    def _follow_position(self) -> None:
        self.cursor = self._rows[self._position] if self._position >= 0 else None

    def _go_to(self, place: int) -> None:
        """Move the position; redraw the two items, or everything while a range is being selected."""
        old, self._position = self._position, place
        if self._range_from is not None:
            self.refresh()
            self.post_message(self.SelectionChanged(self, self.selected))
        else:
            for position in (old, place):
                if 0 <= position < len(self._rows):
                    self.refresh_lines(position, extent(self._rows, position))
        self._show_cursor()

    def _show_cursor(self) -> None:
        """Scroll just far enough to bring the cursor's item and the headings right above it into view."""
        height = self.scrollable_content_region.height
        if self._position < 0 or height <= 0:
            return
        top = self._position
        while top > 0 and isinstance(self._rows[top - 1], Heading | Note) and self._position - top + 1 < height:
            top -= 1
        bottom = self._position + min(height, extent(self._rows, self._position))
        self.scroll_to_region(
            Region(0, top, 1, max(1, min(height, bottom - top))), animate=False, force=True, immediate=True
        )

    # The selection

    @property
    def selected(self) -> frozenset[Hashable]:
        """The selected keys, including those of a range that is not ended yet."""
        return self._chosen if self._range_from is None else self._chosen | self._range_keys()

    @property
    def has_selection(self) -> bool:
        """Whether anything is selected, or a range begun."""
        return bool(self._chosen) or self._range_from is not None

    @property
    def targets(self) -> tuple[Hashable, ...]:
        """What an action applies to, in the rows' order: the selected keys, else the key under the cursor."""
        if selected := self.selected:
            return tuple([key for key in self._rows if key in selected])
        return () if self.cursor is None else (self.cursor,)

    def select(self, keys: Iterable[Hashable]) -> None:
        """Select exactly these keys (those that are items of this list) and end a range."""
        wanted = set(keys)
        if not wanted and not self.has_selection:
            return
        self._range_from = None
        self._choose(frozenset(key for key in self._rows if key in wanted and is_item(key)) if wanted else ())

    def _choose(self, keys: Iterable[Hashable]) -> None:
        self._chosen = frozenset(keys)
        self.refresh()
        if self.is_attached:
            self.post_message(self.SelectionChanged(self, self.selected))

    def _range_keys(self) -> frozenset[Hashable]:
        start = find(self._rows, self._range_from, self._position)
        if start < 0 or self._position < 0:
            return frozenset()
        low, high = sorted((start, self._position))
        return frozenset(key for key in self._rows[low : high + 1] if is_item(key))

    def _keep_selection(self) -> None:
        """Drop selected keys that are gone."""
        if self._range_from is not None and find(self._rows, self._range_from) < 0:
            self._range_from = None
        if self._chosen:
            self._choose(key for key in self._rows if key in self._chosen)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """The list handles Escape only while something is selected; else it is left to the widgets around."""
        return self.selects if action in ("mark", "range") else action != "clear" or self.has_selection

    def action_mark(self) -> None:
        """Select or unselect the item under the cursor and move on; while there is a range, end and keep it."""
        if self._range_from is not None:
            self.action_range()
        elif self.cursor is not None:
            self._choose(self._chosen ^ {self.cursor})
            self.action_move(1)

    def action_range(self) -> None:
        """Start a range at the cursor, or end it and keep it selected."""
        if self._range_from is None:
            self._range_from = self.cursor
            self._choose(self._chosen)
        else:
            keys = self.selected
            self._range_from = None
            self._choose(keys)

    def action_clear(self) -> None:
        """Select nothing."""
        self.select(())

    # Keys

    def action_move(self, rows: int) -> None:
        """Move the cursor by items, down or (negative) up."""
        step = 1 if rows > 0 else -1
        # Past the last item there is nothing to stop on: stay instead of turning back.
        place = item_from(self._rows, self._position + (extent(self._rows, self._position) if step > 0 else -1), step)
        if place >= 0 and (place - self._position) * step > 0:
            self.move_to(place)
        elif step < 0:
            self.scroll_to(y=0, animate=False, force=True)

    def action_page(self, pages: float) -> None:
        """Move the cursor by pages, down or (negative) up."""
        rows = max(1, int(abs(pages) * self.scrollable_content_region.height) - (abs(pages) >= 1))
        step = 1 if pages > 0 else -1
        self.scroll_to(y=round(self.scroll_y) + step * rows, animate=False, force=True)
        self.move_to(self._position + step * rows, direction=step)

    def action_first(self) -> None:
        """Move the cursor to the first item and show everything above it."""
        self.move_to(0)
        self.scroll_to(y=0, animate=False, force=True)

    def action_last(self) -> None:
        """Move the cursor to the last item."""
        self.move_to(len(self._rows) - 1, direction=-1)

    def action_open(self) -> None:
        """Open the item under the cursor."""
        if self.cursor is not None:
            self.post_message(self.Opened(self, self.cursor))

    # The mouse

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the clicked row; control selects it, a double click opens it."""
        position = event.y + round(self.scroll_y)
        if not 0 <= position < len(self._rows):
            return
        position = owner_of(self._rows, position)
        if is_item(self._rows[position]):
            self.move_to(position)
            if event.ctrl and self.cursor is not None:
                self._choose(self._chosen ^ {self.cursor})
            elif event.chain == 2:
                self.action_open()

    # Drawing

    def on_mount(self) -> None:
        """Report where the cursor is at first."""
        self.vertical_scrollbar._styles_cache = PlainLines()
        self.post_message(self.Highlighted(self, self.cursor))

    def on_resize(self) -> None:
        """Keep the cursor in view after a resize."""
        self.set_extent(Size(self.size.width, len(self._rows)))
        self._show_cursor()

    def _states(self, position: int, key: Hashable) -> tuple[str, ...]:
        """The component classes of a row, the one with precedence last."""
        item, number = (key.owner, key.number) if isinstance(key, Continuation) else (key, 0)
        states = []
        if item in self._shown_selection:
            states.append("line-list--selected")
        if position - number == self._position:
            states.append("line-list--cursor" if self.has_focus else "line-list--cursor-blurred")
        if item in self._flashing:
            states.append("line-list--flash")
        return tuple(states)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw lines of the view; selection and width are looked up once per frame."""
        self._shown_selection, self._width = self.selected, self.scrollable_content_region.width
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Return one line."""
        position, width = y + round(self.scroll_y), self._width
        if not 0 <= position < len(self._rows):
            return self.draw_below(y, width)
        key = self._rows[position]
        return self._draw_row(key, width, self._states(position, key))

    def draw_below(self, y: int, width: int) -> Strip:  # noqa: ARG002
        """A line of the view below the last row."""
        return self.draw((), width)

    def _draw_row(self, key: Hashable, width: int, states: tuple[str, ...]) -> Strip:
        if isinstance(key, Heading):
            title = line(" ", Piece(key.title, "heading"), "  " if key.title else "", Piece(key.note, "muted"))
            right = f"  {key.right}" if key.right else ""
            room = width - cell_width(right) - MARGIN
            return self.draw(line(pad_line(title, room), Piece(right, "muted")), width)
        if isinstance(key, Note):
            return self.draw(line("  ", Piece(key.text, "muted")), width)
        content = self.render_row(key, max(0, width - GUTTER - MARGIN))
        here = "line-list--cursor" in states or "line-list--cursor-blurred" in states
        marked = not isinstance(key, Continuation) and "line-list--selected" in states
        gutter = f"{self.glyphs.mark if marked else self.glyphs.cursor if here else ' '} "
        bar = self.segments((Piece(gutter),), min(GUTTER, width), *states, "line-list--bar")
        return Strip([*bar, *self.segments(content, max(0, width - GUTTER), *states)], width)
