"""The sieve of a filter: it leaves what one look at every row would, whatever was typed before."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from widgets.list.rows import Continuation, Heading, Note
from widgets.pane.rows import RowKey, keep
from widgets.pane.visible_rows import STRIDE, FilterCache, groups_of, narrows, sort_rows

FIELDS = ("tag", "priority")


def rows_of(*titles: str) -> list[RowKey]:
    """Rows whose text is their title."""
    return [RowKey(title, title) for title in titles]


def holding(word: str) -> Callable[[Iterable[RowKey]], list[RowKey]]:
    """Chooses the rows that hold a word."""
    return lambda rows: [row for row in rows if word in str(row.item)]


def sample() -> list[Hashable]:
    """Two groups with counts, the second below a blank line, and a heading without rows."""
    first, second = rows_of("apple", "pear", "apricot"), rows_of("plum", "peach")
    return [Heading("A", "3"), *first, Note(number=1), Heading("EMPTY"), Heading("B", "2"), *second]


def longer(one: str, other: str) -> bool:
    """Whether a text goes on another one."""
    return other.startswith(one)


@given(st.lists(st.text("aepr", max_size=4), min_size=1, max_size=8))
def test_the_way_to_a_text_changes_nothing(texts: list[str]) -> None:
    """After any texts before it, a text leaves the rows and the headings that it leaves by itself."""
    keys = sample()
    sieve = FilterCache(keys)
    for text in texts:
        step = sieve.step(text, longer)
        step.sift(holding(text))
        assert step.is_whole
        assert sieve.keys_of(step) == keep(keys, lambda row, word=text: word in str(row.item))  # type: ignore[misc]


SIZES = st.lists(st.integers(0, 3 * STRIDE), min_size=1, max_size=5)
WAYS = st.lists(st.tuples(st.sampled_from(("", "1", "12", "123", "2", "23")), st.integers(0, 6)), max_size=8)


@settings(deadline=None)
@given(SIZES, WAYS)
def test_a_look_that_stopped_goes_on_where_it_was(sizes: list[int], ways: list[tuple[str, int]]) -> None:
    """Wherever looks stop, and whatever was typed before they were whole: in the end nothing is missing or twice."""
    numbers = iter(range(sum(sizes)))
    keys: list[Hashable] = []
    for place, size in enumerate(sizes):
        keys += [Heading(str(place), str(size)), *rows_of(*(str(next(numbers)) for _ in range(size)))]
    sieve = FilterCache(keys)
    for text, stops in ways:
        alone = keep(keys, lambda row, word=text: word in str(row.item))  # type: ignore[misc]
        step = sieve.step(text, longer)
        for _ in range(stops):
            told: list[int] = []
            step.sift(holding(text), lambda found: bool(told.append(found)))  # noqa: B023
            assert told == ([] if step.is_whole else [step.found])
            so_far = [key for key in sieve.keys_of(step) if isinstance(key, RowKey)]
            assert so_far == [key for key in alone if isinstance(key, RowKey)][: len(so_far)]
            assert len(so_far) == step.found
    step = sieve.step("12", longer)
    step.sift(holding("12"))
    assert sieve.keys_of(step) == keep(keys, lambda row: "12" in str(row.item))


def test_a_heading_counts_only_what_was_looked_at() -> None:
    """The group where a look stopped says how many there are, not how many of them fit so far."""
    rows = rows_of(*map(str, range(2 * STRIDE)))
    sieve = FilterCache([Heading("A", "2"), *rows_of("0", "x"), Heading("B", str(len(rows))), *rows])
    step = sieve.step("0", longer)
    step.sift(holding("0"), lambda _: False)
    headings = [key for key in sieve.keys_of(step) if isinstance(key, Heading)]
    assert headings == [Heading("A", "1 of 2"), Heading("B", str(len(rows)))]
    step.sift(holding("0"))
    counted = next(key for key in sieve.keys_of(step) if isinstance(key, Heading) and key.title == "B")
    assert counted.note == f"{sum('0' in str(number) for number in range(len(rows)))} of {len(rows)}"


def test_a_heading_says_how_many_of_its_rows_are_left() -> None:
    """`2 of 3` below a filter, the number alone where all are left, and no heading over nothing."""
    keys = sample()
    sieve = FilterCache(keys)
    for text, expected in (("ap", [Heading("A", "2 of 3")]), ("p", [Heading("A", "3"), Heading("B", "2")])):
        step = sieve.step(text, lambda *_: False)
        step.sift(holding(text))
        assert [key for key in sieve.keys_of(step) if isinstance(key, Heading) and key.note] == expected
    assert sieve.keys_of(step) == keys


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

    def key(row: RowKey) -> tuple[bool, str]:
        value = values[row.item]
        return value is None, value or ""

    turned = sort_rows([Heading("H"), *rows], key, reverse=True, lacks=lambda found: bool(found[0]))
    assert [row.item for row in turned[1:] if isinstance(row, RowKey)] == ["c", "b2", "b1", "a", ""]
    assert turned[0] == Heading("H")
