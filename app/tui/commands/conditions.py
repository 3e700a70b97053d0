"""When an action means something: what must be open, under the cursor, or selected for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from widgets.pane.base import Pane

if TYPE_CHECKING:
    from app.tui.keys.registry import Action
    from memory.files.monitors import Monitor
    from memory.files.tasks.model import Task
    from memory.history.taken_back import Undone

    from .context import Context


def allows(context: Context, needs: str) -> bool:
    """Whether what an action needs is there; see `NEEDS`."""
    if not needs:
        return True
    if context.workspace is None:
        return False
    pane = context.pane
    if needs == "workspace":
        return True
    if needs in ("undo", "redo"):
        return context.may_turn(needs)
    if needs == "draft":
        return bool(context.left_drafts)
    if pane is None or pane.contents is None:
        return False
    if needs == "jobs":
        return context.has_jobs
    if needs == "archived":
        return _restorable(context, pane)
    return NEEDS[needs](pane)


def hint_words(context: Context, action: Action) -> str:
    """What the footer calls an action that can be done now; empty where it does not name it."""
    pane = context.pane
    words = action.words if pane is None else action.words_in(pane.pane_id)
    return words if _hinted(context, action, pane) else ""


def _hinted(context: Context, action: Action, pane: Pane | None) -> bool:
    if action.needs in ("undo", "redo"):
        # While a change is being written its key counts already; it is named once the log has the change.
        return context.can_turn(action.needs)
    if action.needs == "draft":
        # In other panes it would push their keys out of the footer, day after day.
        places = {"brief", *(draft.pane for draft in context.left_drafts[:1])}
        if pane is None or pane.pane_id not in places:
            return False
    if action.needs == "removing" and pane is not None and (draft_of(pane) or lost_of(pane) is not None):
        return True
    if action.needs in ("removing", "source") and pane is not None and pane.pane_id == "inbox":
        return action.bulk or not selected_count(pane)
    if selected_count(pane) and action.needs not in ("", "jobs"):
        if not action.bulk:
            return False
    elif not action.shown:
        return False
    if not action.panes:
        return True
    if pane is None or pane.pane_id not in action.panes:
        return False
    return action.id != "trust.review" or _waits(pane)


SPECIAL = frozenset(
    (
        "facts",
        "arranges",
        "tasks",
        "blocks",
        "calendar",
        "fact",
        "board",
        "run",
        "monitor",
        "change",
        "archived",
        "typed",
        "state",
        "curated",
        "review",
        "prompt",
    )
)
"""Conditions that hold in some panes only, beside those of tasks."""


def is_special(context: Context, action: Action) -> bool:
    """Whether an action that can be done now is one of the pane that is open rather than of all."""
    pane = context.pane
    if pane is not None and pane.pane_id in action.panes:
        return _hinted(context, action, pane)
    return action.needs.partition(".")[0] in (*SPECIAL, "task")


def selected_count(pane: Pane | None) -> int:
    """How many entries of a pane are selected, one after the other or as a range."""
    return 0 if pane is None or pane.contents is None else len(pane.line_list.selected)


def _waits(pane: Pane) -> bool:
    """Whether what is selected, or under the cursor, waits for an approval."""
    items = () if pane.contents is None else pane.selected()
    if pane.pane_id == "brief":
        return any(item.group == "waiting" for item in items)
    return any(getattr(pane, "is_blocked", bool)(item) for item in items)


def _offers(name: str) -> Callable[[Pane], bool]:
    """Whether a pane has a method of its own for something."""

    def offered(pane: Pane) -> bool:
        return getattr(type(pane), name) is not getattr(Pane, name)

    return offered


def _item(pane: Pane) -> bool:
    return pane.current() is not None


def _task(*sections: str) -> Callable[[Pane], bool]:
    def fits(pane: Pane) -> bool:
        return any(not sections or task.section in sections for task in tasks_of(pane))

    return fits


def tasks_of(pane: Pane) -> list[Task]:
    """The tasks that a task's key applies to: selected ones, else the one under the cursor; none in other panes.

    The brief's rows lead to tasks and stand for them.
    """
    items: tuple[Any, ...] = pane.selected()
    if pane.pane_id == "tasks":
        return list(items)
    if pane.pane_id == "brief":
        # Imported here: the brief is open, so that this is there already, and no start waits for it.
        from widgets.panes.brief.words import TASK_GROUPS

        return list({item.target: item.thing for item in items if item.group in TASK_GROUPS}.values())
    return []


MONITOR_GROUPS = ("alert", "waiting", "muted")
"""The groups of the brief whose rows are monitors."""


def monitors_of(pane: Pane) -> list[Monitor]:
    """The monitors that a monitor's key applies to, as `tasks_of`."""
    items: tuple[Any, ...] = pane.selected()
    if pane.pane_id == "monitors":
        return list(items)
    if pane.pane_id == "brief":
        rows = [item for item in items if item.group in MONITOR_GROUPS]
        return list({item.target: item.monitor for item in rows}.values())
    return []


