"""Merging text into files: straight, by line, by section."""

from __future__ import annotations

import pytest

from memory.errors import UsageError
from memory.typed.ops import block_of, merged, with_blocks


@pytest.mark.parametrize(
    ("existing", "content", "expected"),
    [
        ("a", "b", "a\nb"),
        ("a\n", "b\n", "a\nb\n"),
        ("a\n\n", "\nb\n", "a\n\nb\n"),
        ("a\n\n\n", "b\n", "a\n\n\nb\n"),
        ("a\n  \n", "b\n", "a\n  \nb\n"),
        ("\n", "b\n", "\nb\n"),
        ("", "b", "b"),
        ("a\n", "a\n", "a\na\n"),
        ("a\r\n", "b\n", "a\r\nb\r\n"),
        ("a\n", "\n\n", "a\n"),
        ("\ufeff", "b\n", "\ufeffb\n"),
    ],
)
def test_none_is_a_straight_append(existing: str, content: str, expected: str) -> None:
    """Exactly one newline between, and what the file ends with stays; equal lines are appended again."""
    assert merged(existing.encode(), content, "none").decode() == expected


@pytest.mark.parametrize(
    ("existing", "content", "expected"),
    [
        ("a\nb\n", "b\nc\n", "a\nb\nc\n"),
        ("a\n", "b\nb\n", "a\nb\n"),
        ("a", "b", "a\nb\n"),
        ("a\n", "A\na \n", "a\nA\na \n"),
        ("a\n", "\nb\n\nc\n", "a\n\nb\n\nc\n"),
        ("a\n\n", "\n\nb\n", "a\n\nb\n"),
        ("a\n", "b\n\na\n\nc\n", "a\nb\n\nc\n"),
        ("a\n", "a\n\n\n", "a\n"),
        ("a\n", "b\n\n\nc\n", "a\nb\n\n\nc\n"),
        ("a\r\nb\r\n", "b\nc\n", "a\r\nb\r\nc\r\n"),
        ("", "\n\na\n", "a\n"),
    ],
)
def test_line_hash_skips_lines_that_are_there(existing: str, content: str, expected: str) -> None:
    """Lines whose exact text is there, or came earlier, are left out; blank lines separate, never two at the joint."""
    assert merged(existing.encode(), content, "line_hash").decode() == expected


@pytest.mark.parametrize(
    ("existing", "content", "expected"),
    [
        ("# T\n\n## A\nold\n\n## B\nb\n", "## A\nnew\n", "# T\n\n## A\nnew\n\n## B\nb\n"),
        ("## A\na\n", "## C\nc\n## B\nb\n", "## A\na\n\n## C\nc\n\n## B\nb\n"),
        ("## A\n1\n## B\nb\n## A\n2\n", "## A\nnew\n", "## A\nnew\n## B\nb\n"),
        ("## A\na\n", "##   A  \nnew\n", "##   A  \nnew\n"),
        ("## A\na\n", "## a\nb\n", "## A\na\n\n## a\nb\n"),
        ("intro\n\n## A\na\n", "more\n\n## A\nnew\n", "intro\n\nmore\n\n## A\nnew\n"),
        ("intro\nmore\n\n## A\na\n", "more\n## A\nb\n", "intro\nmore\n\n## A\nb\n"),
        ("```\n## A\n```\n", "## A\nx\n", "```\n## A\n```\n\n## A\nx\n"),
        ("## A\n```\n## B\n```\n## C\nc\n", "## B\nb\n", "## A\n```\n## B\n```\n## C\nc\n## B\nb\n"),
        ("## A\na\n# Other\no\n", "## A\nnew\n", "## A\nnew\n# Other\no\n"),
        ("", "## A\na\n", "## A\na\n"),
        ("text", "## A\na", "text\n\n## A\na\n"),
        ("---\nx: 1\n---\n## A\na\n", "## A\nb\n", "---\nx: 1\n---\n## A\nb\n"),
        ("## A\r\na\r\n", "## A\nb\n", "## A\r\nb\r\n"),
    ],
)
def test_section_replace_replaces_blocks_whose_heading_matches(existing: str, content: str, expected: str) -> None:
    """In place, others appended in order, the preamble kept; titles trimmed and with case; fences do not count."""
    assert merged(existing.encode(), content, "section_replace").decode() == expected


def test_an_open_fence_swallows_nothing() -> None:
    """Where a fence would swallow a block or its headings, nothing is merged; `#` in a fence is no heading."""
    block = block_of("B", "\n```\n# comment\n```\n", "typed.heading")
    assert with_blocks(b"## A\na\n", [block]) == b"## A\na\n\n## B\n\n```\n# comment\n```\n"
    for existing, content in (
        ("## A\n```\nopen\n", "## B\nb\n"),
        ("## A\na\n## B\nb\n", "## A\n```\nopen\n"),
        ("## A\na\n", "```\nopen\n"),
    ):
        with pytest.raises(UsageError) as caught:
            merged(existing.encode(), content, "section_replace")
        assert caught.value.code == "document.unclosed"
    for body in ("\n## C\n", "\n```\nopen\n", "\nnul \0\n"):
        with pytest.raises(UsageError) as caught:
            block_of("B", body, "typed.heading")
        assert caught.value.code == "typed.heading"
