"""Pipe tables in a body of text: found with the position of every cell, and edited one cell at a time.

A table is as in GitHub's Markdown: a header row, a delimiter row with as many cells, and rows up to a blank line or the
next block. A pipe after a backslash belongs to its cell, inside a code span too; outer pipes may be missing; rows may
have fewer or more cells than the header. Positions are offsets in the body.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from memory.base.safe_text import cell_width, pad
from memory.errors import UsageError

from .lines import hidden_lines

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?")
_PIPE = re.compile(r"(?<!\\)\|")
# A dash and a blank begin a list; a tab, or four blanks, code.
_DELIMITER = re.compile(r" {0,3}(?![ \t]|-[ \t])\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
# The beginning of another block, which ends a table: quotes, headings, fences, lists, rules, HTML, code.
_BLOCK = re.compile(
    r" {0,3}(?:>|#{1,6}(?:[ \t]|$)|`{3}|~{3}|[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)"
    r"|(?:\*[ \t]*){3,}$|(?:-[ \t]*){3,}$|(?:_[ \t]*){3,}$|<[A-Za-z/!?])|(?: {4}| {0,3}\t)"
)
_LINE_END = re.compile(r"[\r\n]")


class Cell(NamedTuple):
    """One cell: `text` without padding and with its pipes unescaped; `start:end` includes the padding."""

    text: str
    start: int
    end: int


class TableRow(NamedTuple):
    """One row: its cells as written, maybe fewer or more than the header has; its line in the body from 0.

    `start:end` includes the line end.
    """

    cells: tuple[Cell, ...]
    line: int
    start: int
    end: int

    def text(self, column: int) -> str:
        """Return the text of a cell; a missing cell is empty."""
        return self.cells[column].text if column < len(self.cells) else ""


class Table(NamedTuple):
    """One table; `aligned` says that all its lines have their pipes in the same screen columns."""

    start: int
    end: int
    header: tuple[str, ...]
    rows: tuple[TableRow, ...]
    line: int
    aligned: bool
    header_row: TableRow
    delimiter: TableRow

    def column(self, name: str) -> int | None:
        """Return the first column of that name, ignoring case; None if there is none."""
        wanted = name.strip().casefold()
        return next((at for at, title in enumerate(self.header) if title.casefold() == wanted), None)


def find_tables(body: str) -> tuple[Table, ...]:
    """Return the tables of a body in file order; tables in fenced code or in HTML comments do not count."""
    if "|" not in body or "-" not in body:
        return ()
    return _find(body)


# Cached because `check`, links and views all parse the same large tables.
@lru_cache(maxsize=8)
def _find(body: str) -> tuple[Table, ...]:
    spans = [(match.start(), match.end()) for match in _LINE.finditer(body) if match.end() > match.start()]
    texts = [body[start:end].rstrip("\r\n") for start, end in spans]
    hidden = hidden_lines(body)
    tables: list[Table] = []
    at = 1
    while at < len(texts):
        if hidden[at] or hidden[at - 1] or not _begins_table(texts[at - 1], texts[at]):
            at += 1
            continue
        stop = at + 1
        while stop < len(texts) and not hidden[stop] and texts[stop].strip() and not _BLOCK.match(texts[stop]):
            stop += 1
        lines = [
            TableRow(_cells(texts[number], spans[number][0]), number, *spans[number]) for number in range(at - 1, stop)
        ]
        header, delimiter, *rows = lines
        tables.append(
            Table(
                start=header.start,
                end=lines[-1].end,
                header=tuple(cell.text for cell in header.cells),
                rows=tuple(rows),
                line=header.line,
                aligned=_is_aligned(texts[at - 1 : stop]),
                header_row=header,
                delimiter=delimiter,
            )
        )
        at = stop + 1
    return tuple(tables)


def _begins_table(header: str, delimiter: str) -> bool:
    if "|" not in delimiter or "|" not in header or not _DELIMITER.fullmatch(delimiter) or _BLOCK.match(header):
        return False
    if header.strip(" \t") == "|":
        return False  # A line of one pipe has no cell.
    return len(_cells(delimiter)) == len(_cells(header))


def _cells(line: str, begin: int = 0) -> tuple[Cell, ...]:
    """Return the cells of a line that begins at `begin`; a pipe after a backslash does not end one."""
    parts = _PIPE.split(line) if "\\" in line else line.split("|")
    if len(parts) > 1 and not parts[0].strip(" \t"):
        begin += len(parts.pop(0)) + 1
    if len(parts) > 1 and not parts[-1].strip(" \t"):
        parts.pop()
    cells = []
    for part in parts:
        end = begin + len(part)
        cells.append(Cell(part.strip(" \t").replace("\\|", "|"), begin, end))
        begin = end + 1
    return tuple(cells)


def _is_aligned(lines: Sequence[str]) -> bool:
    """Return whether all lines have their pipes in the same terminal columns."""
    return not any("\t" in line for line in lines) and len(set(map(_pipe_places, lines))) == 1


def _pipe_places(line: str) -> tuple[int, ...]:
    """Return the terminal column of each pipe."""
    widths = accumulate(map(cell_width, _PIPE.split(line)[:-1]))
    return tuple(number + width for number, width in enumerate(widths))


def set_cell(body: str, table: Table, row: int, column: int, value: str) -> str:
    """Return the body with another text in one cell; a row that is too short gets the missing cells.

    Nothing else changes, except that a column of an aligned table grows where the text needs more space, and that a row
    is written anew, with outer pipes, where it would otherwise be read as something else. Raises UsageError
    `table.value` for a text with line ends, `table.column` for a column the table does not have, IndexError for a row
    it does not have.
    """
    target = table.rows[row]
    if not 0 <= column < max(len(table.header), len(target.cells)):
        raise UsageError("table.column", f"the table has {len(table.header)} columns, no number {column + 1}")
    text = _escape(value)
    texts = [cell.text for cell in target.cells]
    texts += [""] * (column + 1 - len(texts))
    texts[column] = value.strip(" \t")
    if column >= len(target.cells):
        return _replace_row(body, table, row, texts)
    wide = _widen(body, table, column, cell_width(text)) if table.aligned else body
    cell = _table_at(wide, table.start).rows[row].cells[column]
    raw = wide[cell.start : cell.end]
    changed = wide[: cell.start] + (_justify(raw, table, column, text) if table.aligned else _refill(raw, text))
    changed += wide[cell.end :]
    return changed if _reads(changed, table, row, texts) else _replace_row(body, table, row, texts)


def add_row(body: str, table: Table, values: Sequence[str]) -> str:
    """Return the body with a new last row; missing values are empty cells.

    The row has outer pipes, and the padding and column widths of the table. Raises UsageError `table.value` for a text
    with line ends, `table.column` for more values than columns.
    """
    if len(values) > len(table.header):
        raise UsageError("table.column", f"the table has {len(table.header)} columns, not {len(values)}")
    texts = [value.strip(" \t") for value in values] + [""] * (len(table.header) - len(values))
    cells = [_escape(text) for text in texts]
    newline = _line_end(body, table.header_row)
    if table.aligned:
        for column, cell in enumerate(cells):
            grown = _widen(body, table, column, cell_width(cell))
            if grown != body:
                # Columns only grow, so the table is still at the same position with the same rows.
                return add_row(grown, _table_at(grown, table.start), values)
    line = _compose_row(body, table, cells)
    line = newline + line if body[table.end - 1] not in "\r\n" else line + newline
    changed = body[: table.end] + line + body[table.end :]
    if not _reads(changed, table, len(table.rows), texts):
        raise UsageError("table.value", "the table cannot hold this row")
    return changed


def remove_row(body: str, table: Table, row: int) -> str:
    """Return the body without the line of one row; IndexError for a row that the table does not have."""
    target = table.rows[row]
    return body[: target.start] + body[target.end :]


def compose_table(header: Sequence[str], rows: Sequence[Sequence[str]], newline: str = "\n") -> str:
    """Return a new aligned table with outer pipes; every line ends with `newline`."""
    count = len(header)
    lines = [[*map(_escape, line[:count]), *[""] * (count - len(line))] for line in (header, *rows)]
    widths = [max(3, *map(cell_width, column)) for column in zip(*lines, strict=True)]
    drawn = [f"| {' | '.join(map(pad, line, widths))} |" for line in lines]
    drawn.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "".join(line + newline for line in drawn)


def _escape(value: str) -> str:
    if _LINE_END.search(value):
        raise UsageError("table.value", "a table cell holds one line", "write it without line ends")
    text = value.strip(" \t").replace("|", "\\|")
    # A backslash at the end would escape the pipe after it, so a space goes in between.
    return text + " " if text.endswith("\\") else text


def _refill(raw: str, text: str) -> str:
    """Put a text between the padding of a cell."""
    inner = raw.strip(" \t")
    if not inner:
        return f" {text} " if raw and text else text or raw
    left = raw[: len(raw) - len(raw.lstrip(" \t"))]
    return left + text + raw[len(left) + len(inner) :]


def _justify(raw: str, table: Table, column: int, text: str) -> str:
    """Return a text padded to the width of the cell that it replaces, on the side of the column's alignment."""
    width = cell_width(raw)
    left = " " if raw.startswith(" ") else ""
    right = " " if raw.endswith(" ") and cell_width(left + text) < width else ""
    space = " " * (width - cell_width(left + text + right))
    return left + (space + text if _is_right(table, column) else text + space) + right


