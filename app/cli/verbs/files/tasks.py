"""The verbs on tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from app.cli.printing import tell
from app.cli.session import PERCENT, PRIORITY, Session, facts, given, in_words, pairs, recurs, something, when
from memory.files.tasks.model import DueValue, Task, find_task, may_have_twin, twin_words, twins_of
from memory.files.tasks.values import FIELD_KEYS, moment_or_none, read_due, read_row, split_priority
from memory.operations import Choice, Group, Pairs, Ref, Suggested, argument, option, under

if TYPE_CHECKING:
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot

SECTIONS = ("pending", "in-progress", "completed", "archived")
_HEADINGS = {"pending": "Pending", "in-progress": "In Progress", "completed": "Completed", "archived": "Archived"}
SORTS = ("urgency", "due", "priority", "title", "assigned", "created", "started", "progress", "tags")
_FEW = 8
_SHOWN_FIRST = ("ref", "section", "priority", "due", "recurring")

tasks = Group("tasks", "List, add, edit, start, finish and remove tasks (tasks.md and its archive).")
_ref = argument("ref", type=Ref(("tasks",)))


@under(
    tasks,
    "list",
    serves="look",
    examples=(
        "memdeck tasks list",
        "memdeck tasks list --due overdue",
        "memdeck tasks list --due '2 Dec'",
        "memdeck tasks list --sort urgency",
        "memdeck tasks list --section all --match deploy -o json",
    ),
)
@option("--section", type=Choice((*SECTIONS, "all")), help="Only this section (default: pending and in-progress).")
@option("--priority", type=PRIORITY, help="Only tasks of this priority.")
@option("--tag", "tags", multiple=True, metavar="T", help="Only tasks with this tag; repeated: with all of them.")
@option("--assigned", metavar="A", help="Only what is assigned to this agent or person.")
@option(
    "--due",
    metavar="D",
    type=Suggested(("today", "overdue", "week", "later")),
    help="Only what is due: today, overdue, week (the next 7 days), later, a date (2 Dec, fri, 2024-01-15), or a month "
    "(2024-01).",
)
@option("--match", metavar="TEXT", help="Only tasks that contain this text, in any case.")
@option("--sort", type=Choice(SORTS), help="Sort inside each section (default: the order of the file).")
def list_tasks(
    session: Session,
    section: str | None,
    priority: str | None,
    tags: tuple[str, ...],
    assigned: str | None,
    due: str | None,
    match: str | None,
    sort: str | None,
) -> None:
    """List tasks in the order of the file, or sorted inside each section.

    Tasks under a heading that is no section count as pending; JSON has the heading in `extra`, and stderr a warning.
    """
    sections = SECTIONS if section == "all" else (section,) if section else SECTIONS[:2]
    found: Iterator[Task] = _in_sections(session.snapshot, sections)
    if priority:
        found = (task for task in found if task.priority == priority)
    if assigned:
        wanted = assigned.casefold()
        found = (task for task in found if (task.assigned or "").casefold() == wanted)
    if tags:
        folded = {tag.casefold() for tag in tags}
        found = (task for task in found if folded <= {tag.casefold() for tag in task.tags})
    if match:
        text = match.casefold()
        found = (task for task in found if text in task.entry.text.casefold())
    if due is not None:
        from memory.files.tasks.due_filter import due_when

        found = filter(due_when(due, session.now, session.snapshot.zone), found)
    shown = list(found)
    if sort:
        from memory.files.tasks.order import sort_key

        key = sort_key(sort, session.now, session.snapshot.zone)
        shown.sort(key=lambda task: (SECTIONS.index(task.section), key(task)))
    if len(shown) > _FEW:
        session.snapshot.tasks.list_all()
    _warn_of_headings(shown)
    session.listing("tasks", lambda: [task.json() for task in shown], lambda: _table(session, shown))


def _in_sections(snapshot: Snapshot, sections: Sequence[str]) -> Iterator[Task]:
    for section in sections:
        if section == "archived":
            for archive in snapshot.archived_tasks():
                yield from archive.tasks
        else:
            yield from snapshot.tasks.in_section(section)


def _table(session: Session, found: list[Task]) -> Iterator[str]:
    """Yield the tasks under the headings of their sections; overdue ones are marked."""
    if not found:
        yield "no tasks"
        return

    # A due date from this day on is not over in any zone, whatever its time and offset.
    ahead = (session.now + timedelta(days=3)).strftime("%Y-%m-%d")
    over = _is_over(session)
    parts = groupby(found, key=lambda task: (task.section, task.heading))
    for number, ((section, heading), part) in enumerate(parts):
        alerts: dict[int, int] = {}
        rows = []
        open_section = section in SECTIONS[:2]
        for index, task in enumerate(part):
            priority, title, due, assigned, done = read_row(task.entry)
            late = open_section and due.date is not None and due.date[:10] < ahead and over(due.date)
            if late:
                alerts[index] = 2
            progress = f"{done}%" if done is not None and section == "in-progress" else ""
            cell = (due.date or "") if due.recurring is None and not late else _due(due, late)
            rows.append((task.ref_hex, priority or "", cell, progress, assigned or "", title))
        words = _HEADINGS[section] if heading is None else _misplaced(heading)
        yield ("\n" if number else "") + session.paint.line(f"{words} ({len(rows)})")
        yield from session.paint.columns(rows, alerts=alerts)


def _misplaced(heading: str) -> str:
    """Return the line above tasks whose heading is not a section of tasks."""
    return f"{heading.strip() or 'Above the first section'}, which is no section and taken for Pending"


def _warn_of_headings(shown: Sequence[Task]) -> None:
    """Warn which headings are not sections, and as what their tasks are listed."""
    counts = Counter(task.heading for task in shown if task.heading is not None)
    for heading, count in counts.items():
        where = f"under {heading.strip()[:40]!r}, which is no section" if heading.strip() else "above the first section"
        stand = "task stands" if count == 1 else "tasks stand"
        tell(f"memdeck: warning: task.unknown_section: {count} {stand} {where}; listed as pending")


def _is_over(session: Session) -> Callable[[str], bool]:
    """Return a function that tells whether a due date is over; results are cached, since many tasks share dates."""
    now, zone = session.now, session.snapshot.zone

    @cache
    def over(due: str) -> bool:
        moment = moment_or_none(due, zone)
        return moment is not None and moment.is_overdue(now, zone)

    return over


def _due(due: DueValue, late: bool) -> str:
    text = due.date or ""
    if due.recurring:
        from memory.base.cron import describe

        text = f"{text} ({describe(due.recurring)})" if text else describe(due.recurring)
    return f"{text} overdue" if late else text


@under(
    tasks, "show", serves="look", examples=("memdeck tasks show 3fa94c1", "memdeck tasks show 'Deploy v2.1' -o json")
)
@_ref
def show_task(session: Session, ref: str) -> None:
    """Show one task with all its fields; REF is a ref, its hex, or a unique part of the title."""
    _say(session, find_task(session.snapshot, ref, archived=True))


@under(tasks, "why", serves="look", examples=("memdeck tasks why 3fa94c1", "memdeck tasks why 'Deploy v2.1' -o json"))
@_ref
def why(session: Session, ref: str) -> None:
    """Say how urgent a task is and why: the number that lists are sorted by, term by term."""
    from memory.files.tasks.urgency import urgency_of

    task = find_task(session.snapshot, ref, archived=True)
    found = urgency_of(task, session.now, session.snapshot.zone)

    def lines() -> Iterator[str]:
        yield session.paint.line(f"{found.points:.1f}  {task.title}")
        if not found.terms:
            yield "what is completed is not urgent any more"
        yield from session.paint.columns([(f"{term.points:+5.1f}", term.name, term.words) for term in found.terms])

    session.answer(lambda: {"task": {"ref": task.ref, "title": task.title, **found.json()}}, lines)


def _say(session: Session, task: Task) -> None:
    def lines() -> Iterator[str]:
        values = task.json()
        title = str(values.pop("title") or "")
        first = {key: values.pop(key) for key in _SHOWN_FIRST}
        return facts(session.paint, title, first | values)

    session.answer(lambda: {"task": task.json()}, lines)


def _changed(
    session: Session,
    operation: str,
    done: str | Callable[[], str],
    build: Callable[[Snapshot], Edit],
    *,
    titled: bool = False,
    due: str | None = None,
    recurring: str | None = None,
) -> None:
    """Make a change and print the resulting task, or one sentence; `titled`: it may have set a title.

    `done` is what was done, or a function that returns it once that is known. `due` and `recurring` are the date and
    the cron expression that were given: how they were understood is printed.
    """
    outcome = session.change(operation, build)
    snapshot = session.left_by(outcome)
    when = _understood(session, due) + _recurs_in_words(recurring)

    def found() -> Task:
        return snapshot.tasks.task_of(outcome.entry) or find_task(snapshot, outcome.ref or "", archived=True)

    def said() -> list[str]:
        if outcome.ref is not None and outcome.entry is not None:
            # Known without searching for the entry among all in the file.
            return [session.paint.line(f"{words} {outcome.ref}  {split_priority(outcome.entry.title)[1]}{when}")]
        task = found()
        return [session.paint.line(f"{words} {task.ref}  {task.title}{when}")]

    if not outcome.change.files:
        words = "nothing to change in"
    else:
        words = done if isinstance(done, str) else done()
        if titled and (outcome.entry is None or may_have_twin(snapshot.document("tasks.md"), outcome.entry.title)):
            _warn_of_twins(snapshot, found())
    session.answer(lambda: {"task": found().json()}, said)


def _understood(session: Session, due: str | None) -> str:
    """Return a given date in words, after two blanks; if it is over, warn on stderr."""
    if due is None:
        return ""

    parts = read_due(due)
    moment = moment_or_none(parts.date, session.snapshot.zone)
    if parts.date is None or moment is None:
        return ""
    words = in_words(parts.date, session)
    if moment.is_overdue(session.now, session.snapshot.zone):
        tell(f"memdeck: warning: it is due already: {words}")
    return f"  due {words}"


def _recurs_in_words(cron: str | None) -> str:
    """Return when something recurs, after two blanks."""
    if not cron:
        return ""
    from memory.base.cron import describe

    return f"  recurs {describe(cron)}"


def _warn_of_twins(snapshot: Snapshot, task: Task) -> None:
    """Warn on stderr that another open task has the given title."""
    twins = twins_of(snapshot.tasks.tasks, task.title)
    if words := twin_words([other for other in twins if other.at != task.at], task.title):
        tell(f"memdeck: warning: {words}")


@under(
    tasks,
    "add",
    serves="change",
    examples=(
        "memdeck tasks add 'Deploy v2.1' --priority HIGH --due 'tomorrow 14:00' --tag release",
        "memdeck tasks add 'Weekly report' --recurring 'every mon 9:00' --assigned heartbeat",
        "memdeck tasks add --quick 'Buy stamps !high @Alice fri 9:00 every month'",
    ),
)
@argument("title")
@option(
    "--quick",
    is_flag=True,
    help="TITLE is a line: !high, @name, #tag anywhere, when it is due and how it recurs at the end; options win.",
)
@option("--priority", type=PRIORITY, help="HIGH, NORMAL or LOW (default: NORMAL).")
@option("--due", metavar="D", help="When: tomorrow 14:00, fri, 2 Dec, +2d, eom, 2024-01-16 14:00.")
@option(
    "--recurring",
    metavar="R",
    help="Again and again: daily 9:00, weekdays, every fri 17:00, monthly on the 1st, or five cron fields.",
)
@option("--assigned", metavar="A", help="Agent or person who does it.")
@option("--tag", "tags", multiple=True, metavar="T", help="A tag; may be repeated.")
@option("--notes", metavar="N", help="More about it.")
@option("--action", metavar="A", help="The command or step to take.")
def add(
    session: Session,
    title: str,
    quick: bool,
    priority: str | None,
    due: str | None,
    recurring: str | None,
    assigned: str | None,
    tags: tuple[str, ...],
    notes: str | None,
    action: str | None,
) -> None:
    """Add a task to Pending, on top of its priority."""
    from memory.files.tasks.edits import add_task

    day = None if due is None else when(session, due)
    if quick:
        from memory.files.tasks.quick import checked_quick

        said = checked_quick(title, session.now, session.snapshot.zone)
        title, priority, day = said.title, priority or said.priority, day or said.due
        recurring = said.recurring if recurring is None else recurring
        assigned, tags = assigned or said.assigned, (*said.tags, *(tag for tag in tags if tag not in said.tags))
    cron = None if recurring is None else recurs(session, recurring, day)

    def build(snapshot: Snapshot) -> Edit:
        return add_task(
            snapshot,
            title,
            priority=priority or "NORMAL",
            due=day,
            recurring=cron,
            assigned=assigned,
            tags=tags,
            notes=notes,
            action=action,
            now=session.now,
        )

    _changed(session, "tasks.add", "added", build, titled=True, due=day, recurring=cron)


def _fields() -> tuple[str, ...]:
    """Return the names that `--set` accepts."""
    return (*FIELD_KEYS, "title", "section", "recurring")


@under(
    tasks,
    "edit",
    serves="change",
    fields=_fields,
    examples=(
        "memdeck tasks edit 3fa94c1 --set notes='Ask Alice first' --unset action",
        "memdeck tasks edit 3fa94c1 --due 'fri 9:00' --priority HIGH",
    ),
)
@_ref
@option(
    "--set",
    "changes",
    multiple=True,
    type=Pairs(),
    help="Set a field, title, priority or section; may be repeated.",
)
@option("--unset", multiple=True, metavar="KEY", help="Remove a field; may be repeated.")
@option("--due", metavar="D", help="The same as --set due=D.")
@option("--priority", type=PRIORITY, help="The same as --set priority=HIGH, NORMAL or LOW.")
def edit(
    session: Session,
    ref: str,
    changes: tuple[str, ...],
    unset: tuple[str, ...],
    due: str | None,
    priority: str | None,
) -> None:
    """Change fields of a task; each changes its own line and no other."""
    from memory.files.tasks.edits import edit_task

    values = pairs(changes) | given(due=due, priority=priority)
    something((values, unset))
    if "due" in values:
        values["due"] = when(session, values["due"])

    def build(snapshot: Snapshot) -> Edit:
        if values.get("recurring"):
            day = values["due"] if "due" in values else find_task(snapshot, ref).due
            values["recurring"] = recurs(session, values["recurring"], day)
        return edit_task(snapshot, ref, set=values, unset=unset, now=session.now)

    _changed(session, "tasks.edit", "changed", build, titled="title" in values, due=values.get("due"))


@under(tasks, "start", serves="change", examples=("memdeck tasks start 3fa94c1",))
@_ref
def start(session: Session, ref: str) -> None:
    """Move a task to In Progress."""
    from memory.files.tasks.edits import start_task

    _changed(session, "tasks.start", "started", lambda snapshot: start_task(snapshot, ref, now=session.now))


@under(tasks, "progress", serves="change", examples=("memdeck tasks progress 3fa94c1 45 --note 'Endpoints checked'",))
@_ref
@argument("percent", type=PERCENT)
@option("--note", metavar="N", help="What was done, kept as lastUpdate.")
def progress(session: Session, ref: str, percent: int, note: str | None) -> None:
    """Note how far a task is, from 0 to 100; a pending one is started by it."""
    from memory.files.tasks.edits import progress_task

    started = False

    def build(snapshot: Snapshot) -> Edit:
        nonlocal started
        edit = progress_task(snapshot, ref, percent, note=note, now=session.now)
        started = find_task(snapshot, ref).section == "pending"
        return edit

    _changed(session, "tasks.progress", lambda: f"started, at {percent}%:" if started else f"at {percent}%:", build)


@under(tasks, "done", serves="change", examples=("memdeck tasks done 3fa94c1 --outcome 'Live since 14:05'",))
@_ref
@option("--outcome", metavar="O", help="What came of it.")
def done(session: Session, ref: str, outcome: str | None) -> None:
    """Finish a task; a recurring one leaves a completed copy and waits for its next time."""
    from memory.files.tasks.edits import done_task

    _changed(session, "tasks.done", "done", lambda snapshot: done_task(snapshot, ref, outcome=outcome, now=session.now))


@under(tasks, "reopen", serves="change", examples=("memdeck tasks reopen 3fa94c1",))
@_ref
def reopen(session: Session, ref: str) -> None:
    """Move a task back to Pending; its outcome is kept in the notes."""
    from memory.files.tasks.edits import reopen_task

    _changed(session, "tasks.reopen", "reopened", lambda snapshot: reopen_task(snapshot, ref, now=session.now))


@under(tasks, "remove", serves="change", examples=("memdeck tasks remove 3fa94c1",))
@_ref
def remove(session: Session, ref: str) -> None:
    """Remove a task from the file; it is printed as it was."""
    from memory.files.tasks.edits import remove_task

    task = session.remove("tasks.remove", ref, find_task, remove_task)
    session.answer(lambda: {"task": task.json()}, lambda: [session.paint.line(f"removed {task.ref}  {task.title}")])
