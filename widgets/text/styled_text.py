"""Pieces: the plain data that every widget here draws instead of markup or styled text; and lines of them in columns.

A line on the screen is a tuple of pieces, a piece is a text and a tone. Tones name a meaning, never a colour;
the theme decides what they look like. Texts may come from any file: the code that draws a piece first makes its
control characters visible, and a piece is never read as markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

from memory.base.safe_text import cell_width, clip, visible

Tone: TypeAlias = Literal[
    "plain", "muted", "strong", "emphasis", "code", "heading", "accent", "link", "good", "warn", "alert"
]
"""What a piece of text means; `warn` and `alert` are reserved for what needs action."""


class Piece(NamedTuple):
    """A text of one tone; control characters in it are drawn as visible escapes."""

    text: str
    tone: Tone = "plain"


Line: TypeAlias = tuple[Piece, ...]
"""One line on the screen; pieces hold no newline (one that slips in is drawn as an escape)."""

EMPTY: Line = ()
"""The empty line."""


def line(*parts: str | Piece | Iterable[Piece]) -> Line:
    """Join strings (plain), pieces and lines to one line."""
    pieces: list[Piece] = []
    for part in parts:
        if isinstance(part, str):
            pieces.append(Piece(part))
        elif isinstance(part, Piece):
            pieces.append(part)
        else:
            pieces.extend(part)
    return tuple(pieces)


def line_width(content: Line) -> int:
    """The width of a line in terminal cells, as it will be drawn."""
    cells = 0
    for text, _ in content:
        # Most texts are plain, and lists draw many of them with each key.
        cells += len(text) if text.isascii() and text.isprintable() else cell_width(visible(text))
    return cells


def line_text(content: Line) -> str:
    """The words of a line without its tones, as they will be drawn."""
    return "".join(visible(piece.text) for piece in content)


def clip_line(content: Line, width: int) -> Line:
    """The line cut to `width` cells; a cut piece ends in an ellipsis."""
    left = width
    for text, _ in content:
        left = left - len(text) if text.isascii() and text.isprintable() else -1
        if left < 0:
            break
    else:
        return content
    kept: list[Piece] = []
    left = width
    pieces = [piece for piece in content if piece.text]
    for index, (text, tone) in enumerate(pieces, 1):
        if left <= 0:
            break
        # Cutting before measuring keeps a text of a megabyte as cheap as a short one.
        limit = 4 * left + 64
        plain = text.isascii() and text.isprintable()
        shown = text[:limit] if plain else visible(text[:limit])
        cells = len(shown) if plain else cell_width(shown)
        more = len(text) > limit or index < len(pieces)
        if cells > left or (more and (cells == left or len(text) > limit)):
            kept.append(Piece(clip(shown if cells > left else shown + "…" * 2, left), tone))
            break
        kept.append(Piece(shown, tone))
        left -= cells
    return tuple(kept)


def pad_line(content: Line, width: int, *, right: bool = False) -> Line:
    """The line clipped or filled with spaces to exactly `width` cells; `right` puts the spaces before it."""
    clipped, missing = content, width
    for text, _ in content:
        missing = missing - len(text) if text.isascii() and text.isprintable() else -1
        if missing < 0:
            clipped = clip_line(content, width)
            missing = width - line_width(clipped)
            break
    if missing <= 0:
        return clipped
    space = Piece(" " * missing)
    return (space, *clipped) if right else (*clipped, space)


_WORDS = re.compile(" +|[^ ]+")


def wrap_line(content: Line, width: int, *, indent: int = 0) -> list[Line]:
    """Return a line wrapped at spaces; later lines are indented. Words wider than a line are cut.

    Every line is at most `width` cells wide; spaces where a line breaks are dropped.
    """
    width = max(1, width)
    indent = min(indent, max(0, width - 8))
    rows: list[list[Piece]] = [[]]
    used = 0
    for text, tone in content:
        plain = text.isascii() and text.isprintable()
        for word in _WORDS.findall(text if plain else visible(text)):
            cells = len(word) if plain else cell_width(word)
            for part in (word,) if cells <= width - indent else cut_text(word, width - indent):
                cells = cells if part is word else cell_width(part)
                if used + cells > width:
                    rows.append([Piece(" " * indent)] if indent else [])
                    used = indent
                if part.isspace() and len(rows) > 1 and used == indent:
                    continue
                before = rows[-1].pop().text if rows[-1] and rows[-1][-1].tone == tone else ""
                rows[-1].append(Piece(before + part, tone))
                used += cells
    return [tuple(row) for row in rows]


def cut_text(text: str, width: int) -> Iterator[str]:
    """Yield a text in parts of at most `width` cells, at least one."""
    part, used = "", 0
    for character in text if cell_width(text) > width else ():
        cells = cell_width(character)
        if used + cells > width and part:
            yield part
            part, used = "", 0
        part += character
        used += cells
    yield part or text


Content: TypeAlias = str | Piece | Line
"""What a cell holds: plain text, one piece, or several."""


class Column(NamedTuple):
    """One column: a fixed width in cells, or 0 for the one flexible column that gets the remaining cells.

    When the flexible column would get fewer than `minimum` cells, the fixed column of the lowest `importance`
    is dropped first (the rightmost of equals); the flexible column always stays. One of the importance 9 stays as
    well while the flexible one has `LEAST` cells.
    """

    name: str
    width: int = 0
    align: Literal["left", "right"] = "left"
    importance: int = 0
    minimum: int = 16


LEAST = 8
"""The least cells of the flexible column beside columns of the importance 9, such as the one with the name."""


SCRAP = 8
"""The cells of the last piece of a cell that are worth showing; a piece of which less would be left is left out."""


class Columns:
    """A row's layout, computed once per width and shared by all rows of a list."""

    def __init__(self, *columns: Column, gap: int = 1) -> None:
        if sum(column.width == 0 for column in columns) != 1:
            raise ValueError("exactly one column is flexible (width 0)")
        self._columns = columns
        self._gap = gap
        self._fitted: dict[int, tuple[tuple[Column, int], ...]] = {}

    def fit(self, width: int) -> tuple[tuple[Column, int], ...]:
        """The columns that fit into `width` cells, in order, each with its width in cells."""
        fitted = self._fitted.get(width)
        if fitted is None:
            fitted = self._fitted[width] = self._fit(width)
        return fitted

    def _fit(self, width: int) -> tuple[tuple[Column, int], ...]:
        kept = list(self._columns)
        minimum = next(column.minimum for column in kept if column.width == 0)
        while True:
            fixed = sum(column.width for column in kept) + self._gap * (len(kept) - 1)
            rest = width - fixed
            droppable = [index for index, column in enumerate(kept) if column.width]
            last = min(droppable, key=lambda index: (kept[index].importance, -index), default=-1)
            if last < 0 or rest >= (LEAST if kept[last].importance == 9 else minimum):
                return tuple((column, column.width or max(0, rest)) for column in kept)
            del kept[last]

    def line(self, width: int, cells: Mapping[str, Content]) -> Line:
        """The cells as one line of exactly `width` cells; a missing cell is blank, a wide one is clipped.

        The flexible column also gets the cells that a last column right of it leaves blank.
        """
        fitted = list(self.fit(width))
        contents: list[Line] = []
        for column, _ in fitted:
            content = cells.get(column.name, EMPTY)
            contents.append(line(content) if isinstance(content, str | Piece) else content)
        if len(fitted) > 1 and not fitted[-2][0].width:
            (last, room), (column, rest) = fitted.pop(), fitted.pop()
            used = min(room, line_width(contents[-1]))
            used = room if used and last.align != "right" else used
            fitted += [(column, rest + room - used), (last, used)] if used else [(column, rest + self._gap + room)]
        pieces: list[Piece] = []
        for (column, room), content in zip(fitted, contents, strict=False):
            if pieces:
                pieces.append(Piece(" " * self._gap))
            if len(content) > 1 and 0 <= room - line_width(content[:-1]) < min(SCRAP, line_width(content[-1:])):
                content = content[:-1]
            pieces.extend(pad_line(content, room, right=column.align == "right"))
        return tuple(pieces)
