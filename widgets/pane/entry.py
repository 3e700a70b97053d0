"""What a pane defines, and its entry: the item under the cursor, shown in full beside the list or in its place.

See `widgets.pane.base` for how to write a pane. The links of the entry are found in a worker while the cursor rests.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any, ClassVar

from textual.timer import Timer
from textual.widget import Widget

from memory.files.fields.values import moment_or_none
from memory.files.refs import PlacedEntry
from widgets.chrome.frame import Frame
from widgets.chrome.keys import with_keys
from widgets.detail import Caption, Detail, DetailLine, Labelled, Link, Prose, Spacer, Title
from widgets.text.styled_text import Line, line

from .offers import Badge, Build, FormPlan, Removal
from .rows import LineRow, RowKey, keep

if TYPE_CHECKING:
    from textual.message import Message

    from memory.files.snapshot import Snapshot
    from widgets.list.line_list import LineList

    from .filter import Needles
    from .rows import Contents


class PaneOverrides(Widget):
    """The part of `Pane` that its subclasses override; every method has a default that suits most panes."""

    pane_id: ClassVar[str] = ""
    title: ClassVar[str] = ""
    files: ClassVar[tuple[str, ...]] = ()
    empty: ClassVar[str] = "Nothing here yet."
    sorts: ClassVar[tuple[str, ...]] = ("unsorted",)
    filter_fields: ClassVar[tuple[str, ...]] = ()
    filter_values: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """All possible values of the fields that have only a few, in lower case."""
    item_name: ClassVar[str] = "entry"
    """What one item is called in sentences."""
    beside_from: ClassVar[int] = 110
    """The width of the terminal from which the list and the detail are side by side, not one above the other."""
    removes: ClassVar[str] = ""
    """The operation that removes entries, by its words after `memdeck`; empty: none does."""
    enter_words: ClassVar[str] = ""
    """What the footer calls Enter on an item; empty where Enter shows the entry, as usual."""

    snapshot: Snapshot | None = None
    """The files as they were last read."""
    now: datetime = datetime.fromtimestamp(0, UTC)
    """The moment that is shown."""
    zone: tzinfo = UTC
    """The time zone of the workspace."""

    # What a subclass defines

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:
        """All rows in order; runs in a thread."""
        raise NotImplementedError

    def draw_row(self, item: Any, width: int) -> Line:  # noqa: ARG002
        """The line of an item in `width` cells."""
        return line(str(item))

    def detail(self, item: Any) -> Sequence[DetailLine]:  # noqa: ARG002
        """What the detail shows of an item, without its links."""
        return ()

    def detail_title(self, item: Any) -> str:
        """The title in the frame of the detail."""
        return str(getattr(item, "title", ""))

    def overview(self) -> Sequence[DetailLine]:
        """What the detail shows while no item is under the cursor."""
        return ()

    def mark(self, item: Any) -> Hashable:
        """A value that stays equal while an item's content does; a row whose mark changed flashes.

        Hashable, cheap, called for every item.
        """
        entry = item.raw if isinstance(item, PlacedEntry) else getattr(item, "entry", None)
        # Adding or removing a neighbour changes only the blank lines after an entry.
        return hash(entry.raw.rstrip()) if entry is not None else (item.ref, repr(item))

    def ref(self, item: Any) -> str:
        """What stays the same when an item's content changes."""
        return str(item.ref)

    def has_ref(self, item: Any, ref: str) -> bool:
        """Whether this is the ref of an item."""
        return self.ref(item) == ref

    def place(self, item: Any) -> str:
        """The text at the right of the detail's frame: the item's name elsewhere."""
        return self.ref(item)

    def copied_ref(self, item: Any) -> str:
        """The ref of an item on the command line; empty: none."""
        return self.place(item)

    def text(self, item: Any) -> str:
        """The text that the filter searches; called once per item and content."""
        entry = getattr(item, "entry", None)
        return entry.text if entry is not None else " ".join(map(str, item.json().values()))

    def field_text(self, item: Any, name: str) -> str:
        """The value that `name:value` in the filter is compared with; `name` is one of `filter_fields`."""
        value = getattr(item, name, None)
        return " ".join(value) if isinstance(value, tuple) else str(value or "")

    def field_fits(self, item: Any, name: str, value: str) -> bool | None:  # noqa: ARG002
        """Whether `name:value` matches, for fields not compared by their words; None: compare by words."""
        return None

    def value_words(self, name: str, value: str) -> str:
        """A hint for a filter value that no item can have, listing the possible values; empty for any other."""
        known = self.filter_values.get(name, ())
        if not known or any(value in one for one in known):
            return ""
        return f"{name}: is {', '.join(known[:-1])} or {known[-1]}."

    def counts(self, item: Any) -> bool:  # noqa: ARG002
        """Whether the filter's `12 of 318` counts an item."""
        return True

    def unfolded(self, keys: Sequence[Hashable]) -> Sequence[Hashable]:
        """Return the rows that are visible without a filter; for panes that fold."""
        return keys

    def kept(self, keys: Sequence[Hashable], fitting: Container[Hashable]) -> Sequence[Hashable]:
        """Return the rows that remain where a filter finds some of them."""
        return keep(keys, fitting.__contains__)

    def fitting(self, rows: Sequence[RowKey], needles: Needles) -> frozenset[RowKey]:
        """Return the rows whose items match a filter; their texts are read when they are searched first."""
        for row in rows:
            if not row.haystack:
                row.haystack = self.text(row.item).casefold()

        def has(row: RowKey, name: str, value: str) -> bool:
            """Whether a field matches a value; for an empty value, whether the field has any."""
            fits = self.field_fits(row.item, name, value) if value else None
            if fits is not None:
                return fits
            text = self.field_text(row.item, name).casefold()
            return value in text if value else bool(text)

        return needles.among(rows, has)

    def sort_key(self, item: Any, name: str) -> Any:  # noqa: ARG002
        """What items are sorted by inside each heading, for every name of `sorts` but the first."""
        return 0

    def lacks(self, value: Any, name: str) -> bool:  # noqa: ARG002
        """Whether a sort key means that the item has no value; such an item comes last in either order."""
        return False

    def sorting(self, name: str, now: datetime, zone: tzinfo) -> Callable[[Any], Any]:  # noqa: ARG002
        """The key function that sorts items inside each heading; runs in a thread."""
        return lambda item: self.sort_key(item, name)

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """A few words at the right of the list's title, for example `3 pending`; runs in a thread."""
        return ""

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """What the sidebar shows for this pane; runs in a thread, also before the pane is mounted."""
        return Badge()

    def links(self, item: Any) -> Sequence[Link]:
        """Links below the detail; each target is `(file, ref)`. Runs in a thread, when the cursor rests."""
        from memory.files.links import links_of
        from widgets.text.words import short_moment

        def when(text: str) -> str:
            moment = moment_or_none(text, self.zone)
            return short_moment(moment, self.now, self.zone) if moment else ""

        assert self.snapshot is not None
        return [
            Link(found.label, found.title, (found.file, found.ref or f"line:{found.line}"), when=when(found.when))
            for found in links_of(self.snapshot, item)
        ]

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """The form of a new entry (based on the cursor's place, where that helps)."""
        return None

    def editing(self, item: Any, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """The form of an entry."""
        return None

    def may_change(self, item: Any) -> bool:  # noqa: ARG002
        """Whether an item is an entry that can be selected and edited; quick, for each key."""
        return True

    def removed_by(self, item: Any) -> Mapping[str, str] | None:
        """The values with which `removes` removes an item; None: it cannot be removed."""
        return {"ref": str(item.ref)}

    def removing(self, items: Sequence[Any]) -> Removal | None:
        """The question before removing entries, and the change that removes all of them."""
        from .operation_form import removal_of

        found = [(item, self.removed_by(item)) for item in items if self.removes]
        chosen = [(item, values) for item, values in found if values is not None]
        names = [" ".join(dict.fromkeys((self.detail_title(item), str(item.title)))) for item, _ in chosen]
        return removal_of(self.removes, self.item_name, names, [values for _, values in chosen]) if chosen else None

    def source_text(self, item: Any) -> str | None:
        """The source of an item for $EDITOR and for copying; None: it has none of its own."""
        entry = getattr(item, "entry", None)
        return None if entry is None else entry.text

    def from_source(self, item: Any, text: str, now: datetime) -> Build | None:  # noqa: ARG002
        """The edit that replaces an item's source; None: not supported."""
        return None


REST_SECONDS = 0.15
"""Seconds for which the cursor rests on an entry before its links are searched."""


class PaneWithEntry(PaneOverrides):
    """The part of `Pane` that shows the entry under the cursor, and knows whether list or detail has the focus."""

    has_entry: ClassVar[bool] = True
    """Whether the pane shows the entry under the cursor; if not, Enter jumps to the pane that does."""

    if TYPE_CHECKING:
        contents: Contents | None

        @property
        def line_list(self) -> LineList: ...

        Current: Callable[..., Message]
        Linked: Callable[..., Message]
        Jump: Callable[..., Message]

    def __init__(self, *, id: str) -> None:  # noqa: A002
        """Show no entry before the first titles are drawn."""
        super().__init__(id=id)
        self._links: tuple[object, Sequence[Link]] = (None, ())
        """The row whose links were found, and these links."""
        self._links_stale = False
        self._resting: Timer | None = None
        self.detail_view = Detail()
        """The detail."""
        self._shows_detail = False
        self.doubted: Mapping[Hashable, str] = {}
        """What is in doubt about the entries of rows, a word and a colon first."""
        self._followed: object = self
        self._owes_detail = False
        """Whether the detail still shows another entry than the one under the cursor."""

    def current(self) -> Any | None:
        """The item under the cursor."""
        cursor = self.line_list.cursor
        return cursor.item if isinstance(cursor, RowKey) else None

    def unread_line(self) -> LineRow | None:
        """The unread line under the cursor."""
        cursor = self.line_list.cursor
        return cursor if isinstance(cursor, LineRow) else None

    @property
    def linked(self) -> Sequence[Link] | None:
        """The links of the entry under the cursor; None while they are not known."""
        row, links = self._links
        return links if row is not None and row is self.line_list.cursor else None

    @property
    def is_open(self) -> bool:
        """Whether the detail covers the list in a terminal too narrow for both."""
        return self.has_class("-open") and (self.has_class("-single") or self.has_class("-full"))

    def enter_detail(self, step: int) -> None:
        """Give the detail the focus with its first link marked, or (-1) its last one."""
        self._settle_detail()
        self.detail_view.enter(step)
        self.open_detail()

    def open_detail(self) -> None:
        """Give the detail the focus, in its place or instead of the list."""
        self._settle_detail()
        self.add_class("-open")
        self.detail_view.focus()
        if self.is_open:
            self.call_after_refresh(self._show_detail)

    def close_detail(self) -> bool:
        """Go back to the list; return whether the entry filled the pane or had the focus."""
        was_open = self.is_open or self.detail_view.has_focus
        self.remove_class("-open")
        self.focus_list()
        return was_open

    def focus_list(self) -> None:
        """Give the focus to the list, or to the view shown in its place."""
        self.focus_target.focus()

    @property
    def focus_target(self) -> Widget:
        """The widget that gets the pane's focus: the list, or the view shown in its place."""
        return self.detail_view if self.is_open else self.line_list

    def follow_cursor(self) -> None:
        """Show the entry under the cursor, unless it is shown already.

        The list is drawn first, so that a key is answered as soon as its row is drawn. If the next key comes before the
        entry is drawn, the user does not notice that it was missing.
        """
        row = self.line_list.cursor
        if self.contents is not None and row is not self._followed:
            self._followed = row
            if not self._owes_detail:
                self._owes_detail = True
                self.call_after_refresh(self._settle_detail)

    def _settle_detail(self) -> None:
        """Show the entry now, if that was deferred."""
        if self._owes_detail and self.is_attached:
            self._show_detail()
            self.tell_current()

    def tell_current(self) -> None:
        """Tell the application directly, past the widgets between, that other keys may be available now."""
        self.app.post_message(self.Current(self))

    def follow(self, target: Hashable) -> None:
        """Ask the application to go to the target of a link."""
        match target:
            case (str(file), str(ref)):
                self.post_message(self.Jump(file, ref))
            case _:
                return

    # How it works

    def _show_first_detail(self) -> None:
        self._shows_detail = True
        self._show_detail()

    def _show_detail(self) -> None:
        """Show the item under the cursor in full; links follow when the cursor rests."""
        self._owes_detail = False
        if not self._shows_detail:
            return
        item = self.current()
        frame = self.query_one(".pane--detail-frame", Frame)
        unread = self.unread_line()
        if unread is not None:
            self.set_class(False, "-bare")
            frame.say("Unread line", unread.place)
            why = f"{unread.why[:1].upper()}{unread.why[1:]}"
            words = with_keys(f"{why}. {{entry.source|E}} opens {unread.file} there, in $EDITOR.", self.app)
            self.detail_view.show((Prose(unread.text), Spacer(), Prose(words, tone="muted")))
            return
        if item is None:
            frame.say("")
            found = self.overview() if self.contents else ()
            self.set_class(not found, "-bare")
            self.detail_view.show(found)
            return
        self.set_class(False, "-bare")
        title = self.detail_title(item)
        where = self.place(item)
        frame.say(title, "" if where == title else where)
        lines = [*self.detail(item)]
        if title and not frame.has_room_for(title) and not (lines and isinstance(lines[0], Title)):
            # Where the frame has to cut the title, the text repeats it.
            lines = [Title(title), Spacer(), *lines]
        doubt = self.doubted.get(self.line_list.cursor)
        if doubt is not None:
            settle = with_keys("{entry.settle|C} settles it.", self.app)
            lines += [Spacer(), Caption("IN DOUBT"), Prose(doubt, tone="warn"), Prose(settle, tone="muted")]
        links = list(self.linked or ())
        for place, part in enumerate(lines if links else ()):
            # A link that a field already names becomes that field, instead of a second line.
            same = next((link for link in links if isinstance(part, Labelled) and link.label == part.label), None)
            if same is not None and isinstance(part, Labelled) and isinstance(part.value, str):
                words = same.text if part.value.casefold() == same.text.casefold() else f"{part.value}  {same.text}"
                lines[place] = same._replace(text=words)
                links.remove(same)
        if links:
            lines += [Spacer(), Caption("LINKED"), *links]
        self.detail_view.show(lines, entry=self.line_list.cursor)
        self._find_links_later()

    def _find_links_later(self) -> None:
        """Search the links of the entry under the cursor once the cursor rests, unless they are known."""
        if self._resting is not None:
            self._resting.stop()
            self._resting = None
        if self._links_stale or self.linked is None:
            self._resting = self.set_timer(REST_SECONDS, self.find_links)

    def find_links(self) -> None:
        """Search the links of the entry under the cursor in a worker; `Linked` reports them."""
        row = self.line_list.cursor
        if not isinstance(row, RowKey):
            return
        item = row.item

        def work() -> None:
            links: Sequence[Link] = ()
            try:
                links = tuple(self.links(item))
            finally:
                self.post_message(self.Linked(self, row, links))

        self.run_worker(work, group="links", thread=True, exclusive=True, exit_on_error=False)

    def take_links(self, row: RowKey, links: Sequence[Link]) -> None:
        """Show the links of an entry, if the cursor is still there."""
        before = self.linked if row is self.line_list.cursor else None
        self._links, self._links_stale = (row, links), False
        if row is self.line_list.cursor and self.is_attached and tuple(before or ()) != tuple(links):
            self._show_detail()

    # What happens in it

    def on_line_list_highlighted(self, event: LineList.Highlighted) -> None:
        """Show the entry under the cursor."""
        event.stop()
        self.follow_cursor()

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Open the detail on Enter."""
        event.stop()
        self.open_detail()

    def on_detail_left(self, event: Detail.Left) -> None:
        """Go back to the list."""
        event.stop()
        self.close_detail()

    def on_detail_followed(self, event: Detail.Followed) -> None:
        """Follow a link: the application goes there."""
        event.stop()
        self.follow(event.target)
