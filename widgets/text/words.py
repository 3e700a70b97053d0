"""Short wordings: when something was or will be, and for a task its date, progress, list row and card."""

from __future__ import annotations

from datetime import date, datetime, tzinfo
from functools import cache
from typing import TYPE_CHECKING

from memory.base.clock import Moment, format_local, humanize, late_words
from memory.files.fields.values import moment_or_none
from widgets.text.styled_text import Column, Columns

from .glyphs import Glyphs
from .styled_text import Line, Piece, Tone, line, line_width

if TYPE_CHECKING:
    from memory.files.tasks.model import Task


def since(text: str | None, now: datetime, zone: tzinfo) -> str:
    """When a value's moment is, in a few words (`4 min ago`); a value that is no moment is returned unchanged."""
    moment = moment_or_none(text, zone)
    return humanize(moment, now, zone) if moment else text or ""


def dated(text: str | None, now: datetime, zone: tzinfo) -> str:
    """A value's moment as local time and in words, for a detail: `2024-01-15 10:30, 4 min ago`."""
    moment = moment_or_none(text, zone)
    if moment is None:
        return text or ""
    shown = moment.text if moment.instant is None else format_local(moment.instant, zone)
    return f"{shown}, {beside(moment, now, zone)}"


def beside(moment: Moment, now: datetime, zone: tzinfo) -> str:
    """When a moment is, in a few words to show next to the full date: they do not repeat the time."""
    words = humanize(moment, now, zone)
    if moment.instant is None:
        return words
    return words.removesuffix(f" {format_local(moment.instant, zone)[11:]}")


def next_run(expression: str | None, now: datetime, zone: tzinfo) -> datetime | None:
    """The next run of a cron expression; None where it is empty or invalid."""
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


def short_date(day: str) -> str:
    """Return `2024-01-14` as `14 Jan`, two cells for the day; empty for a text that is no date."""
    try:
        found = date.fromisoformat(day)
    except ValueError:
        return ""
    return f"{found.day:>2} {found:%b}"


PRIORITY_TONES: dict[str | None, Tone] = {"HIGH": "strong", "NORMAL": "plain", "LOW": "muted"}
"""The tone of each priority; colour is reserved for what needs action."""

PRIORITY_CELLS = 8
"""Cells of a row apart from its title and its date."""

MOST_WHEN = 40
"""The most cells of a date, however long its text is."""

WIDEST_WHEN = 13
"""The most cells of a date in a row whose title needs all the others."""


LEAST_TITLE = 16
"""The least cells of a title: the date is dropped before the title gets fewer. A shorter title needs only its own."""


@cache
def row_columns(when: int, title: int, *, progress: bool) -> Columns:
    """Return the columns of a task: priority, title of at least `title` cells, progress, and `when` cells for the date.

    Dates are right-aligned, so each title gets the cells that its own date leaves. Progress is more important.
    """
    bar = (Column("progress", 11, "right", importance=2),) if progress else ()
    last = Column("when", when, "right", importance=1 if progress else 2)
    return Columns(Column("priority", 6, importance=3), Column("title", minimum=title), *bar, last)


WIDE_ROW = 78
"""Cells from which a row shows assignee and tags behind its title, as in a terminal of 150 columns."""


def short_moment(moment: Moment, now: datetime, zone: tzinfo) -> str:
    """A date in at most 11 cells: `14:00`, `today`, `tomorrow`, `Sat 16:00`, `20 Jan`, `Jan 2026`."""
    days = (moment.date - now.astimezone(zone).date()).days
    clock = f"{moment.instant.astimezone(zone):%H:%M}" if moment.instant is not None else ""
    if days == 0:
        return clock or "today"
    if days == 1:
        return f"tom. {clock}" if clock else "tomorrow"
    if 0 < days < 7:
        return f"{moment.date:%a} {clock}".rstrip()
    if moment.date.year == now.astimezone(zone).year or abs(days) < 300:
        return f"{moment.date.day} {moment.date:%b}"
    return f"{moment.date:%b} {moment.date.year}"


