"""A task in few words: when it is due, how far it is, the line it takes in a list."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from memory.clock import late_words

from .columns import Column, Columns
from .glyphs import Glyphs, progress_bar
from .pieces import Line, Piece, Tone, line

if TYPE_CHECKING:
    from memory.clock import Moment
    from memory.files.tasks import Task

PRIORITY_TONES: dict[str | None, Tone] = {"HIGH": "strong", "NORMAL": "plain", "LOW": "muted"}
"""How a priority is drawn; colour is kept for what needs action."""

ROW = Columns(
    Column("priority", 6, importance=3), Column("title", minimum=18), Column("when", 13, "right", importance=2)
)
"""A task that waits or is done: priority, title, when (or how far, where nothing is due)."""

ROW_UNDATED = Columns(Column("priority", 6, importance=3), Column("title", minimum=18))
"""A task without a date: its title has the room."""

ROW_IN_PROGRESS = Columns(
    Column("priority", 6, importance=3),
    Column("title", minimum=18),
    Column("when", 11, "right", importance=1),
    Column("progress", 11, "right", importance=2),
)
"""A task that somebody works on; its bar counts for more than its date."""


def short_moment(moment: Moment, now: datetime, zone: tzinfo) -> str:
    """A date in at most 11 cells: `14:00`, `today`, `tomorrow`, `Sat 16:00`, `20 Jan`, `Jan 2026`."""
    days = (moment.date - now.astimezone(zone).date()).days
    clock = f"{moment.instant.astimezone(zone):%H:%M}" if moment.instant is not None else ""
    if days == 0:
        return clock or "today"
    if days == 1:
        return f"tom. {clock}" if clock else "tomorrow"
    if -1 <= days < 7 and days > 0:
        return f"{moment.date:%a} {clock}".rstrip()
    if moment.date.year == now.astimezone(zone).year or abs(days) < 300:
        return f"{moment.date.day} {moment.date:%b}"
    return f"{moment.date:%b} {moment.date.year}"


def due_words(task: Task, now: datetime, zone: tzinfo, glyphs: Glyphs) -> Piece:
    """When a task is due, in few cells, or after a check mark when it was completed.

    What is overdue says for how long and is the only thing in colour.
    """
    if task.section not in ("pending", "in-progress"):
        moment = _moment_of(task.completed, zone)
        words = short_moment(moment, now, zone) if moment else task.completed or ""
        return Piece(f"{glyphs.check} {words}".rstrip(), "muted")
    moment = task.due_moment(zone)
    if task.due_state(now, zone) == "overdue" and moment is not None:
        return Piece(f"{glyphs.alert} {late_words(moment, now, zone)}", "alert")
    if task.recurring:
        from memory.schedule import describe

        words = describe(task.recurring)
        return Piece(f"{glyphs.recurring} {words if len(words) <= 11 else task.recurring}", "muted")
    if moment is not None:
        return Piece(short_moment(moment, now, zone), "plain" if task.due_state(now, zone) == "today" else "muted")
    bad = task.due is not None and _is_no_date(task.due, zone)
    return Piece(f"{glyphs.alert} {task.due}", "alert") if bad else Piece(task.due or "", "muted")


def _is_no_date(text: str, zone: tzinfo) -> bool:
    """Whether a value is there, and no date that exists."""
    from memory.clock import BadMoment, read_moment

    try:
        read_moment(text, zone)
    except BadMoment:
        return True
    return False


def _moment_of(text: str | None, zone: tzinfo) -> Moment | None:
    from memory.clock import BadMoment, read_moment

    try:
        return read_moment(text, zone) if text else None
    except BadMoment:
        return None


def task_row(task: Task, width: int, now: datetime, zone: tzinfo, glyphs: Glyphs) -> Line:
    """The line of a task in a list."""
    tone = PRIORITY_TONES.get(task.priority, "muted")
    done = task.section in ("completed", "archived")
    when = due_words(task, now, zone, glyphs)
    cells: dict[str, str | Piece | Line] = {
        "priority": Piece(task.priority or "-", "muted" if done else tone),
        "title": Piece(task.title, "muted" if done else "plain"),
        "when": when,
    }
    columns = ROW
    if task.section == "in-progress" and task.progress is not None:
        bar = progress_line(task.progress, glyphs)
        if task.due is None and task.recurring is None:
            cells["when"] = bar
        else:
            cells["progress"] = bar
            columns = ROW_IN_PROGRESS
    elif not when.text:
        columns = ROW_UNDATED
    if when.tone == "alert" and all(column.name != "when" for column, _ in columns.fit(width)):
        # No room for how late it is, but that it is late stays.
        cells["title"] = line(Piece(f"{glyphs.alert} ", "alert"), Piece(task.title))
    return columns.line(width, cells)


def progress_line(percent: int, glyphs: Glyphs, width: int = 6) -> Line:
    """A bar and its number; what is left is drawn muted."""
    bar, _, number = progress_bar(percent, width, glyphs).partition(" ")
    full = bar.count(glyphs.bar_full)
    return line(Piece(bar[:full], "accent"), Piece(bar[full:], "muted"), Piece(f" {number.strip():>4}"))


def card_line(task: Task, number: int, now: datetime, zone: tzinfo, glyphs: Glyphs) -> Line:
    """A line of a task's card on a board: its title; priority, date or progress, and who has it; nothing."""
    done = task.section in ("completed", "archived")
    if number == 0:
        return line(Piece(task.title, "muted" if done else "strong" if task.priority == "HIGH" else "plain"))
    if number > 1:
        return ()
    parts: list[Line] = []
    if task.priority:
        parts.append(line(Piece(task.priority, "muted")))
    if task.section == "in-progress" and task.progress is not None:
        parts.append(progress_line(task.progress, glyphs, 4))
    when = due_words(task, now, zone, glyphs)
    if when.text:
        parts.append(line(when))
    if task.assigned:
        parts.append(line(Piece(task.assigned, "muted")))
    gap = Piece(f" {glyphs.dot} ", "muted")
    return line(*(piece for index, part in enumerate(parts) for piece in ((gap, *part) if index else part)))
