"""The rows of the state pane as lines: the content of each column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from memory.state.files.model import moment, plural
from widgets.text.styled_text import Column, Columns, Content, Line, Piece, clip_line, line
from widgets.text.words import since

from .detail import RUN_TONES, DetailContext
from .rows import CheckpointRow, EntryRow, EventRow, EvidenceRow, SectionRow, SourceRow

Cells: TypeAlias = dict[str, Content]

SECTION = Columns(Column("name", 14, importance=9), Column("text", minimum=8))
EVENT = Columns(
    Column("sign", 1, importance=9),
    Column("text", minimum=30),
    Column("source", 12, importance=1),
    Column("when", 10, "right", importance=2),
)
SOURCE = Columns(
    Column("sign", 1, importance=9),
    Column("name", 16, importance=5),
    Column("text", minimum=12),
    Column("when", 10, "right", importance=2),
)
POINT = Columns(
    Column("sign", 1, importance=9),
    Column("id", 10, importance=5),
    Column("text", minimum=16),
    Column("when", 10, "right", importance=2),
)


def _when(text: str | None, seen: DetailContext) -> Piece:
    """A time in ten cells: in words on the same day, later as a date."""
    at = moment(text)
    if at is None:
        return Piece("", "muted")
    day, today = at.astimezone(seen.zone), seen.now.astimezone(seen.zone)
    if at <= seen.now and day.date() == today.date():
        return Piece(since(text, seen.now, seen.zone).removeprefix("today "), "muted")
    this_year = day.year == today.year
    return Piece(f"{day.day} {day:%b}" if this_year else f"{day:%Y-%m-%d}", "muted")


def row_cells(item: Any, seen: DetailContext, width: int) -> Line:
    """The line of a row after its indent, in `width` cells."""
    if isinstance(item, EntryRow):
        return clip_line(line(item.title), width)
    columns, cells = _CELLS[type(item)]
    return columns.line(width, cells(item, seen))


def _section(item: SectionRow, _seen: DetailContext) -> Cells:
    return {"name": Piece(item.title, "strong"), "text": _summary(item)}


def _evidence(item: EvidenceRow, seen: DetailContext) -> Cells:
    return {
        "sign": Piece(seen.glyphs.twin, "accent"),
        "text": line(Piece(f"{len(item.evidence.event_ids):,}  ", "accent"), item.title),
        "source": Piece(item.evidence.label, "muted"),
        "when": _when(item.evidence.last, seen),
    }


def _event(item: EventRow, seen: DetailContext) -> Cells:
    return {
        "sign": Piece(seen.glyphs.circle, "accent") if item.waits else Piece(seen.glyphs.check, "muted"),
        "text": Piece(item.title, "plain" if item.waits else "muted"),
        "source": Piece(item.event["sourceId"].removeprefix("agent-memory."), "muted"),
        "when": _when(item.event["createdAt"], seen),
    }


def _source(item: SourceRow, seen: DetailContext) -> Cells:
    record, glyphs = item.record, seen.glyphs
    status = record["lastSyncStatus"]
    signs = {"passed": Piece(glyphs.check, "good"), "failed": Piece(glyphs.cross, "alert")}
    words = {
        "passed": Piece(f"{record['lastImportedCount']:,} imported"),
        "failed": Piece("the last sync failed", "alert"),
    }
    return {
        "sign": signs.get(status, Piece(glyphs.circle, "muted")),
        "name": item.title,
        "text": words.get(status, Piece("not synced yet", "muted")),
        "when": _when(record["lastSyncedAt"], seen),
    }


def _point(item: CheckpointRow, seen: DetailContext) -> Cells:
    point, glyphs = item.point, seen.glyphs
    sign = Piece(glyphs.alert, "alert") if point.why else Piece(glyphs.diamond if item.latest else " ", "accent")
    return {
        "sign": sign,
        "id": Piece(point.id, "plain" if item.latest else "muted"),
        "text": Piece(point.why, "alert") if point.why else point.summary,
        "when": _when(point.created, seen),
    }


_CELLS: dict[type, tuple[Columns, Callable[[Any, DetailContext], Cells]]] = {
    SectionRow: (SECTION, _section),
    EvidenceRow: (EVENT, _evidence),
    EventRow: (EVENT, _event),
    SourceRow: (SOURCE, _source),
    CheckpointRow: (POINT, _point),
}
"""The columns of each kind of row, and what fills them."""


def _summary(item: SectionRow) -> Line:
    value = item.value
    match item.name:
        case "project":
            return line(value["name"], Piece(f": {value['summary']}", "muted"))
        case "project-map":
            parts = (("modules", "module"), ("entrypoints", "entry point"), ("denseSourceAreas", "dense area"))
            found = [plural(len(value[key]), noun) for key, noun in parts if value[key]]
            return line(Piece(", ".join(found) or "nothing known yet", "muted"))
        case "current-focus":
            return line(Piece(value["summary"], "muted"))
        case "validation-commands":
            run = item.run["status"]
            words = ", ".join(one["label"] for one in value)
            status = Piece(run.replace("-", " "), RUN_TONES.get(run, "muted"))
            return line(status, Piece(f"  {words}", "muted")) if value else line(Piece("no command", "muted"))
        case _:
            return line(Piece(f"{len(value):,}" if value else "none", "muted"))
