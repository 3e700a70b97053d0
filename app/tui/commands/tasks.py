"""Commands of the tasks pane, on all selected tasks at once: one change, so that one undo reverts it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from app.tui.spine import Spine
from memory.document import Entry
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot
from memory.files.tasks.edits import edit_task, retag_tasks, shift_priorities
from memory.files.tasks.model import Task
from memory.files.tasks.operations import add_task, done_task, progress_task, reopen_task, start_task
from memory.files.tasks.quick import EXAMPLE, checked_quick, read_quick
from widgets.dialogs.pick import Pick, PickOption
from widgets.input.date_fields import as_written, date_field
from widgets.input.form import Prompt
from widgets.pane.offers import chain
from widgets.panes.tasks.forms import quick_words, unread_words

_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
"""What begins an item of a pasted list."""
_LOW = 18
"""On a screen with fewer lines the parts of a one-line task share lines."""


def _chosen(app: Spine, *sections: str) -> list[Task]:
    """Return the selected tasks, else the one under the cursor; with `sections` only those in one of them."""
    return [task for task in app.situation.tasks if not sections or task.section in sections]


def _apply(app: Spine, verb: str, tasks: list[Task], edit: Callable[..., Edit], *, follow: bool = False) -> None:
    """Change all tasks at once by `edit(snapshot, refs, now=…)`; they stay selected, and with `follow` the cursor goes
    with them.
    """
    if not tasks:
        return None
    refs, now = [task.ref for task in tasks], app.clock()
    return app.change(f"tasks.{verb}", lambda snapshot: edit(snapshot, refs, now=now), follow=follow)


def _pass_on(app: Spine, verb: str, tasks: list[Task], one: Callable[..., Edit]) -> None:
    """Move the tasks to another section by the edit `one`, and put the cursor on the next task."""
    pane = app.shown_pane
    if not pane.line_list.selected:
        pane.step_off()
    return _apply(app, verb, tasks, one)


def start(app: Spine) -> None:
    """Start the task."""
    return _pass_on(app, "start", _chosen(app, "pending"), start_task)


def done(app: Spine) -> None:
    """Finish the task; asks for its outcome."""
    return _finish(app, _chosen(app, "pending", "in-progress"))


def _finish(app: Spine, tasks: list[Task], *, follow: bool = False) -> None:
    def answered(outcome: str) -> None:
        finish = partial(done_task, outcome=outcome.strip() or None)
        if follow:
            return _apply(app, "done", tasks, finish, follow=True)
        return _pass_on(app, "done", tasks, finish)

    def hint(text: str) -> str:
        # What is typed before the question is seen ends here, too.
        return ("This text becomes the outcome. " if text else "") + "Enter finishes, Esc changes nothing."

    return app.ask(Prompt(_about("Done", tasks), placeholder="outcome (optional)", hint=hint), answered)


def reopen(app: Spine) -> None:
    """Reopen the task: it is pending again."""
    return _pass_on(app, "reopen", _chosen(app, "in-progress", "completed"), reopen_task)


def progress(app: Spine) -> None:
    """Set the progress in percent, with a note."""
    tasks = _chosen(app, "in-progress")
    value = "" if len(tasks) != 1 or tasks[0].progress is None else str(tasks[0].progress)

    def validate(text: str) -> str | None:
        return None if _percent(text) is not None else "a number from 0 to 100, then a note if you like"

    def hint(text: str) -> str:
        found = _percent(text)
        return "percent, then a note" if found is None or not found[1] else f"last update: {found[1]}"

    def answered(text: str) -> None:
        found = _percent(text)
        if found is None:
            return None

        percent, note = found
        edit = partial(progress_task, percent=percent, note=note or None, base=_base(tasks))
        return _apply(app, "progress", tasks, edit)

    question = _about("Progress", tasks)
    return app.ask(Prompt(question, value, placeholder="60, then a note", validate=validate, hint=hint), answered)


def higher(app: Spine) -> None:
    """Raise the task's priority."""
    return _shift(app, 1)


def lower(app: Spine) -> None:
    """Lower the task's priority."""
    return _shift(app, -1)


def _shift(app: Spine, step: int) -> None:
    tasks, (name, words) = _chosen(app), ("HIGH", "highest") if step > 0 else ("LOW", "lowest")
    if all(task.priority == name for task in tasks):
        return app.say(f"Already {name}, the {words} priority.")
    return _apply(app, "priority", tasks, partial(shift_priorities, by=step))


def due(app: Spine) -> None:
    """Set when the task is due."""
    tasks = _chosen(app)
    now, zone = app.clock(), app.zone
    value = (tasks[0].due or "") if len(tasks) == 1 else ""
    field = date_field("due", "due", value, now, zone)

    def answered(text: str) -> None:
        if text == value:
            return None
        written = as_written(text, value, app.clock(), zone)
        return _set(app, "due", tasks, "due", written)

    return app.ask(
        Prompt(
            _about("Due", tasks),
            value,
            placeholder="tomorrow 14:00, fri, 2 Dec, +2d, eom; empty for no date",
            validate=field.validate,
            hint=field.hint,
        ),
        answered,
    )


