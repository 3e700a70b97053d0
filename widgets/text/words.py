"""Words for little room: when something was or will be, and a task: its date, how far it is, its line in a list."""

from __future__ import annotations

from datetime import date, datetime, tzinfo
from functools import cache
from typing import TYPE_CHECKING

from memory.base.clock import Moment, format_local, humanize, late_words
from memory.base.safe_text import cell_width, visible
from memory.files.tasks.values import moment_or_none
from widgets.list.columns import Column, Columns

from .glyphs import Glyphs, progress_bar
from .styled_text import Line, Piece, Tone, clip_line, line, line_width, pad_line

if TYPE_CHECKING:
    from memory.files.tasks.model import Task


def since(text: str | None, now: datetime, zone: tzinfo) -> str:
    """When a value's moment is, in a few words (`4 min ago`); what is no moment stays as it stands."""
    moment = moment_or_none(text, zone)
    return humanize(moment, now, zone) if moment else text or ""


def dated(text: str | None, now: datetime, zone: tzinfo) -> str:
    """A value's moment as a local time and in words, for a detail: `2024-01-15 10:30, 4 min ago`."""
    moment = moment_or_none(text, zone)
    if moment is None:
        return text or ""
    shown = moment.text if moment.instant is None else format_local(moment.instant, zone)
    return f"{shown}, {beside(moment, now, zone)}"


def beside(moment: Moment, now: datetime, zone: tzinfo) -> str:
    """When a moment is, in a few words that stand beside the whole date: they do not say the time once more."""
    words = humanize(moment, now, zone)
    if moment.instant is None:
        return words
    return words.removesuffix(f" {format_local(moment.instant, zone)[11:]}")


def next_run(expression: str | None, now: datetime, zone: tzinfo) -> datetime | None:
    """The next run of a cron expression; None where it is none."""
    if not expression:
        return None
    from memory.base.cron import BadCron, next_runs

    try:
        return next_runs(expression, now, zone)[0]
    except BadCron:
        return None


def until(instant: datetime | None, now: datetime, zone: tzinfo) -> str:
    """When an instant is, in a few words (`in 5 min`, `tomorrow 02:00`); empty for None."""
    if instant is None:
        return ""
    return humanize(Moment("", instant.astimezone(zone).date(), instant), now, zone)


def from_when(instant: datetime, now: datetime, zone: tzinfo) -> str:
    """Since when something is so, in at most 12 cells: `since 12:31`, `since 20 Nov`."""
    local = instant.astimezone(zone)
    same_day = local.date() == now.astimezone(zone).date()
    return f"since {local:%H:%M}" if same_day else f"since {local.day} {local:%b}"


def short_date(day: str) -> str:
    """`2024-01-14` as `14 Jan`, two cells for the day; what is no date is empty."""
    try:
        found = date.fromisoformat(day)
    except ValueError:
        return ""
    return f"{found.day:>2} {found:%b}"


PRIORITY_TONES: dict[str | None, Tone] = {"HIGH": "strong", "NORMAL": "plain", "LOW": "muted"}
"""How a priority is drawn; colour is kept for what needs action."""

CARD_LINES = 2
"""Lines of a card on a board; one more, where there is room for it, parts it from the next."""

NAME = 6
"""Cells that the beginning of a name needs to say whose it is."""

PRIORITY_CELLS = 8
"""Cells of a row beside its title and its date."""

MOST_WHEN = 40
"""The most cells of a date, however long what stands for it is."""

WIDEST_WHEN = 13
"""The most cells of a date in a row whose title needs all others."""


LEAST_TITLE = 18
"""The cells of a title before which a date goes; a shorter title needs its own only."""


@cache
def row_columns(when: int, title: int = LEAST_TITLE) -> Columns:
    """A task that waits or is done: priority, title, when (or how far, where nothing is due) in so many cells.

    Dates stand at the right, so each row gives its title what its own date leaves, and at least `title` cells.
    """
    return Columns(
        Column("priority", 6, importance=3), Column("title", minimum=title), Column("when", when, "right", importance=2)
    )


