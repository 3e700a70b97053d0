"""What the detail shows of a task: labelled fields, the most useful first, then the rest."""

from __future__ import annotations

import re
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from memory.base.clock import late_words
from widgets.detail import DetailLine, Labelled, Lines
from widgets.pane.records import lines_of
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Line, Piece, line
from widgets.text.words import PRIORITY_TONES, beside, dated, progress_line

if TYPE_CHECKING:
    from memory.files.tasks.model import Task


def task_detail(task: Task, now: datetime, zone: tzinfo, glyphs: Glyphs) -> list[DetailLine]:
    """Return one line of state, the fields, the text."""
    told = {
        "state": _state(task, now, zone, glyphs),
        "assigned": task.assigned,
        "tags": ", ".join(task.tags),
        "action": task.action,
        "notes": _text("notes", joined(task.notes or "")),
        "outcome": _text("outcome", task.outcome),
        "last update": task.last_update,
        "started": dated(task.started, now, zone),
        "completed": dated(task.completed, now, zone),
        "created": dated(task.created, now, zone),
        "plan": task.orchestration_id,
        "cron job": task.cron_job_id,
        "other fields": {key: _text(key, str(value)) for key, value in task.extra.items() if value},
        "": rest_of_body(task),
    }
    return lines_of(told, now, zone, glyphs)


def _text(label: str, text: str | None) -> Labelled | None:
    """Return a text beside its label, also one of several lines."""
    return Labelled(label, text) if text else None


def _state(task: Task, now: datetime, zone: tzinfo, glyphs: Glyphs) -> DetailLine:
    """Priority and due date in words; then recurrence and progress."""
    priority = task.priority or "no priority"
    first: list[Piece] = [Piece(priority, PRIORITY_TONES.get(task.priority, "muted"))]
    moment = task.due_moment(zone) if task.section != "completed" else None
    if moment is not None:
        overdue = task.due_state(now, zone) == "overdue"
        words = f"due {moment.text}, {late_words(moment, now, zone) if overdue else beside(moment, now, zone)}"
        first += [Piece("  "), Piece(f"{glyphs.alert} {words}", "alert") if overdue else Piece(words)]
    elif task.due:
        wrong = task.section != "completed"
        words = f"{glyphs.alert} due {task.due}, no date" if wrong else f"due {task.due}"
        first += [Piece("  "), Piece(words, "alert" if wrong else "plain")]
    lines: list[Line] = [tuple(first)]
    if task.heading is not None:
        where = f"under {task.heading.strip()!r}" if task.heading.strip() else "above the first section"
        lines.append(line(Piece(f"{glyphs.alert} {where}, which is not a section: treated as pending", "warn")))
    if task.recurring:
        from memory.base.cron import describe

        lines.append(line(Piece(f"{glyphs.recurring} {describe(task.recurring)}", "muted")))
    if task.progress is not None:
        lines.append(progress_line(task.progress, glyphs, 12))
    # Nothing is cut here: this is what a task is opened for.
    return Lines(tuple(lines), hang=len(priority) + 2)


_SOFT = re.compile(r"(?<=\S)[ \t]*\r?\n[ \t]*(?=[^\s*+>#|\-])(?!\d+[.)] )")


def joined(text: str) -> str:
    """Return a text with continuation lines joined to the line before; lists, quotes and paragraphs stay."""
    return _SOFT.sub(" ", text)


def rest_of_body(task: Task) -> str:
    """The text of the entry without its fields."""
    entry = task.entry
    body = entry.body
    kept, at = [], 0
    for node in entry.fields.nodes:
        kept.append(body[at : node.start])
        at = node.end
    kept.append(body[at:])
    return "".join(kept).strip("\r\n \t")
