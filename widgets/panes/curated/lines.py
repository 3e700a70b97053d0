"""The rows of the curated pane as lines: the content of each column."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from typing import Any, NamedTuple, TypeAlias

from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Column, Columns, Content, Line, Piece, Tone, clip_line, line
from widgets.text.words import since

from .rows import DecisionRow, MemoryRow, ShadowRow

Cells: TypeAlias = dict[str, Content]

MEMORY = Columns(
    Column("sign", 1, importance=9),
    Column("type", 9, importance=4),
    Column("name", minimum=14),
    Column("recalls", 4, "right", importance=1),
    Column("when", 8, "right", importance=3),
)
DECISION = Columns(
    Column("sign", 1, importance=9),
    Column("op", 6, importance=8),
    Column("file", minimum=16),
    Column("rule", 16, importance=2),
    Column("when", 8, "right", importance=3),
)
OTHER = Columns(
    Column("sign", 1, importance=9),
    Column("name", 12, importance=5),
    Column("text", minimum=12),
    Column("when", 8, "right", importance=2),
)
_NEAR = timedelta(days=300)
"""A day this recent is shown without its year."""
OPS: dict[str, Tone] = {"add": "good", "update": "accent", "delete": "warn", "reject": "alert", "noop": "muted"}
"""The tone of each outcome of a decision."""


class LineContext(NamedTuple):
    """What lines and details need: the time, its zone, the glyphs, and the function that puts keys into a hint."""

    now: datetime
    zone: tzinfo
    glyphs: Glyphs
    with_keys: Callable[[str], str]

    def when(self, text: str | None) -> Piece:
        """Return a time in eight cells: how long ago on the same day, later the date, at first without its year."""
        try:
            at = datetime.fromisoformat(text or "")
        except ValueError:
            return Piece("", "muted")
        day, today = at.astimezone(self.zone), self.now.astimezone(self.zone)
        if at <= self.now and day.date() == today.date():
            words = since(text, self.now, self.zone).removeprefix("today ").removesuffix(" ago")
            return Piece(words, "muted")
        near = day.year == today.year or timedelta(0) <= today - day < _NEAR
        return Piece(f"{day.day} {day:%b}" if near else f"{day:%b %Y}", "muted")


def row_line(item: Any, seen: LineContext, width: int) -> Line:
    """Return the line of a row, in `width` cells."""
    glyphs = seen.glyphs
    match item:
        case MemoryRow(memory=memory, recalls=recalls, hides=hides):
            header, count = memory.header, recalls.get("recall_count") or 0
            name = Piece(header.name, "muted" if header.provenance.superseded_by is not None else "plain")
            cells: Cells = {
                "sign": Piece(glyphs.twin if hides else glyphs.dot, "accent" if hides else "muted"),
                "type": Piece(header.type, "accent"),
                "name": line(name, Piece(f"  {header.description}", "muted")),
                "recalls": Piece(f"{count:,}{glyphs.recurring}" if count else "", "muted"),
                "when": seen.when(recalls.get("mod_time")),
            }
            return MEMORY.line(width, cells)
        case ShadowRow(memory=memory, reader=reader):
            for_whom = f" for {reader}" if reader else ""
            words = f"overrides {memory.root.label}{for_whom}: {memory.header.description or memory.header.name}"
            return clip_line(line(Piece(f"   {glyphs.last_branch}{words}", "muted")), width)
        case DecisionRow(decision=made):
            signs = {"reject": glyphs.cross, "noop": glyphs.circle}
            sign = signs.get(made["op"], glyphs.check if made["applied_at"] else glyphs.half)
            cells = {
                "sign": Piece(sign, OPS.get(made["op"], "plain")),
                "op": Piece(made["op"], OPS.get(made["op"], "plain")),
                "file": line(made["target_filename"] or made["reason"], Piece(f"  {made['scope']}", "muted")),
                "rule": Piece(item.rule.removeprefix("controller."), "muted"),
                "when": seen.when(made["decided_at"]),
            }
            return DECISION.line(width, cells)
        case _:
            cells = {
                "sign": Piece(getattr(glyphs, item.sign), item.tone),
                "name": Piece(item.lead, "muted"),
                "text": Piece(item.text, "alert" if item.tone == "alert" else "plain"),
                "when": seen.when(item.when),
            }
            return OTHER.line(width, cells)
