"""Writes the same picture with fewer bytes: Rich sets and resets all colours for each run of characters.

A slow connection shows a dialog twice as fast. `leaner` is between the application and its driver.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from rich.cells import cell_len

_JOINED = re.compile("[\u200d\ufe0f\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff]")
"""Signs that join others to one emoji; terminals disagree on how wide that is."""
_MOVE = re.compile(r"\x1b\[(\d+);(\d+)H")
_LOST = re.compile(r"(?:\x1b\[\d+;\d+H)?\r?\n(?=(?:\x1b\[[0-9;]*m)*\x1b\[\d+;\d+H)")
"""The end of a line before the cursor is put elsewhere, with the move to it."""
_STYLE = re.compile(r"\x1b\[([0-9;]*)m")
_PART = re.compile(r"[34]8;(?:2;\d+;\d+;\d+|5;\d+)|\d+")


class _Look(NamedTuple):
    """What a sequence of parameters asks for, each as parameters; empty: the terminal's own."""

    colour: str = ""
    ground: str = ""
    others: frozenset[str] = frozenset()


@lru_cache(4096)
def _look(parameters: str) -> _Look:
    """Return the look that parameters ask for, beginning with none; 0 forgets what comes before it."""
    colour = ground = ""
    others: set[str] = set()
    for part in _PART.findall(parameters):
        if part == "0":
            colour, ground, others = "", "", set()
        elif part.startswith(("3", "9")) and len(part) > 1:
            colour = "" if part == "39" else part
        elif part.startswith(("4", "10")) and len(part) > 1:
            ground = "" if part == "49" else part
        else:
            others.add(part)
    return _Look(colour, ground, frozenset(others))


@lru_cache(16_384)
def _change(now: _Look, wanted: _Look) -> str:
    """Return the shortest sequence from one look to another."""
    if now == wanted:
        return ""
    if now.others - wanted.others or (now.colour and not wanted.colour) or (now.ground and not wanted.ground):
        parts = ["0", *sorted(wanted.others), wanted.colour, wanted.ground]
    else:
        parts = sorted(wanted.others - now.others)
        parts += [
            wanted.colour if wanted.colour != now.colour else "",
            wanted.ground if wanted.ground != now.ground else "",
        ]
    return f"\x1b[{';'.join(filter(None, parts))}m"


def lean(data: str) -> str:
    """Return what draws the same as `data`, from no look to no look."""
    out: list[str] = []
    now = wanted = _Look()
    pieces = _STYLE.split(_LOST.sub("", data))
    for text, parameters in zip(pieces[::2], (*pieces[1::2], ""), strict=True):
        if _MOVE.fullmatch(text):
            # Where the cursor is put has no look: what follows there may have that of what came before.
            out.append(text)
        elif text:
            # A blank has no colour of its own, unless it is underlined or reversed.
            meant = wanted
            if not wanted.others and not now.others and text.isspace() and text.isascii() and text.isprintable():
                meant = wanted._replace(colour=now.colour)
            out.append(_change(now, meant))
            out.append(text)
            now = meant
        wanted = _look(parameters) if parameters not in ("", "0") else _Look()
    out.append(_change(now, _Look()))
    return "".join(out)


def placed(data: str) -> str:
    """Return the same with the cursor put to its place after each run with a joined emoji, so that no border moves."""
    before, *parts = _MOVE.split(data)
    out = [before]
    for row, column, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        out.append(f"\x1b[{row};{column}H")
        place = int(column)
        for run in re.split(r"(\x1b\[[0-9;]*m)", text):
            out.append(run)
            if not run.startswith("\x1b"):
                place += cell_len(run)
                if _JOINED.search(run):
                    out.append(f"\x1b[{row};{place}H")
    return "".join(out)


ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"
"""Switch to the alternate screen of a terminal, and back."""


def staying(write: Callable[[str], None], stays: Callable[[], bool], *, entered: bool) -> Callable[[str], None]:
    """Return a function that writes all but the ways out of the alternate screen while `stays`.

    With `entered` the terminal shows that screen already, so the first way into it is left out too.
    """

    def written(data: str) -> None:
        nonlocal entered
        if entered and ENTER in data:
            entered, data = False, data.replace(ENTER, "")
        if LEAVE in data and stays():
            data = data.replace(LEAVE, "")
        if data:
            write(data)

    return written


def leaner(write: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that writes with fewer bytes."""

    def written(data: str) -> None:
        if "\x1b[" in data:
            data = lean(placed(data) if _JOINED.search(data) else data)
        write(data)

    return written
