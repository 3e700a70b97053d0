"""A list in curses that shows the same task titles: the floor below every library.

python -m bench.curses_list tasks.md
"""

from __future__ import annotations

import curses
import sys

from bench.reference import OPEN_TASK


def show(window: curses.window, titles: list[tuple[str, str]]) -> None:
    """Draw the lines in view; `j` and `k` move, `q` leaves."""
    curses.use_default_colors()
    cursor = 0
    while True:
        height, width = window.getmaxyx()
        top = max(0, cursor - height + 1)
        window.erase()
        for row, (priority, title) in enumerate(titles[top : top + height]):
            style = curses.A_REVERSE if top + row == cursor else curses.A_NORMAL
            window.addnstr(row, 0, f" {priority:<6} {title}", width - 1, style)
        key = window.getch()
        if key == ord("q"):
            return
        cursor = max(0, min(len(titles) - 1, cursor + (key == ord("j")) - (key == ord("k"))))


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8", errors="replace") as stream:
        curses.wrapper(show, OPEN_TASK.findall(stream.read()))
