"""Pipe tables: found with the place of every cell, edited one cell at a time."""

from __future__ import annotations

import re
from itertools import takewhile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memory.document.tables import Table, add_row, compose_table, find_tables, remove_row, set_cell
from memory.errors import UsageError

ROUTES = """\
Some words.

| Name | ID | Type | Status |
|------|-----|------|--------|
| Dev Team Bot | channel-abc123 | telegram | connected |
| Slack Alerts | channel-def456 | webhook | disconnected |

More words.
"""
ALIGNED = """\
| Name  | Size |
|-------|-----:|
| Bread |   12 |
| 中文  |    7 |
"""
BARE = "a | b\n--|--\n1 | 2\n"
CELL = st.text(alphabet="ab |\\`-*:#>中\t", max_size=8)
NEWLINES = st.sampled_from(["\n", "\r\n", "\r"])


def _only(body: str) -> Table:
    (table,) = find_tables(body)
    return table


def _texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row.cells] for row in table.rows]


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("| a | b |", ["a", "b"]),
        ("| a | b", ["a", "b"]),
        ("|a|b|", ["a", "b"]),
        ("| a \\| b | c |", ["a | b", "c"]),
        ("| `a | b` | c |", ["`a", "b`", "c"]),
        ("| a |", ["a"]),
        ("|| b |", ["", "b"]),
        ("| 中文 | \u2028 |", ["中文", "\u2028"]),
    ],
)
def test_cells(line: str, cells: list[str]) -> None:
    """Outer pipes may be missing, escaped pipes belong to the cell, also in code, rows may be uneven."""
    assert _texts(_only(f"| x | y |\n|---|---|\n{line}\n")) == [cells]


@pytest.mark.parametrize(
    "body",
    [
        "| a | b |\n",
        "| a | b |\n\n|---|---|\n",
        "a\n---\n",
        "    | a | b |\n    |---|---|\n",
        "~~~~ text\n```\n~~~\n| a | b |\n|---|---|\n",
        "- x | y\n--|--\n",
    ],
)
def test_what_is_no_table(body: str) -> None:
    """Without a fitting delimiter row, in fenced code, in a comment or in another block there is no table."""
    assert find_tables(body) == ()


@pytest.mark.parametrize(
    ("after", "rows"),
    [
        ("\n| 3 | 4 |\n", 1),
        ("- item\n", 1),
        ("### x\n", 1),
        ("> q\n", 1),
        ("```\n", 1),
        ("---\n", 1),
        ("word\n", 2),
    ],
)
def test_where_a_table_ends(after: str, rows: int) -> None:
    """A blank line or the next block ends a table; a bare line is a row, as GitHub reads it."""
    assert len(_only(f"| a | b |\n|---|---|\n| 1 | 2 |\n{after}").rows) == rows


QUOTE_OR_LIST = re.compile(r" {0,3}(?:>|[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$))")


@example("|\n-|")
@example(":|\n- |")
@given(st.lists(st.text(alphabet="a|-: \\`\t#>", max_size=12), max_size=6).map("\n".join))
def test_tables_are_where_the_markdown_library_sees_them(body: str) -> None:
    """A table that is found is one to a Markdown parser too.

    But right below a quote or a list its lines belong to that to a parser; here it is a table, for people mean one.
    """
    tokens = MarkdownIt("commonmark").enable("table").parse(body)
    known = {token.map[0] for token in tokens if token.type == "table_open" and token.map}
    for table in find_tables(body):
        above = takewhile(str.strip, reversed(body.split("\n")[: table.line]))
        assert table.line in known or any(QUOTE_OR_LIST.match(line) for line in above)


@given(st.lists(st.lists(CELL, min_size=2, max_size=2), min_size=2, max_size=4), NEWLINES)
def test_composed_tables_read_back(lines: list[list[str]], newline: str) -> None:
    """What is composed is found again with the same texts, aligned where no tab stands in it."""
    body = compose_table(lines[0], lines[1:], newline)
    table = _only(body)
    assert list(table.header) == [text.strip(" \t") for text in lines[0]]
    assert _texts(table) == [[text.strip(" \t") for text in line] for line in lines[1:]]
    assert table.aligned or "\t" in body


@pytest.mark.parametrize(
    ("row", "column", "value", "expected"),
    [
        (0, 0, "Rye", "| Name  | Size |\n|-------|-----:|\n| Rye   |   12 |\n| 中文  |    7 |\n"),
        (0, 1, "3", "| Name  | Size |\n|-------|-----:|\n| Bread |    3 |\n| 中文  |    7 |\n"),
        (
            1,
            0,
            "中文字体",
            "| Name     | Size |\n|----------|-----:|\n| Bread    |   12 |\n| 中文字体 |    7 |\n",
        ),
        (1, 1, "70000", "| Name  |  Size |\n|-------|------:|\n| Bread |    12 |\n| 中文  | 70000 |\n"),
        (1, 0, "", "| Name  | Size |\n|-------|-----:|\n| Bread |   12 |\n|       |    7 |\n"),
    ],
)
def test_set_cell_keeps_columns_aligned(row: int, column: int, value: str, expected: str) -> None:
    """An aligned table stays aligned, in screen cells; a column grows only where the text needs it."""
    changed = set_cell(ALIGNED, _only(ALIGNED), row, column, value)
    assert changed == expected
    assert _only(changed).aligned


