"""The forms of a task, made from the operations on tasks; and the meaning of a task typed in one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, tzinfo

from memory.base.safe_text import clip
from memory.base.values import alike
from memory.files.snapshot import Snapshot
from memory.files.tasks.model import Task, open_twins, twin_words
from memory.files.tasks.quick import read_quick
from widgets.input.date_fields import next_run_words
from widgets.input.fields import FieldSpec
from widgets.pane.offers import FormPlan
from widgets.pane.operation_form import Near, edit_form_of, fields_of, form_of, operation_of

NAMES = ("title", "priority", "due", "recurring", "assigned", "tags", "notes", "action")
"""The fields of every task."""


def adding(snapshot: Snapshot, now: datetime, due: str = "") -> FormPlan:
    """Return the form of a new task, due at `due` if it is given."""
    given = {"priority": "NORMAL", "due": due}
    plan = form_of("tasks add", "New task", given, "title", names=NAMES, near=Near(snapshot, now))
    title, *others = plan.fields
    about = "{task.quick|Q} adds a task in one line, such as: Buy stamps fri 9:00 !high #office"
    return plan._replace(fields=[replace(title, hint=_twin_hint(snapshot, None), about=about), *others])


def editing(snapshot: Snapshot, task: Task, now: datetime) -> FormPlan:
    """Return the form of every field of a task; unknown fields are shown and kept."""
    values = {name: getattr(task, name) or "" for name in NAMES} | {"tags": ", ".join(task.tags)}
    title, *others = fields_of(operation_of("tasks add"), values, NAMES, Near(snapshot, now))
    progress = "" if task.progress is None else str(task.progress)
    fields = [replace(title, hint=_twin_hint(snapshot, task)), *others]
    fields += (
        [FieldSpec("progress", "progress", "number", progress)] if task.section == "in-progress" or progress else []
    )
    for name, label, value in (
        ("outcome", "outcome", task.outcome),
        ("lastUpdate", "last update", task.last_update),
        ("orchestrationId", "plan", task.orchestration_id),
        ("cronJobId", "cron job", task.cron_job_id),
    ):
        if value or (name == "outcome" and task.section == "completed"):
            fields.append(FieldSpec(name, label, value=value or ""))
    fields += [FieldSpec(key, key, value=str(value), known=False) for key, value in task.extra.items()]
    return edit_form_of("tasks edit", "Edit task", task, fields, "title")


def _twin_hint(snapshot: Snapshot, task: Task | None) -> Callable[[str], str]:
    """A hint for a title that another open task already has; `task` is the task being edited."""
    known: dict[str, list[Task]] = {}

    def hint(text: str) -> str:
        if not known:
            # With the first key, and only then: there may be many.
            known.update(open_twins(snapshot.tasks.items))
        return twin_words([other for other in known.get(alike(text), ()) if other is not task], text)

    return hint


_PARTS = ("title", "due", "recurring", "priority", "assigned", "tags")
"""The parts of a task in one line, in the order in which their meaning is shown."""
_SIGNS = {"priority": "!", "assigned": "@", "tags": "#"}
HELP = "anywhere: !high @name #tag; at the end: a date, daily, every fri"
"""The help shown below an empty line."""


def quick_words(text: str, now: datetime, zone: tzinfo, *, short: bool = False) -> str:
    """Return what a typed task means, each part on its own line; `short`: priority, assignee and tags share one."""
    if not text.strip():
        return HELP
    found = read_quick(text, now, zone)
    lines: list[str] = [] if found.title else [f"{'title':<8} ({found.error})"]
    signs: list[str] = []
    for name in _PARTS:
        label, words = "recurs" if name == "recurring" else name, found.meanings.get(name, "")
        if short and name in _SIGNS:
            signs += [f"{_SIGNS[name]}{word}" for word in words.split(", ") if word]
        elif words:
            lines.append(f"{label:<8} {words}")
        if name == "recurring" and found.recurring and not short:
            lines.append(f"{'next':<8} {next_run_words(found.recurring, now, zone)}")
    if found.unread:
        lines.append(f"{'recurs':<8} {unread_words(found.unread)}")
    return "\n".join([*lines, *([" ".join(signs)] if signs else [])])


def unread_words(words: str) -> str:
    """Return the sentence about words that begin like a recurrence but are not one."""
    return f"“{clip(words, 40)}” is not a recurrence; it stays in the title"
