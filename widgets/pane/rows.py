"""The rows of a pane: stable keys for items that are made anew with each look at the files, and the filter."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise, repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.document.compare import ends
from widgets.list.rows import Continuation, Heading, Note

from .runs import Joined, Run

if TYPE_CHECKING:
    from memory.document import Entry


class RowKey:
    """The key of one item in a list. It stays the same object while the entry it stands for lives."""

    __slots__ = ("_place", "_values", "haystack", "mark")

    def __init__(self, item: Any, mark: Hashable) -> None:
        """`mark` tells whether the item's content is the same as before."""
        # Of a look at many thousands of items most are never asked for: a row knows where its item is found.
        self._values: Sequence[Any] | Shown = (item,)
        self._place = 0
        self.mark = mark
        self.haystack: str | None = None
        """What the filter looks at, as `haystack_of` makes it."""

    @property
    def item(self) -> Any:
        """What the row stands for, as the last look that was shown found it; for the thread that draws."""
        return self._values[self._place]

    @item.setter
    def item(self, item: Any) -> None:
        self._values, self._place = (item,), 0


class Shown:
    """The items of the rows of one pane, as the last look that was shown found them."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        """Nothing was shown yet."""
        self._values: Sequence[Any] = ()

    def __getitem__(self, place: int) -> Any:
        """Return the item of the row at a place."""
        return self._values[place]

    def show(self, before: Rows, rows: Rows) -> None:
        """Give the rows of a look their items, `before` being those shown last; rows that are gone keep theirs.

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
    """All rows of a pane after one look: keys in order, the rows of items, and what each gets; what changed and went.

    `values` are the items of `rows`, `marks` their marks; `entries` are those of the items, and `heads` where in `keys`
    something else stands than a row, where that was asked for.
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
"""Sets where the item of a row is found, for a hundred thousand of them without a step of Python for each."""

EMPTY = Rows((), (), (), ())
"""A pane before its first look."""


def _rows(
    keys: Iterable[Hashable], items: Sequence[Matched], changed: frozenset[RowKey], gone: frozenset[RowKey]
) -> Rows:
    rows, values, marks = zip(*items, strict=True) if items else ((), (), ())
    return Rows(tuple(keys), rows, values, marks, changed, gone)


def match_rows(
    old: Rows, wanted: Iterable[Any], mark: Callable[[Any], Hashable], ref: Callable[[Any], Hashable]
) -> Rows:
    """Find for each item the row it had before: by its mark, else by its ref; what is new gets a new row.

    `wanted` holds items, headings, notes, and continuations whose owner is an item. Refs are asked only for items
    whose mark is new. Nothing is changed before it is shown (`Shown.show`), so this may run in another thread.
    """
    return _match(list(old.items), wanted, mark, ref) if old.rows else _first_rows(wanted, mark)


def match_entries(
    old: Rows, wanted: Iterable[Any], mark: Callable[[Any], Hashable], ref: Callable[[Any], Hashable]
) -> Rows:
    """Do the same for items whose mark depends on nothing but their `entry`, without continuations.

    Only what stands between the first and the last entry that is another one is looked at.
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
    new = Joined(values)
    before, now = old.entries or tuple(map(_ENTRY, old.values)), tuple(chain.from_iterable(entries))
    head, tail = ends(before, now)
    stop, old_stop = len(now) - tail, len(old.rows) - tail
    known = list(zip(old.rows[head:old_stop], old.values[head:old_stop], old.marks[head:old_stop], strict=True))
    inner = _match(known, new[head:stop], mark, ref)
    rows = old.rows
    if inner.rows != old.rows[head:old_stop]:
        rows = (*old.rows[:head], *inner.rows, *old.rows[old_stop:])
    marks = (*old.marks[:head], *inner.marks, *old.marks[old_stop:])
    placed = [place + number for number, (place, _) in enumerate(heads)]
    return Rows(_keys(old, rows, heads), rows, new, marks, inner.changed, inner.gone, now, placed)


def _keys(old: Rows, rows: tuple[RowKey, ...], heads: Sequence[tuple[int, Hashable]]) -> tuple[Hashable, ...]:
    """Return the rows with what stands above some of them; the keys of an earlier look, where they are the same."""
    keys: list[Hashable] = []
    at = 0
    for place, part in heads:
        keys += rows[at:place]
        keys.append(part)
        at = place
    keys += rows[at:]
    return old.keys if rows is old.rows and len(keys) == len(old.keys) and tuple(keys) == old.keys else tuple(keys)