@pytest.mark.parametrize(
    ("body", "column", "value", "row"),
    [
        ("| a | b |\n|---|---|\n| 1 |\n", 1, "2", "| 1 | 2 |"),
        ("| a | b |\n|---|---|\n|1|2|\n", 0, "x\\", "|x\\ |2|"),
        ("| a | b |\n|---|---|\n|  |2|\n", 0, "x", "| x |2|"),
        (BARE, 0, "x", "x | 2"),
        (BARE, 0, "- x", "| - x | 2 |"),
    ],
)
def test_set_cell_in_uneven_rows(body: str, column: int, value: str, row: str) -> None:
    """Missing cells are added, extra ones stay, outer pipes come where a row would read as something else."""
    changed = set_cell(body, _only(body), 0, column, value)
    assert changed.split("\n")[2].rstrip() == row
    assert _only(changed).rows[0].text(column) == value


@given(
    st.lists(st.lists(CELL, min_size=1, max_size=4), min_size=1, max_size=3),
    st.sampled_from(["| {} |", "|{}|", "{}", "  | {}"]),
    NEWLINES,
    st.data(),
)
def test_editing_changes_one_cell(lines: list[list[str]], frame: str, newline: str, data: st.DataObject) -> None:
    """In any table an edit gives that cell its text, and leaves all other cells and lines as they were."""
    drawn = [frame.format(" | ".join(text.replace("|", "\\|").strip() + " " for text in line)) for line in lines]
    body = newline.join(["before", "", "| h1 | h2 | h3 |", "|---|---|---|", *drawn, "", "after"])
    table = next(iter(find_tables(body)), None)
    assert table is not None
    if not table.rows:
        return
    row = data.draw(st.integers(0, len(table.rows) - 1))
    column = data.draw(st.integers(0, 2))
    value = data.draw(CELL)
    changed = set_cell(body, table, row, column, value)
    after = find_tables(changed)[0]
    expected = _texts(table)
    expected[row] += [""] * (column + 1 - len(expected[row]))
    expected[row][column] = value.strip(" \t")
    width = max(map(len, [*expected, *_texts(after)]))
    assert [line + [""] * (width - len(line)) for line in _texts(after)] == [
        line + [""] * (width - len(line)) for line in expected
    ]
    if not table.aligned:
        old, new = table.rows[row], after.rows[row]
        assert (changed[: new.start], changed[new.end :]) == (body[: old.start], body[old.end :])


def test_edits_that_a_table_cannot_hold() -> None:
    """A text with a line end and a column that is not there are refused with their codes."""
    table = _only(ROUTES)
    for value in ("a\nb", "a\rb"):
        with pytest.raises(UsageError) as caught:
            set_cell(ROUTES, table, 0, 0, value)
        assert caught.value.code == "table.value"
    for call in (
        lambda: set_cell(ROUTES, table, 0, 4, "x"),
        lambda: set_cell(ROUTES, table, 0, -1, "x"),
        lambda: add_row(ROUTES, table, ["x"] * 5),
    ):
        with pytest.raises(UsageError) as caught:
            call()
        assert caught.value.code == "table.column"
    with pytest.raises(IndexError):
        set_cell(ROUTES, table, 2, 0, "x")


@pytest.mark.parametrize(
    ("body", "values", "expected"),
    [
        (ROUTES, ["A", "b | c"], ROUTES.replace("disconnected |\n", "disconnected |\n| A | b \\| c |  |  |\n")),
        (BARE, ["3", "4"], BARE + "| 3 | 4 |\n"),
        ("|a|b|\n|-|-|\n", ["1", "2"], "|a|b|\n|-|-|\n|1|2|\n"),
        ("|a|b|\r\n|-|-|\r\n|1|2|", ["3", "4"], "|a|b|\r\n|-|-|\r\n|1|2|\r\n|3|4|"),
        (
            ALIGNED,
            ["Croissant", "5"],
            "| Name      | Size |\n|-----------|-----:|\n| Bread     |   12 |\n"
            "| 中文      |    7 |\n| Croissant |    5 |\n",
        ),
    ],
)
def test_add_row(body: str, values: list[str], expected: str) -> None:
    """A new row has outer pipes, and the padding, columns and line ends of its table."""
    assert add_row(body, _only(body), values) == expected


@given(st.sampled_from([ROUTES, ALIGNED, BARE, "|a|b|\n|-|-|"]), st.lists(CELL, max_size=2))
def test_a_row_added_and_removed(body: str, values: list[str]) -> None:
    """A row is the last with its texts; removed again, the other texts are as before."""
    table = _only(body)
    at = len(table.rows)
    changed = _only(added := add_row(body, table, values))
    texts = [changed.rows[at].text(column) for column in range(len(values))]
    assert texts == [value.strip(" \t") for value in values]
    assert changed.aligned or not table.aligned or "\t" in added or body is BARE
    assert _texts(_only(remove_row(added, changed, at))) == _texts(table)


def test_long_bodies_are_searched_in_linear_time() -> None:
    """A line of many pipes, and many lines, are read once."""
    body = "| a | b |\n|---|---|\n" + "|" * 20_000 + "\n" + "| 1 | 2 |\n" * 5_000
    assert len(_only(body).rows) == 5_001
