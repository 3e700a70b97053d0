"""How deep a message is nested."""

from __future__ import annotations

from typing import Any

import pytest

from app.servers.nesting import deeper_than, strict_json


@pytest.mark.parametrize(
    ("value", "levels"),
    [
        ("text", 1),
        ({}, 1),
        ({"a": 1, "b": "x"}, 1),
        ({"a": {}}, 2),
        ([[], [[1]]], 3),
        ({"a": [1, {"b": []}], "c": {}}, 4),
    ],
)
def test_the_levels_of_objects_and_lists_are_counted(value: Any, levels: int) -> None:
    """A value is as deep as its deepest part, and no deeper."""
    assert not deeper_than(value, levels)
    assert deeper_than(value, levels - 1)


def test_a_value_deeper_than_any_stack_is_told_as_well() -> None:
    """Nesting that would break off a recursive count is counted."""
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    assert deeper_than(value, 99_000)
    assert not deeper_than(value, 100_001)
    while value:
        value = value.pop()


@pytest.mark.parametrize(
    "data", [b'{"a": 1, "a": 2}', b'{"b": [{"a": 1, "\\u0061": 2}]}', b"NaN", b"[-Infinity]", b"\xff"]
)
def test_what_can_be_read_in_two_ways_is_refused(data: bytes) -> None:
    """A name that stands twice in an object, numbers that JSON does not have, and bytes of another encoding."""
    with pytest.raises(ValueError):
        strict_json(data)
    assert strict_json(b'\xef\xbb\xbf{"a": {"a": 1}, "b": [1e400]}') == {"a": {"a": 1}, "b": [float("inf")]}
