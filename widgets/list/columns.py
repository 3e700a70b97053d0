"""Columns: cells laid out side by side in a width that changes with the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from widgets.text.styled_text import Line, Piece, pad_line

Content: TypeAlias = str | Piece | Line
"""What a cell holds: plain text, one piece, or several."""


class Column(NamedTuple):
    """One column: a fixed width in cells, or 0 for the one column that takes what is left.

    When the flexible column would get fewer than `minimum` cells, the fixed column of the lowest `importance`
    goes first (the rightmost of equals); the flexible column always stays.
    """

    name: str
    width: int = 0
    align: Literal["left", "right"] = "left"
    importance: int = 0
    minimum: int = 16


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
            if rest >= minimum or len(kept) == 1:
                return tuple((column, column.width or max(0, rest)) for column in kept)
            droppable = [index for index, column in enumerate(kept) if column.width]
            del kept[min(droppable, key=lambda index: (kept[index].importance, -index))]

    def line(self, width: int, cells: Mapping[str, Content]) -> Line:
        """The cells as one line of exactly `width` cells; a missing cell is blank, a wide one is clipped."""
        pieces: list[Piece] = []
        for index, (column, cell_columns) in enumerate(self.fit(width)):
            if index:
                pieces.append(Piece(" " * self._gap))
            content = cells.get(column.name, ())
            if isinstance(content, str):
                content = (Piece(content),)
            elif isinstance(content, Piece):
                content = (content,)
            pieces.extend(pad_line(content, cell_columns, right=column.align == "right"))
        return tuple(pieces)
