"""What every merge holds to, whatever the three versions are: nothing lost, both sides alike, readable."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.document import parse
from memory.document.merge import MergeResult, ours_of
from memory.errors import ConflictError
from tests.examples import examples
from tests.memory.document.documents import EXAMPLES, documents, structure
from tests.memory.document.merging import KINDS, counted, merged, three

SETTINGS = settings(
    max_examples=max(EXAMPLES // 3, examples(100)), deadline=None, suppress_health_check=list(HealthCheck)
)


@SETTINGS
@given(documents(), documents(), st.sampled_from(KINDS))
def test_what_one_side_left_alone_is_the_other(base: bytes, other: bytes, kind: str) -> None:
    """Where one side changed nothing the result is the other, byte for byte; the same change counts once."""
    for versions in ((base, other, base), (base, base, other), (base, other, other)):
        result = merged(*versions, kind)
        assert (result.document.dump(), result.conflicts, result.kept) == (other, (), ())


@SETTINGS
@given(three(), st.sampled_from(KINDS), st.booleans())
def test_the_result_reads_as_it_was_put_together(versions: tuple[bytes, bytes, bytes], kind: str, strict: bool) -> None:
    """A merge never fails, and its document is the one that its bytes are."""
    result = merged(*versions, kind, strict=strict)
    assert structure(parse(result.document.dump())) == structure(result.document)
    assert not (strict and result.kept)


@SETTINGS
@given(three(), st.sampled_from(KINDS))
def test_no_line_is_lost(versions: tuple[bytes, bytes, bytes], kind: str) -> None:
    """Lines that a side added are there, or in a conflict; so are those that both kept."""
    base, ours, theirs = map(counted, versions)
    result = merged(*versions, kind)
    there = counted(result.document.dump()) + _of_ours(result)
    for line in ours.keys() | theirs.keys():
        added = max(ours[line] - base[line], theirs[line] - base[line], 0)
        kept = 1 if base[line] == ours[line] == theirs[line] == 1 else 0
        assert there[line] >= max(added, kept), line


@SETTINGS
@given(three(any_bytes=False), st.sampled_from(KINDS))
def test_both_sides_see_the_same_conflicts(versions: tuple[bytes, bytes, bytes], kind: str) -> None:
    """Turned around, a merge has the same conflicts with the sides exchanged."""
    base, ours, theirs = versions
    one = merged(base, ours, theirs, kind)
    two = merged(base, theirs, ours, kind)
    assert Counter((c.what, c.base, c.ours, c.theirs) for c in one.conflicts) == Counter(
        (c.what, c.base, c.theirs, c.ours) for c in two.conflicts
    )


@SETTINGS
@given(three(), st.sampled_from(KINDS))
def test_theirs_can_be_exchanged_for_ours(versions: tuple[bytes, bytes, bytes], kind: str) -> None:
    """Deciding for ours gives a document that reads as it is written and holds our lines, or says that it cannot."""
    try:
        result = merged(*versions, kind, decide=ours_of)
    except ConflictError:
        return
    assert structure(parse(result.document.dump())) == structure(result.document)
    there = counted(result.document.dump())
    for conflict in result.conflicts:
        if conflict.what != "section":
            assert not counted((conflict.ours or "").encode("utf-8", "surrogateescape")) - there


def _of_ours(result: MergeResult) -> Counter[bytes]:
    return counted(*[(one.ours or "").encode("utf-8", "surrogateescape") for one in result.conflicts])
