"""How far words are from each other."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.base.names import edit_distance


@pytest.mark.parametrize(
    ("word", "other", "most", "expected"),
    [("deploy", "deploy", 2, 0), ("deploy", "depoly", 2, 1), ("window", "windwo", 1, 1), ("abc", "xyz", 2, 3),
     ("kubernetes", "kubernets", 2, 1), ("form", "from", 1, 1), ("a", "abcd", 2, 3)],
)  # fmt: skip
def test_typos_are_counted(word: str, other: str, most: int, expected: int) -> None:
    """Letters put in, left out, changed and exchanged count one each; more than are allowed is one more."""
    assert edit_distance(word, other, most) == expected
    assert edit_distance(other, word, most) == expected


@settings(deadline=None)
@given(st.text("abcd", max_size=6), st.text("abcd", max_size=6))
def test_it_is_a_distance(one: str, other: str) -> None:
    """The same both ways, none for equal words, never more than the longer word."""
    steps = edit_distance(one, other, 9)
    assert steps == edit_distance(other, one, 9)
    assert (steps == 0) == (one == other)
    assert steps <= max(len(one), len(other))
