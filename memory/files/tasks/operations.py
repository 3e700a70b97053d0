"""The operations on tasks: they are listed and shown, and each change returns the edit that it makes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from memory.base.clock import format_local
from memory.base.cron import describe
from memory.base.values import alike, folded, is_absent
from memory.document import Entry
from memory.errors import ConflictError
from memory.files.edit import Edit, Refs, Step, started_document
from memory.files.fields.values import moment_or_none
from memory.files.find import find_task
from memory.files.operations import (
    UNSET,
    Call,
    EntryGroup,
    given,
    in_words,
    pairs,
    something,
    whole_text,
)
from memory.files.refs import short
from memory.files.snapshot import Snapshot
from memory.operations import (
    DUE,
    RECURRING,
    Choice,
    Context,
    Pairs,
    Ref,
    Suggested,
    Tag,
    Used,
    Whole,
    argument,
    option,
)
from memory.operations.result import Paint, Result, fields_of, listing

from .edits import (
    FILE,
    TASK_EDITS,
    done,
    edit_task,
    heading,
    read_priority,
)
from .model import Task, open_twins, twin_words
from .order import SORTS, due_when, sort_key
from .reading import FIELD_KEYS, PRIORITIES, read_due, write_tags

SECTIONS = ("pending", "in-progress", "completed", "archived")
OPEN = SECTIONS[:2]
_SHOWN_FIRST = ("ref", "section", "priority", "due", "recurring")
_PRIORITY = Choice(PRIORITIES, case_sensitive=False)
_ref = argument("ref", type=Ref(("tasks",)))


tasks = EntryGroup(
    "tasks",
    "List, add, edit, start, finish and remove tasks (tasks.md and its archive).",
    key="task",
    find=find_task,
    title=lambda task: str(task.title),
)


def listed(snapshot: Snapshot, sections: Sequence[str]) -> Iterator[Task]:
    """Yield the tasks of some sections, in the order of the sections."""
    for section in sections:
        if section == "archived":
            for archive in snapshot.archived_tasks():
                yield from archive.items
        else:
            yield from snapshot.tasks.in_section(section)


@tasks.look("list", "", "--due overdue", "--due '2 Dec'", "--sort due", "--section all --match deploy -o json")
@option("--section", type=Choice((*SECTIONS, "all")), help="Only this section (default: pending and in-progress).")
@option("--priority", type=_PRIORITY, help="Only tasks of this priority.")
@option("--tag", "tags", multiple=True, type=Tag(), help="Only tasks with this tag; repeated: with all of them.")
@option("--assigned", metavar="A", help="Only what is assigned to this agent or person.")
@option(
    "--due",
    metavar="D",
    type=Suggested(("today", "overdue", "week", "later")),
    help="Only what is due: today, overdue, week (the next 7 days), later, a date (2 Dec, fri, 2026-12-01), or a month "
    "(2026-12).",
)
@option("--match", metavar="TEXT", help="Only tasks that contain this text, in any case.")
@option("--sort", type=Choice(SORTS[:-1]), help="Sort inside each section (default: the order of the file).")
def list_tasks(
    context: Context,
    section: str | None,
    priority: str | None,
    tags: Sequence[str],
    assigned: str | None,
    due: str | None,
    match: str | None,
    sort: str | None,
) -> Result:
    """List tasks in the order of the file, or sorted inside each section.

    Tasks under a heading that is not a section count as pending; JSON has the heading in `extra`.
    """
    snapshot, now = context.snapshot, context.now
    found: Iterable[Task] = listed(snapshot, SECTIONS if section == "all" else (section,) if section else OPEN)
    if priority:
        found = (task for task in found if task.priority == priority)
    if assigned:
        wanted = folded(assigned)
        found = (task for task in found if folded(task.assigned or "") == wanted)
    if tags:
        asked = set(map(folded, tags))
        found = (task for task in found if asked <= set(map(folded, task.tags)))
    if match:
        text = folded(match)
        found = (task for task in found if text in folded(task.entry.text))
    if due is not None:
        found = filter(due_when(due, now, snapshot.zone), found)
    shown = list(found)
    if sort:
        key = sort_key(sort, now, snapshot.zone)
        shown.sort(key=lambda task: (SECTIONS.index(task.section), key(task)))
    return listing(
        "tasks",
        lambda: (task.json() for task in shown),
        lambda paint: _table(paint, context, shown),
    )


def _table(paint: Paint, context: Context, found: Sequence[Task]) -> Iterator[str]:
    """Yield the tasks under the headings of their sections; overdue ones are marked."""
    if not found:
        yield "no tasks"
    zone = context.snapshot.zone
    parts = groupby(found, key=lambda task: (task.section, task.heading))
    for number, ((section, above), part) in enumerate(parts):
        alerts: dict[int, int] = {}
        rows = []
        for index, task in enumerate(part):
            due = task.due_parts
            moment = moment_or_none(due.date, zone)
            late = section in OPEN and moment is not None and moment.is_overdue(context.now, zone)
            if late:
                alerts[index] = 2
            words = due.date or ""
            if due.recurring:
                words = f"{words} ({describe(due.recurring)})" if words else describe(due.recurring)
            progress = f"{task.progress}%" if task.progress is not None and section == "in-progress" else ""
            rows.append(
                (
                    task.ref_hex,
                    task.priority or "",
                    f"{words} overdue" if late else words,
                    progress,
                    task.assigned or "",
                    task.title,
                )
            )
        words = section.replace("-", " ").title()
        if above is not None:
            words = f"{above.strip() or 'Above the first section'}, which is not a section: taken as Pending"
        yield ("\n" if number else "") + paint.line(f"{words} ({len(rows)})")
        yield from paint.columns(rows, alerts=alerts)


@tasks.look("show", "3fa94c1", "'Deploy v2.1' -o json")
@_ref
def show(context: Context, ref: str) -> Result:
    """Show one task with all its fields. REF is a ref, its hex part, or a unique part of the title."""
    task = find_task(context.snapshot, ref, archived=True)

    def lines(paint: Paint) -> Iterator[str]:
        values = task.json()
        title = str(values.pop("title") or "")
        first = {key: values.pop(key) for key in _SHOWN_FIRST}
        return fields_of(paint, title, first | values)

    return Result(lambda: {"task": task.json()}, lines)


@tasks.changes(
    "add",
    "added",
    "'Deploy v2.1' --priority HIGH --due 'tomorrow 14:00' --tag release",
    "'Weekly report' --recurring 'every mon 9:00' --assigned heartbeat",
)
@argument("title", help="The title.")
@option("--priority", type=_PRIORITY, help="HIGH, NORMAL or LOW (default: NORMAL).")
@option("--due", type=DUE, metavar="D", help="When due: tomorrow 14:00 or 2 Dec; also fri, +2d, eom, 2026-12-01 14:00.")
@option(
    "--recurring",
    type=RECURRING,
    metavar="R",
    help="How it recurs: daily 9:00 or every fri 17:00; also weekdays, monthly on the 1st, or five cron fields.",
)
@option("--assigned", metavar="A", type=Used("tasks", "assigned"), help="Agent or person who does it.")
@option("--tag", "tags", multiple=True, type=Tag(), help="A tag; may be repeated.")
@option("--notes", metavar="N", help="Notes.")
@option("--action", metavar="A", help="The command or step to take.")
@option("--set", "extra", multiple=True, type=Pairs(), help="Any other field; may be repeated.")
def add_task(
    call: Call,
    title: str,
    priority: str | None = None,
    due: str | None = None,
    recurring: str | None = None,
    assigned: str | None = None,
    tags: Sequence[str] = (),
    notes: str | None = None,
    action: str | None = None,
    extra: Sequence[str] | Mapping[str, str] = (),
) -> Edit:
    """Add a task to Pending, above the others of its priority."""
    # A missing section or file is made. UsageError `task.title`, `field.value` and so on, BadMoment, BadCron.
    day = None if due is None else DUE.written(due, call.now, call.zone)
    cron = None if recurring is None else _recurs(call, recurring, day)
    _tell_due(call, day)
    if cron:
        call.more += f"  recurs {describe(cron)}"
    _warn_of_twins(call, title)
    document = started_document(call.snapshot, FILE, call.now)
    created = format_local(call.now, call.zone)
    values = {"due": day, "recurring": cron, "assigned": assigned, "created": created, "tags": write_tags(tags)}
    values |= {"notes": notes, "action": action, **pairs(extra)}
    named = heading(read_priority(priority or "NORMAL"), title)
    entry = TASK_EDITS.composed(named, values, document.newline, call.zone)
    return TASK_EDITS.add(document, "pending", entry, title.strip())


def _fields() -> tuple[str, ...]:
    """Return the names that `--set` accepts."""
    return (*FIELD_KEYS, "title", "section", "recurring")


@tasks.changes(
    "edit",
    "changed",
    "3fa94c1 --set notes='Ask Alice first' --unset action",
    "3fa94c1 --due 'fri 9:00' --priority HIGH",
    fields=_fields,
)
@_ref
@option(
    "--set", "changes", multiple=True, type=Pairs(), help="Set a field, title, priority or section; may be repeated."
)
@UNSET
@option("--due", type=DUE, metavar="D", help="The same as --set due=D.")
@option("--priority", type=_PRIORITY, help="The same as --set priority=HIGH, NORMAL or LOW.")
@whole_text("task")
def edit(
    call: Call,
    ref: str,
    changes: Sequence[str] | Mapping[str, str] = (),
    unset: Sequence[str] = (),
    due: str | None = None,
    priority: str | None = None,
    text: str | None = None,
) -> Edit:
    """Change fields of a task; each field changes only its own line."""
    values = pairs(changes) | given(due=due, priority=priority)
    if text is not None:
        return TASK_EDITS.rewrite(call.snapshot, ref, text, base=call.base, beside=(values, unset))
    something((values, unset))
    if "due" in values:
        values["due"] = DUE.written(values["due"], call.now, call.zone)
        _tell_due(call, values["due"])
    if values.get("recurring"):
        day = values["due"] if "due" in values else find_task(call.snapshot, ref).due
        values["recurring"] = _recurs(call, values["recurring"], day)
    made = edit_task(call.snapshot, ref, set=values, unset=unset, base=call.base, now=call.now)
    if "title" in values and made.documents:
        _warn_of_twins(call, values["title"], find_task(call.snapshot, ref))
    return made


@tasks.changes("start", "started", "3fa94c1")
@_ref
def start_task(call: Call, ref: Refs) -> Edit:
    """Move a task to In Progress."""
    return edit_task(call.snapshot, ref, set={"section": "in-progress"}, now=call.now)


@tasks.changes("progress", "", "3fa94c1 45 --note 'Endpoints checked'")
@_ref
@argument("percent", type=Whole(0, 100, "%"))
@option("--note", metavar="N", help="A note on what was done, kept as lastUpdate.")
def progress_task(call: Call, ref: Refs, percent: int | str, note: str | None = None) -> Edit:
    """Set the progress of a task, from 0 to 100; a pending task is started."""
    # UsageError `task.progress` for another number, `task.completed` for a completed task.
    values = {"section": "in-progress", "progress": str(percent)}
    if note and note.strip():
        values["lastUpdate"] = note
    made = edit_task(call.snapshot, ref, set=values, base=call.base, now=call.now)
    begun = isinstance(ref, str) and find_task(call.snapshot, ref).section == "pending"
    call.done = f"started, at {percent}%:" if begun else f"at {percent}%:"
    return made


@tasks.changes("done", "done", "3fa94c1 --outcome 'Live since 14:05'")
@_ref
@option("--outcome", metavar="O", help="What came of it.")
def done_task(call: Call, ref: Refs, outcome: str | None = None) -> Edit:
    """Finish a task; a recurring task leaves a completed copy and waits for its next date."""

    def planned(task: Task) -> Step[Entry]:
        if task.section == "completed":
            raise ConflictError(
                "task.completed",
                f"{short(task.title)} is already completed",
                "`memdeck tasks edit REF --set outcome=…` changes its outcome, `tasks reopen REF` reopens it",
                ref=task.ref,
                completed=task.completed,
            )
        return done(task, task.entry, outcome, call.now, call.zone)

    return TASK_EDITS.move(call.snapshot, ref, planned, call.now)


@tasks.changes("reopen", "reopened", "3fa94c1")
@_ref
def reopen_task(call: Call, ref: Refs) -> Edit:
    """Move a task back to Pending; its outcome is kept in the notes."""
    return edit_task(call.snapshot, ref, set={"section": "pending"}, now=call.now)


@tasks.changes("remove", "removed", "3fa94c1")
@_ref
def remove_task(call: Call, ref: Refs) -> Edit:
    """Remove a task from the file; it is printed as it was."""
    return TASK_EDITS.remove(call.snapshot, ref)


def _recurs(call: Call, text: str, due: str | None) -> str:
    """Return a recurrence in words as cron, with a note how it was understood; cron and absent values stay.

    `due` is the date, in the form of the files, from which it recurs. Raises BadCron.
    """
    if is_absent(text):
        return text
    from .quick import recurrence_from

    found = recurrence_from(text, due, call.zone)
    if found.note:
        call.notes.append(found.note)
    return found.cron


def _tell_due(call: Call, due: str | None) -> None:
    """Tell how a given date was understood; if it is over, warn."""
    parts = None if due is None else read_due(due)
    moment = None if parts is None else moment_or_none(parts.date, call.zone)
    if parts is None or parts.date is None or moment is None:
        return
    words = in_words(parts.date, call.now, call.zone)
    if moment.is_overdue(call.now, call.zone):
        call.notes.append(f"warning: it is already due: {words}")
    call.more += f"  due {words}"


def _warn_of_twins(call: Call, title: str, own: Any = None) -> None:
    """Warn that another open task has the given title."""
    twins = [
        task for task in open_twins(call.snapshot.tasks.items).get(alike(title), ()) if own is None or task.at != own.at
    ]
    if words := twin_words(twins, title):
        call.notes.append(f"warning: {words}")
