"""Any bytes come back as they were, and the headings are those that CommonMark sees."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memory.document import parse
from tests.examples import examples
from tests.fixture_files import FIXTURES, Case, read_cases, sample, sample_names, variants
from tests.memory.document.documents import EXAMPLES, byte_strings
from tests.strategies import markdown_documents

# The nesting limit of the library is no part of CommonMark: see the comment in blocks.py.
ORACLE = MarkdownIt("commonmark", {"maxNesting": 1000}).disable(["inline", "text_join"])
HEADING = re.compile(r"#{1,3}(?=[ \t]|$)")
CASES = [case for path in sorted((FIXTURES / "document").glob("*.txt")) for case in read_cases(path)]
SETTINGS = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
FEWER = settings(SETTINGS, max_examples=max(EXAMPLES // 5, examples(100)))


@SETTINGS
@given(st.one_of(byte_strings(), byte_strings(), st.binary(max_size=64)))
def test_bytes_round_trip(data: bytes) -> None:
    """The dump of a parsed byte string is that byte string, also when it is put together from its parts."""
    document = parse(data)
    assert document.dump() == data
    raws = [document.bom, document.front_raw, *[section.raw for _, section in document.all_sections()]]
    assert b"".join(raws) == data
    for _, section in document.all_sections():
        assert section.heading + section.lead + b"".join(entry.raw for entry in section.entries) == section.raw
        assert section.size == len(section.raw)
        for block in (section, *section.entries):
            first: dict[str, str] = {}
            for node in block.fields.nodes:
                first.setdefault(node.key, node.value)
            assert list(first.items()) == list(block.fields.items())


def by_oracle(text: str) -> list[tuple[int, int, str]]:
    """Return the column-0 headings of level 1 to 3 as markdown-it-py sees them."""
    lines = text.split("\n")
    tokens = ORACLE.parse(text + "\n")
    found = []
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.markup[0] == "#" and HEADING.match(lines[token.map[0]]):
            found.append((token.map[0], int(token.tag[1]), inline.content))
    return found


@FEWER
@given(markdown_documents())
def test_headings_agree_with_commonmark(text: str) -> None:
    """Line, level and title of every heading are those of markdown-it-py."""
    if re.match(r"\ufeff|---[ \t]*\n", text):
        text = "text\n" + text  # The library knows neither BOM nor front matter.
    # The library replaces NUL.
    found = [(line, level, title.replace("\0", "\ufffd")) for line, level, title in parse(text.encode()).headings()]
    assert by_oracle(text) == found


@pytest.mark.parametrize("case", CASES, ids=str)
def test_fixture(case: Case) -> None:
    """Each rule of the format has a small document with the lines of its headings."""
    found = [f"{line} {level} {title}".rstrip() for line, level, title in parse(case.data).headings()]
    assert case.expected.split("\n")[:-1] == found
    assert parse(case.data).dump() == case.data


@pytest.mark.parametrize("name", sample_names())
def test_variants_of_the_samples(name: str) -> None:
    """The format's sample files have the same headings in every form that other programs leave them in."""
    wanted = [(level, title) for _, level, title in parse(sample(name)).headings()]
    for label, data in variants(sample(name)).items():
        assert parse(data).dump() == data, label
        assert wanted == [(level, title) for _, level, title in parse(data).headings()], label


@pytest.mark.parametrize("markers", ["- ", "> ", "1. ", "- > ", ">"])
@pytest.mark.parametrize("depth", [9, 20, 49, 50, 51, 99, 100, 101, 5000])
@pytest.mark.parametrize("behind", ["# h", "<b>\n\n# h", "```\n# no\n```\n# h"])
def test_depth_hides_no_heading(markers: str, depth: int, behind: str) -> None:
    """However deep containers are nested, a heading in column 0 behind them is one."""
    data = f"{markers * depth}x\n{behind}\n## end\n".encode()
    assert [title for _, _, title in parse(data).headings()] == ["h", "end"]
