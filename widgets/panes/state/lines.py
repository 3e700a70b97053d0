"""The rows of the state pane as lines: what stands in which column."""

from __future__ import annotations

from typing import Any

from widgets.list.columns import Column, Columns
from widgets.text.styled_text import Line, Piece, Tone, clip_line, line
from widgets.text.words import since

from .detail import RUN_TONES, DetailContext
from .diff import counted
from .rows import CheckpointRow, EntryRow, EventRow, EvidenceRow, SectionRow, SourceRow

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
    """A time in ten cells: in words on its day, then as that day."""
    from memory.state.files.model import moment

    at = moment(text)
    if at is None:
        return Piece("", "muted")
    day, today = at.astimezone(seen.zone), seen.now.astimezone(seen.zone)
    if at <= seen.now and day.date() == today.date():
        return Piece(since(text, seen.now, seen.zone).removeprefix("today "), "muted")
    this_year = day.year == today.year
    return Piece(f"{day.day} {day:%b}" if this_year else f"{day:%Y-%m-%d}", "muted")


def row_cells(item: Any, seen: DetailContext, width: int) -> Line:
    """The line of a row behind its indent, in so many cells."""
    match item:
        case SectionRow():
            return SECTION.line(width, {"name": Piece(item.title, "strong"), "text": _summary(item)})
        case EntryRow():
            return clip_line(line(item.title), width)
        case EvidenceRow():
            return EVENT.line(
                width,
                {
                    "sign": Piece(seen.glyphs.twin, "accent"),
                    "text": line(Piece(f"{len(item.evidence.event_ids):,}  ", "accent"), item.title),
                    "source": Piece(item.evidence.label, "muted"),
                    "when": _when(item.evidence.last, seen),
                },
            )
        case EventRow():
            return EVENT.line(
                width,
                {
                    "sign": Piece(seen.glyphs.circle if item.waits else seen.glyphs.check, _waiting(item)),
                    "text": Piece(item.title, "plain" if item.waits else "muted"),
                    "source": Piece(item.event["sourceId"].removeprefix("agent-memory."), "muted"),
                    "when": _when(item.event["createdAt"], seen),
                },
            )
        case SourceRow():
            return _source(item, seen, width)
        case _:
            return _point(item, seen, width)


def _source(item: SourceRow, seen: DetailContext, width: int) -> Line:
    record, glyphs = item.record, seen.glyphs
    status = record["lastSyncStatus"]
    signs = {"passed": Piece(glyphs.check, "good"), "failed": Piece(glyphs.cross, "alert")}
    words = {
        "passed": Piece(f"{record['lastImportedCount']:,} imported"),
        "failed": Piece("the last sync failed", "alert"),
    }
    return SOURCE.line(
        width,
        {
            "sign": signs.get(status, Piece(glyphs.circle, "muted")),
            "name": item.title,
            "text": words.get(status, Piece("not synced yet", "muted")),
            "when": _when(record["lastSyncedAt"], seen),
        },
    )


def _point(item: CheckpointRow, seen: DetailContext, width: int) -> Line:
    point, glyphs = item.point, seen.glyphs
    sign = Piece(glyphs.alert, "alert") if point.why else Piece(glyphs.diamond if item.latest else " ", "accent")
    return POINT.line(
        width,
        {
            "sign": sign,
            "id": Piece(point.id, "plain" if item.latest else "muted"),
            "text": Piece(point.why, "alert") if point.why else point.summary,
            "when": _when(point.created, seen),
        },
    )


def _waiting(item: EventRow) -> Tone:
    return "accent" if item.waits else "muted"


def _summary(item: SectionRow) -> Line:
    value = item.value
    match item.name:
        case "project":
            return line(value["name"], Piece(f": {value['summary']}", "muted"))
        case "project-map":
            parts = (("modules", "module"), ("entrypoints", "entry point"), ("denseSourceAreas", "dense area"))
            found = [counted(len(value[key]), noun) for key, noun in parts if value[key]]
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