def quick(app: Spine) -> None:
    """Add a task in one line: title, date, tags."""
    return _ask_quick(app, "")


def pasted(app: Spine, text: str) -> None:
    """Add what was pasted into the list: one line after a look at it, several after a question."""
    return _take(app, text) if "\n" in text.strip() else _ask_quick(app, text.strip())


def _take(app: Spine, text: str) -> None:
    """Add a task, or after a question one for each of several lines."""
    lines = [_BULLET.sub("", line, 1) for line in text.split("\n") if line.strip()]
    if len(lines) < 2:
        return _add_quick(app, [text])
    options = [
        PickOption("lines", f"{len(lines)} tasks", "one per line", key="t"),
        PickOption("joined", "One task", "all lines joined", key="o"),
    ]
    return app.ask(
        Pick(f"{len(lines)} lines pasted", options, "\n".join(line[:200] for line in lines[:8])),
        lambda answer: _add_quick(app, lines if answer == "lines" else [" ".join(lines)]),
    )


def _ask_quick(app: Spine, text: str) -> None:
    now, zone = app.clock(), app.zone
    return app.ask(
        Prompt(
            "New task, in one line",
            text,
            placeholder=EXAMPLE,
            validate=lambda text: read_quick(text, now, zone).error or None,
            hint=lambda text: quick_words(text, now, zone, short=app.size.height < _LOW),
            several=True,
        ),
        lambda answer: _take(app, answer),
    )


def _add_quick(app: Spine, lines: list[str]) -> None:
    now = app.clock()

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

    for found in filter(None, (read_quick(text, now, app.zone).unread for text in lines)):
        app.say(f"{unread_words(found)}.", severity="warning")
    # The first line ends up on top.
    edits = [partial(build, text=line) for line in reversed(lines)]
    return app.change("tasks.add", chain(edits, f"added {len(lines)} tasks"), follow=True)


def tags(app: Spine) -> None:
    """Set the task's tags."""
    tasks = _chosen(app)
    value = ", ".join(tasks[0].tags) if len(tasks) == 1 else ""
    several = len(tasks) > 1

    def hint(text: str) -> str:
        found = _tag_changes(text)
        if not several or not text.strip():
            return ""
        if found is None:
            return "replaces the tags of all selected tasks"
        parts = [f"give {', '.join(found[0])}"] if found[0] else []
        return "; ".join([*parts, *([f"take {', '.join(found[1])}"] if found[1] else [])])

    def answered(text: str) -> None:
        if text == value:
            return None
        changes = _tag_changes(text)
        if changes is not None:
            return _apply(app, "tags", tasks, partial(retag_tasks, add=changes[0], remove=changes[1]))
        tags = ", ".join(part.strip() for part in text.split(",") if part.strip())
        return _set(app, "tags", tasks, "tags", tags)

    words = "+add, -remove, or new tags for all" if several else "comma, separated; or +add, -remove"
    return app.ask(Prompt(_about("Tags", tasks), value, placeholder=words, hint=hint), answered)


def assign(app: Spine) -> None:
    """Assign the task to an agent or a person."""
    tasks = _chosen(app)
    value = (tasks[0].assigned or "") if len(tasks) == 1 else ""

    def answered(text: str) -> None:
        if text == value:
            return None
        return _set(app, "assign", tasks, "assigned", text.strip())

    words = "an agent or a person; empty for none"
    return app.ask(Prompt(_about("Assigned to", tasks), value, placeholder=words), answered)


def _set(app: Spine, verb: str, tasks: list[Task], field: str, value: str) -> None:
    """Set a field of tasks; an empty value removes it."""
    values, unset = ({field: value}, ()) if value else ({}, (field,))
    edit = partial(edit_task, set=values, unset=unset, base=_base(tasks))
    return _apply(app, verb, tasks, edit)


def _base(tasks: list[Task]) -> Entry | None:
    """Return the entry of a single task as it is shown, so that an edit is refused if others changed the same field."""
    return tasks[0].entry if len(tasks) == 1 else None


# The board


def move_back(app: Spine) -> None:
    """Move the card left: reopen the task."""
    return _move_beside(app, -1)


def move_on(app: Spine) -> None:
    """Move the card right: start or finish the task."""
    return _move_beside(app, 1)


def _move_beside(app: Spine, step: int) -> None:
    board = getattr(app.pane, "board", None)
    lane = None if board is None else board.beside(step)
    return None if lane is None else _move(app, _chosen(app), lane)


def _move(app: Spine, tasks: list[Task], lane: str) -> None:
    if lane == "completed":
        return _finish(app, tasks, follow=True)
    if lane == "pending":
        return _apply(app, "reopen", tasks, reopen_task, follow=True)
    if any(task.section == "completed" for task in tasks):
        return app.say("Reopen completed tasks first (r).", severity="warning")

    return _apply(app, "start", tasks, partial(edit_task, set={"section": "in-progress"}), follow=True)


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