def due_words(task: Task, now: datetime, zone: tzinfo, glyphs: Glyphs) -> Piece:
    """When a task is due, in few cells; for a finished task a check mark and when it was completed.

    An overdue task shows for how long, and is the only one in colour. A recurring task has a sign and its next date.
    """
    if task.section not in ("pending", "in-progress"):
        moment = moment_or_none(task.completed, zone)
        words = short_moment(moment, now, zone) if moment else task.completed or ""
        return Piece(f"{glyphs.check} {words}".rstrip(), "muted")
    parts = task.due_parts
    moment = moment_or_none(parts.date, zone)
    sign = f"{glyphs.recurring} " if parts.recurring else ""
    if moment is not None and moment.is_overdue(now, zone):
        return Piece(f"{glyphs.alert} {sign}{late_words(moment, now, zone)}", "alert")
    if moment is None and parts.date is None and parts.recurring:
        run = next_run(parts.recurring, now, zone)
        if run is None:
            return Piece(f"{sign}{parts.recurring}", "muted")
        moment = Moment(parts.recurring, run.date(), run)
    if moment is not None:
        today = moment.date == now.astimezone(zone).date()
        return Piece(f"{sign}{short_moment(moment, now, zone)}", "plain" if today else "muted")
    bad = parts.date is not None and _is_no_date(parts.date, zone)
    return Piece(f"{glyphs.alert} {parts.date}", "alert") if bad else Piece(parts.date or "", "muted")


def _is_no_date(text: str, zone: tzinfo) -> bool:
    """Whether a value is present but not an existing date."""
    from memory.base.clock import BadMoment, read_moment

    try:
        read_moment(text, zone)
    except BadMoment:
        return True
    return False


def task_row(task: Task, width: int, now: datetime, zone: tzinfo, glyphs: Glyphs) -> Line:
    """Return the line of a task in a list."""
    done = task.section in ("completed", "archived")
    when: Line = (due_words(task, now, zone, glyphs),)
    bar = progress_line(task.progress, glyphs) if task.section == "in-progress" and task.progress is not None else ()
    if bar and task.due is None and task.recurring is None:
        when, bar = bar, ()
    more = ""
    if width >= WIDE_ROW:
        owner, tags = f"@{task.assigned}" if task.assigned else "", " ".join(f"#{tag}" for tag in task.tags)
        more = "".join(f"  {part}" for part in (owner, tags) if part)
    title, priority = Piece(task.title, "muted" if done else "plain"), task.priority
    needed = line_width((title._replace(text=title.text[:200]),))
    room = width - PRIORITY_CELLS - needed - (12 if bar else 0)
    cells = min(max(1, line_width(when)), max(WIDEST_WHEN, min(room, MOST_WHEN)))
    columns = row_columns(cells, max(1, min(LEAST_TITLE, needed)), progress=bool(bar))
    late = when[0].tone == "alert" and all(column.name != "when" for column, _ in columns.fit(width))
    return columns.line(
        width,
        {
            "priority": (Piece(priority or "-", "muted" if done else PRIORITY_TONES.get(priority, "muted")),),
            # Where there is no room for how late it is, the sign says that it is late.
            "title": (Piece(f"{glyphs.alert} " if late else "", "alert"), title, Piece(more, "muted")),
            "progress": bar,
            "when": when,
        },
    )


def progress_line(percent: int, glyphs: Glyphs, width: int = 6) -> Line:
    """Return a progress bar of `width` cells and its number; the bar is full at 100 only and empty at 0 only."""
    share = min(100, max(0, percent))
    full = round(width * share / 100)
    if 0 < share < 100:
        full = min(width - 1, max(1, full))
    rest = Piece(glyphs.bar_empty * (width - full), "muted")
    return line(Piece(glyphs.bar_full * full, "accent"), rest, Piece(f" {f'{percent}%':>4}"))
