"""The rows of the curated pane as lines: the content of each column."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from typing import Any, NamedTuple, TypeAlias

from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Column, Columns, Content, Line, Piece, Tone, clip_line, line
from widgets.text.words import since

from .rows import DecisionRow, DreamRow, GateRow, HealthRow, InboxRow, InvalidRow, MemoryRow, ShadowRow

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
STATES: dict[str, Tone] = {"promoted": "good", "failed": "alert", "running": "accent"}


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
    """The line of a row, in `width` cells."""
    if type(item) in _WHOLE:
        return clip_line(_WHOLE[type(item)](item, seen), width)
    columns, cells = _CELLS[type(item)]
    return columns.line(width, cells(item, seen))


def _health(item: HealthRow, seen: LineContext) -> Line:
    found, glyphs = item.overview, seen.glyphs
    if found.error is not None:
        return line(Piece(f"{glyphs.alert} {found.error.message}", "alert"))
    health = found.health
    words = f"{health['indexed_files']:,} memories"
    hidden = sum(one.reader is None for one in found.shadows)
    words += f", {hidden:,} hidden" if hidden else ""
    if health["status"] == "ok":
        return line(Piece(f"{glyphs.check} ", "good"), Piece("Healthy", "strong"), Piece(f"  {words}", "muted"))
    if health["status"] == "disabled":
        return line(Piece(f"{glyphs.circle} ", "muted"), Piece("Switched off", "strong"), Piece(f"  {words}", "muted"))
    count = len(health["problems"])
    wrong = f"{count:,} {'problem' if count == 1 else 'problems'}"
    return line(Piece(f"{glyphs.alert} ", "alert"), Piece(wrong, "alert"), Piece(f"  {words}", "muted"))


def _memory(item: MemoryRow, seen: LineContext) -> Cells:
    header = item.memory.header
    old = header.provenance.superseded_by is not None
    count = item.recalls.get("recall_count") or 0
    return {
        "sign": Piece(seen.glyphs.twin if item.hides else seen.glyphs.dot, "accent" if item.hides else "muted"),
        "type": Piece(header.type, "accent"),
        "name": line(Piece(header.name, "muted" if old else "plain"), Piece(f"  {header.description}", "muted")),
        "recalls": Piece(f"{count:,}{seen.glyphs.recurring}" if count else "", "muted"),
        "when": seen.when(item.recalls.get("mod_time")),
    }


def _shadow(item: ShadowRow, seen: LineContext) -> Line:
    memory = item.memory
    reader = f" for {item.reader}" if item.reader else ""
    words = f"hides {memory.root.label}{reader}: {memory.header.description or memory.header.name}"
    return line(Piece("   "), Piece(seen.glyphs.last_branch, "muted"), Piece(words, "muted"))


def _decision(item: DecisionRow, seen: LineContext) -> Cells:
    made = item.decision
    tone = OPS.get(made["op"], "plain")
    signs = {"reject": seen.glyphs.cross, "noop": seen.glyphs.circle}
    sign = signs.get(made["op"], seen.glyphs.check if made["applied_at"] else seen.glyphs.half)
    return {
        "sign": Piece(sign, tone),
        "op": Piece(made["op"], tone),
        "file": line(made["target_filename"] or made["reason"], Piece(f"  {made['scope']}", "muted")),
        "rule": Piece(item.rule.removeprefix("controller."), "muted"),
        "when": seen.when(made["decided_at"]),
    }


def _gate(item: GateRow, seen: LineContext) -> Line:
    is_open = item.gates["open"]
    return line(
        Piece(f"{seen.glyphs.check if is_open else seen.glyphs.circle} ", "good" if is_open else "muted"),
        Piece(f"{item.title:<13}"),
        Piece(item.gates["words"], "strong" if is_open else "muted"),
        Piece("  open" if is_open else "", "good"),
    )


def _invalid(item: InvalidRow, seen: LineContext) -> Cells:
    bad = item.invalid
    return {
        "sign": Piece(seen.glyphs.alert, "alert"),
        "name": Piece(bad.root.label, "muted"),
        "text": line(f"{bad.filename}:{bad.line}", Piece(f"  {bad.reason}", "alert")),
    }


def _inbox(item: InboxRow, seen: LineContext) -> Cells:
    return {
        "sign": Piece(seen.glyphs.cross, "alert") if item.failed else Piece(seen.glyphs.circle, "accent"),
        "name": Piece(item.session, "muted"),
        "text": Piece(item.title, "alert" if item.failed else "plain"),
        "when": seen.when(item.record.get("recorded_at") or item.record.get("at")),
    }


def _dream(item: DreamRow, seen: LineContext) -> Cells:
    run = item.run
    tone = STATES.get(run["state"], "muted")
    signs = {"promoted": seen.glyphs.check, "failed": seen.glyphs.cross}
    return {
        "sign": Piece(signs.get(run["state"], seen.glyphs.circle), tone),
        "name": Piece(run["state"], tone),
        "text": run["error"] or f"{run['promoted_count']:,} of {run['input_count']:,} memories gathered",
        "when": seen.when(run["started_at"]),
    }


_CELLS: dict[type, tuple[Columns, Callable[[Any, LineContext], Cells]]] = {
    MemoryRow: (MEMORY, _memory),
    DecisionRow: (DECISION, _decision),
    InvalidRow: (OTHER, _invalid),
    InboxRow: (OTHER, _inbox),
    DreamRow: (OTHER, _dream),
}
"""The columns of each kind of row that has some, and what fills them."""

_WHOLE: dict[type, Callable[[Any, LineContext], Line]] = {HealthRow: _health, ShadowRow: _shadow, GateRow: _gate}
"""The rows without columns."""
