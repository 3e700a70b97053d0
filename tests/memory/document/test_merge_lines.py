"""The two algorithms under a merge: lines of three versions, and the order of what stays."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.document.merge.sequences import find_hunks, merge_lines, merge_order
from tests.examples import examples

LINES = st.lists(st.sampled_from("abcd"), max_size=8)
KEYS = st.lists(st.integers(0, 9), unique=True, max_size=8)
QUICK = settings(max_examples=examples(200), deadline=None)


@QUICK
@given(LINES, LINES)
def test_hunks_make_the_side(base: list[str], side: list[str]) -> None:
    """Put into base, the hunks give the side, and they do not touch each other."""
    made: list[str] = []
    at = 0
    for hunk in find_hunks(base, side):
        assert hunk.start >= at
        made += [*base[at : hunk.start], *side[hunk.first : hunk.last]]
        at = hunk.stop
    assert made + base[at:] == side


@QUICK
@given(LINES, LINES, LINES)
def test_names_are_each_their_own(base: list[str], ours: list[str], theirs: list[str]) -> None:
    """Every line of a side has a name that no other line of the side has; all that stays is known to a side."""
    merged = merge_lines(base, ours, theirs)
    for names, side in ((merged.ours, ours), (merged.theirs, theirs)):
        assert len(set(names)) == len(names) == len(side)
    assert merged.keep <= {*range(len(base)), *merged.ours, *merged.theirs}
    for overlap in merged.overlaps:
        assert overlap.ours.stop <= len(ours)
        assert overlap.theirs.stop <= len(theirs)


@QUICK
@given(LINES, LINES)
def test_one_side_alone(base: list[str], side: list[str]) -> None:
    """Where one side left the lines alone, all of the other stays and nothing else."""
    assert merge_lines(base, base, side).keep == frozenset(merge_lines(base, base, side).theirs)
    assert merge_lines(base, side, base).keep == frozenset(merge_lines(base, side, base).ours)
    assert merge_lines(base, side, side).overlaps == ()


@QUICK
@given(KEYS, KEYS, KEYS, st.sets(st.integers(0, 9)))
def test_every_key_once(base: list[int], ours: list[int], theirs: list[int], keep: set[int]) -> None:
    """All keys of the two sides that stay are in the order once; one side's order holds throughout."""
    order = merge_order(base, ours, theirs, keep)
    assert sorted(order) == sorted(keep & {*ours, *theirs})
    assert any([key for key in order if key in side] == [key for key in side if key in keep] for side in (ours, theirs))


def test_what_both_put_at_one_place() -> None:
    """Theirs goes first, each behind the neighbour it had; ranks interleave the runs."""
    assert merge_order([1, 2], [1, 9, 2], [1, 8, 2], {1, 2, 8, 9}) == [1, 8, 9, 2]
    assert merge_order([1, 2], [9, 1, 2], [1, 2, 8], {1, 2, 8, 9}) == [9, 1, 2, 8]
    assert merge_order([5], [9, 7, 5], [8, 5], {5, 7, 8, 9}, str) == [9, 8, 7, 5]
    assert merge_order([5], [5, 7, 9], [5, 8], {5, 7, 8, 9}, str) == [5, 8, 7, 9]
    assert merge_order([1, 2, 3], [3, 2, 1], [1, 2, 3], {1, 2, 3}) == [3, 2, 1]
