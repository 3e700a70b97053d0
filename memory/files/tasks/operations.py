"""The operations on tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from memory.base.cron import describe
from memory.base.values import folded
from memory.document import Entry
from memory.files.find import find_task
from memory.files.operations import EntryGroup
from memory.files.snapshot import Snapshot
from memory.files.values import moment_or_none
from memory.operations import (
    Choice,
    Context,
    Ref,
    Suggested,
    Tag,
    argument,
    option,
)
from memory.operations.result import Paint, Result, fields_of, listing

from .model import Task
from .order import SORTS, due_when, sort_key
from .values import PRIORITIES

SECTIONS = ("pending", "in-progress", "completed", "archived")
OPEN = SECTIONS[:2]
_HEADINGS = {"pending": "Pending", "in-progress": "In Progress", "completed": "Completed", "archived": "Archived"}
_SHOWN_FIRST = ("ref", "section", "priority", "due", "recurring")
_PRIORITY = Choice(PRIORITIES, case_sensitive=False)
_ref = argument("ref", type=Ref(("tasks",)))


def _left(snapshot: Snapshot, ref: str, entry: Entry | None) -> Task:
    return snapshot.tasks.task_of(entry) or find_task(snapshot, ref, archived=True)


tasks = EntryGroup(
    "tasks",
    "List, add, edit, start, finish and remove tasks (tasks.md and its archive).",
    key="task",
    find=_left,
    title=lambda task: str(task.title),
)


def listed(snapshot: Snapshot, sections: Sequence[str]) -> Iterator[Task]:
    """Yield the tasks of some sections, in the order of the sections."""
    for section in sections:
        if section == "archived":
            for archive in snapshot.archived_tasks():
                yield from archive.tasks
        else:
            yield from snapshot.tasks.in_section(section)


@tasks.look("list", "", "--due overdue", "--due '2 Dec'", "--sort urgency", "--section all --match deploy -o json")
@option("--section", type=Choice((*SECTIONS, "all")), help="Only this section (default: pending and in-progress).")
@option("--priority", type=_PRIORITY, help="Only tasks of this priority.")
@option("--tag", "tags", multiple=True, type=Tag(), help="Only tasks with this tag; repeated: with all of them.")
@option("--assigned", metavar="A", help="Only what is assigned to this agent or person.")
@option(
    "--due",
    metavar="D",
    type=Suggested(("today", "overdue", "week", "later")),
    help="Only what is due: today, overdue, week (the next 7 days), later, a date (2 Dec, fri, 2024-01-15), or a month "
    "(2024-01).",
)
@option("--match", metavar="TEXT", help="Only tasks that contain this text, in any case.")
@option("--sort", type=Choice(SORTS[1:]), help="Sort inside each section (default: the order of the file).")
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

    Tasks under a heading that is no section count as pending; JSON has the heading in `extra`, and stderr a warning.
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
        tuple(_notes_of_headings(shown)),
    )


def _table(paint: Paint, context: Context, found: Sequence[Task]) -> Iterator[str]:
    """Yield the tasks under the headings of their sections; overdue ones are marked."""
    if not found:
        yield "no tasks"
    zone = context.snapshot.zone
    parts = groupby(found, key=lambda task: (task.section, task.heading))
    for number, ((section, heading), part) in enumerate(parts):
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
        words = _HEADINGS[section]
        if heading is not None:
            words = f"{heading.strip() or 'Above the first section'}, which is no section and taken for Pending"
        yield ("\n" if number else "") + paint.line(f"{words} ({len(rows)})")
        yield from paint.columns(rows, alerts=alerts)


def _notes_of_headings(shown: Sequence[Task]) -> Iterator[str]:
    """Yield which headings are not sections, and as what their tasks are listed."""
    counts = Counter(task.heading for task in shown if task.heading is not None and task.section == "pending")
    for heading, count in counts.items():
        where = f"under {heading.strip()[:40]!r}, which is no section" if heading.strip() else "above the first section"
        noun = "task is" if count == 1 else "tasks are"
        yield f"warning: task.unknown_section: {count} {noun} {where}; listed as pending"


@tasks.look("show", "3fa94c1", "'Deploy v2.1' -o json")
@_ref
def show(context: Context, ref: str) -> Result:
    """Show one task with all its fields; REF is a ref, its hex, or a unique part of the title."""
    task = find_task(context.snapshot, ref, archived=True)

    def lines(paint: Paint) -> Iterator[str]:
        values = task.json()
        title = str(values.pop("title") or "")
        first = {key: values.pop(key) for key in _SHOWN_FIRST}
        return fields_of(paint, title, first | values)

    return Result(lambda: {"task": task.json()}, lines)
