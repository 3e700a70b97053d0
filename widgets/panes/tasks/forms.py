"""The forms of a task: for a new one, and for every field of an existing one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from widgets.input.date_fields import DueText, as_cron, as_written, by_use, date_field, recurrence_field
from widgets.input.fields import FieldSpec
from widgets.pane.offers import Build, FormPlan, Values

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot
    from memory.files.tasks.model import Task

PRIORITIES = ("HIGH", "NORMAL", "LOW")
"""The priorities to choose from; a task without one may stay so."""

ACTION = "a command or what to do; never run by itself"
"""The placeholder of the action field."""


def adding(snapshot: Snapshot, now: datetime, due: str = "") -> FormPlan:
    """The form of a new task, in Pending; `due` is the initial date, such as the day chosen in the calendar."""
    zone = snapshot.zone
    day = DueText(due, now, zone)
    fields = (
        _title("", _twin_hint(snapshot)),
        FieldSpec("priority", "priority", "choice", "NORMAL", options=PRIORITIES),
        day.watched(date_field("due", "due", due, now, zone)),
        recurrence_field("recurring", "recurring", "", day, now, zone),
        *_people_and_tags(snapshot, "", ""),
        FieldSpec("notes", "notes", "multiline"),
        FieldSpec("action", "action", placeholder=ACTION),
    )

    def build(changed: Values, values: Values, now: datetime) -> Build:  # noqa: ARG001
        from memory.files.tasks.edits import add_task

        written = as_written(values["due"], "", now, zone)
        cron = as_cron(values["recurring"], "", written or None, zone)
        tags = _split(values["tags"])
        return lambda snapshot: add_task(
            snapshot,
            values["title"].strip(),
            priority=values["priority"],
            due=written or None,
            recurring=cron or None,
            assigned=values["assigned"].strip() or None,
            tags=tags,
            notes=values["notes"].strip() or None,
            action=values["action"].strip() or None,
            now=now,
        )

    return FormPlan("New task", fields, build, "tasks.add", focus="title")


def editing(snapshot: Snapshot, task: Task, now: datetime) -> FormPlan:
    """The form of a task: known fields, those that only some tasks have, and unknown ones."""
    zone = snapshot.zone
    day = DueText(task.due or "", now, zone)
    priorities = PRIORITIES if task.priority else ("", *PRIORITIES)
    fields = [
        _title(task.title, _twin_hint(snapshot, task)),
        FieldSpec("priority", "priority", "choice", task.priority or "", options=priorities),
        day.watched(date_field("due", "due", task.due or "", now, zone)),
        recurrence_field("recurring", "recurring", task.recurring or "", day, now, zone),
        *_people_and_tags(snapshot, task.assigned or "", ", ".join(task.tags)),
        FieldSpec("notes", "notes", "multiline", task.notes or ""),
        FieldSpec("action", "action", value=task.action or "", placeholder=ACTION),
    ]
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
    ref, base, old_due, old_cron = task.ref, task.entry, task.due or "", task.recurring or ""

    def build(changed: Values, values: Values, now: datetime) -> Build:
        from memory.files.tasks.edits import edit_task

        changed = dict(changed)
        if "due" in changed:
            changed["due"] = as_written(changed["due"], old_due, now, zone)
        if "recurring" in changed:
            written = as_written(values["due"], old_due, now, zone)
            changed["recurring"] = as_cron(changed["recurring"], old_cron, written or None, zone)
        setting = {key: value.strip() if key != "notes" else value.rstrip() for key, value in changed.items()}
        unset = tuple(key for key, value in setting.items() if not value)
        for key in unset:
            del setting[key]
        return lambda snapshot: edit_task(snapshot, ref, set=setting, unset=unset, base=base, now=now)

    return FormPlan("Edit task", fields, build, "tasks.edit", focus="title")


def _title(value: str, hint: Callable[[str], str]) -> FieldSpec:
    return FieldSpec("title", "title", value=value, hint=hint, placeholder="what is to be done", required=True)


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


def _twin_hint(snapshot: Snapshot, task: Task | None = None) -> Callable[[str], str]:
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


def _people_and_tags(snapshot: Snapshot, assigned: str, tags: str) -> tuple[FieldSpec, FieldSpec]:
    def people() -> tuple[str, ...]:
        return by_use(task.assigned or "" for task in snapshot.tasks.tasks[:2000])

    def used() -> tuple[str, ...]:
        return by_use(tag for task in snapshot.tasks.tasks[:2000] for tag in task.tags)

    return (
        FieldSpec("assigned", "assigned", value=assigned, suggestions=people, placeholder="a person or an agent"),
        FieldSpec("tags", "tags", "tags", tags, suggestions=used),
    )


def _split(tags: str) -> tuple[str, ...]:
    return tuple(tag.strip() for tag in tags.split(",") if tag.strip())
