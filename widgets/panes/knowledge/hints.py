"""Hints about a fact: a quiet mark in its row, and the reason in its detail."""

from __future__ import annotations

from memory.files.knowledge.hints import KEY, KnowledgeHints, StaleHint
from memory.files.knowledge.model import KnowledgeItem
from widgets.detail import Caption, DetailLine, Labelled, Link, Spacer
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Line, Piece, line

ROOMY = 44
"""Cells from which the mark of a row has a word beside it."""

WORDS = ("is:stale", "is:duplicate", "is:fact", "is:decision")
"""The completions of `is:`."""


def states_of(item: KnowledgeItem, hints: KnowledgeHints) -> str:
    """The words that `is:` in the filter is compared with."""
    states: list[str] = [item.kind]
    if hints.stale_of(item) is not None:
        states.append("stale")
    if hints.twins_of(item):
        states.append("duplicate twice")
    return " ".join(states)


def row_mark(item: KnowledgeItem, hints: KnowledgeHints, width: int, glyphs: Glyphs) -> Line:
    """The marks at the right end of a row: stale, or said twice; usually none."""
    marks = []
    if hints.stale_of(item) is not None:
        marks.append(f"{glyphs.recurring} stale" if width >= ROOMY else glyphs.recurring)
    if hints.twins_of(item):
        marks.append(f"{glyphs.twin} twice" if width >= ROOMY else glyphs.twin)
    return line(Piece(f" {' '.join(marks)}", "muted")) if marks else ()


def stale_words(stale: StaleHint, limit: int) -> str:
    """Why something is stale, with the evidence and the configured limit."""
    since = stale.since
    day = f"{since.day} {since:%b} {since.year}"
    if stale.by == "date":
        said = f"its date is {day}, {stale.days} days ago"
    else:
        said = f"it has no date, and knowledge.md says that it was changed last on {day}, {stale.days} days ago"
    return f"{said}; {KEY} is {limit}"


def hint_lines(item: KnowledgeItem, hints: KnowledgeHints) -> list[DetailLine]:
    """Why an item is stale, and where else the same is said; nothing for most items."""
    parts: list[DetailLine] = []
    stale = hints.stale_of(item)
    if stale is not None:
        parts.append(Labelled("stale", stale_words(stale, hints.limit)))
    for number, twin in enumerate(hints.twins_of(item)):
        place = " / ".join(part for part in (twin.item.section, twin.item.topic) if part)
        parts.append(
            Link("twice" if not number else "", twin.item.text.split("\n")[0], ("knowledge.md", twin.item.ref))
        )
        same = "all words" if twin.shared == twin.words else f"{twin.shared} of {twin.words} words"
        parts.append(Labelled("", f"{same} the same" + (f", in {place}" if place else ""), "muted"))
    return [Spacer(), Caption("LOOK AGAIN"), *parts] if parts else []