_ENTRY = attrgetter("entry")
_NO_ITEMS = frozenset({Heading, Note, Run})


def _match(
    old: Sequence[Matched],
    wanted: Iterable[Any],
    mark: Callable[[Any], Hashable],
    ref: Callable[[Any], Hashable],
) -> Rows:
    known: dict[Hashable, list[RowKey]] = {}
    for row, _, row_mark in old:
        known.setdefault(row_mark, []).append(row)
    keys: list[Any] = []
    items: list[Any] = []
    fresh: list[int] = []
    owner: Any = None
    by_item: dict[int, int] = {}
    for part in wanted:
        if isinstance(part, Heading | Note):
            keys.append(part)
            continue
        if isinstance(part, Continuation):
            # Nearly always it goes on with the item right above it.
            if part.owner is not owner and not by_item:
                by_item = {id(item): index for index, (_, item, _) in enumerate(items)}
            at = len(items) - 1 if part.owner is owner else by_item[id(part.owner)]
            keys.append((at, part.number))
            continue
        part_mark = mark(part)
        owner = part
        if by_item:
            by_item[id(part)] = len(items)
        keys.append(len(items))
        rows = known.get(part_mark)
        if rows:
            items.append((rows.pop(0), part, part_mark))
        else:
            fresh.append(len(items))
            items.append((None, part, part_mark))
    changed = []
    left: dict[Hashable, RowKey] = {}
    values: dict[RowKey, Any] = {}
    if fresh:
        # Not what the rows have now: another look may be put meanwhile.
        values = {row: value for row, value, _ in old}
        for rows in known.values():
            for row in rows:
                left[ref(values[row])] = row
    known_rows: dict[int, RowKey] = {}
    for index in fresh if left else ():
        if (name := ref(items[index][1])) in left:
            known_rows[index] = left.pop(name)
    new = {index: items[index][1] for index in fresh if index not in known_rows} if left else {}
    known_rows |= _twins([(row, values[row]) for row in left.values()], new)
    for index in fresh:
        _, item, item_mark = items[index]
        known_row = known_rows.get(index)
        row = RowKey(item, item_mark) if known_row is None else known_row
        changed.append(row)
        items[index] = (row, item, item_mark)
    gone = frozenset(row for row, _, _ in old) - {row for row, _, _ in items}
    return _rows([_key(part, items) for part in keys], items, frozenset(changed), gone)


def _twins(left: Iterable[tuple[RowKey, Any]], new: Mapping[int, Any]) -> dict[int, RowKey]:
    """Return the rows of changed items whose ref depends on what they say: the one that went and the one that came.

    Where more than one item of an identity changed, nothing says which is which.
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
    """Make all rows of a pane that had none: nothing is looked for, and nothing counts as changed."""
    keys: list[Hashable] = []
    items: list[Matched] = []
    owner: RowKey | None = None
    by_item: dict[int, RowKey] = {}
    for part in chain.from_iterable(one.items if isinstance(one, Run) else (one,) for one in wanted):
        if isinstance(part, Heading | Note):
            keys.append(part)
        elif isinstance(part, Continuation):
            # Nearly always it goes on with the item right above it.
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


def _key(part: Any, items: Sequence[Any]) -> Hashable:
    if isinstance(part, int):
        row: RowKey = items[part][0]
        return row
    if isinstance(part, tuple):
        return Continuation(items[part[0]][0], part[1])
    return part  # type: ignore[no-any-return]


def keep(keys: Sequence[Hashable], wanted: Callable[[RowKey], bool]) -> list[Hashable]:
    """The rows that a filter leaves: matching items with their continuations, and the headings right above them.

    A heading that counts the items below it says how many of them are left: `2 of 14`.
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
    """Let the last heading of what is kept say how many items fit, if it said how many there are."""
    if heading is None:
        return
    said = fitted(heading, fitting)
    if said is heading:
        return
    # It is the heading nearest to the end, that of the items that were kept last.
    place = len(kept) - 1
    while kept[place] is not heading:
        place -= 1
    kept[place] = said


def fitted(heading: Heading, fitting: int) -> Heading:
    """A heading that says how many of its items fit a filter, `2 of 14`, if it said how many there are."""
    number, gap, rest = heading.note.partition("  ")
    if not number.isdigit() or not 0 < fitting < int(number):
        return heading
    return Heading(heading.title, f"{fitting} of {number}{gap}{rest}")
