"""Records: rows as plain data, and the outline that shows them; the tabs of "Agent memory" are made of these.

A tab is a subclass of `RecordPane` with two functions: `records(snapshot, now)` returns its headings and rows, and
`told(row)` what the detail shows of one, as a mapping from labels to values. Adding and removing is an operation
of the memory system, by its words after `memdeck`; its form comes from the operation's parameters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import cache
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from memory.base.clock import Moment
from memory.base.safe_text import plural
from memory.files.snapshot import Snapshot
from widgets.detail import Caption, DetailLine, Labelled, Lines, Link, Prose, Spacer
from widgets.dialogs.dialogs import LOW
from widgets.list.line_list import LineList
from widgets.list.rows import Heading, Note
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Column, Columns, Content, Line, Piece, Tone, line
from widgets.text.words import dated, short_moment

from .base import BROAD, Pane
from .rows import RowKey, keep, unread_rows

INDENT = 2
"""Cells by which each level of an outline is indented."""

MOST = 200
"""The most values of one list that a detail shows."""

KEPT = 64
"""About how many entries it is remembered what a worker found for their detail."""

_WORD = re.compile(r"(?<=[a-z0-9])[A-Z]|_")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")


@dataclass(frozen=True, slots=True)
class Record:
    """A row: `about` and `when` (a time of a file) are behind its title.

    `sign` names a glyph, or is one cell itself. `values` are what filters by field find, and the parameters that an
    operation on it begins with. `words` are found by a filter without field. `thing` is what `told` needs; a row whose
    `mark` changes flashes. `source` is the path of the file that it is, whole or from the workspace on, if it is one.
    `leads` are its links in a pane of another system. A `group` only has other rows below it: it is not counted and has
    no links. With `columns` the row is drawn as these columns, of which `cells` has those that are not its sign, title
    or time.
    """

    ref: str
    title: str
    about: str = ""
    when: str = ""
    sign: str = ""
    tone: Tone = "plain"
    depth: int = 0
    folds: bool = False
    values: Mapping[str, str] = field(default_factory=dict)
    words: str = ""
    mark: Hashable = None
    thing: Any = None
    group: bool = False
    source: str = ""
    leads: Sequence[Link] = ()
    columns: Columns | None = None
    cells: Mapping[str, Content] = field(default_factory=dict)

    @property
    def line(self) -> int:
        """Return the line of its entry in the file, from 0; -1 where it has none."""
        return int(getattr(self.thing, "line", -1))

    @property
    def entry(self) -> Any:
        """Return its entry in a memory file; None where it has none."""
        return getattr(self.thing, "entry", None)

    @property
    def at(self) -> Any:
        """Return the place of its entry in the file, by section; None where it has none."""
        return getattr(self.thing, "at", None)

    @property
    def file(self) -> str:
        """Return the file of its entry; empty where it has none."""
        return str(getattr(self.thing, "file", ""))

    @property
    def part(self) -> str:
        """Return the name of the part of the pane that it belongs to; empty where the pane has one part only."""
        return self.values.get("part", "")

    @property
    def identity(self) -> str:
        """Return what its entry has in common with its earlier version, where the ref depends on the content."""
        return str(getattr(self.thing, "identity", ""))


class RecordPane(Pane):
    """An outline of records; everything is open at first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "fold", "fold", id="outline.fold", tooltip="Fold the branch, or go to its parent",
                show=False),
        Binding("right,l", "unfold", "unfold", id="outline.unfold",
                tooltip="Unfold the branch, or go into it", show=False),
        Binding("z", "fold_all", "fold all", id="outline.fold_all", tooltip="Fold or unfold all branches",
                show=False),
    ]  # fmt: skip

    beside_from: ClassVar[int] = BROAD
    purpose: ClassVar[str] = ""
    """One line that says what agents do with these entries."""
    unread: ClassVar[str] = ""
    """Why lines of its file are in no row; the lines follow the rows. Empty where another check tells of them."""
    flat: ClassVar[bool] = False
    """Whether rows below a group begin where the group does."""

    @dataclass
    class Told(Message):
        """What the detail of an entry asked for was found."""

        key: Hashable
        found: Any

    def __init__(self, source: Any = None) -> None:
        """`source` provides records that are in no file; without it only the files are shown."""
        super().__init__()
        self.source = source
        self._folded: set[str] = set()
        self._told: dict[Hashable, Any] = {}
        self._count = 0

    def records(self, snapshot: Snapshot, now: datetime) -> Iterable[Any]:
        """Yield records and headings; runs in a thread."""
        raise NotImplementedError

    def has_ref(self, item: Any, ref: str) -> bool:
        """Whether this is a ref of an item, or `file:` and a path that ends with that of the file that it is."""
        source = item.source.lstrip("/")
        of_file = bool(source) and ref.startswith("file:") and ref.endswith(f"/{source}")
        return ref in (item.ref, item.values.get("ref")) or of_file

    def told(self, item: Record) -> Mapping[str, Any]:  # noqa: ARG002
        """Return what the detail shows below the title, by its labels; an empty label has text of its own."""
        return {}

    # Display

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:
        """Return the rows after the line of their purpose, with a blank line above each heading and group."""
        found = list(self.records(snapshot, now))
        self._count = sum(isinstance(row, Record) and self.counts(row) for row in found)
        low = self.is_attached and self.app.size.height < LOW
        rows: list[Any] = [Note(self.purpose)] if found and self.purpose and not low else []
        for place, row in enumerate(found):
            begins = isinstance(row, Heading) or (isinstance(row, Record) and row.group and not row.depth)
            if rows and (not place or begins):
                rows.append(Note(number=len(rows)))
            rows.append(row)
        return [*rows, *unread_rows(self.files[0], snapshot, self.unread, first=len(rows))] if self.unread else rows

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """Return how many items there are."""
        return plural(self._count, self.item_name) if self._count else ""

    def counts(self, item: Any) -> bool:
        """Return whether the filter counts an item."""
        return not item.group

    def mark(self, item: Any) -> Hashable:
        """Return what its row depends on."""
        return (item.ref, item.title, item.mark)

    def place(self, item: Any) -> str:
        """Return its name on the command line: the ref, in a pane of another system without the system's name."""
        ref = str(item.ref) if self.may_change(item) else ""
        usual = ref if self.unread else ref.partition("#")[2]
        return str(item.values.get("place", usual))

    def text(self, item: Any) -> str:
        """Return the text that the filter searches."""
        return " ".join((item.title, item.about, item.words, *item.values.values()))

    def field_text(self, item: Any, name: str) -> str:
        """Return the value that `name:value` is compared with."""
        return str(item.values.get(name, ""))

    def may_change(self, item: Any) -> bool:
        """Return whether a row is an entry; a group is none."""
        return not item.group

    def removed_by(self, item: Any) -> Mapping[str, str] | None:
        """Return the ref of an entry; what is none cannot be removed."""
        return super().removed_by(item) if self.may_change(item) else None

    def sort_key(self, item: Any, name: str) -> Any:
        """Return the sort key of an order after the first: a value of the record, else its title, without case."""
        return str(item.values.get(name, item.title)).casefold()

    def links(self, item: Any) -> Sequence[Link]:
        """Return the links of its entry, in a pane of a memory file, or those of the record."""
        found: Sequence[Link] = item.leads
        return found if item.group or not self.unread else super().links(item.thing)

    def source_text(self, item: Any) -> str | None:
        """Return the source of its entry, else the text of the record, for copying."""
        found = None if item.group else super().source_text(item.thing)
        return found or str(item.words or item.title)

    def draw_row(self, item: Any, width: int) -> Line:
        """Draw sign, title, further words, time; or the columns of the record."""
        sign = Piece(getattr(self.glyphs, item.sign, item.sign) if item.sign else "", item.tone)
        if item.folds:
            sign = Piece(self.glyphs.closed if self.is_folded(item) and not self.filter else self.glyphs.open, "muted")
        moment = moment_of(item.when, self.zone)
        indent = 0 if self.flat else INDENT * item.depth
        cells: dict[str, Content] = {
            "sign": sign,
            "title": line(
                Piece(item.title, item.tone if item.tone in ("alert", "muted", "strong") else "plain"),
                Piece(f"  {item.about}" if item.about else "", "muted"),
            ),
            "when": Piece(item.when[:8] if moment is None else short_moment(moment, self.now, self.zone), "muted"),
        }
        columns = self.columns(item, width) or usual_columns(bool(item.when))
        return line(" " * indent, columns.line(max(0, width - indent), {**cells, **self.cells(item)}))

    def columns(self, item: Any, width: int) -> Columns | None:  # noqa: ARG002
        """Return the columns of a record in `width` cells; None: the usual ones."""
        found: Columns | None = item.columns
        return found

    def cells(self, item: Any) -> Mapping[str, Content]:
        """Return the cells of the columns of a record."""
        found: Mapping[str, Content] = item.cells
        return found

    def detail(self, item: Any) -> Sequence[DetailLine]:
        """Show everything that `told` returns."""
        return self.lines(self.told(item))

    def lines(self, told: Mapping[str, Any]) -> Sequence[DetailLine]:
        """Return values by their labels as lines."""
        return lines_of(told, self.now, self.zone, self.glyphs)

    # Folding

    def depth(self, item: Any) -> int:
        """Return how many levels are above an item."""
        return int(item.depth)

    def holds(self, item: Any) -> bool:
        """Return whether rows can be below an item."""
        return bool(item.folds or item.group)

    def kept(self, keys: Sequence[Hashable], fitting: Container[Hashable]) -> Sequence[Hashable]:
        """Return the rows that remain where a filter finds some of them, and those that hold them."""
        return keep(keys, fitting.__contains__, self.depth, self.holds)

    def is_folded(self, item: Any) -> bool:
        """Return whether the items below an item are hidden (a filter shows them nevertheless)."""
        return item.folds and item.ref in self._folded

    def unfolded(self, keys: Sequence[Hashable]) -> Sequence[Hashable]:
        """Return the rows that remain when everything below folded items is hidden; a heading ends a branch."""
        kept: list[Hashable] = []
        limit: int | None = None
        for key in keys:
            if isinstance(key, RowKey):
                if limit is not None and key.item.depth > limit:
                    continue
                limit = key.item.depth if self.is_folded(key.item) else None
            else:
                limit = None
            kept.append(key)
        return kept

    def go_to(self, ref: str) -> bool:
        """Put the cursor on an entry, opening the branches that hide it."""
        way: list[Any] = []
        wanted = self.arrangement.row_of(ref)
        for row, item, _ in self.arrangement.rows.items if wanted is not None else ():
            while way and way[-1].depth >= item.depth:
                way.pop()
            if row is wanted:
                hidden = {above.ref for above in way} & self._folded
                if hidden:
                    self._folded -= hidden
                    self.rearrange()
                break
            if item.folds:
                way.append(item)
        return super().go_to(ref)

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Fold a branch or open it on Enter; other items show their detail, as in every pane."""
        item = event.key.item if isinstance(event.key, RowKey) else None
        if item is not None and item.folds:
            event.stop()
            event.prevent_default()
            self.fold(item, not self.is_folded(item))

    def fold(self, item: Any, hide: bool) -> None:
        """Hide or show the items below an item."""
        self.moved()
        if hide:
            self._folded.add(item.ref)
        else:
            self._folded.discard(item.ref)
        self.rearrange()

    def action_fold(self) -> None:
        """Fold the branch under the cursor; on anything else, go to its parent."""
        item, rows = self.current(), self.line_list.rows
        if item is None:
            return
        if item.folds and not self.is_folded(item) and not self.filter:
            self.fold(item, True)
            return
        for position in range(self.line_list.position - 1, -1, -1):
            row = rows[position]
            if isinstance(row, RowKey) and row.item.depth < item.depth:
                self.line_list.move_to(position)
                return

    def action_unfold(self) -> None:
        """Open the branch under the cursor, or go into it if it is open; on any other item, open its detail."""
        item = self.current()
        if item is None or self.detail_view.has_focus:
            return
        if not item.folds:
            self.open_detail()
        elif self.is_folded(item) and not self.filter:
            self.fold(item, False)
        else:
            self.line_list.action_move(1)

    def action_fold_all(self) -> None:
        """Fold every branch; when all are folded, open every branch."""
        self.moved()
        branches = {item.ref for item in self.arrangement.rows.values if item.folds}
        self._folded = set() if branches <= self._folded else self._folded | branches
        self.rearrange()

    # What takes long to find

    def told_key(self, item: Any) -> Hashable:
        """Return what identifies an entry in the state that `told_later` is about."""
        return str(item.ref)

    def told_later(self, item: Any, find: Callable[[], Any]) -> Any | None:
        """Return what `find` returned for an entry; None where a worker asks it first, and the detail comes again."""
        key = self.told_key(item)
        if key not in self._told:
            self.run_worker(
                lambda: self.post_message(self.Told(key, find())),
                group="told", thread=True, exclusive=True, exit_on_error=False,
            )  # fmt: skip
        return self._told.get(key)

    def on_record_pane_told(self, message: Told) -> None:
        """Show what was found, if the cursor is still there."""
        message.stop()
        while len(self._told) >= KEPT:
            del self._told[next(iter(self._told))]
        self._told[message.key] = message.found
        item = self.current()
        if self.is_attached and item is not None and self.told_key(item) == message.key:
            self._show_detail()


def lines_of(told: Mapping[str, Any], now: datetime, zone: tzinfo, glyphs: Glyphs) -> list[DetailLine]:
    """Return values by their labels as lines of a detail, with one blank line between texts and labels."""
    lines: list[DetailLine] = []
    for one in _lines(told, now, zone, glyphs):
        if lines and isinstance(lines[-1], Prose | Lines) and isinstance(one, Labelled):
            lines.append(Spacer())
        if (lines and lines[-1] != Spacer()) or not isinstance(one, Spacer):
            lines.append(one)
    return lines


def _lines(values: Mapping[str, Any], now: datetime, zone: tzinfo, glyphs: Glyphs) -> Iterator[DetailLine]:
    """Yield values: texts beside their labels, long ones, lists and mappings below them."""
    for key, value in values.items():
        label = plain_label(key)
        match value:
            case None | "" | () | []:
                continue
            case Mapping() if not value:
                continue
            case Piece(text, tone):
                yield Labelled(label, text, tone)
            case Labelled() | Lines() | Spacer():
                yield value
            case Prose():
                yield from (Spacer(), value)
            case (Piece(), *_):
                yield Labelled(label, value)
            case (Link() | Labelled() | Lines() | Prose(), *_):
                yield from (Spacer(), Caption(label.upper()), *value)
            case Mapping():
                yield from (Spacer(), Caption(label.upper()))
                yield from _lines(value, now, zone, glyphs)
            case list() | tuple():
                yield from (Spacer(), Caption(label.upper()))
                yield Lines(tuple(line(Piece(f"{glyphs.bullet} ", "muted"), *one_line(one)) for one in value[:MOST]), 2)
                if len(value) > MOST:
                    yield Prose(f"and {len(value) - MOST:,} more", tone="muted")
            case str() if not key or "\n" in value:
                yield Spacer()
                if label:
                    yield Caption(label.upper())
                yield Prose(value, markdown=True)
            case str() if _MOMENT.match(value):
                yield Labelled(label, dated(value, now, zone) or value)
            case bool():
                yield Labelled(label, "yes" if value else "no")
            case int():
                yield Labelled(label, f"{value:,}")
            case _:
                yield Labelled(label, str(value))


@cache
def usual_columns(when: bool) -> Columns:
    """Return the columns of a row: sign, title, and the time where there is one."""
    last = (Column("when", 8, "right", importance=3),) if when else ()
    return Columns(Column("sign", 1, importance=9), Column("title", minimum=20), *last)


def one_line(value: Any) -> Line:
    """Return a value of a list as a line: the first text of a record, then the others, muted."""
    if isinstance(value, Mapping):
        first, *rest = [str(one) for one in value.values() if one not in (None, "", [], {})] or [""]
        return line(first, *(Piece(f"  {one}", "muted") for one in rest))
    return value if isinstance(value, tuple) else line(str(value))


def plain_label(key: str) -> str:
    """Return a name of a file's form as words: `keyPaths` and `key_paths` are `key paths`; `2024-W03` stays."""
    return _WORD.sub(lambda found: f" {found[0].lower().strip('_')}", key)


def moment_of(text: str, zone: Any) -> Moment | None:
    """Return a time of a file as a moment; None for any other text, and for one that no zone can hold."""
    try:
        at = datetime.fromisoformat(text)
        return Moment("", at.astimezone(zone).date(), at) if at.tzinfo else None
    except (ValueError, OverflowError):
        return None
