"""Cuts a body of text into the pieces that a merge takes as a whole: fields, table rows, bullets, blocks, lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from memory.document.lines import hidden_lines, read_bullets, read_fields, split_lines

What = Literal["entry", "title", "field", "row", "text", "section", "front", "file"]
"""The kinds of parts that can be in conflict."""
Key = tuple[str, ...]


class LinePiece(NamedTuple):
    """Some whole lines: `raw` is their source, `value` what counts when they are compared.

    `key` is what a field, a table row or a table's header is known by in its body; None is free text, known by
    what it says.
    """

    raw: str
    value: str
    key: Key | None = None


def split_tail(text: str) -> tuple[str, str]:
    """Return a text without the blank lines at its end, and these; the last line's end goes with them."""
    core = text.rstrip(" \t\r\n")
    return core, text[len(core) :]


def split_body(body: str) -> list[LinePiece]:
    """Return the pieces of a body; joined they are the body."""
    spans = _keyed(body)
    pieces: list[LinePiece] = []
    at = 0
    for start, end, key, value in spans:
        if start < at:
            continue
        pieces += _free(body[at:start])
        pieces.append(LinePiece(body[start:end], value, key))
        at = end
    return _numbered([*pieces, *_free(body[at:])])


def join_pieces(raws: Iterable[str], newline: str) -> str:
    """Return lines put together again; each but the last gets a line end where it has none."""
    parts = list(raws)
    for index, raw in enumerate(parts[:-1]):
        if not raw.endswith(("\n", "\r")):
            parts[index] = raw + newline
    return "".join(parts)


def same_text(raw: str) -> str:
    """Return what counts of free text: its lines without line ends and the space before them."""
    return "\n".join(line.rstrip(" \t") for line, _ in split_lines(raw)) if raw else ""


def _keyed(body: str) -> list[tuple[int, int, Key, str]]:
    """Return (start, end, key, value) of fields, and of the lines of tables that have a key column."""
    found = [(node.start, node.end, ("field", node.key), node.value) for node in read_fields(body).nodes]
    spans: list[tuple[int, int, Key, str]] = list(found)
    if "|" in body:
        from memory.document.tables import find_tables

        for table in find_tables(body):
            column = table.column("ID")
            column = table.column("Name") if column is None else column
            if column is None:
                continue
            name = table.header[column].casefold()
            head = "\t".join(("", *(cell.text for cell in table.delimiter.cells), *table.header))
            spans.append((table.start, table.delimiter.end, ("table", name), head))
            for row in table.rows:
                value = "\t".join(cell.text for cell in row.cells)
                spans.append((row.start, row.end, ("row", name, row.text(column)), value))
    return sorted(spans, key=lambda span: span[:2])


def _free(text: str) -> list[LinePiece]:
    """Return the pieces of text between fields and tables: bullets, blocks of code or HTML, single lines."""
    if not text:
        return []
    if not text.strip(" \t\r\n"):
        return [_line(line + end) for line, end in split_lines(text)]
    pieces: list[LinePiece] = []
    bullets = {bullet.start: bullet.end for bullet in read_bullets(text)}
    hidden = hidden_lines(text)
    lines = split_lines(text)
    at = number = 0
    while number < len(lines):
        stop = at + len(lines[number][0]) + len(lines[number][1])
        behind = number + 1
        end = bullets.get(at, stop)
        while behind < len(lines) and (stop < end or (hidden[number] and hidden[behind])):
            stop += len(lines[behind][0]) + len(lines[behind][1])
            behind += 1
        pieces.append(_line(text[at:stop]))
        at, number = stop, behind
    return pieces


def _line(raw: str) -> LinePiece:
    return LinePiece(raw, same_text(raw))


def _numbered(pieces: Sequence[LinePiece]) -> list[LinePiece]:
    """Return the pieces with keys of their own: of equal ones the second and further carry a number."""
    seen: dict[Key, int] = {}
    numbered = []
    for piece in pieces:
        if piece.key is not None:
            count = seen.get(piece.key, 0)
            seen[piece.key] = count + 1
            if count:
                piece = LinePiece(piece.raw, piece.value, (*piece.key, str(count)))
        numbered.append(piece)
    return numbered
