"""Edits of tasks: each takes a snapshot and returns the new documents; what it does not set keeps its bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from memory.base.clock import format_local
from memory.document import Document, Entry, Section
from memory.document.fields import set_field
from memory.errors import ConflictError, UsageError
from memory.files.edit import Edit, entry_of_text, started_document
from memory.files.refs.refs import SHORT

from .fields import (
    check_due,
    heading,
    read_percent,
    read_priority,
    with_heading,
    with_text,
    with_value,
    write_tags,
)
from .model import PRIORITIES, DueValue, Task, find_task, read_due, read_tasks, split_priority
from .values import KIND, SectionName, identity_of, is_run, with_section

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot

FILE = "tasks.md"
_SECTION_WORDS: dict[str, SectionName] = {
    "pending": "pending",
    "in-progress": "in-progress",
    "in progress": "in-progress",
    "completed": "completed",
}


def add_task(
    snapshot: Snapshot,
    title: str,
    *,
    priority: str | None = "NORMAL",
    due: str | None = None,
    recurring: str | None = None,
    assigned: str | None = None,
    tags: Sequence[str] = (),
    notes: str | None = None,
    action: str | None = None,
    extra: Mapping[str, str] | None = None,
    now: datetime,
) -> Edit:
    """Add a task on top of its priority group in Pending; `created` is now, in the workspace's zone.

    `due` is a date, a date and time, or either with `(recurring: CRON)`; `extra` holds further fields. A missing
    section or file is made. Raises UsageError `task.title`, `field.value` and so on, BadMoment, BadCron.
    """
    zone = snapshot.zone
    parts = check_due(due or "", zone)
    if recurring:
        parts = check_due(str(DueValue(parts.date, recurring, parts.remark)), zone)
    values = {
        "due": str(parts),
        "assigned": assigned,
        "created": format_local(now, zone),
        "tags": write_tags(tuple(tags)),
        "notes": notes,
        "action": action,
    }
    document = started_document(snapshot, FILE, now)
    newline = document.newline
    body = "".join(set_field("", key, value, newline) for key, value in values.items() if value and value.strip())
    entry = Entry.compose(heading(read_priority(priority), title), body, newline)
    for key, value in values.items():
        with_text(entry, key, value.strip() if value and value.strip() else None)
    for key, value in (extra or {}).items():
        entry = with_value(entry, key, value, zone)
    document, section = with_section(document, "pending")
    return _placed(document, section, entry, f"added {_short(title.strip())}")


def edit_task(
    snapshot: Snapshot,
    ref: str,
    *,
    set: Mapping[str, str] | None = None,  # noqa: A002 - the name of the option
    unset: Iterable[str] = (),
    base: Entry | None = None,
    now: datetime,
) -> Edit:
    """Set and unset fields, title, priority and section; an empty value takes a field away.

    `section` does what start, done and reopen do; `progress` only sets the field. `base` is the entry that the
    person started from: what somebody else changed meanwhile is kept, and ConflictError `document.conflict` with
    `fields` and `conflicts` raised where both changed the same.
    """
    task = find_task(snapshot, ref)
    changes: dict[str, str | None] = {**(set or {}), **dict.fromkeys(unset)}
    section = _wanted_section(changes)
    if base is not None and base.raw != task.entry.raw:
        _refuse_conflict(task, base, changes, snapshot.zone)
    finishes = section == "completed" and task.section != "completed"
    # The outcome belongs to what is completed, not to a recurring task that stays open.
    outcome = changes.pop("outcome") if finishes and changes.get("outcome") else None
    entry = task.entry
    for key, value in changes.items():
        entry = with_value(entry, key, value, snapshot.zone)
    if section is None or (section == task.section and task.heading is None):
        return _replaced(task, entry, f"changed {_short(task.title)}")
    if section == "in-progress":
        return _started(snapshot, task, entry, now)
    if section == "completed":
        return _done(snapshot, task, entry, outcome, now)
    return _reopened(snapshot, task, entry, now)


def start_task(snapshot: Snapshot, ref: str, *, now: datetime) -> Edit:
    """Move a task to In Progress: sets `started`, and `progress: 0%` if there is none.

    A task in progress stays as it is; a completed one raises UsageError `task.completed`.
    """
    task = find_task(snapshot, ref)
    return _started(snapshot, task, task.entry, now)


def progress_task(
    snapshot: Snapshot,
    ref: str,
    percent: int | str,
    *,
    note: str | None = None,
    base: Entry | None = None,
    now: datetime,
) -> Edit:
    """Set the progress (0 to 100) and, with a note, `lastUpdate`; a pending task is started by it.

    Raises UsageError `task.progress` for another number, `task.completed` for a completed task, and with `base` (the
    entry that the person saw) ConflictError `document.conflict` where somebody else set another progress since.
    """
    task = find_task(snapshot, ref)
    number = read_percent(percent)
    if base is not None and base.raw != task.entry.raw:
        _refuse_conflict(task, base, {"progress": f"{number}%"}, snapshot.zone)
    entry = task.entry
    if task.section == "pending":
        entry = with_text(entry, "started", format_local(now, snapshot.zone))
    entry = with_text(entry, "progress", f"{number}%")
    if note and note.strip():
        entry = with_text(entry, "lastUpdate", note.strip())
    if task.section == "in-progress":
        return _replaced(task, entry, f"{_short(task.title)} is at {number}%")
    return _started(snapshot, task, entry, now)


def done_task(snapshot: Snapshot, ref: str, *, outcome: str | None = None, now: datetime) -> Edit:
    """Complete a task: on top of Completed, with `completed` and `outcome`, without `progress`.

    A recurring one leaves a completed copy there, and the task itself stays in (or goes back to) Pending with `due`
    at the first occurrence after now and after the `due` that it had: what is finished early is done for that time,
    and occurrences that were missed are not made up for. The two are equal in title and `created` from then on: the
    ref of the open one stays what it was through every further run, and the copy gets a longer one of its own.
    A task that is completed already raises ConflictError `task.completed`: its outcome is somebody's.
    """
    task = find_task(snapshot, ref)
    if task.section == "completed":
        raise ConflictError(
            "task.completed",
            f"{_short(task.title)} is completed already",
            "`memdeck tasks edit REF --set outcome=…` changes its outcome, `tasks reopen REF` opens it again",
            ref=task.ref,
            completed=task.completed,
        )
    return _done(snapshot, task, task.entry, outcome, now)


def reopen_task(snapshot: Snapshot, ref: str, *, now: datetime) -> Edit:
    """Move a task back to Pending, on top of its priority group.

    Drops `completed` and `progress` (and `started`, if it was in progress); the outcome moves into `notes`. A pending
    task stays as it is.
    """
    task = find_task(snapshot, ref)
    return _reopened(snapshot, task, task.entry, now)


def remove_task(snapshot: Snapshot, ref: str, *, now: datetime) -> Edit:  # noqa: ARG001 - edits are called alike
    """Remove a task; no journal entry is written."""
    task = find_task(snapshot, ref)
    document = snapshot.document(FILE).remove_entry(*task.at)
    return Edit({FILE: document}, f"removed {_short(task.title)}")


def shift_priority(snapshot: Snapshot, ref: str, by: int, *, now: datetime) -> Edit:  # noqa: ARG001
    """Raise (`by` above 0) or lower the priority by so many steps, up to HIGH and down to LOW; the task stays in place.

    A task without a known priority counts as one between NORMAL and what is asked for: it gets HIGH or LOW.
    """
    task = find_task(snapshot, ref)
    rank = PRIORITIES.index(task.priority or "NORMAL")
    wanted = PRIORITIES[min(max(rank - by, 0), len(PRIORITIES) - 1)]
    entry = with_heading(task.entry, wanted, task.title) if by else task.entry
    return _replaced(task, entry, f"{_short(task.title)} is {wanted}")


def replace_task_text(
    snapshot: Snapshot,
    ref: str,
    text: str,
    *,
    base: Entry | None = None,
    now: datetime,  # noqa: ARG001
) -> Edit:
    """Replace the whole source of a task, as an editor returns it; values are not checked, as in any editor.

    What somebody else changed since `base` is merged by fields and lines. Raises UsageError `document.structure`
    unless the text is exactly one entry, ConflictError `document.conflict` where both changed the same.
    """
    task = find_task(snapshot, ref)
    entry = entry_of_text(text, task.entry, base, task.title)
    return _replaced(task, task.entry if entry is None else entry, f"changed {_short(task.title)}")


# -- moving ---------------------------------------------------------------------------------------------------


def _started(snapshot: Snapshot, task: Task, entry: Entry, now: datetime) -> Edit:
    if task.section == "completed":
        raise UsageError("task.completed", f"{_short(task.title)} is completed", "reopen it first")
    if task.section == "in-progress":
        return _replaced(task, entry, f"{_short(task.title)} is in progress")
    entry = with_text(entry, "started", format_local(now, snapshot.zone))
    if entry.fields.get("progress") is None:
        entry = with_text(entry, "progress", "0%")
    edit = _moved(task, entry, "in-progress", f"started {_short(task.title)}")
    return _noted(snapshot, edit, "Task Started", [f'"{_title(entry)}" started'], now)


def _done(snapshot: Snapshot, task: Task, entry: Entry, outcome: str | None, now: datetime) -> Edit:
    zone = snapshot.zone
    completed = with_text(with_text(entry, "progress", None), "completed", format_local(now, zone))
    lines = [f'"{_title(entry)}" completed']
    if outcome and outcome.strip():
        completed = with_text(completed, "outcome", outcome.strip())
        lines.append(f"Outcome: {outcome.strip()}")
    due = read_due(entry.fields.get("due"))
    if due.recurring is None:
        edit = _moved(task, completed, "completed", f"completed {_short(task.title)}")
    else:
        from .recurrence import next_due

        following = next_due(due, now, zone)
        lines.append(f"Next: {following.date}")
        edit = _recurred(task, entry, completed, following, zone)
    return _noted(snapshot, edit, "Task Completed", lines, now)


def _recurred(task: Task, entry: Entry, completed: Entry, following: DueValue, zone: tzinfo) -> Edit:
    """Put the completed copy on top of Completed and the task itself, due again, into Pending."""
    again = with_value(entry, "due", str(following), zone)
    # The next time has not begun yet.
    again = with_text(with_text(again, "started", None), "progress", None)
    document = task.document
    document, target = with_section(document, "completed")
    section, number = task.at
    if len(document.sections) > len(task.document.sections) and target <= section:
        section += 1
    if task.section == "pending":
        document = document.replace_entry(section, number, again)
        place = (section, number)
    else:
        document = document.remove_entry(section, number)
        known = len(document.sections)
        document, pending = with_section(document, "pending")
        if len(document.sections) > known and pending <= target:
            target += 1
        place = (pending, _group_top(document.sections[pending], again))
        document = document.insert_entry(*place, again)
    document = document.insert_entry(target, 0, completed)
    ref = read_tasks(FILE, document).ref_at(*place)
    return Edit({FILE: document}, f"completed {_short(task.title)}, due again {following.date}", ref)


def _reopened(snapshot: Snapshot, task: Task, entry: Entry, now: datetime) -> Edit:
    if task.section == "pending" and task.heading is None:
        return _replaced(task, entry, f"{_short(task.title)} is pending")
    outcome = entry.fields.get("outcome")
    if outcome:
        notes = entry.fields.get("notes")
        entry = with_text(entry, "notes", f"{notes}\nOutcome: {outcome}" if notes else f"Outcome: {outcome}")
    dropped = ("completed", "progress", "outcome", *(("started",) if task.section == "in-progress" else ()))
    for key in dropped:
        entry = with_text(entry, key, None)
    edit = _moved(task, entry, "pending", f"reopened {_short(task.title)}")
    return _noted(snapshot, edit, "Task Reopened", [f'"{_title(entry)}" reopened'], now)


def _moved(task: Task, entry: Entry, name: SectionName, summary: str) -> Edit:
    document = task.document.remove_entry(*task.at)
    document, section = with_section(document, name)
    if name != "completed":
        return _placed(document, section, entry, summary)
    return _put(document.insert_entry(section, 0, entry), section, 0, summary)


def _placed(document: Document, section: int, entry: Entry, summary: str) -> Edit:
    """Put an entry on top of its priority group."""
    number = _group_top(document.sections[section], entry)
    return _put(document.insert_entry(section, number, entry), section, number, summary)


def _put(document: Document, section: int, number: int, summary: str) -> Edit:
    """Return the edit that gives this document, about the task of an entry."""
    task = read_tasks(FILE, document).at(section, number)
    assert task is not None
    return Edit({FILE: document}, summary, task.ref, task.entry)


def _group_top(section: Section, entry: Entry) -> int:
    """Return the place on top of the entries of that priority, or where such a group would begin."""
    rank = _rank(entry)
    below = None
    for index, other in enumerate(section.entries):
        other_rank = _rank(other)
        if other_rank == rank:
            return index
        if below is None and other_rank > rank:
            below = index
    return len(section.entries) if below is None else below


def _rank(entry: Entry) -> int:
    priority = split_priority(entry.title)[0]
    return len(PRIORITIES) if priority is None else PRIORITIES.index(priority)


def _replaced(task: Task, entry: Entry, summary: str) -> Edit:
    if entry.raw == task.entry.raw:
        return Edit({}, summary, task.ref, task.entry)
    document = task.document.replace_entry(*task.at, entry)
    same = len(task.ref) == len(KIND) + 1 + SHORT and identity_of(entry) == identity_of(task.entry)
    ref = task.ref if same and not is_run(entry) else read_tasks(FILE, document).ref_at(*task.at)
    return Edit({FILE: document}, summary, ref, entry)


def _noted(snapshot: Snapshot, edit: Edit, title: str, lines: Sequence[str], now: datetime) -> Edit:
    """Add a journal entry to an edit if config.md asks for one at every change of section."""
    if not snapshot.config.truth("journalTaskChanges"):
        return edit
    from memory.files.journal.edits import with_note

    return Edit({**edit.documents, "journal.md": with_note(snapshot, title, lines, now)}, edit.summary, edit.ref)


# -- editing --------------------------------------------------------------------------------------------------


def _wanted_section(changes: dict[str, str | None]) -> SectionName | None:
    """Take `section` out of the changes; raises UsageError `task.section` for a name that is none."""
    if "section" not in changes:
        return None
    text = changes.pop("section") or ""
    name = _SECTION_WORDS.get(text.strip().lower())
    if name is None:
        raise UsageError("task.section", f"{text[:40]!r} is not a section", "use pending, in-progress or completed")
    return name


def _refuse_conflict(task: Task, base: Entry, changes: Mapping[str, str | None], zone: tzinfo) -> None:
    """Raise ConflictError where theirs (the file) and ours (the changes) both differ from base, and from each other."""
    from memory.document.merge.bodies import BodyClash
    from memory.files.merging import edit_conflict

    both = []
    for key, value in changes.items():
        old, theirs = _reading(base, key), _reading(task.entry, key)
        ours = _reading(with_value(task.entry, key, value, zone), key)
        if theirs not in (old, ours):
            both.append(BodyClash("field", key, old, ours, theirs))
    if both:
        raise edit_conflict(task.title, both, task.ref)


def _reading(entry: Entry, key: str) -> str | None:
    if key in ("title", "priority"):
        return split_priority(entry.title)[key == "title"]
    if key in ("due", "recurring"):
        due = read_due(entry.fields.get("due"))
        return due.date if key == "due" else due.recurring
    return entry.fields.get(key)


def _title(entry: Entry) -> str:
    return split_priority(entry.title)[1]


def _short(title: str) -> str:
    return repr(title if len(title) <= 60 else title[:59] + "…")
