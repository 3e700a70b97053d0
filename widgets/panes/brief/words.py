"""A row of the brief in words: when or where it is, what it is, and a note."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, NamedTuple

from memory.base.problems import Problem
from memory.files.values import moment_or_none
from memory.history.changes import News
from memory.history.outside import OutsideRemoval
from memory.monitoring.history.charts import Notice
from memory.system import BriefLine
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Column, Columns, Line, Piece, line
from widgets.text.words import PRIORITY_TONES, due_words, progress_line, short_moment, since, until

from .shortened_groups import MORE


class BriefMore(NamedTuple):
    """What takes longer to find than the files: problems of a check, what the next maintenance would move, monitors
    that wait for an approval or are muted, what others changed since the last visit, lines of other systems, and
    entries that other programs removed.

    `upkeep` holds a file and a sentence each, and the system if it is another one.
    """

    problems: tuple[Problem, ...] = ()
    upkeep: tuple[tuple[str, ...], ...] = ()
    notice: Notice = Notice()
    news: tuple[News, ...] = ()
    others: tuple[BriefLine, ...] = ()
    removals: tuple[OutsideRemoval, ...] = ()


@dataclass(frozen=True, slots=True)
class BriefRow:
    """One row: its group, where it leads, and the object it shows."""

    group: str
    file: str
    target: str
    thing: Any = field(compare=False)
    words: str = ""

    @property
    def ref(self) -> str:
        """A ref that is unique in the pane, because an entry may be in two groups."""
        return f"{self.group}:{self.file}:{self.target}:{self.words}"

    @property
    def monitor(self) -> Any:
        """The monitor that the row is about; None for a waiting approval that is about no monitor."""
        return self.thing.monitor if self.group == "waiting" else self.thing

    @property
    def title(self) -> str:
        """What the row is about."""
        if self.group == "waiting":
            return str(self.thing.ask.name)
        if self.group in ("muted", "alert"):
            return str(self.thing.name)
        return self.words or str(getattr(self.thing, "title", getattr(self.thing, "name", "")))


ROW, NARROW_ROW = (
    Columns(Column("when", width, importance=9), Column("title", minimum=18), gap=2) for width in (14, 12)
)
"""The columns of a row: when or where, and title with the note after it."""

WIDE_ENOUGH = 60
"""Cells from which tasks show their priority as a word; with less, the titles of urgent ones are bold."""

TASK_GROUPS = ("overdue", "today", "progress", "stale", "week")
"""The groups of tasks."""


def row_line(item: BriefRow, width: int, now: datetime, zone: tzinfo, glyphs: Glyphs) -> Line:
    """Return the line of a row: when or where, title, and note."""
    if item.group == MORE:
        return line(Piece(item.words, "muted"))
    wide = width >= WIDE_ENOUGH
    title: Line = line(item.title)
    if item.group in TASK_GROUPS:
        priority = item.thing.priority
        tone = PRIORITY_TONES.get(priority, "muted")
        title = line(Piece(f"{priority or '-':<6}  ", tone), item.title) if wide else line(Piece(item.title, tone))
    note = "".join(f"  {part}" for part in note_of(item))
    cells = {"when": when_of(item, now, zone, glyphs), "title": line(title, Piece(note, "muted"))}
    return (ROW if wide else NARROW_ROW).line(width, cells)


def when_of(item: BriefRow, now: datetime, zone: tzinfo, glyphs: Glyphs) -> Piece | Line:
    """Return the first cell of a row: when or where it is, or its progress."""
    thing = item.thing
    match item.group:
        case "alert":
            return Piece(f"{glyphs.alert} {since(thing.last_check, now, zone)}", "alert")
        case "waiting":
            return Piece(f"{glyphs.half} {thing.role}", "warn")
        case "lost":
            return Piece(f"{glyphs.alert} {since(thing.time.isoformat(), now, zone)}", "alert")
        case "muted":
            return Piece(item.words, "muted")
        case "progress":
            return () if thing.progress is None else progress_line(thing.progress, glyphs)
        case "stale":
            return Piece(f"{glyphs.half} for {days_since(thing.started, now, zone)} d", "warn")
        case "news":
            return Piece(since(thing.time.isoformat(), now, zone), "muted")
        case "overdue" | "today" | "week":
            return due_words(thing, now, zone, glyphs)
        case "journal":
            moment = moment_or_none(f"{thing.date} {thing.clock}" if thing.clock else thing.date, zone)
            return Piece(short_moment(moment, now, zone) if moment else thing.date or "", "muted")
        case "draft":
            return Piece(
                f"{thing.astimezone(zone):%H:%M}" if thing.date() == now.date() else f"{thing:%d %b}", "accent"
            )
        case "beside":
            return Piece(thing.title, "warn" if thing.due else "muted")
        case "run":
            return Piece(until(thing.instant, now, zone), "muted")
        case "problem":
            place = f"{item.file}:{thing.line}" if thing.line else item.file
            return Piece(place, "alert" if thing.level == "error" else "muted")
        case _:
            return Piece(thing.removesuffix(".md"), "muted")


def note_of(item: BriefRow) -> tuple[str, ...]:
    """Return the notes of a row."""
    thing = item.thing
    match item.group:
        case "alert":
            return (item.words,) if item.words else ()
        case "waiting":
            return (thing.why,)
        case "draft":
            return ("never saved",)
        case "lost":
            return (f"in {', '.join(thing.files)}",)
        case "beside":
            return (thing.due,) if thing.due else ()
        case "news":
            times = f", {thing.count} times" if thing.count > 1 else ""
            return (f"{thing.actor} {thing.kind}{times}",)
        case "overdue" | "today" | "week" | "progress" | "stale":
            return (f"@{thing.assigned}",) if thing.assigned else ()
        case "journal":
            return tuple(thing.lines[:1])
        case _:
            return ()


def days_since(text: str | None, now: datetime, zone: tzinfo) -> int:
    """How many days ago a value's moment was; 0 where it has none."""
    moment = moment_or_none(text, zone)
    return (now.astimezone(zone).date() - moment.date).days if moment else 0
