"""Commands of the tasks pane, on all selected tasks at once: one change, so that one undo reverts it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from app.tui.forms.conflicts import ask_command
from memory.document import Entry
from memory.errors import ConflictError, MemdeckError
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot
from memory.files.tasks.edits import (
    add_task,
    done_task,
    edit_task,
    progress_task,
    reopen_task,
    retag_tasks,
    shift_priorities,
    start_task,
)
from memory.files.tasks.model import Task
from memory.files.tasks.quick import EXAMPLE, checked_quick, read_quick
from widgets.dialogs.dialogs import Prompt
from widgets.dialogs.pick import Pick, PickOption
from widgets.input.date_fields import as_written, date_field
from widgets.pane.removing import chain
from widgets.panes.tasks.quick import quick_words

from .conditions import tasks_of
from .context import Context, Otherwise, Step, open_pane
from .journal import capture

_LOW = 18
"""On a screen with fewer lines the parts of a one-line task share lines."""


def _chosen(context: Context, *sections: str) -> list[Task]:
    """Return the tasks in these sections that a key applies to."""
    return [task for task in tasks_of(open_pane(context)) if not sections or task.section in sections]


def _apply(
    context: Context,
    verb: str,
    tasks: list[Task],
    edit: Callable[..., Edit],
    *,
    follow: bool = False,
    otherwise: Otherwise | None = None,
) -> Step:
    """Return one change of all tasks, `edit(snapshot, refs, now=…)`; they stay selected, and with `follow` the cursor
    goes with them.
    """
    if not tasks:
        return None
    refs, now = [task.ref for task in tasks], context.clock()
    return context.change(
        f"tasks.{verb}", lambda snapshot: edit(snapshot, refs, now=now), otherwise=otherwise, follow=follow
    )


def _pass_on(context: Context, verb: str, tasks: list[Task], one: Callable[..., Edit]) -> Step:
    """Apply what moves tasks to another section; the cursor goes on to the next task."""
    pane = open_pane(context)
    if not pane.line_list.selected:
        pane.step_off()
    return _apply(context, verb, tasks, one)


def start(context: Context) -> Step:
    """Start the task."""
    return _pass_on(context, "start", _chosen(context, "pending"), start_task)


def done(context: Context) -> Step:
    """Finish the task; asks for its outcome."""
    return _finish(context, _chosen(context, "pending", "in-progress"))


def _finish(context: Context, tasks: list[Task], *, follow: bool = False) -> Step:
    def answered(outcome: str) -> Step:
        finish = partial(done_task, outcome=outcome.strip() or None)
        if follow:
            return _apply(context, "done", tasks, finish, follow=True)
        return _pass_on(context, "done", tasks, finish)

    return context.ask(Prompt(_about("Done", tasks), placeholder="outcome (optional)"), answered)


def reopen(context: Context) -> Step:
    """Reopen the task: it is pending again."""
    return _pass_on(context, "reopen", _chosen(context, "in-progress", "completed"), reopen_task)


def progress(context: Context) -> Step:
    """Say how far the task is, in percent, and a note."""
    tasks = _chosen(context, "in-progress")
    value = "" if len(tasks) != 1 or tasks[0].progress is None else str(tasks[0].progress)

    def validate(text: str) -> str | None:
        return None if _percent(text) is not None else "a number from 0 to 100, then words if you like"

    def hint(text: str) -> str:
        found = _percent(text)
        return "percent, then what was done" if found is None or not found[1] else f"last update: {found[1]}"

    def answered(text: str) -> Step:
        found = _percent(text)
        if found is None:
            return None

        percent, note = found
        edit = partial(progress_task, percent=percent, note=note or None, base=_base(tasks))
        return _apply(context, "progress", tasks, edit, otherwise=_asking(context, "progress", tasks))

    question = _about("Progress", tasks)
    return context.ask(Prompt(question, value, placeholder="60 and a note", validate=validate, hint=hint), answered)


def higher(context: Context) -> Step:
    """Raise the task's priority."""
    return _shift(context, 1)


def lower(context: Context) -> Step:
    """Lower the task's priority."""
    return _shift(context, -1)


def _shift(context: Context, step: int) -> Step:
    return _apply(context, "priority", _chosen(context), partial(shift_priorities, by=step))