ROW_UNDATED = Columns(Column("priority", 6, importance=3), Column("title", minimum=LEAST_TITLE))
"""A task without a date: its title has the room."""


@cache
def row_in_progress(when: int, title: int = LEAST_TITLE) -> Columns:
    """A task that somebody works on; its bar counts for more than its date."""
    return Columns(
        Column("priority", 6, importance=3),
        Column("title", minimum=title),
        Column("when", when, "right", importance=1),
        Column("progress", 11, "right", importance=2),
    )


WIDE_ROW = 78
"""Cells of a row from which it says who does the task, its tags and when it was made: those of 150 columns."""


def more_columns(task: Task, width: int, now: datetime, zone: tzinfo) -> Line:
    """Return who does a task, its tags and when it was made, in columns of their own; nothing where there is no room.

    They stand in the same cells of each row, whatever else the row says.
    """
    if width < WIDE_ROW:
        return ()
    tags, made = " ".join(f"#{tag}" for tag in task.tags), moment_or_none(task.created, zone)
    more = min(10, (width - WIDE_ROW) // 3)
    parts = [_cell(task.assigned or "", 10 + more), _cell(tags, 14 + more)]
    parts.append(_cell(short_moment(made, now, zone) if made else "", 8))
    return line(*(piece for part in parts for piece in (Piece("  "), *part)))


def _cell(text: str, width: int) -> Line:
    return pad_line(clip_line(line(Piece(text, "muted")), width), width)


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

    What is overdue says for how long and is the only thing in colour. What recurs has its sign and the next date.
    """
    if task.section not in ("pending", "in-progress"):
        moment = moment_or_none(task.completed, zone)
        words = short_moment(moment, now, zone) if moment else task.completed or ""
        return Piece(f"{glyphs.check} {words}".rstrip(), "muted")
    moment = task.due_moment(zone)
    parts = task.due_parts
    sign = f"{glyphs.recurring} " if parts.recurring else ""
    # Asked in this order: without a date nothing is overdue, and for what only recurs it would work out a schedule.
    if moment is not None and task.due_state(now, zone) == "overdue":
        return Piece(f"{glyphs.alert} {sign}{late_words(moment, now, zone)}", "alert")
    if moment is None and parts.date is None and parts.recurring:
        moment = _next_run(parts.recurring, now, zone)
        if moment is None:
            return Piece(f"{sign}{parts.recurring}", "muted")
    if moment is not None:
        today = moment.date == now.astimezone(zone).date()
        return Piece(f"{sign}{short_moment(moment, now, zone)}", "plain" if today else "muted")
    bad = task.due is not None and _is_no_date(task.due, zone)
    return Piece(f"{glyphs.alert} {task.due}", "alert") if bad else Piece(task.due or "", "muted")


def _next_run(expression: str, now: datetime, zone: tzinfo) -> Moment | None:
    """The next run of what only recurs; None for an expression that is none."""

    from memory.base.cron import BadCron, next_runs

    try:
        run = next_runs(expression, now, zone)[0]
    except (BadCron, IndexError):
        return None
    return Moment(expression, run.date(), run)


def _is_no_date(text: str, zone: tzinfo) -> bool:
    """Whether a value is there, and no date that exists."""
    from memory.base.clock import BadMoment, read_moment

    try:
        read_moment(text, zone)
    except BadMoment:
        return True
    return False


def task_row(task: Task, width: int, now: datetime, zone: tzinfo, glyphs: Glyphs) -> Line:
    """The line of a task in a list."""
    further = more_columns(task, width, now, zone)
    width -= line_width(further)
    tone = PRIORITY_TONES.get(task.priority, "muted")
    done = task.section in ("completed", "archived")
    when = due_words(task, now, zone, glyphs)
    cells: dict[str, str | Piece | Line] = {
        "priority": Piece(task.priority or "-", "muted" if done else tone),
        "title": Piece(task.title, "muted" if done else "plain"),
        "when": when,
    }
    needed = cell_width(visible(task.title[:200]))
    room, least = width - PRIORITY_CELLS - needed, max(1, min(LEAST_TITLE, needed))
    columns = row_columns(_when_cells(when, room), least)
    if task.section == "in-progress" and task.progress is not None:
        bar = progress_line(task.progress, glyphs)
        if task.due is None and task.recurring is None:
            cells["when"] = bar
            columns = row_columns(line_width(bar), least)
        else:
            cells["progress"] = bar
            columns = row_in_progress(_when_cells(when, room - 12), least)
    elif not when.text:
        columns = ROW_UNDATED
    if when.tone == "alert" and all(column.name != "when" for column, _ in columns.fit(width)):
        # No room for how late it is, but that it is late stays.
        cells["title"] = line(Piece(f"{glyphs.alert} ", "alert"), Piece(task.title))
    return line(columns.line(width, cells), further)


def _when_cells(when: Piece, room: int) -> int:
    """How many cells a date gets: all that it needs where the title leaves them, else those of a usual one."""
    needed = max(1, cell_width(visible(when.text)))
    return min(needed, max(WIDEST_WHEN, min(room, MOST_WHEN)))


def progress_line(percent: int, glyphs: Glyphs, width: int = 6) -> Line:
    """A bar and its number; what is left is drawn muted."""
    bar, _, number = progress_bar(percent, width, glyphs).partition(" ")
    full = bar.count(glyphs.bar_full)
    return line(Piece(bar[:full], "accent"), Piece(bar[full:], "muted"), Piece(f" {number.strip():>4}"))


def card_line(task: Task, number: int, width: int, now: datetime, zone: tzinfo, glyphs: Glyphs) -> Line:
    """A line of a task's card on a board: its title; priority, date or progress, and who has it; nothing.

    Where they have no room together, who has it goes first, then the bar of the progress, its
    number and the dots between them; the priority becomes its first letter before it is due goes.
    """
    done = task.section in ("completed", "archived")
    if number == 0:
        if task.heading is not None:
            where = Piece(f"  {glyphs.alert} {task.heading.strip() or 'no heading'}", "warn")
            return line(Piece(task.title, "strong" if task.priority == "HIGH" else "plain"), where)
        return line(Piece(task.title, "muted" if done else "strong" if task.priority == "HIGH" else "plain"))
    if number > 1:
        return ()
    parts: dict[str, Line] = {}
    if task.priority:
        parts["priority"] = line(Piece(task.priority, "muted"))
    if task.section == "in-progress" and task.progress is not None:
        parts["progress"] = progress_line(task.progress, glyphs, 4)
    when = due_words(task, now, zone, glyphs)
    if when.text:
        parts["when"] = line(when)
    if task.assigned:
        parts["assigned"] = line(Piece(task.assigned, "muted"))
    gap = Piece(f" {glyphs.dot} ", "muted")
    leaving = ["assigned", "bar", *(["progress"] if when.text else []), "gap", "letter"]
    for name in leaving:
        used = sum(line_width(part) for part in parts.values()) + len(gap.text) * (len(parts) - 1)
        # The end of a name may go, but not so much that nobody knows whose it is.
        spare = max(0, line_width(parts["assigned"]) - NAME) if "assigned" in parts else 0
        if used - spare <= width or len(parts) == 1:
            break
        if name == "bar" and "progress" in parts:
            parts["progress"] = line(f"{task.progress}%")
        elif name == "gap":
            gap = Piece(" ")
        elif name == "letter" and task.priority:
            parts["priority"] = line(Piece(task.priority[:1], "muted"))
        parts.pop(name, None)
    shown = list(parts.values())
    return line(*(piece for index, part in enumerate(shown) for piece in ((gap, *part) if index else part)))
