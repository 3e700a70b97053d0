"""The rows of a pane: who looks only at what differs finds the same rows as who looks at all of them."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.document.nodes import Entry
from tests.examples import examples
from widgets.list.rows import Heading, Note
from widgets.pane.rows import EMPTY, RowKey, Rows, match_entries, match_rows


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
