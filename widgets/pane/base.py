"""Pane: what all panes share. A list, the detail of the entry under its cursor, a filter, and what can be done.

A pane is written by subclassing `Pane`:

* Class variables: `pane_id` ("tasks"), `number` ("2"), `title`, `files` (the memory files it shows), `empty` (what
  it is for and which key begins), `sorts` (names for the key S; the first is the order of `rows`),
  `filter_fields` (names for `name:value` in the filter).
* `rows(snapshot, now)`: every row in order: the models themselves (any object with `.ref`; not hashed, not
  compared), and between them `Heading`, `Note`, `Continuation(model, 1)`. It runs in a thread: read the snapshot
  and nothing of the widget.
* `draw_row(item, width)` and `draw_more(item, number, width)`: the line of an item, and of a continuation; only
  for rows in view. `self.now`, `self.zone`, `self.glyphs` are there.
* `detail(item)`: what the detail shows, as plain data of `widgets.detail`. Links are added below it.
* Optional: `mark` and `ref` (how an item is told from its former self), `text(item)` (what the filter looks at),
  `field_text(item, name)`, `sort_key(item, name)`, `remark(snapshot)` (right of the list's title), `badge`.
* What can be done, each optional (None: not here): `adding`, `editing`, `removing`, `source_text` with
  `from_source`. The application shows forms and dialogs, writes the edit in a worker, and calls `show` again.

The application reads in a worker, `contents = pane.read(snapshot, now)`, and applies in its own thread,
`pane.put(contents)`; `show` does both at once. Nothing here writes a file.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.message import Message

from widgets.chrome.compositor import Covered
from widgets.chrome.footer import with_keys
from widgets.chrome.frame import Frame
from widgets.detail import Link
from widgets.input.editors import SafeText
from widgets.input.filter_bar import FilterBar
from widgets.list.line_list import LineList
from widgets.text.glyphs import UNICODE, Glyphs
from widgets.timers import LateTimers

from .contents import Contents
from .entry import PaneWithEntry
from .filter import Fits, parts_of, strange_words
from .filter_cache import Narrowing
from .offers import Badge, Build, FormPlan, Removal
from .overrides import PaneSays
from .parts import PaneFilter, PaneList
from .rows import RowKey, Rows, keep, match_entries, match_rows
from .visible_rows import Arrangement

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot

    from .filter import Needles

WIDE, SINGLE, BROAD = 110, 60, 150
"""Columns of the terminal from which list and detail stand side by side; below which only one is shown; from which the
list has twice the room of the detail, for more columns.
"""

__all__ = ["Badge", "Build", "Contents", "FormPlan", "Pane", "Removal"]


def fits_look(look: Mapping[str, str], kept: Mapping[str, str]) -> bool:
    """Whether what is shown is what was kept."""
    return all(look.get(key, "") == value for key, value in kept.items())


class Pane(LateTimers, Covered, PaneWithEntry):
    """One pane of the application; see the module's docstring for how to write one.

    Wide terminals show list and detail side by side, narrower ones one over the other, below 60 columns one at a
    time: Enter opens the detail, Escape goes back. With the class `-zoom` they do so in every terminal.

    Their scrollbars have a cell that stays free without them: one that came and went with each entry would be a layout
    of the screen each time. In a small terminal the cell counts more, and a layout costs less.
    """

    DEFAULT_CSS: ClassVar[str] = """
    Pane {
        layout: horizontal;
        height: 1fr;
        width: 1fr;
        & > .pane--list-frame { width: 3fr; }
        & > .pane--detail-frame { width: 2fr; }
        &.-broad > .pane--list-frame { width: 2fr; }
        &.-broad > .pane--detail-frame { width: 1fr; }
        PaneList, Detail { overflow-y: scroll; }
        &.-single PaneList, &.-single Detail { overflow-y: auto; }
        .pane--empty { display: none; padding: 1 2; color: $foreground-muted; }
        &.-stacked { layout: vertical; }
        &.-stacked > .pane--list-frame { width: 100%; height: 3fr; }
        &.-stacked > .pane--detail-frame { width: 100%; height: 2fr; }
        &.-single > .pane--list-frame { width: 100%; }
        &.-single > .pane--detail-frame { width: 100%; display: none; }
        &.-single.-open > .pane--list-frame { display: none; }
        &.-single.-open > .pane--detail-frame { display: block; }
        &.-full > .pane--list-frame, &.-zoom > .pane--list-frame { width: 100%; height: 1fr; }
        &.-full > .pane--detail-frame, &.-zoom > .pane--detail-frame { width: 100%; height: 1fr; display: none; }
        &.-full.-open > .pane--list-frame, &.-zoom.-open > .pane--list-frame { display: none; }
        &.-full.-open > .pane--detail-frame, &.-zoom.-open > .pane--detail-frame { display: block; }
    }
    """

    @dataclass
    class Jump(Message):
        """A link to an entry of any file was followed."""

        file: str
        ref: str

    @dataclass
    class Current(Message):
        """The cursor stands on another item, or nothing is selected any more, or something is."""

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
        self.now: datetime = datetime.fromtimestamp(0, UTC)
        self.zone: tzinfo = UTC
        self.contents: Contents | None = None
        self.arrangement = Arrangement(self)
        self.narrowing = Narrowing(self)
        self.saved_views: Mapping[str, Mapping[str, str]] = {}
        """What people keep under a name, as `look` gave it."""
        self._remark = ""
        self.moves = 0
        """How often the person chose another place here. What was asked before leads the cursor nowhere after that."""
        self.lost_row: Hashable | None = None
        """The row that the cursor stood on and that went with the last look, where nobody moved it since."""
        self._wanted_ref: str | None = None
        self._arrived = False
        self._list, self._filter_bar = PaneList(self), PaneFilter(self)
        self.instead = SafeText("", classes="pane--empty")
        self.lost = ""
        """That the pane's file is gone or empty although it held something, in a sentence; empty: it is not."""
        """Says something in the place of rows where the list cannot do so itself."""

    def on_pane_linked(self, message: Linked) -> None:
        """Show the links, if the cursor is still there."""
        self.take_links(message.row, message.links)

    # What the application asks

    @property
    def line_list(self) -> LineList:
        """The list."""
        return self._list

    @property
    def filter_bar(self) -> FilterBar:
        """The filter bar under the list."""
        return self._filter_bar

    @property
    def glyphs(self) -> Glyphs:
        """The signs to draw with."""
        return getattr(self.app, "glyphs", UNICODE)

    def selected(self) -> tuple[Any, ...]:
        """The selected items in the order of the list, else the one under the cursor."""
        return tuple(row.item for row in self.line_list.targets if isinstance(row, RowKey))

    @property
    def filter(self) -> str:
        """The filter's text."""
        return self.arrangement.filter

    @property
    def sort(self) -> str:
        """By what the rows are sorted: one of `sorts`, with `REVERSED` where that is turned round."""
        return self.arrangement.sort

    def read(self, snapshot: Snapshot, now: datetime) -> Contents:
        """Look at the files; for a worker. Raises what reading files raises."""
        match = match_entries if self.draws_alone else match_rows
        rows = match(self.arrangement.rows, self.rows(snapshot, now), self.mark, self.ref)
        order = self.arrangement.order_of(rows, self.sort, now, snapshot.zone)
        names = (name for name in self.files if not name.endswith("/"))
        refusal = next(filter(None, map(snapshot.refused, names)), None)
        # Of the first look the titles come first; later ones would leave it to the next letter.
        sieve = self.arrangement.sieve_for(rows, order) if self.contents is not None else None
        return Contents(snapshot, now, snapshot.zone, rows, self.remark(snapshot, now), order, refusal, sieve)

    def put(self, contents: Contents, *, flash: bool = True) -> None:
        """Show what was read; cursor, selection, filter and the view stay. `flash` marks what changed."""
        first = self.contents is None
        same = not first and self.rows_look_the_same(contents)
        self.contents = contents
        self.snapshot, self.now, self.zone = contents.snapshot, contents.now, contents.zone
        self.arrangement.put(contents.rows, contents.order, contents.sieve)
        self._remark = contents.remark
        stood = self.line_list.cursor
        self.lost_row = stood if stood in contents.rows.gone else None
        self._arrange(redraw=not same)
        if same:
            self.line_list.redraw(contents.rows.changed | contents.rows.gone)
        if self._wanted_ref is not None and (first or self._wanted_ref):
            self._arrived = self.go_to(self._wanted_ref)
            self._wanted_ref = None
        if flash and contents.rows.changed:
            self.line_list.flash(contents.rows.changed)
        self.linking.age()
        if first:
            # The titles first; an entry may need a Markdown parser that nothing else has imported yet.
            self.call_after_refresh(self._show_first_detail)
        else:
            self._show_detail()

    def rows_look_the_same(self, contents: Contents) -> bool:
        """Whether rows whose items did not change look as before: nothing but the item and the minute counts."""
        return (
            self.draws_alone
            and self.zone == contents.zone
            and self.now.replace(second=0, microsecond=0) == contents.now.replace(second=0, microsecond=0)
        )

    def show(self, snapshot: Snapshot, now: datetime, *, flash: bool = True) -> None:
        """Read and put at once."""
        self.put(self.read(snapshot, now), flash=flash)

    def moved(self) -> None:
        """The person chose another place here: moved the cursor, narrowed the rows, came from elsewhere."""
        self.moves += 1
        self._wanted_ref = self.lost_row = None

    def go_to(self, ref: str) -> bool:
        """Put the cursor on an entry; a filter that hides it is cleared. False: it is not here (yet)."""
        if self.contents is None:
            self._wanted_ref = ref
            return False
        row = self.arrangement.row_of(ref)
        if row is None:
            return False
        self.narrowing.finish()
        self.line_list.cursor = row
        if self.line_list.cursor is not row:
            self.set_filter("")
            self.filter_bar.close()
            self.line_list.cursor = row
        return True

    def go_to_what_came(self, before: Rows) -> None:
        """Put the cursor on the first item that stands here and did not among the rows `before`.

        What nobody sees, for a filter hides it or a branch is folded, stays hidden.
        """
        known = {row for row, _, _ in before.items}
        came = dict.fromkeys(row for row, _, _ in self.arrangement.rows.items if row not in known)
        if came:
            # Rows of a calendar are days; where it has the first of these tasks, it finds itself.
            row = next((key for key in self.shown_keys if key in came), next(iter(came)))
            assert isinstance(row, RowKey)
            self.place_cursor(row)

    def place_cursor(self, row: RowKey) -> bool:
        """Put the cursor on a row; False: it is not shown."""
        self.line_list.cursor = row
        return self.line_list.cursor is row

    def find(self, ref: str) -> Any | None:
        """The item of a ref; None: it is not here."""
        row = self.arrangement.row_of(ref)
        return None if row is None else row.item

    def set_filter(self, text: str, *, typed: bool = False) -> None:
        """Show only what fits: all words occur; `name:value` looks at one of `filter_fields`.

        `typed`: somebody types it, and looks at many rows may go on after the next picture.
        """
        if text != self.filter:
            self.arrangement.filter = text
            if text:
                self.moved()
            if typed and text:
                self.narrowing.begin()
            else:
                self.narrowing.settle()
                self.show_keys(self.arrangement.keys(self.now, self.zone), to_top=bool(text))
                self.follow_cursor()
        elif not typed:
            self.narrowing.finish()

    def set_sort(self, name: str) -> None:
        """Sort by one of `sorts`, which `REVERSED` may follow."""
        if self.arrangement.sort_by(name):
            self._arrange(redraw=False)

    def warm(self, go_on: Callable[[], bool] = lambda: True) -> None:
        """Prepare what the first key of a filter needs; for a worker, after the first paint.

        `go_on` is asked again and again, each time after a millisecond of work; it may wait, or say no.
        """
        self.arrangement.warm(go_on)
        if go_on():
            self.call_later(self.filter_bar.prepare)

    def view(self) -> dict[str, str]:
        """What is remembered of this pane: position, filter, sort."""
        item = self.current()
        return {"at": "" if item is None else self.ref(item), **self.look()}

    def look(self) -> dict[str, str]:
        """How the pane is arranged: what is kept under a name."""
        return {"filter": self.filter, "sort": self.sort}

    @property
    def named(self) -> str:
        """The name under which somebody kept what is shown now; empty: it has none."""
        look = self.look() if self.saved_views else {}
        usual = {"sort": self.sorts[0]}
        return next((name for name, view in self.saved_views.items() if fits_look(look, {**usual, **view})), "")

    def take_saved_views(self, views: Mapping[str, Mapping[str, str]]) -> None:
        """Take the views that people gave a name; the title says which of them is shown."""
        self.saved_views = views
        if self.contents is not None:
            self.say_title()

    def restore(self, view: Mapping[str, str]) -> None:
        """Go back to what `view` gave; before the first contents as well."""
        self.set_sort(view.get("sort", ""))
        if self._arrived:
            # Somebody jumped to an entry here; that is where the person wants to be.
            return
        if text := view.get("filter", ""):
            self.filter_bar.open(text, focus=False)
            self.set_filter(text)
        if at := view.get("at", ""):
            self.go_to(at)

    def step_off(self) -> None:
        """Put the cursor on the next item that no action applies to, for when those items go elsewhere."""
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
            yield self.instead
            yield self._list
            yield self._filter_bar
        with Frame(classes="pane--detail-frame"):
            yield self._detail

    def on_mount(self) -> None:
        """Take the terminal's width at once, not only after the first layout."""
        self._follow_width()

    def on_resize(self) -> None:
        """Follow the terminal's width; the detail's frame may have another room for its title."""
        self._follow_width()
        if self.contents is not None:
            self.call_after_refresh(self._show_detail)

    def _follow_width(self) -> None:
        width = self.app.size.width
        self.set_class(SINGLE <= width < WIDE, "-stacked")
        self.set_class(width < SINGLE, "-single")
        self.set_class(width >= BROAD, "-broad")

    def _arrange(self, *, redraw: bool) -> None:
        """Sort and filter the rows and hand them to the list."""
        to_top = self.narrowing.settle() and bool(self.filter)
        self.show_keys(self.arrangement.keys(self.now, self.zone), redraw=redraw, to_top=to_top)

    def show_keys(self, keys: Sequence[Hashable], *, redraw: bool = False, to_top: bool = False) -> None:
        """Show the rows that sort and filter left, and say how many. `to_top`: the first of them, with the cursor."""
        self.put_keys(keys, redraw=redraw, to_top=to_top)
        self._say_empty()
        self.say_title()

    def unfolded(self, keys: Sequence[Hashable]) -> Sequence[Hashable]:
        """The rows that nothing hides while there is no filter; for panes that fold."""
        return keys

    @property
    def counts_all(self) -> bool:
        """Whether every item is one of those that the filter counts."""
        return type(self).counts is PaneSays.counts

    @property
    def keeps_by_words(self) -> bool:
        """Whether the rows that a filter leaves are those that fit, and not what the pane chooses itself."""
        return type(self).kept is Pane.kept

    def kept(self, keys: Sequence[Hashable], needles: Needles) -> Sequence[Hashable]:
        """The rows that a filter leaves."""
        return keep(keys, Fits(needles, self))

    def put_keys(self, keys: Sequence[Hashable], *, redraw: bool, to_top: bool) -> None:
        """Give the rows that sort and filter left to the list."""
        self.line_list.set_rows(keys, redraw=redraw, to_top=to_top)

    @property
    def rows_of_picture(self) -> int | None:
        """So many of the rows that a filter leaves fill the view, 0 for one that looks for its rows itself; None: it is
        made of all rows.
        """
        return max(1, self.line_list.size.height)

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
        """How the rows are arranged where that is not as they stand in the file: `sorted by due`."""
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
            said = (f"Nothing fits “{self.filter}”. Esc shows everything again.", strange, *dict.fromkeys(values))
            words = "\n\n".join(filter(None, said))
        elif refusal is not None:
            words = f"{refusal.message}; {refusal.hint}" if refusal.hint else refusal.message
        else:
            words = with_keys(self.empty, self.app)
        self.say_instead(words)

    def say_lost(self, words: str) -> None:
        """Say in place of what an empty pane is for that its file is gone; empty: it is not."""
        if words != self.lost:
            self.lost = words
            if self.contents is not None:
                self._say_empty()

    def say_instead(self, words: str) -> None:
        """Say something where there is nothing to show; nothing where there is."""
        self._list.say(words)
        self.instead.say(words, layout=self.instead.display)

    def say_title(self) -> None:
        """The pane's name; then what is selected or fits a filter, how the rows are arranged, what there is at all."""
        said, usual = [], self._remark
        if self.filter:
            usual = ""
            said = [self.arrangement.count(), strange_words(self.filter, self.filter_fields)]
            self.filter_bar.say("  ".join(filter(None, said)))
        if self.line_list.selected:
            usual = ""
            said = [f"{len(self.line_list.selected)} selected"]
        kept = f"“{self.named}”" if self.named else ""
        self.query_one(".pane--list-frame", Frame).say(self.title, *said, kept, *self.arranged(), usual)

    # What happens in it

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Who leaves the filter finds all rows that fit; nobody around the pane asks for its focus."""
        event.stop()
        if self.filter_bar not in event.widget.ancestors:
            self.narrowing.finish()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Nobody around the pane asks for its focus."""
        event.stop()

    def on_line_list_selection_changed(self, event: LineList.SelectionChanged) -> None:
        """Tell how many are selected."""
        event.stop()
        self.say_title()
        self.tell_current()

    def on_filter_bar_accepted(self, event: FilterBar.Accepted) -> None:
        """The filter stays."""
        event.stop()
        self.focus_list()

    def on_filter_bar_closed(self, event: FilterBar.Closed) -> None:
        """Everything again, unless it was opened anew meanwhile."""
        event.stop()
        if not self.filter_bar.is_open:
            self.set_filter("")
            self.focus_list()
