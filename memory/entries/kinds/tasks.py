"""Tasks as entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.errors import UsageError

from .filters import passes
from .in_files import InFiles
from .kind import EntryCall
from .values import date_of, list_of, sent_source, text_of, texts_of

if TYPE_CHECKING:
    from memory.entries.model import Changes
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot
    from memory.search import Record

_OPEN = ("pending", "in-progress")
_OWN = ("priority", "due", "recurring", "assigned", "tags", "notes", "action")


class Tasks(InFiles):
    """The tasks of tasks.md and its archive."""

    name = verb = "tasks"
    compact = True

    def located(self, snapshot: Snapshot, ref: str) -> Record:
        """Return the record of a task."""
        from memory.files.tasks.model import find_task
        from memory.search.records import task_record

        return task_record(find_task(snapshot, ref, archived=True))

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002
        """Yield the tasks of a section (default: pending, then in progress) that pass the rest of the filter."""
        from memory.files.tasks.due_filter import due_when
        from memory.search.records import task_record

        snapshot = call.workspace.snapshot()
        rest = dict(filter)
        section = str(rest.pop("section", "")).casefold().replace(" ", "-")
        due = rest.pop("due", None)
        sections = (*_OPEN, "completed", "archived") if section == "all" else (section,) if section else _OPEN
        if any(one not in (*_OPEN, "completed", "archived") for one in sections):
            raise UsageError(
                "task.section",
                f"{section[:40]!r} is not a section",
                "use pending, in-progress, completed, archived or all",
            )
        is_due = None if due is None else due_when(str(due), call.now, snapshot.zone)
        for one in sections:
            lists = snapshot.archived_tasks() if one == "archived" else (snapshot.tasks,)
            for tasks in lists:
                for task in tasks.tasks if one == "archived" else tasks.in_section(one):
                    if is_due is None or is_due(task):
                        record = task_record(task)
                        if not rest or passes(record, rest):
                            yield record

    def added(self, snapshot: Snapshot, title: str, fields: Mapping[str, Any], text: str | None, now: datetime) -> Edit:
        """Add a task to Pending; `text` are its notes where the fields name none."""
        from memory.files.tasks.edits import add_task

        values = {key: value for key, value in fields.items() if value is not None}
        if text and "notes" not in values:
            values["notes"] = text
        if str(values.pop("section", "pending")).casefold() != "pending":
            raise UsageError("task.section", "a new task is pending", "add it, then move it by an edit of its section")
        tags = list_of("tags", values.pop("tags", []))
        known = {key: text_of(key, values.pop(key)) for key in _OWN if key in values}
        if "due" in known:
            known["due"] = date_of(known["due"], now, snapshot.zone)
        return add_task(snapshot, title, tags=tags, extra=texts_of(values), now=now, **known)

    def edited(self, snapshot: Snapshot, record: Record, ref: str, changes: Changes, now: datetime) -> Edit:
        """Set fields, which moves the task where `section` is one of them, or replace its source."""
        from memory.files.tasks.edits import edit_task, replace_task_text

        if (source := sent_source(record, changes)) is not None:
            return replace_task_text(snapshot, ref, source, now=now)
        values = texts_of(
            {key: ", ".join(list_of(key, value)) if key == "tags" else value for key, value in changes.set.items()}
        )
        if "due" in values:
            values["due"] = date_of(values["due"], now, snapshot.zone)
        return edit_task(snapshot, ref, set=values, unset=changes.unset, now=now)

    def removed(self, snapshot: Snapshot, ref: str, now: datetime) -> Edit:
        """Remove a task."""
        from memory.files.tasks.edits import remove_task

        return remove_task(snapshot, ref, now=now)
