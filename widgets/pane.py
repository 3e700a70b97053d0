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

from textual.app import ComposeResult
from textual.message import Message
from textual.timer import Timer

from .detail import Caption, Detail, Link, Spacer, Title
from .filter_bar import FilterBar
from .footer import with_keys
from .frame import Frame
from .glyphs import UNICODE, Glyphs
from .inputs import SafeText
from .line_list import LineList
from .pane_plans import Badge, Build, FormPlan, Removal
from .pane_rows import EMPTY, Row, Rows, keep, match_rows
from .pane_says import PaneSays
from .pieces import Line
from .rows import Continuation

if TYPE_CHECKING:
    from textual.widget import Widget

    from memory.errors import MemdeckError
    from memory.files.snapshot import Snapshot

WIDE, SINGLE = 110, 60
"""Columns of the terminal from which list and detail stand side by side; below which only one is shown."""

WARM_ROWS = 256
"""Rows that are prepared for the filter before somebody else gets a chance."""

REST_SECONDS = 0.15
"""How long the cursor rests before the links of its entry are looked for."""

__all__ = ["Badge", "Build", "Contents", "FormPlan", "Pane", "Removal"]


@dataclass(frozen=True, slots=True)
class Contents:
    """What a pane read in a worker, for `Pane.put`."""

    snapshot: Snapshot
    now: datetime
    zone: tzinfo
    rows: Rows
    remark: str = ""
    order: tuple[str, Sequence[Hashable]] | None = None
    """The rows as they are sorted, and by what, where that is not their own order."""
    refusal: MemdeckError | None = None
    """Why a file of the pane cannot be read; its rows are missing then."""


class PaneList(LineList):
    """The list of a pane; it draws what its pane says."""

    def __init__(self, pane: Pane) -> None:
        super().__init__(classes="pane--list")
        self._pane = pane

    def render_row(self, key: Hashable, width: int) -> Line:
        """The line of an item or of a continuation."""
        if isinstance(key, Continuation):
            assert isinstance(key.owner, Row)
            return self._pane.draw_more(key.owner.item, key.number, width)
        assert isinstance(key, Row)
        return self._pane.draw_row(key.item, width)