def due(context: Context) -> Step:
    """Set when the task is due."""
    tasks = _chosen(context)
    now, zone = context.clock(), context.zone
    value = (tasks[0].due or "") if len(tasks) == 1 else ""
    field = date_field("due", "due", value, now, zone)

    def answered(text: str) -> Step:
        if text == value:
            return None
        written = as_written(text, value, context.clock(), zone)
        return _set(context, "due", tasks, "due", written)

    return context.ask(
        Prompt(
            _about("Due", tasks),
            value,
            placeholder="tomorrow 14:00, fri, 2 Dec, +2d, eom; empty: no date",
            validate=field.validate,
            hint=field.hint,
        ),
        answered,
    )


def quick(context: Context) -> Step:
    """Add a task typed in one line: what it is, when it is due, how it recurs, !priority, @assignee, #tags."""
    now, zone = context.clock(), context.zone

    def answered(text: str) -> Step:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2:
            return _add_quick(context, [text])
        options = [
            PickOption("lines", f"{len(lines)} tasks", "one per line", key="t"),
            PickOption("joined", "One task", "all lines joined", key="o"),
        ]
        return context.ask(
            Pick(f"{len(lines)} lines were pasted", options, "\n".join(line[:200] for line in lines[:8])),
            lambda answer: _add_quick(context, lines if answer[1] == "lines" else [" ".join(lines)]),
        )

    return context.ask(
        Prompt(
            "New task, in one line",
            placeholder=EXAMPLE,
            validate=lambda text: read_quick(text, now, zone).error or None,
            hint=lambda text: quick_words(text, now, zone, short=context.size.height < _LOW),
            several=True,
        ),
        answered,
    )


def _add_quick(context: Context, lines: list[str]) -> Step:
    now = context.clock()

    def build(snapshot: Snapshot, text: str) -> Edit:
        said = checked_quick(text, now, snapshot.zone)
        return add_task(
            snapshot,
            said.title,
            priority=said.priority,
            due=said.due,
            recurring=said.recurring,
            assigned=said.assigned,
            tags=said.tags,
            now=now,
        )

    # The first line ends up on top.
    edits = [partial(build, text=line) for line in reversed(lines)]
    return context.change("tasks.add", chain(edits, f"added {len(lines)} tasks"), follow=True)


def tags(context: Context) -> Step:
    """Set the task's tags."""
    tasks = _chosen(context)
    value = ", ".join(tasks[0].tags) if len(tasks) == 1 else ""
    several = len(tasks) > 1

    def hint(text: str) -> str:
        found = _tag_changes(text)
        if not several or not text.strip():
            return ""
        if found is None:
            return "replaces the tags of all of them"
        parts = [f"give {', '.join(found[0])}"] if found[0] else []
        return "; ".join([*parts, *([f"take {', '.join(found[1])}"] if found[1] else [])])

    def answered(text: str) -> Step:
        if text == value:
            return None
        changes = _tag_changes(text)
        if changes is not None:
            return _apply(context, "tags", tasks, partial(retag_tasks, add=changes[0], remove=changes[1]))
        tags = ", ".join(part.strip() for part in text.split(",") if part.strip())
        return _set(context, "tags", tasks, "tags", tags)

    words = "+add, -remove, or what all of them get" if several else "comma, separated; +add and -remove as well"
    return context.ask(Prompt(_about("Tags", tasks), value, placeholder=words, hint=hint), answered)


def assign(context: Context) -> Step:
    """Say who does the task."""
    tasks = _chosen(context)
    value = (tasks[0].assigned or "") if len(tasks) == 1 else ""

    def answered(text: str) -> Step:
        if text == value:
            return None
        return _set(context, "assign", tasks, "assigned", text.strip())

    words = "an agent or a person; empty: none"
    return context.ask(Prompt(_about("Assigned to", tasks), value, placeholder=words), answered)


def _set(context: Context, verb: str, tasks: list[Task], field: str, value: str) -> Step:
    """Set a field of tasks; an empty value removes it."""
    values, unset = ({field: value}, ()) if value else ({}, (field,))
    edit = partial(edit_task, set=values, unset=unset, base=_base(tasks))
    return _apply(context, verb, tasks, edit, otherwise=_asking(context, verb, tasks))


