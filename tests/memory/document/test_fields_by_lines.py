"""Fields and bullets are those that a loop over the lines finds, whatever code stands between them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.document.lines import hidden_lines, read_bullets, read_fields, split_lines
from tests.growth import assert_in_proportion

PIECES = (
    *("- due: 2024-01-15", "- notes: first", "- notes:", "  more", "   deeper  ", "\tindented", "", "plain text", " "),
    *("```", "~~~", "```sh", "````", "  ```", "~~~ `x`", "<div>", "x < y", "- hidden: no", "  - inner: no", "\r"),
)
FIELD = re.compile(r"- {1,4}([A-Za-z][A-Za-z0-9_-]*):( [^\r\n]*)?")
BULLET = re.compile(r"[-*+]( {1,4}[^\r\n]*)?")


def by_lines(body: str, form: re.Pattern[str]) -> list[tuple[int, int, int]]:
    """Return for each item of a body its line, where it starts, and where the lines that belong to it end."""
    items: list[tuple[int, int, int]] = []
    position, inside = 0, False
    for number, ((line, end), hidden) in enumerate(zip(split_lines(body), hidden_lines(body), strict=False)):
        start, position = position, position + len(line) + len(end)
        if not line.strip(" \t"):
            continue
        if inside and line[0] in " \t":
            items[-1] = (*items[-1][:2], position)
        else:
            inside = not hidden and form.fullmatch(line) is not None
            if inside:
                items.append((number, start, position))
    return items


@given(st.lists(st.sampled_from(PIECES), max_size=14), st.sampled_from(["\n", "\r\n", "\r"]))
def test_items_are_those_of_the_lines(lines: list[str], newline: str) -> None:
    """Each item has its line and covers the lines that are indented beneath it, blank ones between them included."""
    body = newline.join(lines)
    fields = read_fields(body)
    assert [(node.line, node.start, node.end) for node in fields.nodes] == by_lines(body, FIELD)
    assert [(item.line, item.start, item.end) for item in read_bullets(body)] == by_lines(body, BULLET)
    wanted: dict[str, str] = {}
    for node in fields.nodes:
        wanted.setdefault(node.key, node.value)
    assert dict(fields) == wanted


@pytest.mark.parametrize(
    "make",
    [
        lambda size: "- a: x" + "\n" * size + "- b: y",
        lambda size: "- " + "a" * size,
        lambda size: "- a:" + " " * size + "\n",
        lambda size: "- a: x\n" + " " * size + "\nend",
        lambda size: "- a: x" + "\n \n\t" * size + "\nend",
        lambda size: "- a: x" + "\n  more" * size,
        lambda size: "- a: x\n" * size,
        lambda size: "```\n" * size,
        lambda size: "- a: x\r" * size,
    ],
)
def test_reading_is_in_proportion(make: Callable[[int], str]) -> None:
    """What repeats costs as much as it is long, whether a field follows or not."""
    assert_in_proportion(make, read_fields, 2000)
