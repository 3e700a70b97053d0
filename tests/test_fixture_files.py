"""The fixture files are complete, say what their escapes say, and their outlines are CommonMark's."""

from __future__ import annotations

from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.fixture_files import (
    FIXTURES,
    Case,
    read_cases,
    sample,
    sample_names,
    unescape,
    variants,
)

FILES = sorted((FIXTURES / "document").glob("*.txt"))
CASES = [(path, case) for path in FILES for case in read_cases(path)]


def test_there_are_cases_enough() -> None:
    """Ninety cases and more, each title once per file."""
    assert len(CASES) >= 90
    assert len({(path.name, case.title) for path, case in CASES}) == len(CASES)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"a\r", "a\r"),
        (r"\0\t\\", "\0\t\\"),
        (r"\\r", r"\r"),
        (r"\xff\xe9", "\udcff\udce9"),
        (r"\x0c", "\x0c"),
        (r"\ufeff\u2028", "\ufeff\u2028"),
        ("end\\\n", "end"),
        (r"\q stays", r"\q stays"),
    ],
)
def test_escapes(written: str, meant: str) -> None:
    """Every escape stands for what the loader's first lines say."""
    assert meant == unescape(written)


def test_raw_bytes_reach_the_file() -> None:
    """A byte from 80 upwards is that byte in `Case.data`, a code point its UTF-8 bytes."""
    assert Case("t", unescape(r"caf\xe9 \ufeff"), "", 1).data == b"caf\xe9 \xef\xbb\xbf"


def test_an_incomplete_case_is_named(tmp_path: Path) -> None:
    """A case without its third dot is an error with file and line, never silently dropped."""
    path = tmp_path / "broken.txt"
    path.write_text("one\n.\na\n.\nb\n.\n\ntwo\n.\na\n.\n", "utf-8")
    with pytest.raises(ValueError, match=r"broken\.txt:8"):
        read_cases(path)


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


@pytest.mark.parametrize("name", sample_names())
def test_variants_differ_from_the_sample(name: str) -> None:
    """Each variant is another byte string, so that a test over them tests something."""
    found = variants(sample(name))
    same = {form for form, data in found.items() if data == sample(name)}
    assert same == {"as it is"}
    assert len(set(found.values())) == len(found)
