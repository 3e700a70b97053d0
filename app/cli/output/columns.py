"""Lines for people: columns measured in terminal cells, and colour for what needs action."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import add

from memory.base.safe_text import cell_width, clip, visible

_RED, _YELLOW, _OFF = "\x1b[31m", "\x1b[33m", "\x1b[0m"
_MARK, _UNMARK = "\x1b[1;4m", "\x1b[22;24m"


class Paint:
    """How lines are drawn: whether in colour, and how wide at most (None: as wide as they are)."""

    def __init__(self, color: bool, width: int | None) -> None:
        """Keep both; colour marks what needs action and nothing else."""
        self.color = color
        self.width = width

    def alert(self, text: str) -> str:
        """Mark what is overdue, broken or refused."""
        return f"{_RED}{text}{_OFF}" if self.color and text else text

    def notice(self, text: str) -> str:
        """Mark what a person should look at some time."""
        return f"{_YELLOW}{text}{_OFF}" if self.color and text else text

    def line(self, text: str, indent: str = "") -> str:
        """Return one line of text from a file, safe and not wider than the screen."""
        text = indent + visible(text)
        return text if self.width is None else clip(text, self.width)

    def marked(self, text: str, marks: Sequence[tuple[int, int]], indent: str = "") -> str:
        """Return one line as `line` does, with some places of the text bold and underlined where colour is wanted."""
        if not self.color or not marks:
            return self.line(text, indent)
        shown, at, left = indent, 0, (self.width or 1 << 30) - len(indent)
        for start, end in [*marks, (len(text), len(text))]:
            for part, mark in ((text[at:start], False), (text[start:end], True)):
                part = visible(part)
                if cell_width(part) > left:
                    part = clip(part, max(left, 0))
                left -= cell_width(part)
                shown += f"{_MARK}{part}{_UNMARK}" if mark and part else part
            at = end
            if left <= 0:
                break
        return shown

    def columns(
        self, rows: Iterable[Sequence[str]], *, indent: str = "  ", alerts: Mapping[int, int] | None = None
    ) -> Iterator[str]:
        """Yield the rows as lines with aligned columns; the last column is never padded, and clipped to the screen.

        `alerts` maps a row's index to the column of it that needs action. Columns that are empty in every row
        take no room.
        """
        columns = [_visible(column) for column in zip(*rows, strict=True)]
        if not columns:
            return
        shown: list[list[str]] = []
        used = cell_width(indent)
        for number, column in enumerate(columns):
            sizes = _sizes(column)
            width = max(sizes)
            if not width:
                continue
            cells, gaps = column, None
            if number < len(columns) - 1:
                gaps = [" " * (width - size + 2) for size in sizes]
            elif self.width is not None:
                room = max(self.width - used, 1)
                cells = [clip(cell, room) for cell in column]
            if alerts:
                cells = [self.alert(cell) if alerts.get(row) == number else cell for row, cell in enumerate(cells)]
            shown.append(cells if gaps is None else list(map(add, cells, gaps)))
            used += width + 2
        if not shown:
            shown.append(columns[0])
        for row in zip(*shown, strict=True):
            yield (indent + "".join(row)).rstrip()


def _visible(column: Sequence[str]) -> list[str]:
    """Return the cells of a column made safe; one look at all of them tells whether any has to be."""
    whole = "".join(column)
    return list(column) if visible(whole) is whole else [visible(cell) for cell in column]


def _sizes(column: Sequence[str]) -> list[int]:
    """Return how many cells of the terminal each one takes."""
    whole = "".join(column)
    return list(map(len if whole.isascii() and whole.isprintable() else cell_width, column))


def wants_color(environ: Mapping[str, str], terminal: bool) -> bool:
    """Tell whether colour is wanted: on a terminal that can, unless NO_COLOR says otherwise."""
    return terminal and not environ.get("NO_COLOR") and environ.get("TERM", "") not in ("", "dumb")


def screen_width(terminal: bool) -> int | None:
    """Return the columns of the terminal, None where nobody looks."""
    if not terminal:
        return None
    try:
        return os.get_terminal_size(1).columns or 80
    except (OSError, ValueError):
        return 80
