"""The rows of a pane: stable keys for items that are created again with each read of the files, and the filter.

Items are made only when they are used.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise, repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.document.compare import ends
from widgets.list.rows import Continuation, Heading, Note

if TYPE_CHECKING:
    from memory.document import Entry


class Run(NamedTuple):
    """Consecutive items, made only when they are used, and the entry of each."""

    items: Sequence[Any]
    entries: tuple[Entry, ...]


class ChainedItems(Sequence[Any]):
    """The items of some sequences, one after the other; joining makes no item."""

    __slots__ = ("_parts", "_starts")

    def __init__(self, parts: Sequence[Sequence[Any]]) -> None:
        """Keep the sequences."""
        self._parts = parts
        self._starts = list(accumulate(map(len, parts), initial=0))

    def __len__(self) -> int:
        """Return the number of items."""
        return self._starts[-1]

    def __getitem__(self, place: Any) -> Any:
        """Return one item, or a list of items for a slice."""
        if isinstance(place, slice):
            start, stop, step = place.indices(self._starts[-1])
            if step != 1:
                return [self[one] for one in range(start, stop, step)]
            found: list[Any] = []
            for first, items in zip(self._starts, self._parts, strict=False):
                if first < stop and start < first + len(items):
                    found.extend(items[max(0, start - first) : stop - first])
            return found
        number = self._starts[-1]
        if not -number <= place < number:
            raise IndexError(place)
        place %= number
        part = bisect_right(self._starts, place) - 1
        return self._parts[part][place - self._starts[part]]

    def __iter__(self) -> Iterator[Any]:
        """Iterate over all items."""
        return chain.from_iterable(self._parts)


class RowKey:
    """The key of one item in a list. It stays the same object as long as its entry exists."""

    __slots__ = ("_place", "_values", "haystack", "mark")

    def __init__(self, item: Any, mark: Hashable) -> None:
        """`mark` shows whether the item's content is the same as before."""
        # Of many thousands of items most are never used, so a row only knows where to find its item.
        self._values: Sequence[Any] | Shown = (item,)
        self._place = 0
        self.mark = mark
        self.haystack: str | None = None
        """The text that the filter searches, as `haystack_of` returns it."""

    @property
    def item(self) -> Any:
        """The row's item, as of the last read that was shown; for the thread that draws."""
        return self._values[self._place]

    @item.setter
    def item(self, item: Any) -> None:
        self._values, self._place = (item,), 0


