"""The edits of tasks: what is planned for each, and how the file becomes so; what is not set keeps its bytes.

Edits that take `refs` work on one task or on several: one look at the file for all of them, one change, one undo.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import NamedTuple

from memory.base.clock import format_local
from memory.base.cron import check_cron
from memory.base.values import folded, is_absent
from memory.document import Document, Entry, Section
from memory.errors import UsageError
from memory.files.edit import (
    Edit,
    beside_others,
    check_field_value,
    entry_of_text,
    with_named_section,
)
from memory.files.fields.dress import plain_name, without_twins
from memory.files.find import find_task
from memory.files.journal.edits import with_note
from memory.files.refs import short
from memory.files.snapshot import Snapshot

from .model import Task, TaskList
from .reading import SECTIONS, SectionName, items_as_entries, plain_section, section_name
from .values import PRIORITIES, SCHEMA, DueValue, check_due, next_due, read_due, split_priority, write_tags

FILE = "tasks.md"
Refs = str | Sequence[str]
"""The ref of one task, or those of several."""
TITLES = {"pending": "Pending", "in-progress": "In Progress", "completed": "Completed (last 7 days)"}
"""The headings of sections that memdeck creates."""


class TaskPlan(NamedTuple):
    """What becomes of a task.

    `here` is the entry in its place (None: it leaves), `put` what goes on top of which sections, `verb` what was done,
    `more` follows the title in the summary, and `told` are the lines of a journal entry about it.
    """

    here: Entry | None
    put: Sequence[tuple[SectionName, Entry]] = ()
    verb: str = "changed"
    more: str = ""
    told: Sequence[str] = ()


def edit_task(
    snapshot: Snapshot,
    refs: Refs,
    *,
    set: Mapping[str, str] | None = None,  # noqa: A002 - the name of the option
    unset: Iterable[str] = (),
    base: Entry | None = None,
    now: datetime,
) -> Edit:
    """Set and unset fields, title, priority and section; an empty value takes a field away.

    `section` moves a task. To In Progress, which raises UsageError `task.completed` for a completed one: it sets
    `started`, and `progress: 0%` if there is none. To Completed: see `done`. Back to Pending, on top of its priority
    group: drops `completed` and `progress` (and `started`, if it was in progress), and the outcome moves into `notes`.
    A task stays as it is where it is in that section already. `base` is the entry that the person started from: what
    others changed meanwhile is kept, and ConflictError `document.conflict` with `fields` and `conflicts` raised where
    both changed the same.
    """
    changes: dict[str, str | None] = {**(set or {}), **dict.fromkeys(unset)}
    section = _wanted_section(changes)
    zone = snapshot.zone

    def planned(task: Task) -> TaskPlan:
        values = dict(changes)
        finishes = section == "completed" and task.section != "completed"
        # The outcome belongs to what is completed, not to a recurring task that stays open.
        outcome = values.pop("outcome") if finishes and values.get("outcome") else None
        entry = base or task.entry
        for key, value in values.items():
            entry = with_value(entry, key, value, zone)
        entry = beside_others(base, entry, task.entry, task.title)
        if section is None or (section == task.section and task.heading is None):
            return TaskPlan(entry, more=f", at {entry.fields.get('progress')}" if values.get("progress") else "")
        if section == "in-progress":
            return _started(task, entry, now, zone)
        return done(task, entry, outcome, now, zone) if section == "completed" else _reopened(task, entry)

    return edited(snapshot, refs, planned, now)


def replace_task_text(snapshot: Snapshot, ref: str, text: str, *, base: Entry | None = None, now: datetime) -> Edit:
    """Replace the whole source of a task, as an editor returns it; values are not checked, as in any editor.

    What somebody else changed since `base` is merged by fields and lines. Raises UsageError `document.structure`
    unless the text is exactly one entry, ConflictError `document.conflict` where both changed the same.
    """

    def planned(task: Task) -> TaskPlan:
        return TaskPlan(entry_of_text(text, task.entry, base, task.title) or task.entry)

    return edited(snapshot, ref, planned, now)


def retag_tasks(
    snapshot: Snapshot, refs: Refs, *, add: Sequence[str] = (), remove: Collection[str] = (), now: datetime
) -> Edit:
    """Give tags to tasks and take others away; what else each of them has stays. Case does not count."""
    gone = set(map(folded, remove))

    def planned(task: Task) -> TaskPlan:
        tags = [tag for tag in task.tags if folded(tag) not in gone]
        have = set(map(folded, tags))
        tags += [tag for tag in dict.fromkeys(add) if folded(tag) not in have]
        same = tuple(tags) == task.tags
        return TaskPlan(task.entry if same else with_text(task.entry, "tags", write_tags(tags) or None), verb="tagged")

    return edited(snapshot, refs, planned, now)


def shift_priorities(snapshot: Snapshot, refs: Refs, by: int, *, now: datetime) -> Edit:
    """Raise (`by` above 0) or lower the priorities of tasks by so many steps, up to HIGH and down to LOW.

    A task without a known priority counts as one between NORMAL and what is asked for: it gets HIGH or LOW.
    """

    def planned(task: Task) -> TaskPlan:
        rank = PRIORITIES.index(task.priority or "NORMAL")
        wanted = PRIORITIES[min(max(rank - by, 0), len(PRIORITIES) - 1)]
        return TaskPlan(with_heading(task.entry, wanted, task.title), verb="raised" if by > 0 else "lowered")

    return edited(snapshot, refs, planned, now)


# -- the one way in which tasks change --------------------------------------------------------------------------------


def edited(snapshot: Snapshot, refs: Refs, planned: Callable[[Task], TaskPlan], now: datetime) -> Edit:
    """Return the edit that does with each task what is planned for it; all are found before the first is changed."""
    tasks = as_entries(_named(snapshot, refs))
    plans = [planned(task) for task in tasks]
    first, plan = tasks[0], plans[0]
    several = len(tasks) > 1
    summary = f"{plan.verb} {len(tasks)} tasks" if several else f"{plan.verb} {short(first.title)}{plan.more}"
    document = first.document
    # From the end, so that places before it stay as they are.
    for task, (here, *_) in zip(reversed(tasks), reversed(plans), strict=True):
        if here is None:
            document = document.remove_entry(*task.at)
        elif here.raw != task.entry.raw:
            document = document.replace_entry(*task.at, task.written(here))
    if document is first.document:
        return Edit({}, summary, first.ref, first.entry)
    place = None
    for name, entry in (one for each in reversed(plans) for one in each.put):
        document, place = put(document, name, entry)
    if plan.here is not None:
        section, number = first.at
        made = len(document.sections) > len(first.document.sections) and place is not None and place[0] <= section
        place = None if several else (section + made, number)
    told = [line for each in plans for line in each.told]
    edit = left(document, summary, place)
    if not told or not snapshot.config.truth("journalTaskChanges"):
        return edit
    note = with_note(snapshot, f"Task {plan.verb.title()}", told, now)
    return edit._replace(documents={**edit.documents, "journal.md": note})


def left(document: Document, summary: str, place: tuple[int, int] | None) -> Edit:
    """Return the edit that leaves a document, with the task at a place to show next."""
    if place is None:
        return Edit({FILE: document}, summary)
    task = TaskList(FILE, document).at(*place)
    assert task is not None
    return Edit({FILE: document}, summary, task.ref, task.entry)


def _named(snapshot: Snapshot, refs: Refs) -> list[Task]:
    """Return the tasks of refs, each once and in the order of the file; NotFoundError `task.not_found`."""
    if isinstance(refs, str) or len(refs) == 1:
        return [find_task(snapshot, refs if isinstance(refs, str) else refs[0])]
    known = {task.ref: task for task in snapshot.readable().tasks}
    wanted = {task.at: task for task in (known.get(ref) or find_task(snapshot, ref) for ref in refs)}
    return [wanted[at] for at in sorted(wanted)]


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
        document = items_as_entries(document, index, [count + number for number in items])
    changed = TaskList(FILE, document)
    return [found for place in places if (found := changed.at(*place)) is not None]


def _started(task: Task, entry: Entry, now: datetime, zone: tzinfo) -> TaskPlan:
    if task.section == "completed":
        raise UsageError("task.completed", f"{short(task.title)} is completed", "reopen it first")
    entry = with_text(entry, "started", format_local(now, zone))
    if entry.fields.get("progress") is None:
        entry = with_text(entry, "progress", "0%")
    return TaskPlan(None, [("in-progress", entry)], "started", told=[f'"{_title(entry)}" started'])


def done(task: Task, entry: Entry, outcome: str | None, now: datetime, zone: tzinfo) -> TaskPlan:
    """Return the plan that completes a task: on top of Completed, with `completed` and `outcome`, without `progress`.

    A recurring one leaves a completed copy there, and the task itself stays in (or goes back to) Pending with `due`
    at the first occurrence after now and after the `due` that it had: what is finished early is done for that time,
    and occurrences that were missed are not made up for. The two are equal in title and `created` from then on: the
    ref of the open one stays what it was through every further run, and the copy gets a longer one of its own.
    """
    completed = with_text(with_text(entry, "progress", None), "completed", format_local(now, zone))
    told = [f'"{_title(entry)}" completed']
    if outcome and outcome.strip():
        completed = with_text(completed, "outcome", outcome.strip())
        told.append(f"Outcome: {outcome.strip()}")
    due = read_due(entry.fields.get("due"))
    if due.recurring is None:
        return TaskPlan(None, [("completed", completed)], "completed", told=told)
    following = next_due(due, now, zone)
    again = with_value(entry, "due", str(following), zone)
    # The next time has not begun yet.
    again = with_text(with_text(again, "started", None), "progress", None)
    stays = task.section == "pending"
    put: list[tuple[SectionName, Entry]] = [("completed", completed)]
    return TaskPlan(
        again if stays else None,
        put if stays else [*put, ("pending", again)],
        "completed",
        f", due again {following.date}",
        [*told, f"Next: {following.date}"],
    )


def _reopened(task: Task, entry: Entry) -> TaskPlan:
    outcome = entry.fields.get("outcome")
    if outcome:
        notes = entry.fields.get("notes")
        entry = with_text(entry, "notes", f"{notes}\nOutcome: {outcome}" if notes else f"Outcome: {outcome}")
    for key in ("completed", "progress", "outcome", *(("started",) if task.section == "in-progress" else ())):
        entry = with_text(entry, key, None)
    return TaskPlan(None, [("pending", entry)], "reopened", told=[f'"{_title(entry)}" reopened'])


def put(document: Document, name: SectionName, entry: Entry) -> tuple[Document, tuple[int, int]]:
    """Return the document with an entry on top of a section, or of its priority group there, and its place."""
    document, section = with_section(document, name)
    number = 0 if name == "completed" else _group_top(document.sections[section], entry)
    return document.insert_entry(section, number, entry), (section, number)


def with_section(document: Document, name: SectionName) -> tuple[Document, int]:
    """Return the document with that section, made where it is missing, and the index of the first of the name."""
    known = ((index, section_name(section)) for index, section in enumerate(document.sections))
    return with_named_section(document, name, TITLES, known)


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


def _title(entry: Entry) -> str:
    return split_priority(entry.title)[1]


# -- values, checked and in the form of the file ------------------------------------------------------------------

_NOT_FIELDS = frozenset({"ref", "line", "extra", "section"})


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
    return with_text(entry, key, SCHEMA.written(key, wanted, zone) or None if wanted else None)


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
    if not clean and not old_title:
        return entry.with_title(f"[{priority}]" if priority else "")  # A heading that never had a title gets none now.
    line = heading(priority, clean)
    new = entry.with_title(old[: len(old) - len(old_title)] + clean if old_priority == priority else line)
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
