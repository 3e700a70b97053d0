"""What a filter's text means: phrases and what must not fit, and that every way of typing it leaves the same."""

from __future__ import annotations

import pytest

from widgets.pane.filter import FilterPart, parts_of, strange_words

NAMES = ("title", "tag", "due", "priority")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Deploy now", [FilterPart("deploy"), FilterPart("now")]),
        ("-draft", [FilterPart("draft", without=True)]),
        ("-", [FilterPart("-")]),
        ("a -> b --force", [FilterPart("a"), FilterPart("->"), FilterPart("b"), FilterPart("--force")]),
        ("-tag:bulk", [FilterPart("bulk", "tag", without=True)]),
        ("-tag:", [FilterPart("", "tag", without=True)]),
        ("-colour:red", [FilterPart("colour:red", without=True)]),
        ('"Deploy v2.1" x', [FilterPart("deploy v2.1", phrase=True), FilterPart("x")]),
        ('-"Deploy v2.1"x', [FilterPart("deploy v2.1", without=True, phrase=True), FilterPart("x")]),
        ('"to the end', [FilterPart("to the end", phrase=True)]),
        ('pri:"a b" x', [FilterPart("a b", "priority", phrase=True), FilterPart("x")]),
        ('-tag:"a', [FilterPart("a", "tag", without=True, phrase=True)]),
        ('colour:"a b', [FilterPart('colour:"a'), FilterPart("b")]),
        ('12" pipe', [FilterPart('12"'), FilterPart("pipe")]),
        ('"tag:a -b"', [FilterPart("tag:a -b", phrase=True)]),
        ('"', [FilterPart("", phrase=True)]),
    ],
)
def test_the_parts_of_a_filter(text: str, expected: list[FilterPart]) -> None:
    """A minus right before something leaves it out, quotes hold words together, and both are letters elsewhere."""
    assert list(parts_of(text, NAMES)) == expected


def test_only_what_looks_like_a_field_is_called_strange() -> None:
    """What stands in quotes is text; a field with a minus is asked for its name like any other."""
    assert strange_words('"colour: red" -pry:high', NAMES) == "pry: is not a field"
