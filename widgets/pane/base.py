"""Pane: what all panes share. A list, the detail of the entry under its cursor, a filter, and the possible actions.

A pane is written by subclassing `Pane`:

* Class variables: `pane_id` ("tasks"), `title`, `files` (the memory files it shows), `empty` (what
  the pane is for and which key to begin with), `sorts` (names for the key S; the first is the order of `rows`),
  `filter_fields` (names for `name:value` in the filter).
* `rows(snapshot, now)`: every row in order: the models themselves (any object with `.ref`; not hashed, not
  compared), and between them `Heading` and `Note`. It runs in a thread: read only the
  snapshot, never the widget.
* `draw_row(item, width)`: the line of an item; called only for rows in view. `self.now`, `self.zone` and
  `self.glyphs` are available.
* `detail(item)`: what the detail shows, as plain data of `widgets.detail`. Links are added below it.
* Optional: `mark` and `ref` (how an item is matched with its earlier version), `text(item)` (what the filter
  searches), `field_text(item, name)`, `sort_key(item, name)`, `remark(snapshot)` (right of the list's title), `badge`.
* Actions, each optional (None: not supported): `adding`, `editing`, `removing`, `source_text` with
  `from_source`. The application shows forms and dialogs, writes the edit in a worker, and calls `show` again.

The application reads in a worker, `contents = pane.read(snapshot, now)`, and applies in its own thread,
`pane.put(contents)`; `show` does both at once. Nothing here writes a file.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from widgets.chrome.frame import Frame
from widgets.chrome.keys import with_keys
from widgets.detail import Link
from widgets.input.filter_bar import FilterBar
from widgets.list.line_list import LineList
from widgets.text.drawing import LateTimers
from widgets.text.glyphs import UNICODE, Glyphs
from widgets.text.styled_text import EMPTY, Line, Piece, clip_line, line, line_text, line_width, pad_line, wrap_line

from .arrangement import Arrangement
from .entry import PaneWithEntry
from .filter import parts_of, strange_words
from .offers import Badge, Build, FormPlan, Removal
from .rows import Contents, LineRow, RowKey, Rows, match_rows

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot


SINGLE, BROAD = 60, 150
"""Terminal widths in columns. Below `SINGLE`, only the list or the detail is shown; from `BROAD` on, the list is twice
as wide as the detail, for more columns.
"""

__all__ = ["Badge", "Build", "Contents", "FormPlan", "Pane", "Removal"]

INDENT = 2
"""Cells at the left and at the right of the words of a list without rows."""


class PaneList(LineList):
    """The list of a pane; the pane draws its rows, and a message replaces missing rows."""

    def __init__(self, pane: Pane) -> None:
        super().__init__(classes="pane--list")
        self._pane = pane
        self._words = ""
        self._lines: Sequence[Line] = ()

    def say(self, words: str) -> None:
        """Set the message shown where there are no rows. The list draws it itself: swapping in another widget would
        cause a layout of the whole screen for one letter in the filter.
        """
        if words != self._words:
            self._words = words
            if not self.rows:
                self.refresh()

    def render_row(self, key: Hashable, width: int) -> Line:
        """The line of an item, or of the file where no item has it."""
        if isinstance(key, LineRow):
            return clip_line(line(Piece(f"  line {key.line + 1}  {key.text}", "muted")), width)
        assert isinstance(key, RowKey)
        doubt = self._pane.doubted.get(key)
        if doubt is None:
            return self._pane.draw_row(key.item, width)
        mark = line(Piece(f" {self._pane.glyphs.alert} {doubt.partition(':')[0]}", "warn"))
        room = max(0, width - line_width(mark))
        return line(pad_line(self._pane.draw_row(key.item, room), room), mark)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw lines of the view; the message is laid out once per frame."""
        width = self.scrollable_content_region.width
        self._lines = self._laid_out(width, self.size.height) if self._words and not self.rows else ()
        return super().render_lines(crop)

    def draw_below(self, y: int, width: int) -> Strip:
        """Draw a line of the message, where there are no rows."""
        place = y - int(len(self._lines) < self.size.height)
        words = line(" " * INDENT, self._lines[place]) if 0 <= place < len(self._lines) else EMPTY
        return self.draw(words, width)

    def _laid_out(self, width: int, height: int) -> Sequence[Line]:
        """Return the lines of the message; those that do not fit are cut with an ellipsis."""
        texts = [line(Piece(text, "muted")) for text in self._words.split("\n")]
        lines = [row for text in texts for row in wrap_line(text, max(1, width - 2 * INDENT))]
        if len(lines) > height:
            lines = [row for row in lines if line_text(row).strip()]
        if len(lines) > height > 0:
            lines[height - 1 :] = [clip_line(line(lines[height - 1], Piece(" …", "muted")), width - 2 * INDENT)]
        return lines

    def action_mark(self) -> None:
        """Select or unselect the row under the cursor, if it is an entry, and move on."""
        if isinstance(self.cursor, RowKey) and not self._pane.may_change(self.cursor.item):
            self.action_move(1)
        else:
            super().action_mark()

    def move_to(self, position: int, *, direction: int = 1) -> None:
        """Move the cursor for the person; the entry follows directly, without a `Highlighted` message."""
        if self.rows:
            self._pane.moved()
        with self.prevent(LineList.Highlighted):
            super().move_to(position, direction=direction)
        self._pane.follow_cursor()