def draft_of(pane: Pane) -> str:
    """The id of the draft that the row under the cursor stands for; empty: it stands for none."""
    item = pane.current() if pane.pane_id == "brief" else None
    return item.target if item is not None and item.group == "draft" else ""


def action_of_pane(pane: Pane) -> Task | None:
    """The open task with an action under the cursor; one at a time, whatever is selected."""
    tasks = tasks_of(pane)
    if len(tasks) != 1 or tasks[0].section not in ("pending", "in-progress") or tasks[0].action is None:
        return None
    return tasks[0]


def mentioned(pane: Pane) -> Any | None:
    """The task, plan or monitor under the cursor, which journal entries may mention; None: it is something else."""
    if pane.pane_id == "plans":
        item = pane.current()
        plan = getattr(item, "plan", item)
        return plan if hasattr(plan, "plan_id") else None
    found = [*tasks_of(pane), *monitors_of(pane)]
    return found[0] if len(found) == 1 else None


class Versioned(NamedTuple):
    """An entry whose history can be shown: by its ref, or (no ref) by the words of its line in a file."""

    title: str
    ref: str | None
    file: str = ""
    words: str = ""


def _has_versions(pane: Pane) -> bool:
    # Each task has a ref, and working one out takes a look at all others.
    return pane.current() is not None if pane.pane_id == "tasks" else versioned(pane) is not None


def versioned(pane: Pane) -> Versioned | None:
    """The entry under the cursor if it has a history; None: it has none.

    A row of the brief stands for the entry that it leads to, a change for the first entry that it touched.
    """
    item = pane.current()
    if item is None:
        return None
    if pane.pane_id == "changes":
        return next((Versioned(one.title, one.ref) for one in item.entries if one.ref), None)
    ref = pane.copied_ref(item)
    kind, mark, _ = ref.partition("#")
    plan = getattr(item, "plan", None)
    whole = plan if plan is not None else item
    title = str(getattr(whole, "title", "") or getattr(whole, "name", ""))
    if mark and kind in VERSIONED:
        return Versioned(title, ref)
    found = [str(getattr(item, name, "") or "") for name in LINES.get(pane.pane_id, ())]
    words = next((text for text in found if text), "")
    return Versioned(words.split("\n")[0], None, pane.files[0], words) if words and hasattr(item, "line") else None


VERSIONED = ("tasks", "journal", "orchestration", "monitors")
"""The kinds of entries that keep a name of their own through the log."""

LINES = {"config": ("key",), "knowledge": ("text",), "contacts": ("name", "channel")}
"""What the line of an item is known by in panes whose items are single lines."""


def _leave(pane: Pane) -> bool:
    return pane.is_open or pane.detail_view.has_focus or pane.filter_bar.is_open or not pane.line_list.has_focus


def _sorts(pane: Pane) -> bool:
    """Whether another order would be seen; a calendar has that of the days."""
    return len(pane.sorts) > 1 and getattr(pane, "calendar", None) is None


def _is_board(pane: Pane) -> bool:
    return getattr(pane, "board", None) is not None and _item(pane)


