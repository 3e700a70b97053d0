"""The rows of a tree: what a filter leaves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from widgets.list.rows import Heading
from widgets.pane.rows import RowKey, keep

TREE = ("a", " a1", " a2", "  x", "  y", "b", " b1", "c")


def always(item: object) -> bool:
    """Every item can hold others."""
    return True


def depth(item: str) -> int:
    """How many spaces an item begins with."""
    return len(item) - len(item.lstrip())


def rows_of(*items: str) -> list[RowKey]:
    """A row for each item."""
    return [RowKey(item, item) for item in items]


def items_of(rows: list[object]) -> list[str]:
    """The items of rows, headings by their title."""
    return [row.item.strip() if isinstance(row, RowKey) else getattr(row, "title", "+") for row in rows]


def test_a_filter_shows_hits_with_their_way() -> None:
    """Hits stand below everything that they belong to, once."""
    rows = [Heading("ONE"), *rows_of(*TREE), Heading("TWO"), *rows_of("d", " d1")]
    assert items_of(keep(rows, lambda row: row.item in ("  x", "  y", " b1"), depth, always)) == [
        "ONE", "a", "a2", "x", "y", "b", "b1"
    ]  # fmt: skip
    assert items_of(keep(rows, lambda row: row.item == "d", depth, always)) == ["TWO", "d"]
    assert keep(rows, lambda _: False, depth, always) == []


@given(st.lists(st.integers(0, 4), max_size=30), st.sets(st.integers(0, 29)))
def test_every_hit_is_shown_once_in_order(depths: list[int], hits: set[int]) -> None:
    """Whatever the tree looks like: all hits stay, nothing is doubled, the order is that of the file."""
    rows = [RowKey((level, number), number) for number, level in enumerate(depths)]
    kept = keep(rows, lambda row: row.item[1] in hits, lambda item: item[0], always)
    numbers = [row.item[1] for row in kept if isinstance(row, RowKey)]
    assert numbers == sorted(set(numbers))
    assert hits & set(range(len(depths))) <= set(numbers)
