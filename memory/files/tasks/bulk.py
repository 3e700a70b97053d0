"""Edits of many tasks at once: one look at the file for all of them, one change, one undo."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from memory.base.clock import format_local
from memory.base.values import folded
from memory.document import Document, Entry
from memory.errors import UsageError
from memory.files.edit import Edit

from .edits import (
    FILE,
    as_entries,
    edit_task,
    heading,
    task_to_edit,
    with_heading,
    with_text,
    with_value,
    write_tags,
)
from .model import PRIORITIES, Task, find_task, read_tasks
from .values import with_section

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot


def edit_tasks(
    snapshot: Snapshot,
    refs: Sequence[str],
    *,
    set: Mapping[str, str] | None = None,  # noqa: A002 - the name of the option
    unset: Iterable[str] = (),
    now: datetime,
) -> Edit:
    """Set and unset the same fields of many tasks; `section` is none of them. Raises as `edit_task`."""
    changes: dict[str, str | None] = {**(set or {}), **dict.fromkeys(unset)}
    if "section" in changes:
        raise UsageError("task.section", "many tasks are not moved by a field", "start, finish or reopen them")
    if len(refs) == 1:
        return edit_task(snapshot, refs[0], set=set, unset=unset, now=now)
    zone = snapshot.zone

    def changed(task: Task) -> Entry:
        entry = task.entry
        for key, value in changes.items():
            entry = with_value(entry, key, value, zone)
        return entry

    return _each(snapshot, refs, changed, "changed")


def retag_tasks(
    snapshot: Snapshot,
    refs: Sequence[str],
    *,
    add: Sequence[str] = (),
    remove: Collection[str] = (),
    now: datetime,  # noqa: ARG001
) -> Edit:
    """Give tags to many tasks and take others away; what else each of them has stays. Case does not count."""
    gone = set(map(folded, remove))

    def changed(task: Task) -> Entry:
        tags = [tag for tag in task.tags if folded(tag) not in gone]
        have = set(map(folded, tags))
        tags += [tag for tag in dict.fromkeys(add) if folded(tag) not in have]
        if tuple(tags) == task.tags:
            return task.entry
        return with_text(task.entry, "tags", write_tags(tuple(tags)) or None)

    return _each(snapshot, refs, changed, "tagged")


def shift_priorities(snapshot: Snapshot, refs: Sequence[str], by: int, *, now: datetime) -> Edit:  # noqa: ARG001
    """Raise (`by` above 0) or lower the priorities of tasks by so many steps, up to HIGH and down to LOW.

    A task without a known priority counts as one between NORMAL and what is asked for: it gets HIGH or LOW.
    """

    def changed(task: Task) -> Entry:
        rank = PRIORITIES.index(task.priority or "NORMAL")
        wanted = PRIORITIES[min(max(rank - by, 0), len(PRIORITIES) - 1)]
        return with_heading(task.entry, wanted, task.title) if by else task.entry

    return _each(snapshot, refs, changed, "raised" if by > 0 else "lowered")


def remove_tasks(snapshot: Snapshot, refs: Sequence[str], *, now: datetime) -> Edit:  # noqa: ARG001
    """Remove many tasks; no journal entry is written."""
    tasks = as_entries(tasks_named(snapshot, refs))
    document = tasks[0].document if tasks else snapshot.document(FILE)
    # From the end, so that places before it stay what they are.
    for task in sorted(tasks, key=lambda task: task.at, reverse=True):
        document = document.remove_entry(*task.at)
    return Edit({FILE: document}, _summary("removed", tasks))


def duplicate_task(snapshot: Snapshot, ref: str, *, now: datetime) -> Edit:
    """Put a copy of a task below it, or on top of Pending where it was begun or finished; `created` is now.

    What belongs to the doing of the old one is left out: progress, started, completed, outcome, cron job.
    """
    task = task_to_edit(snapshot, ref)
    entry = task.entry.with_title(task.entry.title)
    for key in ("progress", "started", "completed", "outcome", "lastUpdate", "cronJobId"):
        entry = with_text(entry, key, None)
    entry = with_heading(entry, task.priority, f"{task.title} (copy)")
    entry = with_text(entry, "created", format_local(now, snapshot.zone))
    return _put_below(task, task.document, [entry], f"copied {task.title[:60]!r}")


def split_task(snapshot: Snapshot, ref: str, titles: Sequence[str], *, now: datetime) -> Edit:
    """Make a task of each title, below the one they are parts of; they get its priority, date, tags and assignee.

    The task itself stays and its notes name the parts; what recurs is not passed on. Raises UsageError `task.parts`
    where there is no title, and as `add_task` for one that cannot be a heading.
    """
    task = task_to_edit(snapshot, ref)
    parts = [title.strip() for title in titles if title.strip()]
    if not parts:
        raise UsageError("task.parts", "there is nothing to split it into", "write one title a line")
    zone, document = snapshot.zone, task.document
    values = {
        "due": task.due,
        "assigned": task.assigned,
        "created": format_local(now, zone),
        "orchestrationId": task.orchestration_id,
        "tags": write_tags(task.tags) or None,
        "notes": f"Part of: {task.title}",
    }
    entries = []
    for part in parts:
        entry = Entry.compose(heading(task.priority, part), "", document.newline)
        for key, value in values.items():
            entry = with_text(entry, key, value)
        entries.append(entry)
    named = "Parts: " + "; ".join(parts)
    notes = f"{task.notes}\n{named}" if task.notes else named
    document = document.replace_entry(*task.at, task.written(with_text(task.entry, "notes", notes)))
    return _put_below(task, document, entries, f"split {task.title[:60]!r} into {len(parts)}")


def _put_below(task: Task, document: Document, entries: Sequence[Entry], summary: str) -> Edit:
    """Return the edit that puts entries below a pending task, on top of Pending for any other."""
    section, place = task.at[0], task.at[1] + 1
    if task.section != "pending":
        document, section = with_section(document, "pending")
        place = 0
    for number, entry in enumerate(entries):
        document = document.insert_entry(section, place + number, entry)
    return Edit({FILE: document}, summary, read_tasks(FILE, document).ref_at(section, place))


def tasks_named(snapshot: Snapshot, refs: Sequence[str]) -> list[Task]:
    """Return the tasks of refs, each once and in the order of the file; NotFoundError `task.not_found`."""
    tasks = snapshot.readable().tasks
    known = {task.ref: task for task in tasks}
    wanted = {}
    for ref in refs:
        task = known.get(ref) or find_task(snapshot, ref)
        wanted[task.at] = task
    return [wanted[at] for at in sorted(wanted)]


def _each(snapshot: Snapshot, refs: Sequence[str], changed: Callable[[Task], Entry], verb: str) -> Edit:
    tasks = as_entries(tasks_named(snapshot, refs))
    document = tasks[0].document if tasks else snapshot.document(FILE)
    for task in tasks:
        entry = changed(task)
        if entry.raw != task.entry.raw:
            document = document.replace_entry(*task.at, task.written(entry))
    documents = {} if document is snapshot.document(FILE) else {FILE: document}
    ref = read_tasks(FILE, document).ref_at(*tasks[0].at) if len(tasks) == 1 else None
    return Edit(documents, _summary(verb, tasks), ref)


def _summary(verb: str, tasks: Sequence[Task]) -> str:
    return f"{verb} {tasks[0].title[:60]!r}" if len(tasks) == 1 else f"{verb} {len(tasks)} tasks"
