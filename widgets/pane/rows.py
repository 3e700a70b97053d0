"""Rows of a pane: their identity while the files change, which are visible in which order, and unread lines."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from memory.base.safe_text import visible
from memory.files.check import UnreadLine, unread_lines
from widgets.list.rows import Heading, Note

from .filter import Needles

if TYPE_CHECKING:
    from memory.document import Document
    from memory.errors import MemdeckError
    from memory.files.snapshot import Snapshot

    from .entry import PaneOverrides


class RowKey:
    """A row of a list: it keeps cursor and selection while the files change.

    `item` is the item that the row shows, `mark` tells whether that changed, `haystack` is the text that the filter
    searches, in lower case, once it was asked for.
    """

    __slots__ = ("haystack", "item", "mark")

    def __init__(self, item: Any, mark: Hashable) -> None:
        """Show an item."""
        self.item = item
        self.mark = mark
        self.haystack: str | None = None

    def show(self, item: Any, mark: Hashable) -> None:
        """Show the item of a newer snapshot."""
        self.item = item
        if mark != self.mark:
            self.mark, self.haystack = mark, None


@dataclass(frozen=True, slots=True)
class LineRow:
    """A row for a line of a file that no entry takes; it is its own key. `line` counts from 0, `why` is the fault."""

    file: str
    line: int
    text: str
    why: str

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line + 1}"


class Rows(NamedTuple):
    """The rows of a pane: all keys with headings, and each row with the item and mark that it is to show.

    `changed` are new rows and those whose item changed, `gone` the rows that are no longer there.
    """

    keys: tuple[Hashable, ...]
    rows: tuple[RowKey, ...]
    values: tuple[Any, ...]
    marks: tuple[Hashable, ...]
    changed: frozenset[RowKey] = frozenset()
    gone: frozenset[RowKey] = frozenset()

    @property
    def items(self) -> Iterator[tuple[RowKey, Any, Hashable]]:
        """Each row with its item and mark."""
        return zip(self.rows, self.values, self.marks, strict=True)


EMPTY = Rows((), (), (), ())
"""The rows of a pane that was not read yet."""


def match_rows(
    old: Rows, wanted: Iterable[Any], mark: Callable[[Any], Hashable], ref: Callable[[Any], Hashable]
) -> Rows:
    """Return the rows for items and for what is between them; items that were there keep their rows.

    An item is the same if its `mark`, else its `ref` is.
    """
    parts = list(wanted)
    items = [part for part in parts if not isinstance(part, Heading | Note | LineRow)]
    marks = tuple([mark(item) for item in items])
    rows, fresh = _match(old, items, marks, ref)
    left = iter(rows)
    keys = [part if isinstance(part, Heading | Note | LineRow) else next(left) for part in parts]
    changed = frozenset(rows[place] for place in fresh) if old.rows else frozenset[RowKey]()
    return Rows(tuple(keys), rows, tuple(items), marks, changed, frozenset(old.rows).difference(rows))


def _match(
    old: Rows, items: Sequence[Any], marks: Sequence[Hashable], ref: Callable[[Any], Hashable]
) -> tuple[tuple[RowKey, ...], list[int]]:
    """Return the row of each item, and the places of the items that are new or changed."""
    known: dict[Hashable, list[int]] = {}
    for place, known_mark in enumerate(old.marks):
        known.setdefault(known_mark, []).append(place)
    rows: dict[int, RowKey] = {}
    fresh: list[int] = []
    for place, own_mark in enumerate(marks):
        if same := known.get(own_mark):
            rows[place] = old.rows[same.pop(0)]
        else:
            fresh.append(place)
    left = {ref(old.values[place]): place for same in known.values() for place in same} if fresh else {}
    for place in fresh if left else ():
        if (name := ref(items[place])) in left:
            rows[place] = old.rows[left.pop(name)]
    new = {place: items[place] for place in fresh if place not in rows} if left else {}
    rows |= _twins([(old.rows[place], old.values[place]) for place in left.values()], new)
    return tuple([rows.get(place) or RowKey(items[place], marks[place]) for place in range(len(items))]), fresh


def _twins(left: Iterable[tuple[RowKey, Any]], new: Mapping[int, Any]) -> dict[int, RowKey]:
    """Match changed items whose ref depends on their content: pair the one that went with the one that came.

    Items are paired by `identity`. Where more than one item of an identity changed, none of them is paired.
    """
    gone: dict[str, list[RowKey]] = {}
    for row, value in left:
        if identity := getattr(value, "identity", None):
            gone.setdefault(identity, []).append(row)
    come: dict[str, list[int]] = {}
    for index, item in new.items() if gone else ():
        if (identity := getattr(item, "identity", None)) in gone:
            come.setdefault(identity, []).append(index)
    return {places[0]: gone[name][0] for name, places in come.items() if len(places) == len(gone[name]) == 1}


def keep(
    keys: Sequence[Hashable],
    wanted: Callable[[RowKey], bool],
    depth: Callable[[Any], int],
    holds: Callable[[Any], bool],
) -> list[Hashable]:
    """Return the rows that a filter keeps: matching items, and above them what holds them.

    That is their heading and the items of less `depth` that can hold others. A heading that counts the items below it
    shows how many of them are left: `2 of 14`.
    """
    kept: list[Hashable] = []
    above: list[tuple[int, Hashable]] = []
    heading, fitting = -1, 0
    for key in keys:
        if isinstance(key, RowKey):
            found = wanted(key)
            if not found and not holds(key.item):
                # Most rows are neither found nor parents; they must cost nothing.
                continue
            level = depth(key.item)
            while above and above[-1][0] >= level:
                above.pop()
            if not found:
                above.append((level, key))
                continue
            for _, one in above:
                if isinstance(one, Heading):
                    _count(kept, heading, fitting)
                    heading, fitting = len(kept), 0
                kept.append(one)
            above = []
            kept.append(key)
            fitting += 1
        elif isinstance(key, Note):
            above = [(-1, key)] if kept else []
        elif isinstance(key, Heading):
            above = [*(one for one in above if isinstance(one[1], Note)), (-1, key)]
    _count(kept, heading, fitting)
    return kept


def _count(kept: list[Hashable], place: int, fitting: int) -> None:
    """Let the heading at a place (-1: none) show how many items match, if it showed their total."""
    if place >= 0:
        found = kept[place]
        assert isinstance(found, Heading)
        kept[place] = fitted(found, fitting)


def fitted(heading: Heading, fitting: int) -> Heading:
    """A heading that shows how many of its items match a filter, `2 of 14`, if it showed their total."""
    number, gap, rest = heading.note.partition("  ")
    if not number.isdigit() or not 0 < fitting < int(number):
        return heading
    return replace(heading, note=f"{fitting} of {number}{gap}{rest}")


Order: TypeAlias = tuple[str, Sequence[Hashable]]
"""The name of a sort order and the keys in it."""


class Contents(NamedTuple):
    """What a pane read in a worker, for `Pane.put`."""

    snapshot: Snapshot
    now: datetime
    zone: tzinfo
    rows: Rows
    remark: str = ""
    order: Order | None = None
    """The sorted rows; None where they are in their own order."""
    refusal: MemdeckError | None = None
    """Why a file of the pane cannot be read; its rows are missing then."""
    beside: Any = None
    """Anything else that the pane computed to show with its rows; None where it has nothing."""


LARGEST = 200_000
"""The bytes of the largest file whose lines are looked at: `memdeck check` lists those of larger ones."""


def unread_rows(name: str, snapshot: Snapshot, words: str, *, first: int) -> Sequence[Any]:
    """Return a heading with the section's name for each group of unread lines of a file, and a row for each line.

    `words` name the problem; `first` is a number that no note of the pane has.
    """
    document = snapshot.document(name)
    found = _unread(name, document) if len(document.dump()) <= LARGEST else ()
    rows: list[Any] = []
    heading: str | None = None
    for one in found:
        if one.heading != heading:
            heading = one.heading
            if rows or first:
                rows.append(Note(number=first + len(rows)))
            count = sum(other.heading == heading for other in found)
            rows.append(Heading(visible(heading.strip()) or "NO HEADING", f"{count}  {words}"))
        rows.append(LineRow(name, one.line, visible(one.title), words))
    return rows


@lru_cache(maxsize=16)
def _unread(name: str, document: Document) -> tuple[UnreadLine, ...]:
    """Return the unread lines; an unchanged file has the same document in each snapshot."""
    return unread_lines(name, document)


REVERSED = ", reversed"
"""What follows the name of a sort order that is reversed."""


class Arrangement:
    """The rows of a pane, sorted and filtered."""

    def __init__(self, pane: PaneOverrides) -> None:
        """Start without rows, in the first order."""
        self._pane = pane
        self.rows: Rows = EMPTY
        self.sort = pane.sorts[0]
        self.filter = ""
        self._order: Order | None = None

    def put(self, rows: Rows, order: Order | None) -> None:
        """Take other rows, with their order if it was worked out already; each row shows its item from now on."""
        self.rows, self._order = rows, order
        for row, item, mark in rows.items:
            row.show(item, mark)

    def sort_by(self, name: str) -> bool:
        """Sort by one of the pane's orders, reversed with `REVERSED`; return whether that is another one."""
        if name.removesuffix(REVERSED) not in self._pane.sorts or name == self.sort:
            return False
        self.sort = name
        return True

    def order_of(self, rows: Rows, sort: str, now: datetime, zone: tzinfo) -> Order | None:
        """Return the keys in an order; None for the first order, in which they are. May be called in a thread."""
        if sort == self._pane.sorts[0]:
            return None
        items = {row: item for row, item, _ in rows.items}
        name = sort.removesuffix(REVERSED)
        key = self._pane.sorting(name, now, zone) if name != self._pane.sorts[0] else lambda item: 0  # noqa: ARG005
        lacks = self._pane.lacks
        return sort, sort_rows(
            rows.keys, lambda row: key(items[row]), reverse=name != sort, lacks=lambda value: lacks(value, name)
        )

    def keys(self, now: datetime, zone: tzinfo) -> Sequence[Hashable]:
        """Return the visible keys in the order in use."""
        if self._order is None or self._order[0] != self.sort:
            self._order = self.order_of(self.rows, self.sort, now, zone)
        keys = self.rows.keys if self._order is None else self._order[1]
        return self._pane.kept(keys, self.needles) if self.filter else self._pane.unfolded(keys)

    @property
    def needles(self) -> Needles:
        """What the filter looks for."""
        return Needles.read(self.filter, self._pane.filter_fields)

    @property
    def fits(self) -> Callable[[RowKey], bool] | None:
        """The test of the filter for single rows; None without a filter."""
        needles = self.needles
        return (lambda row: self._pane.fits(row, needles)) if self.filter else None

    def count(self, keys: Sequence[Hashable]) -> str:
        """Return how many of these visible rows are entries, and how many entries there are."""
        counts = self._pane.counts
        left = sum(counts(key.item) for key in keys if isinstance(key, RowKey))
        return f"{left} of {sum(map(counts, self.rows.values))}"

    def unread_at(self, ref: str) -> LineRow | None:
        """Return the row of the unread line that `line:N` means."""
        if not ref.startswith("line:"):
            return None
        return next((key for key in self.rows.keys if isinstance(key, LineRow) and ref == f"line:{key.line}"), None)

    def row_of(self, ref: str) -> RowKey | None:
        """Return the row with a ref, or for `line:N` the row of the entry that contains the line, counted from 0."""
        if ref.startswith("line:") and ref[5:].isdecimal():
            wanted = int(ref[5:])
            lines = [(item.line, row) for row, item, _ in self.rows.items if hasattr(item, "line")]
            return max((pair for pair in lines if pair[0] <= wanted), key=lambda pair: pair[0], default=(0, None))[1]
        return next((row for row, item, _ in self.rows.items if self._pane.has_ref(item, ref)), None)


def sort_rows(
    keys: Sequence[Hashable],
    sort_key: Callable[[RowKey], Any],
    *,
    reverse: bool = False,
    lacks: Callable[[Any], bool] = lambda value: False,  # noqa: ARG005
) -> list[Hashable]:
    """Return keys sorted inside each stretch between headings; rows that lack the value come last in both ways."""
    sorted_keys: list[Hashable] = []
    group: list[tuple[Any, Hashable]] = []

    def flush() -> None:
        there = sorted((one for one in group if not (reverse and lacks(one[0]))), key=lambda one: one[0])
        missing = [one for one in group if reverse and lacks(one[0])]
        sorted_keys.extend(key for _, key in (*(reversed(there) if reverse else there), *missing))
        group.clear()

    for key in keys:
        if isinstance(key, RowKey):
            group.append((sort_key(key), key))
        else:
            flush()
            sorted_keys.append(key)
    flush()
    return sorted_keys