def _widen(body: str, table: Table, column: int, width: int) -> str:
    """Return the body with one column widened in all lines until a text of `width` terminal cells fits."""
    lines = [table.header_row, table.delimiter, *table.rows]
    if column >= min(len(line.cells) for line in lines):
        return body
    header = table.header_row.cells[column]
    raw = body[header.start : header.end]
    padding = int(raw.startswith(" ")) + int(raw.endswith(" "))
    missing = width + padding - cell_width(raw)
    if missing <= 0:
        return body
    pieces, done = [], 0
    for line in lines:
        cell = line.cells[column]
        raw = body[cell.start : cell.end]
        if line is table.delimiter:
            at = raw.index("-")
            grown = raw[:at] + "-" * missing + raw[at:]
        else:
            grown = " " * missing + raw if _is_right(table, column) else raw + " " * missing
        pieces += [body[done : cell.start], grown]
        done = cell.end
    return "".join([*pieces, body[done:]])


def _is_right(table: Table, column: int) -> bool:
    """Return whether the delimiter row aligns a column to the right."""
    rule = table.delimiter.cells[column].text if column < len(table.delimiter.cells) else ""
    return rule.endswith(":") and not rule.startswith(":")


def _replace_row(body: str, table: Table, row: int, texts: Sequence[str]) -> str:
    """Rewrite a whole row, with outer pipes, where a smaller edit would be read as something else."""
    target = table.rows[row]
    line = f"{_indent(body, target)}| {' | '.join(map(_escape, texts))} |"
    changed = body[: target.start] + line + _line_end(body, target) + body[target.end :]
    if not _reads(changed, table, row, texts):
        raise UsageError("table.value", "the table cannot hold this text")
    return changed


