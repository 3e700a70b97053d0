"""What a change did, entry by entry, as lines of a detail: before and after side by side where there is room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory.files.diff import ChangeView
from memory.files.snapshot import plain_title
from widgets.detail import Caption, DetailLine, Lines, Prose, Spacer
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Line, Piece, Tone, clip_line, line, pad_line, wrap_line

SHOWN_LINES = 200
"""The most lines of one entry that are shown."""

SHOWN_ENTRIES = 50
"""The most entries of one change that are shown."""

BESIDE = 44
"""From so many cells on, a difference is shown side by side."""


def view_lines(views: Sequence[ChangeView], glyphs: Glyphs, width: int = 0) -> list[DetailLine]:
    """Each entry with what happened to it, in `width` cells."""
    found: list[DetailLine] = []
    for view in views[:SHOWN_ENTRIES]:
        found += [Spacer(), Caption(f"{view.kind.upper()}  {plain_title(view.file, view.title)}")]
        place = place_of(view, glyphs)
        if place != view.title:
            found.append(Prose(place, tone="muted"))
        both = view.kind == "edited" and width >= BESIDE
        found.append(Lines(tuple(beside(view.lines, width) if both else diff_lines(view.lines))))
    if len(views) > SHOWN_ENTRIES:
        found += [Spacer(), Prose(f"and {len(views) - SHOWN_ENTRIES:,} more entries", tone="muted")]
    return found


def place_of(view: ChangeView, glyphs: Glyphs) -> str:
    """Where an entry is, and where it was before if it moved."""
    here = f"{view.file}, {view.section}" if view.section and view.section != view.title else view.file
    if view.moved_from is None:
        return here
    there = view.moved_from.replace(": ", ", ", 1)
    return (
        f"{there} {glyphs.right} {view.section or view.file}"
        if ".md" not in there
        else f"{there} {glyphs.right} {here}"
    )


def diff_lines(lines: Sequence[str]) -> list[Line]:
    """Lines that begin with `-`, `+` or a space, each in its tone."""
    shown = []
    for text in lines[:SHOWN_LINES]:
        tone: Tone = "good" if text.startswith("+") else "alert" if text.startswith("-") else "muted"
        # Apart from the text, which often begins with the dash of a bullet.
        shown.append(line(Piece(f"{text[:1]} {text[1:]}".rstrip(), tone)))
    if len(lines) > SHOWN_LINES:
        shown.append(line(Piece(f"{len(lines) - SHOWN_LINES} more lines", "muted")))
    return shown


def beside(lines: Sequence[str], width: int) -> Iterator[Line]:
    """Yield the lines of a difference in `width` cells: before at the left, after at the right."""
    half = (width - 4) // 2
    yield from _row("before", "after", half, "muted", "muted")
    old: list[str] = []
    new: list[str] = []
    for text in (*lines[:SHOWN_LINES], " "):
        if text.startswith("-"):
            old.append(text[1:])
        elif text.startswith("+"):
            new.append(text[1:])
        else:
            for place in range(max(len(old), len(new))):
                left, right = (side[place] if place < len(side) else "" for side in (old, new))
                yield from _row(left, right, half, "alert", "good")
            old, new = [], []
            if text.strip():
                yield from _row(text[1:], text[1:], half, "muted", "muted")


def _row(left: str, right: str, half: int, before: Tone, after: Tone) -> Iterator[Line]:
    lefts, rights = (wrap_line(line(Piece(text, tone)), half) for text, tone in ((left, before), (right, after)))
    for place in range(max(len(lefts), len(rights))):
        one, two = (side[place] if place < len(side) else () for side in (lefts, rights))
        yield line(pad_line(one, half), Piece(" | ", "muted"), clip_line(two, half))
