"""The rows of a pane: who looks only at what differs finds the same rows as who looks at all of them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.document.nodes import Entry
from tests.examples import examples
from widgets.list.rows import Heading, Note
from widgets.pane.rows import EMPTY, RowKey, Rows, Run, Shown, match_entries, match_rows


@dataclass(eq=False)
class Item:
    """What a row stands for."""

    entry: Entry


ENTRIES = [Entry(f"### {number}\n".encode()) for number in range(8)]
LOOKS = st.lists(st.one_of(st.integers(0, 7), st.sampled_from(("heading", "note"))), max_size=14)


def parts_of(look: list[int | str]) -> list[object]:
    """Return what a pane shows: an item for each number, each entry once, between headings and notes."""
    parts: list[object] = []
    seen: set[int | str] = set()
    for place, one in enumerate(look):
        if one == "heading":
            parts.append(Heading(f"heading {place}", "1"))
        elif one == "note":
            parts.append(Note(number=place))
        elif one not in seen:
            seen.add(one)
            parts.append(Item(ENTRIES[int(one)]))
    return parts


def mark(item: Item) -> Entry:
    """Return what tells whether an item is as before."""
    return item.entry


def ref(item: Item) -> str:
    """Return the name of an item."""
    return item.entry.title


def described(rows: Rows) -> tuple[list[object], list[object], list[object], set[object], set[object]]:
    """Return all that a look says, with entries in the place of rows."""
    keys = [key.mark if isinstance(key, RowKey) else key for key in rows.keys]
    return keys, [row.mark for row in rows.rows], list(rows.values), set(rows.changed), set(rows.gone)


@settings(max_examples=examples(400))
@given(LOOKS, LOOKS)
def test_rows_between_equal_ends_are_those_of_a_look_at_all(before: list[int | str], after: list[int | str]) -> None:
    """Keys, rows, items, what changed and what went are the same, and rows of unchanged entries are the old objects."""
    old = match_rows(EMPTY, parts_of(before), mark, ref)
    new = parts_of(after)
    some, every = match_entries(old, new, mark, ref), match_rows(old, new, mark, ref)
    assert [type(key) for key in some.keys] == [type(key) for key in every.keys]
    assert described(some)[:3] == described(every)[:3]
    assert some.gone == every.gone
    known = {row.mark: row for row in old.rows}
    assert [row is known.get(row.mark) for row in some.rows] == [row is known.get(row.mark) for row in every.rows]
    assert {row.mark for row in some.changed} == {row.mark for row in every.changed}


@settings(max_examples=examples(300))
@given(st.lists(LOOKS, max_size=5), st.booleans())
def test_each_row_has_the_item_of_the_last_look_that_was_shown(looks: list[list[int | str]], in_runs: bool) -> None:
    """Rows that stay have the new item wherever they moved, and rows that went keep the last one they had."""
    shown, before = Shown(), EMPTY
    last: dict[RowKey, object] = {}
    for look in looks:
        parts = parts_of(look)
        rows = match_entries(before, runs_of(parts) if in_runs else parts, mark, ref)
        shown.show(before, rows)
        last |= dict(zip(rows.rows, rows.values, strict=True))
        assert [row.item for row in rows.rows] == [part for part in parts if isinstance(part, Item)]
        assert all(row.item is item for row, item in last.items())
        assert [row.mark for row in rows.rows] == [row.item.entry for row in rows.rows]
        assert [type(rows.keys[place]) is RowKey for place in rows.heads or ()] == [False] * len(rows.heads or ())
        assert rows.heads is None or len(rows.keys) - len(rows.heads) == len(rows.rows)
        before = rows


def runs_of(parts: list[object]) -> list[object]:
    """Return the same with all items that follow each other in runs of up to three."""
    found: list[object] = []
    run: list[Item] = []
    for part in [*parts, None]:
        if run and (not isinstance(part, Item) or len(run) == 3):
            found.append(Run(tuple(run), tuple(one.entry for one in run)))
            run = []
        if isinstance(part, Item):
            run.append(part)
        elif part is not None:
            found.append(part)
    return found


@settings(max_examples=examples(200))
@given(LOOKS, LOOKS)
def test_items_in_runs_get_the_rows_that_they_get_one_by_one(before: list[int | str], after: list[int | str]) -> None:
    """Whether items are named one by one or as runs makes no difference, at the first look and at later ones."""
    old, new = parts_of(before), parts_of(after)
    alone = match_entries(EMPTY, old, mark, ref)
    assert described(alone)[:3] == described(match_entries(EMPTY, runs_of(old), mark, ref))[:3]
    one, other = match_entries(alone, new, mark, ref), match_entries(alone, runs_of(new), mark, ref)
    assert described(one)[:3] == described(other)[:3]
    assert one.gone == other.gone
    assert one.heads == other.heads


def test_the_keys_of_a_look_that_changed_no_row_are_those_of_the_look_before() -> None:
    """An edit of what an entry says leaves its row where it is, so that nobody looks at all rows again."""
    parts = [Heading("all", "2"), *parts_of([1, 2])]
    first = match_entries(EMPTY, parts, mark, ref)
    again = match_entries(match_entries(first, parts, mark, ref), parts, mark, ref)
    assert again.keys is first.keys
    assert again.rows is first.rows
    other = match_entries(first, [Heading("all", "3"), *parts[1:]], mark, ref)
    assert other.keys[0] == Heading("all", "3")
    assert other.rows is first.rows


def test_only_the_items_of_changed_entries_are_made() -> None:
    """What stands between two changed entries, also read again, is known by its source: no item is made of it."""
    made: list[int] = []

    class Items(Sequence[Item]):
        def __init__(self, entries: tuple[Entry, ...]) -> None:
            self.entries = entries

        def __len__(self) -> int:
            return len(self.entries)

        def __getitem__(self, place: Any) -> Any:
            made.append(place)
            return Item(self.entries[place])

    def looked(*numbers: int) -> list[object]:
        entries = tuple(Entry(f"### {number}\n".encode()) for number in numbers)
        return [Run(Items(entries), entries)]

    def digest(item: Item) -> Hashable:
        return item.entry.raw

    first = match_entries(EMPTY, looked(1, 2, 3, 4, 5, 6), digest, ref)
    made.clear()
    after = match_entries(first, looked(1, 7, 3, 4, 8, 6), digest, ref)
    assert after.rows[2:4] == first.rows[2:4]
    assert len(after.changed) == len(after.gone) == 2
    assert {2, 3}.isdisjoint(made)
