"""JSON objects are read from texts that others wrote; whatever else a text holds is an empty one."""

from __future__ import annotations

import pytest

from memory.base.json_objects import read_object


@pytest.mark.parametrize("text", [None, b"", "", b"{", b"\xff\xfe", b"[]", "null", '"a"', "[" * 100_000, "1" * 5_000])
def test_what_is_no_object_is_an_empty_one(text: str | bytes | None) -> None:
    """Nothing, halves of JSON, other kinds of values, and what nests too deep or is too long a number."""
    assert read_object(text) == {}


def test_an_object_is_read_whole() -> None:
    """From bytes and from text alike."""
    assert read_object(b'{"a": [1]}') == read_object('{"a": [1]}') == {"a": [1]}
