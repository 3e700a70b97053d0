"""The block scanner agrees with markdown-it-py on where headings, fences and HTML blocks are."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import HealthCheck, given, settings
from markdown_it import MarkdownIt

from memory.document.blocks import BlockScan, scan_blocks
from tests.examples import examples, wanted
from tests.strategies import markdown_documents, random_markdown

# Inline rules cannot change blocks and would take most of the time.
# Its nesting limit is no part of CommonMark: see the comment in blocks.py.
ORACLE = MarkdownIt("commonmark", {"maxNesting": 1000}).disable(["inline", "text_join"])
HEADING = re.compile(r"#{1,3}(?=[ \t]|$)")
RANDOM_EXAMPLES = wanted(3000)


def by_oracle(text: str) -> tuple[list[int], list[int]]:
    """Return the lines of column-0 headings of level 1 to 3, and the lines of fences and HTML blocks."""
    lines = text.split("\n")
    headings, hidden = [], set()
    # With a line end after the last line: without one the library drops a last line of blanks, and fails
    # with an IndexError on some HTML blocks in nested containers.
    for token in ORACLE.parse(text + "\n"):
        if token.type == "heading_open" and token.markup[0] == "#" and HEADING.match(lines[token.map[0]]):
            headings.append(token.map[0])
        elif token.type in ("fence", "html_block"):
            hidden.update(range(*token.map))
    return headings, sorted(hidden)


def by_scanner(text: str) -> tuple[list[int], list[int]]:
    """Return the same by `scan_blocks`, started again after each heading."""
    lines = text.split("\n")
    headings, hidden = [], []
    start = 0
    while True:
        scan = scan_blocks(lines[start:])
        hidden += [start + index for index, flag in enumerate(scan.hidden) if flag]
        if scan.heading is None:
            return headings, hidden
        start += scan.heading
        headings.append(start)
        start += 1


def is_open_by_oracle(text: str) -> bool:
    """Return whether the oracle sees no heading in a line `# h` that is appended."""
    lines = text.split("\n")
    return len(lines) not in by_oracle(text + "\n# h")[0]


def last_scan(text: str) -> BlockScan:
    """Return the scan of what follows the last heading."""
    lines = text.split("\n")
    headings, _ = by_scanner(text)
    return scan_blocks(lines[headings[-1] + 1 :] if headings else lines)


def check(text: str) -> None:
    """Compare everything the scanner says about a document with the oracle.

    Tabs in quotes of quotes are left out: the library forgets there where the line began.
    """
    if re.search(r">.*>.*\t", text):
        return
    headings, hidden = by_oracle(text)
    assert (headings, hidden) == by_scanner(text)
    assert is_open_by_oracle(text) == last_scan(text).open


@settings(max_examples=examples(2000), deadline=None, suppress_health_check=list(HealthCheck))
@given(markdown_documents())
def test_agrees_on_generated_documents(text: str) -> None:
    """Headings, hidden lines and openness agree with markdown-it-py on documents that hypothesis composes."""
    check(text)


def test_agrees_on_random_documents() -> None:
    """The same holds for a seeded loop, as long as MEMDECK_EXAMPLES asks for."""
    rng = random.Random(20240115)
    for _ in range(RANDOM_EXAMPLES):
        check(random_markdown(rng))


CASES = [
    # fences
    ("# a\n```\n# b\n```\n# c", [0, 4]),
    ("```x`y\n# h", [1]),
    ("~~~x`y\n# h", []),
    ("````\n```\n# h\n````\n# i", [4]),
    ("   ```\n    ```\n# h", []),
    ("\t```\n# h", [1]),
    ("text\n```\n# h\n```\n# i", [4]),
    # fences in containers end with them
    ("- ```\n# h", [1]),
    ("> ```\n# h", [1]),
    ("- a\n\n  ```\n# h", [3]),
    ("- a\n\n ```\n# h", []),
    ("10. a\n\n   ```\n# h", []),
    # HTML blocks
    ("<!--\n\n# h\n-->\n# i", [4]),
    ("<!-->\n# h", [1]),
    ("<script>\n\n# h\nx </style>\n# i", [4]),
    ("<?\n# h\n?>\n# i", [3]),
    ("<!x\n# h\n>\n# i", [3]),
    ("<![CDATA[\n# h\n]]>\n# i", [3]),
    ("<div\n# h\n\n# i", [3]),
    ("<b>\n# h\n\n# i", [3]),
    ("<b x=>\n# h", [1]),
    ("text\n<menuitem\n# h", []),
    ("<div\x0b\n# h", []),
    ("<script\x0b\n# h", []),
    ("<\u017fcript>x\n# h", [1]),
    ("<b \x00=1>\n# h", [1]),
    ("<b x=\x00>\n# h", []),
    ("- <!--\n\n  -->\n# h", [3]),
    ("-\n  <!--\n# h", [2]),
    # kind 7 cannot interrupt a paragraph, lazy lines included
    ("a\n<b>\n# h", [2]),
    ("a\n===\n<b>\n# h", []),
    ("> a\n<b>\n# h", [2]),
    ("> ```\n<b>\n# h", []),
    ("- a\n<b>\n# h", [2]),
    ("-\n<b>\n# h", []),
    # list items
    ("-\n\n  <b>\n# h", []),
    ("text\n2. <b>\n<b>\n# h", [3]),
    ("text\n1. ```\n# h", [2]),
    ("text\n-\n<b>\n# h", []),
    ("- a\n - b\n  - c\n   - d\n    - e\n<b>\n# h", [6]),
    ("-    code\n<b>\n# h", [2]),
    ("-     code\n<b>\n# h", []),
    # quotes: any indentation goes on with an open one; a second quote inside has its own idea of laziness
    ("> ```\n      > ```\n> text\n<b>\n# h", [4]),
    ("> a\n     # x\n<b>\n# h", [3]),
    ("> > a\n     # x\n<b>\n# h", []),
    # no depth swallows what follows
    ("- + - + - + - + - a\n# h", [1]),
    ("- + - + - + - + - + a\n# h", [1]),
    ("- + - + - + - + - + a\n<b>\n# h", [2]),
    ("- + - + - + - + - +\n# h", [1]),
    (">" * 20 + " a\n# h", [1]),
    ("- + - + - + - + - > > a\n# h", [1]),
    # link reference definitions
    ("[a]: /u\n<b>\n# h", []),
    ("[a]: /u x\n<b>\n# h", [2]),
    ("[a]: /u\n2. x\n# h", [2]),
    ("[a]: <u> 't'\n<b>\n# h", []),
    ("[ ]: /u\n<b>\n# h", [2]),
    # forms of headings
    ("#\n##\n###\n####\n# ", [0, 1, 2, 4]),
    ("#h\n #  h\n#\th\n\\# h\n####### h\n#\xa0h", [2]),
    ("", []),
]


@pytest.mark.parametrize(("text", "headings"), CASES)
def test_table(text: str, headings: list[int]) -> None:
    """Each rule that decides over a heading has a small document, and the oracle agrees with the table."""
    assert headings == by_oracle(text)[0]
    check(text)


@pytest.mark.parametrize(
    ("text", "hidden", "is_open"),
    [
        ("text", [], False),
        ("a\n```\nb\n\n```\nc", [1, 2, 3, 4], False),
        ("a\n~~~\nb", [1, 2], True),
        ("- ```\n  a\nb", [0, 1], False),
        ("> <!--\n> a -->\n> b", [0, 1], False),
        ("<!--\n\n", [0, 1, 2], True),
        ("<div>\na", [0, 1], True),
        ("<div>\na\n", [0, 1], False),
        ("<!-- a --> b\nc", [0], False),
        ("    ```\nx", [], False),
    ],
)
def test_hidden_and_open(text: str, hidden: list[int], is_open: bool) -> None:
    """Lines of fences and HTML blocks are hidden; what an appended heading would be swallowed by is open."""
    scan = scan_blocks(text.split("\n"))
    assert scan.heading is None
    assert hidden == [index for index, flag in enumerate(scan.hidden) if flag]
    assert len(scan.hidden) == len(text.split("\n"))
    assert is_open == scan.open


@pytest.mark.parametrize(
    "line",
    [
        "> " * 10_000, ">" * 10_000, "- + " * 5_000, "1. " * 10_000, "\t" * 10_000, "[" + "\\" * 10_000,
        "[a]: " + "(" * 10_000, "`" * 10_000 + "x`", "* " * 10_000 + "x", "<b" + " x" * 10_000,
        "<b x=" + "\xa0y" * 10_000, "<b " + "x='y' " * 10_000, "<!--" * 10_000,
    ],
)  # fmt: skip
def test_hostile_lines(line: str) -> None:
    """Ten thousand markers overflow no stack, and every line is accounted for."""
    assert len(scan_blocks([line, ""] * 20).hidden) == 40
