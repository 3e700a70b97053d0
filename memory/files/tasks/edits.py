"""Edits of tasks: each takes a snapshot and returns the new documents; what it does not set keeps its bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from memory.base.clock import format_local, read_moment
from memory.base.cron import check_cron
from memory.base.values import is_absent
from memory.document import Entry, Section
from memory.document.lines import set_field
from memory.errors import ConflictError, UsageError
from memory.files.dress import plain_name, without_twins
from memory.files.edit import Edit, check_field_value, entry_of_text, refuse_conflict, started_document
from memory.files.journal.edits import with_note

from .model import PRIORITIES, DueValue, Task, find_task, read_due, read_tasks, split_priority
from .reading import SCHEMA, SECTIONS, plain_section, with_items_as_entries
from .recurrence import next_due
from .values import with_section

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot

    from .reading import SectionName


FILE = "tasks.md"


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
    number = _group_top(document.sections[section], entry)
    document = document.insert_entry(section, number, entry)
    added = read_tasks(FILE, document).at(section, number)
    assert added is not None
    return Edit({FILE: document}, f"added {_short(title.strip())}", added.ref, added.entry)


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
    task = task_to_edit(snapshot, ref)
    changes: dict[str, str | None] = {**(set or {}), **dict.fromkeys(unset)}
    section = _wanted_section(changes)
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
    task = task_to_edit(snapshot, ref)
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
    task = task_to_edit(snapshot, ref)
    number = read_percent(percent)
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
    task = task_to_edit(snapshot, ref)
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
    task = task_to_edit(snapshot, ref)
    return _reopened(snapshot, task, task.entry, now)


def remove_task(snapshot: Snapshot, ref: str, *, now: datetime) -> Edit:  # noqa: ARG001 - edits are called alike
    """Remove a task; no journal entry is written."""
    task = task_to_edit(snapshot, ref)
    return Edit({FILE: task.document.remove_entry(*task.at)}, f"removed {_short(task.title)}")


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
    task = task_to_edit(snapshot, ref)
    entry = entry_of_text(text, task.entry, base, task.title)
    return _replaced(task, task.entry if entry is None else entry, f"changed {_short(task.title)}")


def task_to_edit(snapshot: Snapshot, ref: str) -> Task:
    """Return the task that `find_task` finds, as an entry: see `as_entries`."""
    return as_entries([find_task(snapshot, ref)])[0]


def as_entries(tasks: Sequence[Task]) -> list[Task]:
    """Return tasks of one file as entries of one document: items of a checklist among them are written as entries."""
    document = tasks[0].document
    chosen: dict[int, list[int]] = {}
    for index, number in sorted(task.at for task in tasks if task.is_item):
        chosen.setdefault(index, []).append(number)
    if not chosen:
        return list(tasks)
    places: list[tuple[int, int]] = []
    for task in tasks:
        index, number = task.at
        items = chosen.get(index, [])
        places.append((index, items.index(number) if task.is_item else number + len(items)))
    for index, items in chosen.items():
        # The items of a section count down to -1, the last one before its first entry.
        count = len(document.section(index).memo(plain_section).items)
        document = with_items_as_entries(document, index, [count + number for number in items])
    changed = read_tasks(FILE, document)
    return [found for place in places if (found := changed.at(*place)) is not None]


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
    number = 0 if name == "completed" else _group_top(document.sections[section], entry)
    document = document.insert_entry(section, number, entry)
    # Blank lines behind it follow the style of the file.
    entry = document.sections[section].entries[number]
    return Edit({FILE: document}, summary, read_tasks(FILE, document).ref_at(section, number), entry)


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
    entry = task.written(entry)
    document = task.document.replace_entry(*task.at, entry)
    return Edit({FILE: document}, summary, read_tasks(FILE, document).ref_at(*task.at), entry)


def _noted(snapshot: Snapshot, edit: Edit, title: str, lines: Sequence[str], now: datetime) -> Edit:
    """Add a journal entry to an edit if config.md asks for one at every change of section."""
    if not snapshot.config.truth("journalTaskChanges"):
        return edit

    return Edit({**edit.documents, "journal.md": with_note(snapshot, title, lines, now)}, edit.summary, edit.ref)


# -- editing --------------------------------------------------------------------------------------------------


def _wanted_section(changes: dict[str, str | None]) -> SectionName | None:
    """Take `section` out of the changes; raises UsageError `task.section` for a name that is none."""
    if "section" not in changes:
        return None
    text = changes.pop("section") or ""
    name = plain_name(text, SECTIONS)
    if name is None:
        raise UsageError("task.section", f"{text[:40]!r} is not a section", "use pending, in-progress or completed")
    return name


def _refuse_conflict(task: Task, base: Entry | None, changes: Mapping[str, str | None], zone: tzinfo) -> None:
    """Raise ConflictError where theirs (the file) and ours (the changes) both differ from base, and from each other."""
    if base is not None and base.raw != task.entry.raw:
        ours = {key: _reading(with_value(task.entry, key, value, zone), key) for key, value in changes.items()}
        refuse_conflict(task.title, base, task.entry, ours, _reading, task.ref)


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


# -- values, checked and in the form of the file ------------------------------------------------------------------

_MOMENTS = frozenset({"created", "started", "completed"})
_NOT_FIELDS = frozenset({"ref", "line", "extra", "section"})
_NUMBER = re.compile(r"([0-9]{1,3})[ \t]*%?", re.ASCII)


def with_value(entry: Entry, key: str, value: str | None, zone: tzinfo) -> Entry:
    """Return the entry with one value set; None or an empty one takes the field away.

    `key` is a key of the interface that is a field, `title`, `priority`, or a field that the format does not know.
    Raises BadMoment, BadCron, and UsageError `task.title`, `task.priority`, `task.progress`, `field.key`,
    `field.value` for what cannot be written.
    """
    wanted = None if value is None or not value.strip() else value.strip()
    if key == "title":
        return with_heading(entry, split_priority(entry.title)[0], wanted or "")
    if key == "priority":
        return with_heading(entry, read_priority(wanted), split_priority(entry.title)[1])
    if key in ("due", "recurring"):
        old = read_due(entry.fields.get("due"))
        due = _changed_date(old, wanted, zone) if key == "due" else _changed_cron(old, wanted)
        return with_text(entry, "due", str(due) or None)
    if key in _NOT_FIELDS:
        raise UsageError("field.key", f"{key!r} is not a field of a task", "set a field, title, priority or section")
    if wanted is not None:
        if key in _MOMENTS:
            read_moment(wanted, zone)
        elif key == "progress":
            wanted = f"{read_percent(wanted)}%"
        elif key == "tags":
            wanted = write_tags([wanted])
    return with_text(entry, key, wanted or None)


def with_text(entry: Entry, key: str, value: str | None) -> Entry:
    """Return the entry with a field that reads as `value`, or without it; no other field may read differently.

    Of several lines that mean the key one is left. Raises UsageError `field.key` for a key that is none, `field.value`
    for a value that would not stay one.
    """
    entry = without_twins(entry, key, SCHEMA)
    if value is None:
        return entry.unset_field(key) if key in entry.fields else entry
    return check_field_value(entry, key, value)


def heading(priority: str | None, title: str) -> str:
    """Return the heading of a priority (None: none) and a title; raises UsageError `task.title`."""
    clean = title.strip()
    if not clean:
        raise UsageError("task.title", "a task needs a title", "say in a few words what is to be done")
    line = f"[{priority}] {clean}" if priority else clean
    if split_priority(line) != (priority, clean):
        raise UsageError(
            "task.title", f"the title {clean[:60]!r} begins with a priority", "set the priority, or another title"
        )
    return line


def with_heading(entry: Entry, priority: str | None, title: str) -> Entry:
    """Return the entry under another priority or title; what stays keeps its spelling."""
    old = entry.title
    old_priority, old_title = split_priority(old)
    clean = title.strip()
    if (old_priority, old_title) == (priority, clean):
        return entry
    if old_priority == priority:
        heading(priority, clean)
        line = old[: len(old) - len(old_title)] + clean
    elif clean or old_title:
        line = heading(priority, clean)
    else:
        # A heading that never had a title gets none now.
        line = f"[{priority}]" if priority else ""
    new = entry.with_title(line)
    if split_priority(new.title) != (priority, clean):
        raise UsageError("task.title", f"the title {clean[:60]!r} would not be read as it is written", "change it")
    return new


def read_priority(text: str | None) -> str | None:
    """Return HIGH, NORMAL or LOW, None for an absent one; raises UsageError `task.priority` for another word."""
    if text is None or is_absent(text):
        return None
    if text.strip().upper() in PRIORITIES:
        return text.strip().upper()
    raise UsageError("task.priority", f"{text[:40]!r} is not a priority", "use HIGH, NORMAL or LOW")


def read_percent(text: str | int) -> int:
    """Return a progress from 0 to 100, with or without %; raises UsageError `task.progress` for another one."""
    found = _NUMBER.fullmatch(str(text).strip())
    if found is None or int(found[1]) > 100:
        raise UsageError("task.progress", f"{str(text)[:40]!r} is not a progress", "use a whole number from 0 to 100")
    return int(found[1])


def write_tags(tags: Mapping[str, object] | list[str] | tuple[str, ...]) -> str:
    """Return tags as the file writes them, each once, in their order; commas inside of one separate two."""
    parts = (part.strip() for tag in tags for part in re.split(r"[,\r\n]", tag))
    return ", ".join(dict.fromkeys(part for part in parts if part))


def check_due(value: str, zone: tzinfo) -> DueValue:
    """Return the parts of a `due` that may be written; raises BadMoment and BadCron."""
    due = read_due(value)
    if due.date is not None:
        read_moment(due.date, zone)
    if due.recurring is not None:
        check_cron(due.recurring)
    return due


def _changed_date(old: DueValue, value: str | None, zone: tzinfo) -> DueValue:
    """Return `due` with another date; the recurrence stays unless the value has its own."""
    if value is None:
        return DueValue(None, old.recurring)
    new = check_due(value, zone)
    cron = new.recurring or old.recurring
    # A remark on "no date" is wrong beside a date, one on another schedule beside a new one.
    stays = old.date is not None and new.date is not None and cron == old.recurring
    return DueValue(new.date, cron, new.remark or (old.remark if stays else None))


def _changed_cron(old: DueValue, value: str | None) -> DueValue:
    if value is None or is_absent(value):
        return DueValue(old.date, None, old.remark if old.date is not None else None)

    check_cron(value)
    cron = " ".join(value.split())
    return DueValue(old.date, cron, old.remark if old.recurring in (None, cron) and old.date is not None else None)