class Shown:
    """The items of the rows of one pane, as of the last read that was shown."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        """Nothing was shown yet."""
        self._values: Sequence[Any] = ()

    def __getitem__(self, place: int) -> Any:
        """Return the item of the row at a place."""
        return self._values[place]

    def show(self, before: Rows, rows: Rows) -> None:
        """Give `rows` their new items; `before` are the rows shown last, and rows that are gone keep their items.

        For the thread that draws. Rows that keep their place are not touched.
        """
        head, tail = _same_ends(before.rows, rows.rows)
        stop = len(rows.rows) - tail
        new = rows.rows[head:stop]
        for row in frozenset(before.rows[head : len(before.rows) - tail]).difference(new):
            row.item = row.item
        self._values = rows.values
        deque(map(_SET_VALUES, new, repeat(self)), maxlen=0)
        moved = new if len(rows.rows) == len(before.rows) else rows.rows[head:]
        deque(map(_SET_PLACE, moved, range(head, len(rows.rows))), maxlen=0)
        for row in rows.changed:
            mark = rows.marks[row._place]
            if mark != row.mark:
                row.haystack, row.mark = None, mark


def _same_ends(one: tuple[RowKey, ...], other: tuple[RowKey, ...]) -> tuple[int, int]:
    """Count the rows that are the same at the beginning, and at the end of the rest."""
    limit = min(len(one), len(other))
    head = 0
    while head < limit and one[head : head + _CHUNK] == other[head : head + _CHUNK]:
        head = min(head + _CHUNK, limit)
    while head < limit and one[head] is other[head]:
        head += 1
    limit -= head
    tail = 0
    while tail < limit:
        size = min(_CHUNK, limit - tail)
        if one[len(one) - tail - size : len(one) - tail] != other[len(other) - tail - size : len(other) - tail]:
            break
        tail += size
    while tail < limit and one[-1 - tail] is other[-1 - tail]:
        tail += 1
    return head, tail


_CHUNK = 512


Matched = tuple[RowKey, Any, Hashable]
"""A row, the item that it gets, and its mark."""


class Rows(NamedTuple):
    """All rows of a pane after one read: keys in order, rows with their items, and which rows changed or are gone.

    `values` are the items of `rows`, `marks` their marks; `entries` are the entries of the items, and `heads` the
    places in `keys` that are not rows; both are None where they were not computed.
    """

    keys: tuple[Hashable, ...]
    rows: tuple[RowKey, ...]
    values: Sequence[Any]
    marks: tuple[Hashable, ...]
    changed: frozenset[RowKey] = frozenset()
    gone: frozenset[RowKey] = frozenset()
    entries: tuple[Entry, ...] | None = None
    heads: Sequence[int] | None = None

    @property
    def items(self) -> Iterator[Matched]:
        """Each row with its item and its mark."""
        return zip(self.rows, self.values, self.marks, strict=True)


_SET_VALUES: Callable[[RowKey, Any], None] = RowKey.__dict__["_values"].__set__
_SET_PLACE: Callable[[RowKey, Any], None] = RowKey.__dict__["_place"].__set__
"""Set where a row finds its item; for a hundred thousand rows without running Python code for each."""

EMPTY = Rows((), (), (), ())
"""The rows of a pane before its first read."""


def _rows(
    keys: Iterable[Hashable], items: Sequence[Matched], changed: frozenset[RowKey], gone: frozenset[RowKey]
) -> Rows:
    rows, values, marks = zip(*items, strict=True) if items else ((), (), ())
    return Rows(tuple(keys), rows, values, marks, changed, gone)


def match_rows(
    old: Rows, wanted: Iterable[Any], mark: Callable[[Any], Hashable], ref: Callable[[Any], Hashable]
) -> Rows:
    """Find the row that each item had before, by its mark, else by its ref; a new item gets a new row.

    `wanted` holds items, headings, notes, and continuations whose owner is an item. `ref` is called only for items
    whose mark is new. No row is modified before `Shown.show`, so this may run in another thread.
    """
    if not old.rows:
        return _first_rows(wanted, mark)
    keys: list[Any] = []
    items: list[Any] = []
    owner: Any = None
    by_item: dict[int, int] = {}
    for part in wanted:
        if isinstance(part, Heading | Note):
            keys.append(part)
        elif isinstance(part, Continuation):
            # Nearly always it continues the item right above it.
            if part.owner is not owner and not by_item:
                by_item = {id(item): index for index, item in enumerate(items)}
            at = len(items) - 1 if part.owner is owner else by_item[id(part.owner)]
            keys.append((at, part.number))
        else:
            owner = part
            if by_item:
                by_item[id(part)] = len(items)
            keys.append(len(items))
            items.append(part)
    marks = tuple([mark(item) for item in items])
    found = _match(old, range(len(old.rows)), items, marks, range(len(items)), ref)
    rows = found.rows
    placed = [
        rows[part] if type(part) is int else Continuation(rows[part[0]], part[1]) if type(part) is tuple else part
        for part in keys
    ]
    return Rows(tuple(placed), rows, tuple(items), marks, found.changed, found.gone)


def match_entries(
    old: Rows, wanted: Iterable[Any], mark: Callable[[Any], Hashable], ref: Callable[[Any], Hashable]
) -> Rows:
    """Do the same as `match_rows` for items whose mark depends only on their `entry`, without continuations.

    Only the stretch between the first and the last changed entry is compared. Of its items, only those of changed
    entries are made.
    """
    if not old.rows:
        return _first_rows(wanted, mark)
    parts = list(wanted)
    heads: list[tuple[int, Hashable]] = []
    values: list[Sequence[Any]] = []
    entries: list[tuple[Entry, ...]] = []
    count = 0
    places = [place for place, part in enumerate(parts) if type(part) in _NO_ITEMS]
    for start, stop in pairwise((-1, *places, len(parts))):
        found, part = parts[start + 1 : stop], None if stop == len(parts) else parts[stop]
        runs = [Run(found, tuple(map(_ENTRY, found)))] if found else []
        runs += [part] if isinstance(part, Run) else []
        for run in runs:
            values.append(run.items)
            entries.append(run.entries)
            count += len(run.entries)
        if part is not None and not isinstance(part, Run):
            heads.append((count, part))
    new = ChainedItems(values)
    before, now = old.entries or tuple(map(_ENTRY, old.values)), tuple(chain.from_iterable(entries))
    head, tail = ends(before, now)
    stop, old_stop = len(now) - tail, len(old.rows) - tail
    known = dict(zip(map(_RAW, before[head:old_stop]), old.marks[head:old_stop], strict=True))
    between = [
        known[raw] if raw in known else mark(new[place]) for place, raw in enumerate(map(_RAW, now[head:stop]), head)
    ]
    marks = (*old.marks[:head], *between, *old.marks[old_stop:])
    matched = _match(old, range(head, old_stop), new, marks, range(head, stop), ref)
    rows = old.rows
    if matched.rows != old.rows[head:old_stop]:
        rows = (*old.rows[:head], *matched.rows, *old.rows[old_stop:])
    placed = [place + number for number, (place, _) in enumerate(heads)]
    return Rows(_keys(old, rows, heads), rows, new, marks, matched.changed, matched.gone, now, placed)


def _keys(old: Rows, rows: tuple[RowKey, ...], heads: Sequence[tuple[int, Hashable]]) -> tuple[Hashable, ...]:
    """Return the rows with the headings and notes between them; the old keys object where the keys are equal."""
    keys: list[Hashable] = []
    at = 0
    for place, part in heads:
        keys += rows[at:place]
        keys.append(part)
        at = place
    keys += rows[at:]
    return old.keys if rows is old.rows and len(keys) == len(old.keys) and tuple(keys) == old.keys else tuple(keys)


_ENTRY, _RAW = attrgetter("entry"), attrgetter("raw")
_NO_ITEMS = frozenset({Heading, Note, Run})


class _Matched(NamedTuple):
    """The row of each new item; which rows changed, new ones included; and which are gone."""

    rows: tuple[RowKey, ...]
    changed: frozenset[RowKey]
    gone: frozenset[RowKey]


def _match(
    old: Rows,
    old_places: range,
    items: Sequence[Any],
    marks: Sequence[Hashable],
    places: range,
    ref: Callable[[Any], Hashable],
) -> _Matched:
    """Find the rows of the items at `places` among the old ones at `old_places`; only items of new marks are made."""
    known: dict[Hashable, list[int]] = {}
    for place in old_places:
        known.setdefault(old.marks[place], []).append(place)
    rows: dict[int, RowKey] = {}
    fresh: list[int] = []
    for place in places:
        if same := known.get(marks[place]):
            rows[place] = old.rows[same.pop(0)]
        else:
            fresh.append(place)
    left: dict[Hashable, int] = {}
    if fresh:
        # Not the items that the rows have now: other contents may be put in the meantime.
        left = {ref(old.values[place]): place for same in known.values() for place in same}
    for place in fresh if left else ():
        if (name := ref(items[place])) in left:
            rows[place] = old.rows[left.pop(name)]
    new = {place: items[place] for place in fresh if place not in rows} if left else {}
    rows |= _twins([(old.rows[place], old.values[place]) for place in left.values()], new)
    for place in fresh:
        if place not in rows:
            rows[place] = RowKey(items[place], marks[place])
    every = tuple([rows[place] for place in places])
    gone = frozenset(old.rows[old_places.start : old_places.stop]).difference(every)
    return _Matched(every, frozenset([rows[place] for place in fresh]), gone)


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


def _first_rows(wanted: Iterable[Any], mark: Callable[[Any], Hashable]) -> Rows:
    """Make all rows of a pane that had none: no matching, and nothing counts as changed."""
    keys: list[Hashable] = []
    items: list[Matched] = []
    owner: RowKey | None = None
    by_item: dict[int, RowKey] = {}
    for part in chain.from_iterable(one.items if isinstance(one, Run) else (one,) for one in wanted):
        if isinstance(part, Heading | Note):
            keys.append(part)
        elif isinstance(part, Continuation):
            # Nearly always it continues the item right above it.
            if owner is None or part.owner is not owner.item:
                by_item = by_item or {id(item): row for row, item, _ in items}
                keys.append(Continuation(by_item[id(part.owner)], part.number))
            else:
                keys.append(Continuation(owner, part.number))
        else:
            part_mark = mark(part)
            owner = RowKey(part, part_mark)
            if by_item:
                by_item[id(part)] = owner
            keys.append(owner)
            items.append((owner, part, part_mark))
    return _rows(keys, items, frozenset(), frozenset())


def keep(keys: Sequence[Hashable], wanted: Callable[[RowKey], bool]) -> list[Hashable]:
    """The rows that a filter keeps: matching items with their continuations, and the headings right above them.

    A heading that counts the items below it shows how many of them are left: `2 of 14`.
    """
    kept: list[Hashable] = []
    pending: list[Hashable] = []
    last: RowKey | None = None
    passed = False
    above: Heading | None = None
    fitting = 0
    for key in keys:
        if isinstance(key, RowKey):
            passed = True
            last = key if wanted(key) else None
            if last is not None:
                fitting += 1
                if pending:
                    kept.extend(pending)
                    pending.clear()
                kept.append(key)
        elif isinstance(key, Continuation):
            if key.owner is last:
                kept.append(key)
        elif isinstance(key, Heading | Note):
            if passed:
                pending.clear()
                passed = False
            if isinstance(key, Heading):
                _count(kept, above, fitting)
                above, fitting = key, 0
            if kept or isinstance(key, Heading):
                pending.append(key)
    _count(kept, above, fitting)
    return kept


def _count(kept: list[Hashable], heading: Heading | None, fitting: int) -> None:
    """Let the last heading in `kept` show how many items match, if it showed their total."""
    if heading is None:
        return
    said = fitted(heading, fitting)
    if said is heading:
        return
    # It is the heading nearest to the end, above the items that were kept last.
    place = len(kept) - 1
    while kept[place] is not heading:
        place -= 1
    kept[place] = said


def fitted(heading: Heading, fitting: int) -> Heading:
    """A heading that shows how many of its items match a filter, `2 of 14`, if it showed their total."""
    number, gap, rest = heading.note.partition("  ")
    if not number.isdigit() or not 0 < fitting < int(number):
        return heading
    return Heading(heading.title, f"{fitting} of {number}{gap}{rest}")
