"""The forms of a task: for a new one, and for every field of an existing one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from widgets.input.date_fields import DueText, as_cron, as_written, by_use, date_field, recurrence_field
from widgets.input.fields import FieldSpec, Kind
from widgets.pane.offers import Build, FormPlan, Values

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot
    from memory.files.tasks.model import Task

PRIORITIES = ("HIGH", "NORMAL", "LOW")
"""The priorities to choose from; a task without one may stay so."""

ACTION = "a command, or what to do; runs only when you ask"
"""The placeholder of the action field."""


ASSIGNED = "a person or an agent"
"""The placeholder of the assignee."""


def adding(snapshot: Snapshot, now: datetime, due: str = "") -> FormPlan:
    """Return the form of a new task, due at `due` if it is given."""

    def build(changed: Values, values: Values, now: datetime) -> Build:  # noqa: ARG001
        from memory.files.operations import Call
        from memory.files.tasks.operations import add

        assert add.edit is not None
        edit = add.edit
        given = {name: values[name].strip() or None for name in ("due", "recurring", "assigned", "notes", "action")}
        tags = tuple(tag.strip() for tag in values["tags"].split(",") if tag.strip())
        title, priority = values["title"].strip(), values["priority"]
        return lambda looked: edit(Call(looked, now), title, priority=priority, tags=tags, **given)

    fields = _fields(snapshot, {"priority": "NORMAL", "due": due}, now)
    return FormPlan("New task", fields, build, "tasks.add", focus="title")


def editing(snapshot: Snapshot, task: Task, now: datetime) -> FormPlan:
    """Return the form of every field of a task; unknown fields are shown and kept."""
    values = {
        "title": task.title,
        "priority": task.priority or "",
        "due": task.due or "",
        "recurring": task.recurring or "",
        "assigned": task.assigned or "",
        "tags": ", ".join(task.tags),
        "notes": task.notes or "",
        "action": task.action or "",
    }
    fields = _fields(snapshot, values, now, task)
    if task.section == "in-progress" or task.progress is not None:
        shown = "" if task.progress is None else str(task.progress)
        fields.append(FieldSpec("progress", "progress", "number", shown, validate=percent_error(shown)))
    for name, label, value in (
        ("outcome", "outcome", task.outcome),
        ("lastUpdate", "last update", task.last_update),
        ("orchestrationId", "plan", task.orchestration_id),
        ("cronJobId", "cron job", task.cron_job_id),
    ):
        if value or (name == "outcome" and task.section == "completed"):
            fields.append(FieldSpec(name, label, value=value or ""))
    fields += [FieldSpec(key, key, value=str(value), known=False) for key, value in task.extra.items()]
    ref, base, zone = task.ref, task.entry, snapshot.zone

    def build(changed: Values, given: Values, now: datetime) -> Build:
        from memory.files.tasks.edits import edit_task

        changed = dict(changed)
        written = as_written(given["due"], values["due"], now, zone)
        if "due" in changed:
            changed["due"] = written
        if "recurring" in changed:
            changed["recurring"] = as_cron(changed["recurring"], values["recurring"], written or None, zone)
        setting = {key: value.strip() if key != "notes" else value.rstrip() for key, value in changed.items()}
        unset = tuple(key for key, value in setting.items() if not value)
        for key in unset:
            del setting[key]
        return lambda snapshot: edit_task(snapshot, ref, set=setting, unset=unset, base=base, now=now)

    return FormPlan("Edit task", fields, build, "tasks.edit", focus="title")


def _fields(snapshot: Snapshot, values: Values, now: datetime, task: Task | None = None) -> list[FieldSpec]:
    """Return the fields of every task with their values; `task` is the task itself, None for a new one."""
    due, zone = values["due"], snapshot.zone
    day = DueText(due, now, zone)
    priorities = PRIORITIES if values["priority"] else ("", *PRIORITIES)
    some = snapshot.tasks.tasks[:2000]

    def field(name: str, kind: Kind = "text", **more: Any) -> FieldSpec:
        return FieldSpec(name, name, kind, values.get(name, ""), **more)

    return [
        field("title", hint=_twin_hint(snapshot, task), placeholder="what to do", required=True),
        field("priority", "choice", options=priorities),
        day.watched(date_field("due", "due", due, now, zone)),
        recurrence_field("recurring", "recurring", values.get("recurring", ""), day, now, zone),
        field("assigned", suggestions=lambda: by_use(one.assigned or "" for one in some), placeholder=ASSIGNED),
        field("tags", "tags", suggestions=lambda: by_use(tag for one in some for tag in one.tags)),
        field("notes", "multiline"),
        field("action", placeholder=ACTION),
    ]


def percent_error(original: str = "") -> Callable[[str], str | None]:
    """A validator for a percentage; the original value is always accepted."""

    def validate(text: str) -> str | None:
        text = text.strip().removesuffix("%").strip()
        if not text or text == original:
            return None
        if text.isascii() and text.isdigit() and int(text) <= 100:
            return None
        return "a number from 0 to 100"

    return validate


def _twin_hint(snapshot: Snapshot, task: Task | None) -> Callable[[str], str]:
    """A hint for a title that another open task already has; `task` is the task being edited."""
    known: dict[str, list[Task]] = {}

    def hint(text: str) -> str:
        from memory.base.values import alike
        from memory.files.tasks.model import open_twins, twin_words

        if not known:
            # With the first key, and only then: there may be many.
            known.update(open_twins(snapshot.tasks.tasks))
        return twin_words([other for other in known.get(alike(text), ()) if other is not task], text)

    return hint
