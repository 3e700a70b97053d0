"""Hints about a fact: a quiet mark in the row of one that is said twice, and where else in its detail."""

from __future__ import annotations

from collections.abc import Sequence

from memory.files.knowledge.hints import Twin
from memory.files.knowledge.model import KnowledgeItem
from widgets.detail import Caption, DetailLine, Labelled, Link, Spacer
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Line, Piece, line

ROOMY = 44
"""Cells from which the mark of a row has a word beside it."""

WORDS = ("is:duplicate", "is:fact", "is:decision")
"""The completions of `is:`."""


def states_of(item: KnowledgeItem, twins: Sequence[Twin]) -> str:
    """The words that `is:` in the filter is compared with."""
    return f"{item.kind} duplicate twice" if twins else item.kind


def row_mark(twins: Sequence[Twin], width: int, glyphs: Glyphs) -> Line:
    """The mark at the right end of a row of what is said twice."""
    return line(Piece(f" {glyphs.twin} twice" if width >= ROOMY else f" {glyphs.twin}", "muted")) if twins else ()


def hint_lines(twins: Sequence[Twin]) -> list[DetailLine]:
    """Where else the same is said; nothing for most items."""
    parts: list[DetailLine] = []
    for number, twin in enumerate(twins):
        place = " / ".join(part for part in (twin.item.section, twin.item.topic) if part)
        parts.append(
            Link("twice" if not number else "", twin.item.text.split("\n")[0], ("knowledge.md", twin.item.ref))
        )
        same = "all words" if twin.shared == twin.words else f"{twin.shared} of {twin.words} words"
        parts.append(Labelled("", f"{same} the same" + (f", in {place}" if place else ""), "muted"))
    return [Spacer(), Caption("LOOK AGAIN"), *parts] if parts else []
