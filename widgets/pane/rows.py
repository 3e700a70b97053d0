"""Rows of a pane: their identity while the files change, which of them a filter keeps, and unread lines."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from memory.base.safe_text import visible
from memory.files.check import unread_lines
from widgets.list.rows import Heading, Note

if TYPE_CHECKING:
    from memory.errors import MemdeckError
    from memory.files.snapshot import Snapshot


class RowKey:
    """A row of a list: it keeps cursor and selection while the files change.

    `item` is the item that the row shows, `mark` tells whether that changed, `haystack` is the text that the filter
    searches, in lower case; empty until it is asked for.
    """

    __slots__ = ("haystack", "item", "mark")

    def __init__(self, item: Any, mark: Hashable) -> None:
        """Show an item."""
        self.item = item
        self.mark = mark
        self.haystack = ""


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
    """Return the rows for items and those between them; items that were there keep their rows.

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
    depth: Callable[[Any], int] = lambda _: 0,
    holds: Callable[[Any], bool] | None = None,
) -> list[Hashable]:
    """Return the rows that a filter keeps: those that are wanted, and above them what holds them.

    That is their heading and the items of less `depth` that can hold others (None: none can). A heading that counts the
    items below it shows how many of them are left: `2 of 14`.
    """
    kept: list[Hashable] = []
    above: list[tuple[int, Hashable]] = []
    heading, count = -1, 0
    for key in keys:
        if isinstance(key, RowKey):
            found = wanted(key)
            if not found and (holds is None or not holds(key.item)):
                # Most rows are neither found nor parents; they must cost nothing.
                continue
            if above or not found:
                level = depth(key.item)
                while above and above[-1][0] >= level:
                    above.pop()
                if not found:
                    above.append((level, key))
                    continue
                for _, one in above:
                    if isinstance(one, Heading):
                        _count(kept, heading, count)
                        heading, count = len(kept), 0
                    kept.append(one)
                above = []
            kept.append(key)
            count += 1
        elif isinstance(key, Note):
            above = [(-1, key)] if kept else []
        elif isinstance(key, Heading):
            above = [*(one for one in above if isinstance(one[1], Note)), (-1, key)]
    _count(kept, heading, count)
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
    found = unread_lines(name, document) if len(document.dump()) <= LARGEST else ()
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
