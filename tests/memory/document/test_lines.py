"""Files of lines: what is different, and taking it back line by line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.document.compare import apply, compare_lines, lines_of
from memory.document.merge.sequences import merge_files

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"d"]), max_size=8).map(b"".join)


@given(LINES, LINES)
def test_regions_turn_one_file_into_the_other(before: bytes, after: bytes) -> None:
    """Applied to the old bytes they give the new ones, whatever the last line ends in."""
    assert apply(compare_lines(before, after), before) == after


@given(st.binary(max_size=40))
def test_lines_end_with_a_newline_only(data: bytes) -> None:
    """Joined they are the file, and a carriage return ends none."""
    lines = lines_of(data)
    assert b"".join(lines) == data
    assert all(b"\n" not in line[:-1] for line in lines)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        (b"1\n2\n3\n", b"1\n2\n", b"1\n2\n3\n4\n", b"1\n2\n4\n"),
        (b"1\n3\n", b"1\n2\n3\n", b"1\n3\n4\n", b"1\n2\n3\n4\n"),
        (b"1\n3\n", b"1\n2\n3\n", b"3\n4\n", b"2\n3\n4\n"),
        (b"1\n3\n", b"1\n2\n3\n", b"1\n4\n", b"1\n2\n4\n"),
        (b"torn\n2\n", b"torn", b"torn\n2\n3\n", b"torn\n3\n"),
        (b"1\n2\n", b"1\n", b"1\nchanged\n", None),
        (b"1\n2\n3\n", b"1\n", b"1\n2\nnew\n3\n", None),
    ],
)
def test_a_difference_is_done_to_a_file_that_moved_on(
    base: bytes, ours: bytes, theirs: bytes, merged: bytes | None
) -> None:
    """Lines go and come at their neighbours; both sides cannot change the same lines."""
    assert merge_files(base, ours, theirs) == merged