def _base(tasks: list[Task]) -> Entry | None:
    """Return the one task as it was shown: if others set the same field meanwhile, the user is asked."""
    return tasks[0].entry if len(tasks) == 1 else None


def _asking(context: Context, verb: str, tasks: list[Task]) -> Otherwise:
    """Return a handler that asks if others set the same field of the one task meanwhile."""

    def write(chosen: Mapping[str, str]) -> Step:
        values = {name: text for name, text in chosen.items() if text.strip()}
        unset = tuple(name for name in chosen if name not in values)
        return _apply(context, verb, tasks, partial(edit_task, set=values, unset=unset))

    def otherwise(error: MemdeckError) -> Step:
        if not isinstance(error, ConflictError) or len(tasks) != 1:
            return None
        return ask_command(context, error, tasks[0].title, write)

    return otherwise


def plan(context: Context) -> Step:
    """Say which plan the task belongs to."""
    pane = open_pane(context)
    assert pane.snapshot is not None
    tasks = _chosen(context)
    now = tasks[0].orchestration_id if len(tasks) == 1 else None
    plans = [plan for plan in pane.snapshot.plans.plans if plan.section == "active" and plan.plan_id]
    if not plans:
        return context.say("No active plan.")
    options = [
        PickOption(f"plan:{plan.plan_id}", plan.title, plan.plan_id or "", marked=plan.plan_id == now) for plan in plans
    ]
    options.append(PickOption("none:", "no plan", marked=now is None and len(tasks) == 1))

    def answered(answer: tuple[str, str]) -> Step:
        return _set(context, "plan", tasks, "orchestrationId", answer[1].partition(":")[2])

    return context.ask(Pick(_about("Belongs to", tasks), options), answered)


def note(context: Context) -> Step:
    """Write about the task into the journal."""
    task = _chosen(context)[0]
    return capture(context, about=task.title)


# The board


def move_back(context: Context) -> Step:
    """Move the card to the column before: reopen the task."""
    return _move_beside(context, -1)


def move_on(context: Context) -> Step:
    """Move the card to the next column: start or finish the task."""
    return _move_beside(context, 1)


def _move_beside(context: Context, step: int) -> Step:
    board = getattr(context.pane, "board", None)
    lane = None if board is None else board.beside(step)
    return None if lane is None else _move(context, _chosen(context), lane)


def drop(context: Context, task: Task, lane: str) -> Step:
    """Move a card that was dragged, and the selected ones with it."""
    chosen = _chosen(context)
    return _move(context, chosen if any(one is task for one in chosen) else [task], lane)


def _move(context: Context, tasks: list[Task], lane: str) -> Step:
    if lane == "completed":
        return _finish(context, tasks, follow=True)
    if lane == "pending":
        return _apply(context, "reopen", tasks, reopen_task, follow=True)
    if any(task.section == "completed" for task in tasks):
        return context.say("Reopen completed tasks first: move them to Pending.", severity="warning")

    return _apply(context, "start", tasks, partial(edit_task, set={"section": "in-progress"}), follow=True)


def _tag_changes(text: str) -> tuple[list[str], list[str]] | None:
    """Return the tags to add and to remove, from `+new -old`; None if the text is a plain list of tags."""
    words = [part.strip() for part in text.replace(",", " ").split()]
    if not words or any(len(word) < 2 or word[0] not in "+-" for word in words):
        return None
    return [word[1:] for word in words if word[0] == "+"], [word[1:] for word in words if word[0] == "-"]


def _about(verb: str, tasks: list[Task]) -> str:
    """Return the question: about one task by its title, about several by their number."""
    return f"{verb}: {tasks[0].title[:200]}" if len(tasks) == 1 else f"{verb}: {len(tasks)} tasks"


def _percent(text: str) -> tuple[int, str] | None:
    """Return a percentage and the words after it; None if there is none."""
    number, _, note = text.strip().partition(" ")
    number = number.removesuffix("%").removesuffix(",")
    if not number.isascii() or not number.isdigit() or int(number) > 100:
        return None
    return int(number), note.strip().removeprefix("%").strip()
