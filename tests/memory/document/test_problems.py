"""What is wrong with a file is said with its line and code; nothing makes the check itself fail."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from memory.document import parse
from memory.document.check import structure_problems
from memory.document.lines import conflict_at
from tests.examples import examples
from tests.growth import TIMES, assert_in_proportion
from tests.memory.document.documents import EXAMPLES, byte_strings, lines_of

SETTINGS = settings(
    max_examples=max(EXAMPLES // 5, examples(100)), deadline=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"", []),
        (b"---\na: 1\n---\n## A\n### t\n- due: 1\n- notes: x\n", []),
        # encoding
        (b"text\ncaf\xe9 \xff\n\xe9", [(1, "document.encoding"), (2, "document.encoding")]),
        (b"\xed\xb3\xbf", [(0, "document.encoding")]),
        (b"a\nb\0\0\n\0", [(1, "document.nul")]),
        (b"\xff\n" * 50, [(line, "document.encoding") for line in range(20)]),
        # front matter
        (b"---\na: 1\n## A\n", [(0, "front.unclosed")]),
        (b"\xef\xbb\xbf---\r\n", [(0, "front.unclosed")]),
        (b"---\na: 1\na: 2\n---\n", [(2, "front.duplicate")]),
        (b"\n---\n", []),
        # places
        (b"x\n### a\n## S\n### b\n", [(1, "document.loose_entry")]),
        (b"## A\n## B\n## a (7 days)\n", [(2, "document.twin_section")]),
        (b"# A\n# A\n", []),
        # the end
        (b"## A\ntext\n```\n### b\n", [(2, "document.unclosed")]),
        (b"## A\n### t\n- a: 1\n\n<!--\nx\n", [(4, "document.unclosed")]),
        # conflict markers
        (b"a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n", [(1, "document.conflict_markers")]),
        (b"a\r\n<<<<<<< ours\r\nb\r\n=======\r\n>>>>>>> theirs\r\n", [(1, "document.conflict_markers")]),
        (b"<<<<<<< ours\n|||||||\n=======\n>>>>>>> theirs", [(0, "document.conflict_markers")]),
        (b">>>>>>> a\n=======\n<<<<<<< b\n", []),
        (b"x <<<<<<< ours\n=======\n>>>>>>> theirs\n", []),
        # fields
        (b"## A\n### t\n- a: 1\n- b: 2\n- a: 3\n", [(4, "field.twice")]),
        (b"- a: 1\r- a: 3\r", [(1, "field.twice")]),
        (b"## A\n### t\n- https://x\n- a::b\n- see: http://x\n- [ ] x\n-\n- x\n---\n", []),
        (b"## A\n### t\n```\n- due:1\n* due: 1\n- a: 1\n- a: 2\n```\n", []),
        (b"## A\n### t\n- notes: x\n  - due:1\n", []),
    ],
)
def test_problems(data: bytes, wanted: list[tuple[int, str]]) -> None:
    """Each finding has the line (from 0) where it stands, and its code."""
    assert wanted == [(line, code) for line, code, _ in structure_problems(parse(data))]


def test_conflict_markers_make_a_file_read_only() -> None:
    """The question that decides over writing has the same answer as the finding."""
    for data in (b"<<<<<<< a\n=======\n>>>>>>> b\n", b"=======\n<<<<<<< a\n>>>>>>> b\n", b"<<<<<<< a\n", b""):
        document = parse(data)
        found = [code for _, code, _ in structure_problems(document)]
        assert (conflict_at(document.dump()) is not None) == ("document.conflict_markers" in found)


@SETTINGS
@given(byte_strings())
def test_any_bytes_have_problems_in_order(data: bytes) -> None:
    """The check never fails; lines are inside the file and in order, sentences are not empty."""
    problems = structure_problems(parse(data))
    lines = [line for line, _, _ in problems]
    assert lines == sorted(lines)
    assert all(0 <= line <= len(lines_of(data)) for line in lines)
    assert all("." in code and message for _, code, message in problems)


@pytest.mark.parametrize(
    "unit", [b"\xff", b"\xff\n", b"\0", b"- a:1\n", b"- a: 1\n", b"<<<<<<< a\n", b"\n \n", b"* a: 1\n", b"> "]
)
def test_hostile_sizes(unit: bytes) -> None:
    """Half a megabyte of one finding is checked in linear time."""
    assert_in_proportion(
        lambda size: b"## A\n### t\n" + unit * (size // len(unit)),
        lambda data: structure_problems(parse(data)),
        500_000 // TIMES,
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("## A\n##B\n", [(1, "document.heading")]),
        ("## A\n###[HIGH] x\n", [(1, "document.heading")]),
        ("## A\n###\u00a0x\n", [(1, "document.heading")]),
        ("## A\n#hashtag\n####x\n## \n", []),
        ("## A\n```\n##B\n```\n", []),
        ("\ufeff\ufeff---\na: b\n---\n", [(0, "document.mark")]),
        ("## A\n\ufeff## B\n", [(1, "document.mark")]),
        ("\ufeff## A\ntext \ufeff## B\n", []),
    ],
)
def test_lines_that_were_meant_as_headings(text: str, found: list[tuple[int, str]]) -> None:
    """A line that misses being a heading by a blank or a mark is reported, not outside of text."""
    assert found == [(line, code) for line, code, _ in structure_problems(parse(text.encode()))]