def undone_of(context: Context) -> Undone | None:
    """What another program took back and a key would bring back: that of the row under the cursor, else the newest.

    None in the archive, where the key means its entry.
    """
    pane, waiting = context.pane, context.undone
    if pane is None or pane.pane_id == "archive":
        return None
    item = pane.current() if waiting and pane.contents is not None else None
    if pane.pane_id == "changes" and item is not None:
        return next((one for one in waiting if one.id == item.ref), None)
    if pane.pane_id == "brief" and item is not None and item.group == "lost":
        found: Undone = item.thing
        return found
    return next(iter(waiting), None)


def lost_of(pane: Pane) -> Undone | None:
    """What another program took back that the row under the cursor is about; None: it is about something else."""
    item = pane.current() if pane.pane_id == "brief" else None
    return item.thing if item is not None and item.group == "lost" else None


def _restorable(context: Context, pane: Pane) -> bool:
    if undone_of(context) is not None:
        return True
    item = pane.current() if pane.pane_id == "archive" else None
    return item is not None and hasattr(item, "at")


def _runs_commands(pane: Pane) -> bool:
    """Whether it is a state whose validation commands can be run."""
    look = getattr(pane, "state", lambda: None)() if pane.pane_id == "state" else None
    return look is not None and look.bundle is not None and bool(look.bundle["validationCommands"])


NEEDS: dict[str, Callable[[Pane], bool]] = {
    "facts": lambda pane: pane.pane_id == "facts",
    "pane": lambda pane: True,  # noqa: ARG005
    "item": _item,
    "leave": _leave,
    "adding": _offers("adding"),
    "editing": lambda pane: _item(pane) and _offers("editing")(pane),
    "removing": lambda pane: (
        _item(pane)
        and (pane.pane_id == "inbox" or _offers("removing")(pane) or bool(draft_of(pane)) or lost_of(pane) is not None)
    ),
    "source": lambda pane: _item(pane) and (pane.pane_id == "inbox" or _offers("from_source")(pane)),
    "fields": lambda pane: bool(pane.filter_fields),
    "sorts": _sorts,
    "keeps": lambda pane: len(pane.sorts) > 1,
    "arranges": _sorts,
    "tasks": lambda pane: pane.pane_id == "tasks",
    "blocks": lambda pane: pane.pane_id in ("tasks", "journal"),
    "mentioned": lambda pane: mentioned(pane) is not None,
    "calendar": lambda pane: pane.pane_id in ("tasks", "journal"),
    "fact": lambda pane: pane.pane_id == "knowledge" and any(hasattr(item, "text") for item in pane.selected()),
    "board": _is_board,
    "run": lambda pane: bool(monitors_of(pane)) or action_of_pane(pane) is not None or _runs_commands(pane),
    "monitor": lambda pane: bool(monitors_of(pane)),
    "change": lambda pane: pane.pane_id == "changes" and _item(pane),
    "versions": _has_versions,
    "typed": lambda pane: pane.pane_id == "typed" and hasattr(pane.current(), "file"),
    "state": lambda pane: pane.pane_id == "state" and _item(pane),
    "review": lambda pane: pane.pane_id == "inbox" and _item(pane),
    "prompt": lambda pane: pane.pane_id == "prompt",
    "prompt.entry": lambda pane: pane.pane_id == "prompt" and bool(getattr(pane.current(), "ref", None)),
    "state.any": lambda pane: pane.pane_id == "state",
    "state.point": lambda pane: pane.pane_id == "state" and any(hasattr(item, "point") for item in pane.selected()),
    "curated": lambda pane: pane.pane_id == "curated",
    "curated.decision": lambda pane: pane.pane_id == "curated" and bool(getattr(pane.current(), "changes", False)),
    "task": _task(),
    "task.start": _task("pending"),
    "task.open": _task("pending", "in-progress"),
    "task.progress": _task("in-progress"),
    "task.reopen": _task("in-progress", "completed"),
}
"""Each condition by its name, asked of the pane that is open."""
