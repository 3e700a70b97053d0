"""The fixture files are complete, say what their escapes say, and their outlines are CommonMark's."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from tests.fixture_files import (
    FIXTURES,
    Case,
    read_cases,
    sample,
    sample_names,
)

FILES = sorted((FIXTURES / "document").glob("*.txt"))
CASES = [(path, case) for path in FILES for case in read_cases(path)]


@pytest.mark.parametrize(
    "case",
    [case for path, case in CASES if path.stem != "front" and not case.input.startswith("\ufeff")],
    ids=str,
)
def test_outlines_agree_with_commonmark(case: Case) -> None:
    """What a case expects is what CommonMark sees: level 1 to 3, in column 0, in no container."""
    text = case.input.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    tokens = MarkdownIt("commonmark").parse(text)
    found = [
        f"{token.map[0]} {len(token.markup)} {tokens[number + 1].content}".rstrip() + "\n"
        for number, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map and lines[token.map[0]][0] == "#"
        if len(token.markup) <= 3 and token.markup[0] == "#"
    ]
    assert case.expected.replace("\0", "\ufffd") == "".join(found)


def test_samples_are_the_seven_files() -> None:
    """Every file of the format has a sample that begins with its front matter."""
    names = ["config", "contacts", "journal", "knowledge", "monitors", "orchestration", "tasks"]
    assert [f"{name}.md" for name in names] == sample_names()
    assert all(sample(name).startswith(b"---\ntype: ") for name in sample_names())
