"""The edits of tasks: what becomes of each; what is not set keeps its bytes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, tzinfo

from memory.base.clock import format_local
from memory.base.cron import check_cron
from memory.base.values import folded, is_absent
from memory.document import Document, Entry, Section
from memory.errors import UsageError
from memory.files.edit import Edit, EntryEdits, Refs, Step, with_text
from memory.files.fields.dress import plain_name
from memory.files.find import TASKS
from memory.files.journal.edits import with_notes
from memory.files.refs import short
from memory.files.snapshot import Snapshot

from . import reading
from .model import Task
from .reading import PRIORITIES, SCHEMA, SECTIONS, DueValue, SectionName, plain_section, split_priority

FILE = "tasks.md"
TITLES = {"pending": "Pending", "in-progress": "In Progress", "completed": "Completed (last 7 days)"}
"""The headings of sections that memdeck creates."""


class TaskEdits(EntryEdits[Task]):
    """The edits of tasks.md: new tasks go on top of their priority group, completed ones on top of all."""

    def replace(self, document: Document, item: Task, written: Entry | None) -> Document:
        """Return the document with another entry in the place of a task, or (None) without it.

        The box stays where it is all that says that a task is completed: where its heading is no section of tasks.
        """
        boxed = written is not None and item.section == "completed" and item.heading is not None
        if written is not None and boxed and written.raw != item.entry.raw:
            written = written.with_title(f"[x] {written.title}")
        return super().replace(document, item, written)

    def place(self, section: Section, entry: Entry) -> int:
        """Return the place on top of the entries of that priority, or where such a group would begin."""
        if section.memo(plain_section).name == "completed":
            return 0
        rank, below = _rank(entry), len(section)
        for at, other in enumerate(map(_rank, section.entries)):
            if other == rank:
                return at
            below = min(below, at) if other > rank else below
        return below

    def move(self, snapshot: Snapshot, refs: Refs, planned: Callable[[Task], Step[Entry]], now: datetime) -> Edit:
        """Return the edit that does what is planned, and notes it in the journal where the workspace wants that."""
        steps: list[Step[Entry]] = []

        def noted(task: Task) -> Step[Entry]:
            steps.append(planned(task))
            return steps[-1]

        edit = self.edit(snapshot, refs, noted)
        lines = [line for step in steps for line in step.told]
        if not lines or not edit.documents or not snapshot.config.truth("journalTaskChanges"):
            return edit
        note = with_notes(snapshot, [(now, f"Task {steps[0].verb.title()}", lines)], now)
        return edit._replace(documents={**edit.documents, "journal.md": note})


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

    def planned(task: Task) -> Step[Entry]:
        values = dict(changes)
        finishes = section == "completed" and task.section != "completed"
        # The outcome belongs to what is completed, not to a recurring task that stays open.
        outcome = values.pop("outcome") if finishes and values.get("outcome") else None
        entry = TASK_EDITS.with_values(task, base, values, zone)
        if section is None or (section == task.section and task.heading is None):
            return Step(entry, more=f", at {entry.fields.get('progress')}" if values.get("progress") else "")
        if section == "in-progress":
            return _started(task, entry, now, zone)
        return done(task, entry, outcome, now, zone) if section == "completed" else _reopened(task, entry)

    return TASK_EDITS.move(snapshot, refs, planned, now)


def retag_tasks(
    snapshot: Snapshot,
    refs: Refs,
    *,
    add: Sequence[str] = (),
    remove: Collection[str] = (),
    now: datetime,  # noqa: ARG001 - edits of tasks are called alike
) -> Edit:
    """Give tags to tasks and take others away; what else each of them has stays. Case does not count."""
    gone = set(map(folded, remove))

    def planned(task: Task) -> Step[Entry]:
        tags = [tag for tag in task.tags if folded(tag) not in gone]
        have = set(map(folded, tags))
        tags += [tag for tag in dict.fromkeys(add) if folded(tag) not in have]
        same = tuple(tags) == task.tags
        return Step(task.entry if same else _with(task.entry, "tags", reading.write_tags(tags)), verb="tagged")

    return TASK_EDITS.edit(snapshot, refs, planned)


def shift_priorities(snapshot: Snapshot, refs: Refs, by: int, *, now: datetime) -> Edit:  # noqa: ARG001
    """Raise (`by` above 0) or lower the priorities of tasks by so many steps, up to HIGH and down to LOW.

    A task without a known priority counts as one between NORMAL and what is asked for: it gets HIGH or LOW.
    """

    def planned(task: Task) -> Step[Entry]:
        rank = PRIORITIES.index(task.priority or "NORMAL")
        wanted = PRIORITIES[min(max(rank - by, 0), len(PRIORITIES) - 1)]
        return Step(with_heading(task.entry, wanted, task.title), verb="raised" if by > 0 else "lowered")

    return TASK_EDITS.edit(snapshot, refs, planned)


def _started(task: Task, entry: Entry, now: datetime, zone: tzinfo) -> Step[Entry]:
    if task.section == "completed":
        raise UsageError("task.completed", f"{short(task.title)} is completed", "reopen it first")
    entry = _with(entry, "started", format_local(now, zone))
    if entry.fields.get("progress") is None:
        entry = _with(entry, "progress", "0%")
    return Step(None, [("in-progress", entry)], "started", told=[f'"{_title(entry)}" started'])


def done(task: Task, entry: Entry, outcome: str | None, now: datetime, zone: tzinfo) -> Step[Entry]:
    """Return the step that completes a task: on top of Completed, with `completed` and `outcome`, without `progress`.

    A recurring one leaves a completed copy there, and the task itself stays in (or goes back to) Pending with `due`
    at the first occurrence after now and after the `due` that it had: what is finished early is done for that time,
    and occurrences that were missed are not made up for. The two are equal in title and `created` from then on: the
    ref of the open one stays what it was through every further run, and the copy gets a longer one of its own.
    """
    completed = _with(_with(entry, "progress", None), "completed", format_local(now, zone))
    told = [f'"{_title(entry)}" completed']
    if outcome and outcome.strip():
        completed = _with(completed, "outcome", outcome.strip())
        told.append(f"Outcome: {outcome.strip()}")
    due = reading.read_due(entry.fields.get("due"))
    if due.recurring is None:
        return Step(None, [("completed", completed)], "completed", told=told)
    following = reading.next_due(due, now, zone)
    again = TASK_EDITS.with_value(entry, "due", str(following), zone)
    # The next time has not begun yet.
    again = _with(_with(again, "started", None), "progress", None)
    stays = task.section == "pending"
    put = [("completed", completed)] + ([] if stays else [("pending", again)])
    told.append(f"Next: {following.date}")
    return Step(again if stays else None, put, "completed", f", due again {following.date}", told)


def _reopened(task: Task, entry: Entry) -> Step[Entry]:
    outcome = entry.fields.get("outcome")
    if outcome:
        notes = entry.fields.get("notes")
        entry = _with(entry, "notes", f"{notes}\nOutcome: {outcome}" if notes else f"Outcome: {outcome}")
    for key in ("completed", "progress", "outcome", *(("started",) if task.section == "in-progress" else ())):
        entry = _with(entry, key, None)
    return Step(None, [("pending", entry)], "reopened", told=[f'"{_title(entry)}" reopened'])


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


def _rank(entry: Entry) -> int:
    priority = split_priority(entry.title)[0]
    return len(PRIORITIES) if priority is None else PRIORITIES.index(priority)


# -- values, checked and in the form of the file ------------------------------------------------------------------


def _with(entry: Entry, key: str, value: str | None) -> Entry:
    return with_text(entry, key, value, SCHEMA)


def heading(priority: str | None, title: str) -> str:
    """Return the heading of a priority (None: none) and a title; raises UsageError `task.title`."""
    clean = title.strip()
    if not clean:
        raise UsageError("task.title", "a task needs a title", "give it a title")
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
        raise UsageError("task.title", f"the title {clean[:60]!r} would be read differently", "change it")
    return new


def read_priority(text: str | None) -> str | None:
    """Return HIGH, NORMAL or LOW, None for an absent one; raises UsageError `task.priority` for another word."""
    if text is None or is_absent(text):
        return None
    if text.strip().upper() in PRIORITIES:
        return text.strip().upper()
    raise UsageError("task.priority", f"{text[:40]!r} is not a priority", "use HIGH, NORMAL or LOW")


def _with_date(entry: Entry, value: str, zone: tzinfo) -> Entry:
    """Return the entry with another date in its `due`; the recurrence stays unless the value has its own."""
    old, new = reading.read_due(entry.fields.get("due")), reading.check_due(value, zone)
    cron = new.recurring or old.recurring
    # A remark on "no date" is wrong beside a date, one on another schedule beside a new one, and any without a value.
    stays = value and old.date is not None and new.date is not None and cron == old.recurring
    return _with(entry, "due", str(DueValue(new.date, cron, new.remark or (old.remark if stays else None))))


def _with_recurrence(entry: Entry, value: str, _: tzinfo) -> Entry:
    """Return the entry with another cron expression in its `due`, or with an absent value without one."""
    old, cron = reading.read_due(entry.fields.get("due")), None
    if not is_absent(value):
        check_cron(value)
        cron = " ".join(value.split())
    stays = old.date is not None and (cron is None or old.recurring in (None, cron))
    return _with(entry, "due", str(DueValue(old.date, cron, old.remark if stays else None)))


TASK_EDITS = TaskEdits(
    TASKS,
    "tasks",
    schema=SCHEMA,
    setters={
        "title": lambda entry, value, _: with_heading(entry, split_priority(entry.title)[0], value),
        "priority": lambda entry, value, _: with_heading(entry, read_priority(value), split_priority(entry.title)[1]),
        "due": _with_date,
        "recurring": _with_recurrence,
    },
    plain=plain_section,
    titles=TITLES,
)
