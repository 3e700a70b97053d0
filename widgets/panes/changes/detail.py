"""What a change did, entry by entry, as lines of a detail: fields with both values, other text as lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memory.files.diff import ChangeView
from memory.files.snapshot import plain_title
from widgets.detail import Caption, DetailLine, Labelled, Lines, Prose, Spacer
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Line, Piece, Tone, line

SHOWN_LINES = 200
"""The most lines of one entry that are shown."""

SHOWN_ENTRIES = 50
"""The most entries of one change that are shown."""

_FIELD = re.compile(r"[-+]- ([A-Za-z][A-Za-z0-9_-]*):")


def view_lines(views: Sequence[ChangeView], glyphs: Glyphs) -> list[DetailLine]:
    """Each entry with what happened to it."""
    found: list[DetailLine] = []
    for view in views[:SHOWN_ENTRIES]:
        found += [Spacer(), Caption(f"{view.kind.upper()}  {plain_title(view.file, view.title)}")]
        place = place_of(view, glyphs)
        if place != view.title:
            found.append(Prose(place, tone="muted"))
        found += entry_lines(view, glyphs)
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


def entry_lines(view: ChangeView, glyphs: Glyphs) -> Iterator[DetailLine]:
    """The changed fields with both values if nothing else changed, else the removed and added lines."""
    if view.kind in ("edited", "moved") and view.fields and only_fields(view):
        for key, old, new in view.fields:
            yield Labelled(key, field_line(old, new, glyphs))
    elif view.lines:
        yield Lines(tuple(diff_lines(view.lines)))


def only_fields(view: ChangeView) -> bool:
    """Whether every line that differs is the heading or a field's first line."""
    keys = {key for key, _, _ in view.fields}
    for text in view.lines:
        if text[:1] in "-+" and not text[1:].startswith("### "):
            found = _FIELD.match(text)
            if (found is None or found[1] not in keys) and text[1:].strip():
                return False
    return all("\n" not in (old or "") + (new or "") for _, old, new in view.fields)


def field_line(old: str | None, new: str | None, glyphs: Glyphs) -> Line:
    """A field's value before and after."""
    if old is None:
        return line(Piece(new or "", "good"))
    if new is None:
        return line(Piece(old, "alert"), Piece(f" {glyphs.right} gone", "muted"))
    return line(Piece(old, "alert"), Piece(f" {glyphs.right} ", "muted"), Piece(new, "good"))


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