def _compose_row(body: str, table: Table, cells: Sequence[str]) -> str:
    """Draw a new row with outer pipes: with the padding of the header, in its columns where they are aligned."""
    header = [body[cell.start : cell.end] for cell in table.header_row.cells]
    padded = any(raw.startswith(" ") or raw.endswith(" ") for raw in header)
    drawn = [f" {text} " if padded else text for text in cells]
    if table.aligned and body[table.header_row.start : table.header_row.end].lstrip(" ").startswith("|"):
        drawn = [_justify(raw, table, at, text) for at, (raw, text) in enumerate(zip(header, cells, strict=True))]
    return f"{_indent(body, table.header_row)}|{'|'.join(drawn)}|"


def _indent(body: str, row: TableRow) -> str:
    """Return the spaces before a row."""
    source = body[row.start : row.end]
    return source[: len(source) - len(source.lstrip(" "))]


def _line_end(body: str, row: TableRow) -> str:
    source = body[row.start : row.end]
    return source[len(source.rstrip("\r\n")) :]


def _table_at(body: str, start: int) -> Table:
    return next(table for table in find_tables(body) if table.start == start)


def _reads(body: str, table: Table, row: int, texts: Sequence[str]) -> bool:
    """Return whether the body still has the table at its position, with exactly these texts in one row."""
    found = next((other for other in find_tables(body) if other.start == table.start), None)
    if found is None or found.header != table.header or row >= len(found.rows):
        return False
    cells = [cell.text for cell in found.rows[row].cells]
    width = max(len(cells), len(texts))
    return cells + [""] * (width - len(cells)) == list(texts) + [""] * (width - len(texts))