class Pane(PaneSays):
    """One pane of the application; see the module's docstring for how to write one.

    Wide terminals show list and detail side by side, narrower ones one over the other, below 60 columns one at a
    time: Enter opens the detail, Escape goes back.
    """

    DEFAULT_CSS: ClassVar[str] = """
    Pane {
        layout: horizontal;
        height: 1fr;
        width: 1fr;
        & > .pane--list-frame { width: 11fr; }
        & > .pane--detail-frame { width: 9fr; }
        .pane--empty { display: none; padding: 1 2; color: $foreground-muted; }
        &.-empty .pane--list { display: none; }
        &.-empty .pane--empty { display: block; }
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
        """The cursor stands on another item, or nothing is selected any more, or something is."""

        pane: Pane

        def can_replace(self, message: Message) -> bool:
            """Only the last of a burst matters."""
            return isinstance(message, Pane.Current) and message.pane is self.pane

    @dataclass
    class Linked(Message):
        """The links of an entry were found."""

        pane: Pane
        row: Row
        links: Sequence[Link]

    def __init__(self) -> None:
        super().__init__(id=f"pane-{self.pane_id}")
        self.snapshot: Snapshot | None = None
        self.now: datetime = datetime.fromtimestamp(0, UTC)
        self.zone: tzinfo = UTC
        self.contents: Contents | None = None
        self.sort = self.sorts[0]
        self._rows: Rows = EMPTY
        self._counted: tuple[Rows, int] = (EMPTY, 0)
        self._filter = ""
        self._remark = ""
        self._order: tuple[str, Sequence[Hashable]] | None = None
        self._wanted_ref: str | None = None
        self._arrived = False
        self._narrowed: tuple[str, Sequence[Hashable]] | None = None
        self._stale_links = False
        self._linked: tuple[Row | None, Sequence[Link]] = (None, ())
        self._resting: Timer | None = None

    # What the application asks

    @property
    def line_list(self) -> LineList:
        """The list."""
        return self.query_one(PaneList)

    @property
    def detail_view(self) -> Detail:
        """The detail."""
        return self.query_one(Detail)

    @property
    def filter_bar(self) -> FilterBar:
        """The filter bar under the list."""
        return self.query_one(FilterBar)

    @property
    def glyphs(self) -> Glyphs:
        """The signs to draw with."""
        return getattr(self.app, "glyphs", UNICODE)

    def current(self) -> Any | None:
        """The item under the cursor."""
        cursor = self.line_list.cursor
        return cursor.item if isinstance(cursor, Row) else None

    def selected(self) -> tuple[Any, ...]:
        """The selected items in the order of the list, else the one under the cursor."""
        return tuple(row.item for row in self.line_list.targets if isinstance(row, Row))

    @property
    def filter(self) -> str:
        """The filter's text."""
        return self._filter

    @property
    def linked(self) -> Sequence[Link] | None:
        """The links of the entry under the cursor; None while they are not known."""
        row, links = self._linked
        return links if row is not None and row is self.line_list.cursor else None

    @property
    def is_open(self) -> bool:
        """Whether the detail covers the list in a terminal too narrow for both."""
        return self.has_class("-open") and (self.has_class("-single") or self.has_class("-full"))

    def read(self, snapshot: Snapshot, now: datetime) -> Contents:
        """Look at the files; for a worker. Raises what reading files raises."""
        rows = match_rows(self._rows, self.rows(snapshot, now), self.mark, self.ref)
        order = self._order_of(rows, self.sort, now, snapshot.zone)
        refusal = next(filter(None, map(snapshot.refused, self.files)), None)
        return Contents(snapshot, now, snapshot.zone, rows, self.remark(snapshot, now), order, refusal)

    def _order_of(self, rows: Rows, sort: str, now: datetime, zone: tzinfo) -> tuple[str, Sequence[Hashable]] | None:
        if sort == self.sorts[0]:
            return None
        from .pane_sort import sort_rows

        # The rows get their new items only when they are put.
        items = {row: item for row, item, _ in rows.items}
        key = self.sorting(sort, now, zone)
        return sort, sort_rows(rows.keys, lambda row: key(items[row]))

    def put(self, contents: Contents, *, flash: bool = True) -> None:
        """Show what was read; cursor, selection, filter and the view stay. `flash` marks what changed."""
        first = self.contents is None
        self.contents = contents
        self.snapshot, self.now, self.zone = contents.snapshot, contents.now, contents.zone
        contents.rows.apply()
        self._rows = contents.rows
        self._remark = contents.remark
        self._order = contents.order
        self._narrowed = None
        self._arrange(redraw=True)
        if self._wanted_ref is not None and (first or self._wanted_ref):
            self._arrived = self.go_to(self._wanted_ref)
            self._wanted_ref = None
        if flash and contents.rows.changed:
            self.line_list.flash(contents.rows.changed)
        self._stale_links = True
        if first:
            # The titles first; an entry may need a Markdown parser that nothing else has imported yet.
            self.call_after_refresh(self._show_detail)
        else:
            self._show_detail()

    def show(self, snapshot: Snapshot, now: datetime, *, flash: bool = True) -> None:
        """Read and put at once."""
        self.put(self.read(snapshot, now), flash=flash)

    def go_to(self, ref: str) -> bool:
        """Put the cursor on an entry; a filter that hides it is cleared. False: it is not here (yet)."""
        if self.contents is None:
            self._wanted_ref = ref
            return False
        row = self._find_row(ref)
        if row is None:
            return False
        self.line_list.cursor = row
        if self.line_list.cursor is not row:
            self.set_filter("")
            self.filter_bar.close()
            self.line_list.cursor = row
        return True

    def find(self, ref: str) -> Any | None:
        """The item of a ref; None: it is not here."""
        row = self._find_row(ref)
        return None if row is None else row.item

    def _find_row(self, ref: str) -> Row | None:
        """The row of a ref; `line:12` is what stands at that line (from 0) or begins nearest above it."""
        if ref.startswith("line:") and ref[5:].isdecimal():
            wanted = int(ref[5:])
            lines = [(item.line, row) for row, item, _ in self._rows.items if hasattr(item, "line")]
            return max((pair for pair in lines if pair[0] <= wanted), key=lambda pair: pair[0], default=(0, None))[1]
        return next((row for row, item, _ in self._rows.items if self.ref(item) == ref), None)

    def set_filter(self, text: str) -> None:
        """Show only what fits: all words occur; `name:value` looks at one of `filter_fields`."""
        if text != self._filter:
            self._filter = text
            self._arrange(redraw=False)

    def set_sort(self, name: str) -> None:
        """Sort by one of `sorts`."""
        if name in self.sorts and name != self.sort:
            self.sort = name
            self._narrowed = None
            self._arrange(redraw=False)

    def warm(self, go_on: Callable[[], bool] = lambda: True) -> None:
        """Prepare what the first key of a filter needs; for a worker, after the first paint.

        `go_on` is asked again and again, each time after a millisecond of work; it may wait, or say no.
        """
        for number, (row, item, _) in enumerate(self._rows.items):
            if not number % WARM_ROWS and not go_on():
                return
            if row.haystack is None and row.item is item:
                row.haystack = self.haystack(item)

    def view(self) -> dict[str, str]:
        """What is remembered of this pane: position, filter, sort."""
        item = self.current()
        return {"at": "" if item is None else self.ref(item), "filter": self._filter, "sort": self.sort}

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

    def open_detail(self) -> None:
        """Give the detail the focus, in its place or instead of the list."""
        self.add_class("-open")
        self.detail_view.focus()
        if self.is_open:
            self.call_after_refresh(self._show_detail)

    def step_off(self) -> None:
        """Put the cursor on the next item that no action applies to, for when those items go elsewhere."""
        rows, leaving = self.line_list.rows, set(self.line_list.targets)
        start = self.line_list.position
        below = range(start, len(rows))
        for index in (*below, *range(start - 1, -1, -1)):
            if isinstance(rows[index], Row) and rows[index] not in leaving:
                self.line_list.cursor = rows[index]
                return

    def follow(self, target: Hashable) -> None:
        """Ask the application to go to the target of a link."""
        match target:
            case (str(file), str(ref)):
                self.post_message(self.Jump(file, ref))
            case _:
                return

    def close_detail(self) -> bool:
        """Go back to the list; False if the focus was there already."""
        was_open = self.is_open or self.detail_view.has_focus
        self.remove_class("-open")
        self.focus_list()
        return was_open

    def focus_list(self) -> None:
        """Give the list (or what stands in its place) the focus."""
        self.focus_target.focus()

    @property
    def focus_target(self) -> Widget:
        """What takes the focus of the pane: the list, or what stands in its place."""
        return self.detail_view if self.is_open else self.line_list

    # How it works

    def compose(self) -> ComposeResult:
        """List and detail, each in a frame."""
        with Frame(name=self.title, classes="pane--list-frame"):
            yield SafeText("", classes="pane--empty")
            yield PaneList(self)
            yield FilterBar()
        with Frame(classes="pane--detail-frame"):
            yield Detail()

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

    def _arrange(self, *, redraw: bool) -> None:
        """Sort and filter the rows and hand them to the list."""
        keys = self._sorted()
        if self._filter:
            keys = self._filtered(keys)
        else:
            self._narrowed = None
        self.put_keys(keys, redraw=redraw)
        self._say_empty()
        self._say_title()

    def put_keys(self, keys: Sequence[Hashable], *, redraw: bool) -> None:
        """Show the rows that sort and filter left."""
        self.line_list.set_rows(keys, redraw=redraw)

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
        return len(self._rows.items)

    def _sorted(self) -> Sequence[Hashable]:
        if self.sort == self.sorts[0]:
            return self._rows.keys
        if self._order is None or self._order[0] != self.sort:
            self._order = self._order_of(self._rows, self.sort, self.now, self.zone)
        return self._rows.keys if self._order is None else self._order[1]

    def _filtered(self, keys: Sequence[Hashable]) -> Sequence[Hashable]:
        """Filter; a text that only grew looks at what was left before."""
        from .pane_filter import Needles

        if self._narrowed and Needles.narrows(self._narrowed[0], self._filter):
            keys = self._narrowed[1]
        needles = Needles.read(self._filter, self.filter_fields)
        kept = keep(keys, needles.test(self))
        self._narrowed = (self._filter, kept)
        return kept

    def arranged(self) -> str:
        """How the rows are arranged where that is not as they stand in the file: `by due`."""
        return "" if self.sort == self.sorts[0] else f"by {self.sort}"

    def _say_empty(self) -> None:
        has_items = self.has_items
        self.set_class(not has_items, "-empty")
        if not has_items:
            refusal = None if self.contents is None else self.contents.refusal
            if self._filter and self._rows.items:
                words = f"Nothing fits “{self._filter}”. Esc shows everything again."
            elif refusal is not None:
                words = f"{refusal.message}; {refusal.hint}" if refusal.hint else refusal.message
            else:
                words = with_keys(self.empty, self.app)
            self.query_one(".pane--empty", SafeText).say(words if self.contents else "")

    def _say_title(self) -> None:
        remark = self._remark
        if self._filter:
            left = [key for key in self.shown_keys if isinstance(key, Row)]
            if type(self).counts is Pane.counts:
                remark = f"{len(left)} of {len(self._rows.items)}"
            else:
                if self._counted[0] is not self._rows:
                    self._counted = (self._rows, sum(self.counts(item) for _, item, _ in self._rows.items))
                remark = f"{sum(self.counts(row.item) for row in left)} of {self._counted[1]}"
            self.filter_bar.say(remark)
        if self.line_list.selected:
            remark = f"{len(self.line_list.selected)} selected"
        if words := self.arranged():
            remark = f"{remark}  {words}".strip()
        self.query_one(".pane--list-frame", Frame).say(self.title, remark)

    def _show_detail(self) -> None:
        """The item under the cursor, in full; links follow when the cursor rests."""
        item = self.current()
        frame = self.query_one(".pane--detail-frame", Frame)
        if item is None:
            frame.say("")
            self.detail_view.show(self.overview() if self.contents else ())
            return
        title = self.detail_title(item)
        frame.say(title, self.place(item))
        lines = [*self.detail(item)]
        # The frame says the title; where it has to cut it, the text says it as well.
        fits = frame.has_room_for(title)
        if lines and isinstance(lines[0], Title) and lines[0].text == title and fits:
            del lines[: 2 if len(lines) > 1 and isinstance(lines[1], Spacer) else 1]
        elif title and not fits and not (lines and isinstance(lines[0], Title)):
            lines = [Title(title), Spacer(), *lines]
        row, links = self._linked
        if row is self.line_list.cursor and links:
            lines += [Spacer(), Caption("LINKED"), *links]
        self.detail_view.show(lines, entry=self.line_list.cursor)
        if self._resting is not None:
            self._resting.stop()
        if row is not self.line_list.cursor or self._stale_links:
            self._resting = self.set_timer(REST_SECONDS, self.find_links)

    def find_links(self) -> None:
        """Find what the entry under the cursor is linked to, in a worker; `Linked` tells it."""
        row = self.line_list.cursor
        if isinstance(row, Row):
            item = row.item
            self._stale_links = False
            self.run_worker(
                lambda: self._find_links(row, item), group="links", thread=True, exclusive=True, exit_on_error=False
            )

    def _find_links(self, row: Row, item: Any) -> None:
        links: Sequence[Link] = ()
        try:
            links = tuple(self.links(item))
        finally:
            self.post_message(self.Linked(self, row, links))

    def on_pane_linked(self, message: Linked) -> None:
        """Show the links, if the cursor is still there."""
        before, self._linked = self._linked, (message.row, message.links)
        if message.row is self.line_list.cursor and before != self._linked and self.is_attached:
            self._show_detail()

    # What happens in it

    def on_line_list_highlighted(self, event: LineList.Highlighted) -> None:
        """Show what the cursor stands on."""
        event.stop()
        if self.contents is not None:
            self._show_detail()
            self.post_message(self.Current(self))

    def on_line_list_selection_changed(self, event: LineList.SelectionChanged) -> None:
        """Tell how many are selected."""
        event.stop()
        self._say_title()
        self.post_message(self.Current(self))

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Enter: the detail."""
        event.stop()
        self.open_detail()

    def on_detail_followed(self, event: Detail.Followed) -> None:
        """A link: the application goes there."""
        event.stop()
        self.follow(event.target)

    def on_filter_bar_changed(self, event: FilterBar.Changed) -> None:
        """A key in the filter."""
        event.stop()
        self.set_filter(event.text)

    def on_filter_bar_accepted(self, event: FilterBar.Accepted) -> None:
        """The filter stays."""
        event.stop()
        self.focus_list()

    def on_filter_bar_closed(self, event: FilterBar.Closed) -> None:
        """Everything again."""
        event.stop()
        self.set_filter("")
        self.focus_list()
