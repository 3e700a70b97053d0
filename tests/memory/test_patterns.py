"""Patterns that are compiled when they are used first."""

from __future__ import annotations

import re

import pytest

from memory.lazy import late


def test_a_late_pattern_finds_what_the_compiled_one_finds() -> None:
    """Text, bytes, flags and every method are those of the pattern."""
    words = late(r"[a-z]+", re.IGNORECASE)
    assert words.findall("One two") == ["One", "two"]
    assert words.sub("x", "One two") == "x x"
    assert words.pattern == r"[a-z]+"
    found = late(rb"b+").search(b"abba")
    assert found is not None
    assert found.span() == (1, 3)


def test_nothing_is_compiled_before_the_first_use() -> None:
    """An expression that is none is found out only when it is used."""
    wrong = late("(")
    with pytest.raises(re.error):
        wrong.match("")
