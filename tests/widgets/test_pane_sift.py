"""The sieve of a filter: it leaves what one look at every row would, whatever was typed before."""

from __future__ import annotations

from collections.abc import Hashable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets.pane_rows import Row, keep
from widgets.pane_sift import Sieve, groups_of, narrows
from widgets.pane_sort import sort_rows
from widgets.rows import Continuation, Heading, Note

FIELDS = ("tag", "priority")


def rows_of(*titles: str) -> list[Row]:
    """Rows whose text is their title."""
    return [Row(title, title) for title in titles]


def haystack(row: Row) -> str:
    """What is looked for words in."""
    return str(row.item)


def sample() -> list[Hashable]:
    """Two groups with counts, the second below a blank line, and a heading without rows."""
    first, second = rows_of("apple", "pear", "apricot"), rows_of("plum", "peach")
    return [Heading("A", "3"), *first, Note(number=1), Heading("EMPTY"), Heading("B", "2"), *second]


@given(st.lists(st.text("aepr", max_size=4), min_size=1, max_size=8))
def test_the_way_to_a_text_changes_nothing(texts: list[str]) -> None:
    """After any texts before it, a text leaves the rows and the headings that it leaves by itself."""
    keys = sample()
    sieve = Sieve(keys)
    for text in texts:
        word = text
        left = sieve.sift(text, word, haystack, lambda one, other: other.startswith(one))
        alone = keep(keys, lambda row, word=word: word in haystack(row))  # type: ignore[misc]
        assert sieve.keys_of(left) == alone


def test_a_heading_says_how_many_of_its_rows_are_left() -> None:
    """`2 of 3` below a filter, the number alone where all are left, and no heading over nothing."""
    keys = sample()
    sieve = Sieve(keys)
    left = sieve.sift("ap", "ap", haystack, lambda *_: False)
    assert [key for key in sieve.keys_of(left) if isinstance(key, Heading)] == [Heading("A", "2 of 3")]
    left = sieve.sift("p", "p", haystack, lambda *_: False)
    assert sieve.keys_of(left) == keys


def test_lines_of_items_are_left_to_others() -> None:
    """Rows that go on in further lines have no groups."""
    (row,) = rows_of("a")
    assert groups_of([row, Continuation(row)]) is None


@pytest.mark.parametrize(
    ("before", "after", "plain", "expected"),
    [
        ("de", "dep", True, True),
        ("dep", "de", True, False),
        ("de", "de infra", True, True),
        ("priority", "priority:", True, False),
        ("priorit", "priority:high", True, False),
        ("priority:h", "priority:hi", True, True),
        ("priority:h", "priority:hi", False, False),
        ("priority:h", "priority:h x", False, True),
        ("prio:h", "prio:hi", False, False),
        ("12", "12:30", True, True),
        ("x tag:", "x tag:a", True, True),
    ],
)
def test_a_word_that_becomes_a_field_narrows_nothing(before: str, after: str, plain: bool, expected: bool) -> None:
    """What `priority` left has that word in its text, which `priority:high` does not ask for."""
    assert narrows(before, after, FIELDS, () if plain else ("priority",)) == expected


def test_an_order_is_turned_round_with_what_is_missing_last() -> None:
    """The largest come first, equal ones too are turned round, and what has no value stays at the end."""
    rows = rows_of("b1", "", "a", "b2", "c")
    values = {"": None, "a": "a", "b1": "b", "b2": "b", "c": "c"}

    def key(row: Row) -> tuple[bool, str]:
        value = values[row.item]
        return value is None, value or ""

    turned = sort_rows([Heading("H"), *rows], key, reverse=True, lacks=lambda found: bool(found[0]))
    assert [row.item for row in turned[1:] if isinstance(row, Row)] == ["c", "b2", "b1", "a", ""]
    assert turned[0] == Heading("H")
