"""The operations on tasks: they are listed and shown, and each change returns the edit that it makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from memory.base.clock import format_local
from memory.base.cron import describe
from memory.base.values import alike, folded, is_absent
from memory.document import Entry
from memory.errors import ConflictError
from memory.files.edit import Edit, Refs, Step, started_document
from memory.files.fields.values import moment_or_none
from memory.files.find import TASKS, find_task
from memory.files.operations import UNSET, Call, EntryGroup, Part, in_words, outlined, pairs, something, whole_text
from memory.files.refs import short
from memory.files.snapshot import Snapshot
from memory.operations import DUE, RECURRING, Choice, Context, Pairs, Suggested, Tag, Used, Whole, argument, option
from memory.operations.result import Paint, Result, fields_of

from .edits import FILE, TASK_EDITS, done, edit_task, heading, read_priority
from .model import Task, open_twins, twin_words
from .order import SORTS, due_when, sort_key
from .reading import FIELD_KEYS, PRIORITIES, read_due, write_tags

SECTIONS = ("pending", "in-progress", "completed", "archived")
OPEN = SECTIONS[:2]
_PRIORITY = Choice(PRIORITIES, case_sensitive=False)


tasks = EntryGroup(
    "tasks", "List, add, edit, start, finish and remove tasks (tasks.md and its archive).", TASKS, key="task"
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
    help="Only what is due: today, overdue, week (7 days), later, a date (2 Dec, fri) or a month (2026-12).",
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
    who, text, asked = folded(assigned or ""), folded(match or ""), set(map(folded, tags))
    is_due = None if due is None else due_when(due, now, snapshot.zone)
    shown = [
        task
        for task in listed(snapshot, SECTIONS if section == "all" else (section,) if section else OPEN)
        if priority in (None, task.priority)
        and (not who or folded(task.assigned or "") == who)
        and (not asked or asked <= set(map(folded, task.tags)))
        and (not text or text in folded(task.entry.text))
        and (is_due is None or is_due(task))
    ]
    if sort:
        key = sort_key(sort, now, snapshot.zone)
        shown.sort(key=lambda task: (SECTIONS.index(task.section), key(task)))
    return outlined("tasks", shown, _parts(context, shown), "no tasks")


def _parts(context: Context, found: Sequence[Task]) -> Iterator[Part]:
    """Yield the tasks under the headings of their sections; overdue ones are marked."""
    zone = context.snapshot.zone
    for (section, above), part in groupby(found, key=lambda task: (task.section, task.heading)):
        alerts: dict[int, int] = {}
        rows: list[tuple[str, ...]] = []
        for task in part:
            due = task.due_parts
            moment = moment_or_none(due.date, zone)
            words = due.date or ""
            if due.recurring:
                words = f"{words} ({describe(due.recurring)})" if words else describe(due.recurring)
            if section in OPEN and moment is not None and moment.is_overdue(context.now, zone):
                alerts[len(rows)] = 2
                words += " overdue"
            progress = f"{task.progress}%" if task.progress is not None and section == "in-progress" else ""
            rows.append((task.ref_hex, task.priority or "", words, progress, task.assigned or "", task.title))
        heading = section.replace("-", " ").title()
        if above is not None:
            heading = f"{above.strip() or 'Above the first section'}, which is not a section: taken as Pending"
        yield f"{heading} ({len(rows)})", rows, alerts


@tasks.look("show", "3fa94c1", "'Deploy v2.1' -o json")
@tasks.ref
def show(context: Context, ref: str) -> Result:
    """Show one task with all its fields. REF is a ref, its hex part, or a unique part of the title."""
    task = find_task(context.snapshot, ref, archived=True)

    def lines(paint: Paint) -> Iterator[str]:
        values = task.json()
        return fields_of(paint, str(values.pop("title") or ""), values)

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
@option("--recurring", type=RECURRING, metavar="R", help="How it recurs: every fri 17:00, weekdays, five cron fields.")
@option("--assigned", metavar="A", type=Used("tasks", "assigned"), help="Agent or person who does it.")
@option("--tag", "tags", multiple=True, type=Tag(), help="A tag; may be repeated.")
@option("--notes", metavar="N", help="Notes.")
@option("--action", metavar="A", help="The command or step to take.")
@option("--set", "extra", multiple=True, type=Pairs(), help="Any other field; may be repeated.")
def add_task(
    call: Call,
    title: str,
    tags: Sequence[str] = (),
    extra: Sequence[str] | Mapping[str, str] = (),
    **fields: str | None,
) -> Edit:
    """Add a task to Pending, above the others of its priority."""
    # A missing section or file is made. UsageError `task.title`, `field.value` and so on, BadMoment, BadCron.
    values = {"tags": write_tags(tags), "created": format_local(call.now, call.zone), **pairs(extra, **fields)}
    _understand(call, values)
    if values.get("recurring"):
        call.more += f"  recurs {describe(values['recurring'])}"
    _warn_of_twins(call, title)
    document = started_document(call.snapshot, FILE, call.now)
    named = heading(read_priority(values.pop("priority", "") or "NORMAL"), title)
    entry = TASK_EDITS.composed(named, values, document.newline, call.zone)
    return TASK_EDITS.add(document, "pending", entry, title.strip())


@tasks.changes(
    "edit",
    "changed",
    "3fa94c1 --set notes='Ask Alice first' --unset action",
    "3fa94c1 --due 'fri 9:00' --priority HIGH",
    fields=lambda: (*FIELD_KEYS, "title", "section", "recurring"),
)
@tasks.ref
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
    text: str | None = None,
    **fields: str | None,
) -> Edit:
    """Change fields of a task; each field changes only its own line."""
    values = pairs(changes, **fields)
    if text is not None:
        return TASK_EDITS.rewrite(call.snapshot, ref, text, base=call.base, beside=(values, unset))
    something((values, unset))
    task = find_task(call.snapshot, ref)
    _understand(call, values, task.due)
    made = edit_task(call.snapshot, ref, set=values, unset=unset, base=call.base, now=call.now)
    if "title" in values and made.documents:
        _warn_of_twins(call, values["title"], task)
    return made


@tasks.changes("start", "started", "3fa94c1")
@tasks.ref
def start_task(call: Call, ref: Refs) -> Edit:
    """Move a task to In Progress."""
    return edit_task(call.snapshot, ref, set={"section": "in-progress"}, now=call.now)


@tasks.changes("progress", "", "3fa94c1 45 --note 'Endpoints checked'")
@tasks.ref
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
@tasks.ref
@option("--outcome", metavar="O", help="What came of it.")
def done_task(call: Call, ref: Refs, outcome: str | None = None) -> Edit:
    """Finish a task; a recurring task leaves a completed copy and waits for its next date."""

    def planned(task: Task) -> Step[Entry]:
        if task.section == "completed":
            words = f"{short(task.title)} is already completed"
            advice = "`memdeck tasks edit REF --set outcome=…` changes its outcome, `tasks reopen REF` reopens it"
            raise ConflictError("task.completed", words, advice, ref=task.ref, completed=task.completed)
        return done(task, task.entry, outcome, call.now, call.zone)

    return TASK_EDITS.move(call.snapshot, ref, planned, call.now)


@tasks.changes("reopen", "reopened", "3fa94c1")
@tasks.ref
def reopen_task(call: Call, ref: Refs) -> Edit:
    """Move a task back to Pending; its outcome is kept in the notes."""
    return edit_task(call.snapshot, ref, set={"section": "pending"}, now=call.now)


remove_task = tasks.removes(TASK_EDITS, "3fa94c1", "a task")


def _understand(call: Call, values: dict[str, str], due: str | None = None) -> None:
    """Write a given date and a recurrence in words as files have them, and tell how they were understood.

    `due` is the date from which a task recurs where none is given. Raises BadMoment, BadCron.
    """
    if "due" in values:
        values["due"] = due = DUE.written(values["due"], call.now, call.zone)
        date = read_due(due).date
        moment = moment_or_none(date, call.zone)
        if date is not None and moment is not None:
            words = in_words(date, call.now, call.zone)
            if moment.is_overdue(call.now, call.zone):
                call.notes.append(f"warning: it is already due: {words}")
            call.more += f"  due {words}"
    if not is_absent(values.get("recurring", "")):
        from .quick import recurrence_from

        found = recurrence_from(values["recurring"], due, call.zone)
        values["recurring"] = found.cron
        call.notes += [found.note] if found.note else []


def _warn_of_twins(call: Call, title: str, own: Task | None = None) -> None:
    """Warn that another open task has the given title."""
    twins = open_twins(call.snapshot.tasks.items).get(alike(title), ())
    if words := twin_words([task for task in twins if own is None or task.at != own.at], title):
        call.notes.append(f"warning: {words}")
