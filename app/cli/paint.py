"""Lines for people: columns measured in terminal cells, and colour for what needs action."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memory.safetext import cell_width, clip, visible

_RED, _YELLOW, _OFF = "\x1b[31m", "\x1b[33m", "\x1b[0m"


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

    def columns(
        self, rows: Iterable[Sequence[str]], *, indent: str = "  ", alerts: Mapping[int, int] | None = None
    ) -> Iterator[str]:
        """Yield the rows as lines with aligned columns; the last column is never padded, and clipped to the screen.

        `alerts` maps a row's index to the column of it that needs action. Columns that are empty in every row
        take no room.
        """
        table = [[visible(cell) for cell in row] for row in rows]
        if not table:
            return
        widths = [max(map(cell_width, column)) for column in zip(*table, strict=True)]
        for index, row in enumerate(table):
            alert = alerts.get(index) if alerts else None
            yield self._row(row, widths, indent, alert)

    def _row(self, row: Sequence[str], widths: Sequence[int], indent: str, alert: int | None) -> str:
        parts = [indent]
        used = cell_width(indent)
        last = len(row) - 1
        for column, cell in enumerate(row):
            if not widths[column]:
                continue
            if column == last:
                shown = cell if self.width is None else clip(cell, max(self.width - used, 1))
                gap = ""
            else:
                shown = cell
                gap = " " * (widths[column] - cell_width(cell) + 2)
            used += widths[column] + 2
            parts.append((self.alert(shown) if column == alert else shown) + gap)
        return "".join(parts).rstrip()


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