class Pane(LateTimers, PaneWithEntry):
    """One pane of the application; see the module's docstring for how to write one.

    Wide terminals show list and detail side by side, narrower ones one above the other, and those below 60 columns one
    at a time: Enter opens the detail, Escape goes back.

    List and detail reserve a cell for the scrollbar: a scrollbar that came and went with each entry would cause a
    layout of the screen each time. A small terminal reserves none: there a cell counts more, and a layout costs less.
    `-even` as a default class gives the detail almost half of the width.
    """

    DEFAULT_CSS: ClassVar[str] = """
    Pane {
        layout: horizontal;
        height: 1fr;
        width: 1fr;
        & > .pane--list-frame { width: 3fr; }
        & > .pane--detail-frame { width: 2fr; }
        &.-even > .pane--list-frame { width: 11fr; }
        &.-even > .pane--detail-frame { width: 9fr; }
        &.-broad > .pane--list-frame { width: 2fr; }
        &.-broad > .pane--detail-frame { width: 1fr; }
        &.-bare > .pane--detail-frame { display: none; }
        PaneList, Detail { overflow-y: scroll; }
        &.-single PaneList, &.-single Detail { overflow-y: auto; }
        &.-stacked { layout: vertical; }
        &.-stacked > .pane--list-frame { width: 100%; height: 3fr; }
        &.-stacked > .pane--detail-frame { width: 100%; height: 2fr; }
        &.-single > .pane--list-frame { width: 100%; }
        &.-single > .pane--detail-frame { width: 100%; display: none; }
        &.-single.-open > .pane--list-frame { display: none; }
        &.-single.-open > .pane--detail-frame { display: block; }
        &.-full > .pane--list-frame { width: 100%; height: 1fr; }
        &.-full > .pane--detail-frame { width: 100%; height: 1fr; display: none; }
        &.-full.-open > .pane--list-frame { display: none; }
        &.-full.-open > .pane--detail-frame { display: block; }
    }
    """

    @dataclass
    class Jump(Message):
        """A link to an entry of any file was followed."""

        file: str
        ref: str

    @dataclass
    class Current(Message):
        """The cursor moved to another item, or the selection changed."""

        pane: Pane

        def can_replace(self, message: Message) -> bool:
            """Only the last of a burst matters."""
            return isinstance(message, Pane.Current) and message.pane is self.pane

    @dataclass
    class Linked(Message):
        """The links of an entry were found."""

        pane: Pane
        row: RowKey
        links: Sequence[Link]

    def __init__(self) -> None:
        super().__init__(id=f"pane-{self.pane_id}")
        self.snapshot: Snapshot | None = None
        self.contents: Contents | None = None
        self.arrangement = Arrangement(self)
        self._remark = ""
        self.moves = 0
        """How often the person moved to another place here. Requests from before a move no longer move the cursor."""
        self.lost_row: Hashable | None = None
        """The row under the cursor that the last refresh removed; None once the cursor was moved."""
        self._wanted_ref: str | None = None
        self._arrived = False
        self.remembered: Mapping[str, str] = {}
        """What `view` returned when the pane was left last; restored with the first contents."""
        self._list = PaneList(self)
        self.filter_bar = FilterBar(self.set_filter)
        """The filter bar under the list."""
        self._doubts: Mapping[str, str] = {}
        self.lost = ""
        """A sentence saying that the pane's file is gone, or empty although it had content; empty: it is not."""

    def on_pane_linked(self, message: Linked) -> None:
        """Show the links, if the cursor is still there."""
        self.take_links(message.row, message.links)

    # What the application uses

    @property
    def line_list(self) -> LineList:
        """The list."""
        return self._list

    @property
    def glyphs(self) -> Glyphs:
        """The glyphs to draw with."""
        return getattr(self.app, "glyphs", UNICODE)

    def selected(self) -> tuple[Any, ...]:
        """The selected items in the order of the list, else the one under the cursor."""
        return tuple([row.item for row in self.line_list.targets if isinstance(row, RowKey)])

    @property
    def filter(self) -> str:
        """The filter's text."""
        return self.arrangement.filter

    @property
    def sort(self) -> str:
        """What the rows are sorted by: one of `sorts`, followed by `REVERSED` if the order is reversed."""
        return self.arrangement.sort

    def read(self, snapshot: Snapshot, now: datetime) -> Contents:
        """Read the rows from the files; for a worker. Raises what reading files raises."""
        rows = match_rows(self.arrangement.rows, self.rows(snapshot, now), self.mark, self.ref)
        order = self.arrangement.order_of(rows, self.sort, now, snapshot.zone)
        names = (name for name in self.files if not name.endswith("/"))
        refusal = next(filter(None, map(snapshot.refused, names)), None)
        return Contents(snapshot, now, snapshot.zone, rows, self.remark(snapshot, now), order, refusal)

    def put(self, contents: Contents, *, flash: bool = True) -> None:
        """Show what was read; cursor, selection, filter and scroll position stay. `flash` highlights changed rows."""
        first = self.contents is None
        self.contents = contents
        self.snapshot, self.now, self.zone = contents.snapshot, contents.now, contents.zone
        self.arrangement.put(contents.rows, contents.order)
        self._remark = contents.remark
        if first:
            self.take_doubts(self._doubts)
        else:
            # Whose entries changed is looked up once the files were checked for doubts again.
            self.doubted = {row: words for row, words in self.doubted.items() if row not in contents.rows.gone}
        before = self.line_list.cursor
        self.lost_row = before if before in contents.rows.gone else None
        self.rearrange()
        if self._wanted_ref is not None and (first or self._wanted_ref):
            self._arrived = self.go_to(self._wanted_ref)
            self._wanted_ref = None
        if flash and contents.rows.changed:
            self.line_list.flash(contents.rows.changed)
        self._links_stale = True
        if first and self.remembered:
            self.restore(self.remembered)
        if first:
            # The titles come first: an entry may need a Markdown parser that is not imported yet.
            self.call_after_refresh(self._show_first_detail)
        else:
            self._show_detail()

    def show(self, snapshot: Snapshot, now: datetime, *, flash: bool = True) -> None:
        """Read and put at once."""
        self.put(self.read(snapshot, now), flash=flash)

    def moved(self) -> None:
        """Record that the person moved to another place here: moved the cursor, filtered, or came from elsewhere."""
        self.moves += 1
        self._wanted_ref = self.lost_row = None

    def go_to(self, ref: str) -> bool:
        """Put the cursor on an entry, clearing a filter that hides it. False: the pane does not have it (yet)."""
        if self.contents is None:
            self._wanted_ref = ref
            return False
        row = self.arrangement.unread_at(ref) or self.arrangement.row_of(ref)
        if row is None:
            return False
        self.line_list.cursor = row
        if self.line_list.cursor is not row:
            self.set_filter("")
            self.filter_bar.close()
            self.line_list.cursor = row
        return True

    def go_to_what_came(self, before: Rows) -> None:
        """Put the cursor on the first item that is not among the rows `before`, else on the first that has changed.

        An item hidden by a filter or a folded branch stays hidden.
        """
        known, rows = dict(zip(before.rows, before.marks, strict=True)), self.arrangement.rows
        came = dict.fromkeys([row for row in rows.rows if row not in known])
        changed = [row for row, _, mark in rows.items if row in known and known[row] != mark]
        came = came or dict.fromkeys(changed)
        if came and self.line_list.cursor not in came:
            # The rows of a calendar are days; the calendar itself finds the day of the first of these tasks.
            row = next((key for key in self.shown_keys if key in came), next(iter(came)))
            assert isinstance(row, RowKey)
            self.place_cursor(row)

    def place_cursor(self, row: RowKey) -> bool:
        """Put the cursor on a row; False: it is not shown."""
        self.line_list.cursor = row
        return self.line_list.cursor is row

    def take_doubts(self, doubts: Mapping[str, str]) -> None:
        """Set what is in doubt about entries, by their refs: their rows and details say so."""
        self._doubts = doubts
        found = ((self.arrangement.row_of(ref), words) for ref, words in doubts.items())
        rows: dict[Hashable, str] = {row: words for row, words in found if row is not None}
        if rows != self.doubted:
            self.doubted = rows
            self.line_list.refresh()
            self._show_detail()

    def find(self, ref: str) -> Any | None:
        """The item with a ref; None: the pane has none."""
        row = self.arrangement.row_of(ref)
        return None if row is None else row.item

    def set_filter(self, text: str) -> None:
        """Show only matching rows: all words occur; `name:value` matches one of `filter_fields`."""
        if text != self.filter:
            self.arrangement.filter = text
            if text:
                self.moved()
            self.show_keys(self.arrangement.keys(self.now, self.zone), to_top=bool(text))
            self.follow_cursor()

    def set_sort(self, name: str) -> None:
        """Sort by one of `sorts`, optionally followed by `REVERSED`."""
        if self.arrangement.sort_by(name):
            self.rearrange()

    def view(self) -> dict[str, str]:
        """The state of this pane to remember: position, filter, sort."""
        item = self.current()
        return {"at": "" if item is None else self.ref(item), **self.look()}

    def look(self) -> dict[str, str]:
        """The arrangement of the pane: filter and sort."""
        return {"filter": self.filter, "sort": self.sort}

    def restore(self, view: Mapping[str, str]) -> None:
        """Restore what `view` returned; works before the first contents, too."""
        self.set_sort(view.get("sort", ""))
        if self._arrived:
            # The pane was opened at an entry; that is where the person wants to be.
            return
        if text := view.get("filter", ""):
            self.filter_bar.open(text, focus=False)
            self.set_filter(text)
        if at := view.get("at", ""):
            self.go_to(at)

    def step_off(self) -> None:
        """Move the cursor off the targets of an action to the next other item, before the targets go elsewhere."""
        rows, leaving = self.line_list.rows, set(self.line_list.targets)
        start = self.line_list.position
        below = range(start, len(rows))
        for index in (*below, *range(start - 1, -1, -1)):
            if isinstance(rows[index], RowKey) and rows[index] not in leaving:
                self.line_list.cursor = rows[index]
                return

    # How it works

    def compose(self) -> ComposeResult:
        """List and detail, each in a frame."""
        with Frame(name=self.title, classes="pane--list-frame"):
            yield self._list
            yield self.filter_bar
        with Frame(classes="pane--detail-frame"):
            yield self.detail_view

    def on_mount(self) -> None:
        """Apply the terminal's width at once, before the first layout."""
        self._follow_width()

    def on_resize(self) -> None:
        """Follow the terminal's width; the detail's frame may have more or less room for its title."""
        self._follow_width()
        if self.contents is not None:
            self.call_after_refresh(self._show_detail)

    def _follow_width(self) -> None:
        width = self.app.size.width
        self.set_class(SINGLE <= width < self.beside_from, "-stacked")
        self.set_class(width < SINGLE, "-single")
        self.set_class(width >= BROAD, "-broad")

    def rearrange(self) -> None:
        """Sort and filter the rows and hand them to the list."""
        self.show_keys(self.arrangement.keys(self.now, self.zone))

    def show_keys(self, keys: Sequence[Hashable], *, to_top: bool = False) -> None:
        """Show the sorted and filtered rows, and their count. `to_top`: scroll to the first, with the cursor."""
        self.put_keys(keys, to_top=to_top)
        self._say_empty()
        self.say_title()

    def put_keys(self, keys: Sequence[Hashable], *, to_top: bool) -> None:
        """Hand the sorted and filtered rows to the list."""
        self.line_list.set_rows(keys, to_top=to_top)

    @property
    def has_items(self) -> bool:
        """Whether any item is shown."""
        return self.line_list.cursor is not None

    @property
    def shown_keys(self) -> Sequence[Hashable]:
        """All rows that are shown."""
        return self.line_list.rows

    @property
    def row_count(self) -> int:
        """How many items there are, shown or not."""
        return len(self.arrangement.rows.rows)

    def arranged(self) -> Sequence[str]:
        """How the rows are arranged, such as `sorted by due`; empty in file order."""
        return () if self.sort == self.sorts[0] else (f"sorted by {self.sort}",)

    def _say_empty(self) -> None:
        refusal = None if self.contents is None else self.contents.refusal
        if self.lost and not self.has_items and not self.filter:
            words = self.lost
        elif self.has_items or not self.contents or (self.shown_keys and not self.row_count):
            words = ""
        elif self.filter and self.row_count:
            strange = strange_words(self.filter, self.filter_fields, listed=True)
            parts = parts_of(self.filter, self.filter_fields)
            values = [self.value_words(part.field, part.text) for part in parts if part.field and part.text]
            said = (f"Nothing matches “{self.filter}”. Esc shows everything again.", strange, *dict.fromkeys(values))
            words = "\n\n".join(filter(None, said))
        elif refusal is not None:
            words = f"{refusal.message}; {refusal.hint}" if refusal.hint else refusal.message
        else:
            words = with_keys(self.empty, self.app)
        self.say_instead(words)

    def say_lost(self, words: str) -> None:
        """Show in an empty pane, instead of its purpose, that its file is gone; empty: it is not."""
        if words != self.lost:
            self.lost = words
            if self.contents is not None:
                self._say_empty()

    def say_instead(self, words: str) -> None:
        """Show a message in place of the rows; empty: there are rows to show."""
        self._list.say(words)

    def say_title(self) -> None:
        """Set the title: the pane's name, the selected or filtered count, the arrangement, and the usual remark."""
        said, usual = [], self._remark
        if self.filter:
            usual = ""
            said = [self.arrangement.count(self.shown_keys), strange_words(self.filter, self.filter_fields)]
            self.filter_bar.say("  ".join(filter(None, said)))
        if self.line_list.selected:
            usual = ""
            said = [f"{len(self.line_list.selected)} selected"]
        self.query_one(".pane--list-frame", Frame).say(self.title, *said, *self.arranged(), usual)

    # What happens in it

    def on_line_list_selection_changed(self, event: LineList.SelectionChanged) -> None:
        """Show how many are selected."""
        event.stop()
        self.say_title()
        self.tell_current()

    def on_filter_bar_accepted(self, event: FilterBar.Accepted) -> None:
        """Keep the filter and focus the list."""
        event.stop()
        self.set_filter(self.filter_bar.text)
        self.focus_list()

    def on_filter_bar_closed(self, event: FilterBar.Closed) -> None:
        """Show all rows again, unless the filter was reopened in the meantime."""
        event.stop()
        if not self.filter_bar.is_open:
            self.set_filter("")
            self.focus_list()
