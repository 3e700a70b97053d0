"""The entry block: found where it is one, put where it belongs, and every other byte as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.state.entry_block import END, START, find_blocks, put_block, render_block
from tests.growth import assert_in_proportion
from tests.memory.state.test_projections import EMPTY

OLD, NEW = "a" * 64, "b" * 64
BLOCK = render_block(EMPTY, NEW)
OPEN = START.format(version=3, bundle_hash=OLD)
IN_FILE = f"{OPEN}\nold words\n{END}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "BLOCK"),
        ("# Title\n\nText\n", "# Title\n\nBLOCK\nText\n"),
        ("# Title\nText\n", "# Title\n\nBLOCK\nText\n"),
        ("# Title", "# Title\n\nBLOCK"),
        ("Text\n", "BLOCK\nText\n"),
        ("## Only two\n", "BLOCK\n## Only two\n"),
        ("Title\n=====\n\nText\n", "Title\n=====\n\nBLOCK\nText\n"),
        ("Text\n\nTitle\n===", "Text\n\nTitle\n===\n\nBLOCK"),
        ("<p align=center>\n<h1>T</h1>\n</p>\n\n# Two\n", "<p align=center>\n<h1>T</h1>\n</p>\n\nBLOCK\n# Two\n"),
        ("<div>\n\n<h1>T</h1>\n\nText\n\n</div>\n", "<div>\n\n<h1>T</h1>\n\nText\n\n</div>\n\nBLOCK"),
        ("<!-- <h1>T</h1> -->\n```\nT\n===\n```\n", "BLOCK\n<!-- <h1>T</h1> -->\n```\nT\n===\n```\n"),
        ("```\n# no\n```\n# yes\n", "```\n# no\n```\n# yes\n\nBLOCK"),
        ("~~~\n# no\n~~~\n\n    # no\n\n> # no\n\n- # no\n\n#no\n\n# yes\nx",
         "~~~\n# no\n~~~\n\n    # no\n\n> # no\n\n- # no\n\n#no\n\n# yes\n\nBLOCK\nx"),
        ("<!--\n# no\n-->\n# yes\n", "<!--\n# no\n-->\n# yes\n\nBLOCK"),
        ("---\n# comment: x\n---\nText\n", "---\n# comment: x\n---\nBLOCK\nText\n"),
        (f"a\n\n{IN_FILE}z", "a\n\nBLOCKz"),
        (f"{IN_FILE}# Title\n{IN_FILE}", f"BLOCK# Title\n{IN_FILE}"),
        (f"# T\n\n```\n{IN_FILE}```\n", f"# T\n\nBLOCK\n```\n{IN_FILE}```\n"),
        (f"# T\n\n    {OPEN}\n    {END}\n", f"# T\n\nBLOCK\n    {OPEN}\n    {END}\n"),
        (f"# T\n\n<!-- quoted:\n{OPEN}\n{END}\n-->\n", None),
        (f"# T\n\nSee `{OPEN}`.\n", f"# T\n\nBLOCK\nSee `{OPEN}`.\n"),
        (f"# T\n\n- {OPEN}\n\n> {OPEN}\n> {END}\n", f"# T\n\nBLOCK\n- {OPEN}\n\n> {OPEN}\n> {END}\n"),
        (f"{OPEN}\nx\n```\n{END}\n```\ny\n{END}\nz\n", "BLOCKz\n"),
        (f"{OPEN}\nx\n", "BLOCKx\n"),
        (f"{OPEN}\nx\n{IN_FILE}", f"BLOCKx\n{IN_FILE}"),
        (f"{END}\n# T\n", f"{END}\n# T\n\nBLOCK"),
        (f"text\n{IN_FILE}", "text\nBLOCK"),
        (f"{OPEN}\nx\n{END}", "BLOCK-"),
    ],
)  # fmt: skip
def test_where_the_block_goes(before: str, after: str | None) -> None:
    """The block is replaced in place, else put behind the first heading, else on top; quotations stay."""
    made = put_block(before.encode(), BLOCK)
    if after is None:
        # What is left of a comment that a quoted marker ended early is text; a block in it is one.
        assert put_block(made, BLOCK) == made
        return
    expected = after.replace("BLOCK-", BLOCK.rstrip("\n")).replace("BLOCK", BLOCK)
    assert made.decode() == expected


def test_line_ends_bom_and_bytes_stay() -> None:
    """A file with CRLF, a BOM, bytes that are no UTF-8 and no final newline keeps all of them."""
    before = b"\xef\xbb\xbf# T\r\n\r\ncaf\xff\r\nend"
    made = put_block(before, BLOCK)
    block = BLOCK.replace("\n", "\r\n").encode()
    assert made == b"\xef\xbb\xbf# T\r\n\r\n" + block + b"\r\ncaf\xff\r\nend"
    assert put_block(made, render_block(EMPTY, OLD)) == made.replace(NEW.encode(), OLD.encode())


def test_what_is_found() -> None:
    """A block tells its place and text, and whether it is closed."""
    data = f"# T\n{IN_FILE}\n{OPEN.replace('version=3', 'version=2')}\nx\n".encode()
    first, second = find_blocks(data)
    assert (first.closed, first.text) == (True, IN_FILE)
    assert not second.closed
    assert data[first.start : first.end].decode() == IN_FILE


PIECES = [
    "# T\n", "## S\n", "text\n", "\n", "```\n", "~~~\n", "    ", "> ", "- ", "<!--\n", "-->\n", "<div>\n", f"{OPEN}\n",
    f"{END}\n", "\r\n", "\r", "\ufeff", "---\n", "[a]: b\n", "x", "<!-- a -->", "\t", "====\n", "1. ",
]  # fmt: skip
documents = st.lists(st.sampled_from(PIECES), max_size=14).map("".join).map(str.encode) | st.binary(max_size=60)


@given(documents)
def test_put_twice_changes_nothing(data: bytes) -> None:
    """After the block was put it is found first, putting it again changes nothing, another replaces it."""
    made = put_block(data, BLOCK)
    first = find_blocks(made)[0]
    assert NEW in first.text
    assert first.closed
    assert put_block(made, BLOCK) == made
    other = put_block(made, render_block(EMPTY, OLD))
    assert put_block(other, BLOCK) == made


@given(documents)
def test_everything_else_stays(data: bytes) -> None:
    """Without the block the file is what it was, but for the blank lines around a block that is new."""
    blocks = find_blocks(data)
    made = put_block(data, BLOCK)
    placed = find_blocks(made)[0]
    before, after = made[: placed.start], made[placed.end :]
    if blocks:
        assert before == data[: blocks[0].start]
        assert after == data[blocks[0].end :]
    else:
        assert data.startswith(before.rstrip(b"\r\n"))
        rest = data[len(before.rstrip(b"\r\n")) :]
        assert rest.strip(b"\r\n") == after.strip(b"\r\n")
        assert rest.endswith(after.lstrip(b"\r\n"))


@pytest.mark.parametrize("piece", [f"{OPEN}\n", IN_FILE, "```\n", "# T\n", f"- {OPEN}\n", "<!--\n"])
def test_cost(piece: str) -> None:
    """Finding and putting takes time in proportion to the file."""
    assert_in_proportion(lambda size: (piece * size).encode(), lambda data: put_block(data, BLOCK), 300)
