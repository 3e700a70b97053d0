"""Conditions of actions: what must be open, under the cursor, or selected, and why an action is not available."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from memory.files.monitors import Monitor
from memory.files.tasks.model import Task
from widgets.pane.base import Pane

if TYPE_CHECKING:
    from app.tui.state import State
    from memory.history.outside import OutsideRemoval


class Situation:
    """The open pane and its selection during one check of the keys; values that several conditions use are computed
    once.

    `pane` is None if the open pane has no contents yet; `pane_id` is the id of the open pane in any case.
    """

    def __init__(self, state: State) -> None:
        """Take the open pane."""
        pane = state.open
        self.state = state
        self.pane_id = "" if pane is None else pane.pane_id
        self.pane = pane if pane is not None and pane.contents is not None else None

    @property
    def has_workspace(self) -> bool:
        """Whether there is a workspace."""
        return self.state.workspace is not None

    @cached_property
    def item(self) -> Any | None:
        """The item under the cursor."""
        return None if self.pane is None else self.pane.current()

    @cached_property
    def items(self) -> tuple[Any, ...]:
        """The selected items, else the one under the cursor."""
        return () if self.pane is None else self.pane.selected()

    @cached_property
    def selected(self) -> int:
        """How many entries are selected, one by one or as a range."""
        return 0 if self.pane is None else len(self.pane.line_list.selected)

    @cached_property
    def tasks(self) -> list[Task]:
        """The tasks that a task's key applies to; rows of the brief count as the tasks they lead to."""
        if self.pane_id == "tasks":
            return list(self.items)
        things = [item.thing for item in self.items] if self.pane_id == "brief" else []
        return list({one.ref: one for one in things if isinstance(one, Task)}.values())

    @cached_property
    def sections(self) -> frozenset[str]:
        """The sections of those tasks."""
        return frozenset([task.section for task in self.tasks])

    @property
    def actions(self) -> list[Task]:
        """Those of them that are open and have a command as their action."""
        return [one for one in self.tasks if one.command is not None and one.section in ("pending", "in-progress")]

    @property
    def action(self) -> Task | None:
        """The open task with a command, if no other is selected."""
        return next(iter(self.actions), None) if len(self.tasks) == 1 else None

    @cached_property
    def monitors(self) -> list[Monitor]:
        """The monitors that a monitor's key applies to; in the brief also those of approvals that wait."""
        if self.pane_id not in ("monitors", "brief"):
            return []
        found = (getattr(item.thing, "monitor", item.thing) for item in self.items)
        return list({one.ref: one for one in found if isinstance(one, Monitor)}.values())

    @property
    def draft(self) -> str:
        """The id of the draft in the brief's row under the cursor; empty if it is not a draft."""
        of_brief = self.pane_id == "brief" and getattr(self.item, "part", "") == "draft"
        return self.item.values["target"] if of_brief and self.item is not None else ""

    @property
    def lost(self) -> OutsideRemoval | None:
        """The removal by another program in the brief's row under the cursor."""
        of_brief = self.pane_id == "brief" and getattr(self.item, "part", "") == "lost"
        return self.item.thing if of_brief and self.item is not None else None

    @property
    def removal(self) -> OutsideRemoval | None:
        """The removal by another program in the row under the cursor of Brief or Changes."""
        ref = self.item.ref if self.pane_id == "changes" and self.item is not None else None
        return self.lost or next((one for one in self.state.removals if one.id == ref), None)

    def allows(self, condition: Condition) -> bool:
        """Return whether a condition holds."""
        return bool(self.held([condition]))

    def held(self, conditions: Iterable[Condition]) -> set[Condition]:
        """Return those of the conditions that hold."""
        known, found = self.pane is not None, set[Condition]()
        for one in conditions:
            here = not one.panes or self.pane_id in one.panes
            if here and (known or one.everywhere) and one.holds(self):
                found.add(one)
        return found


@dataclass(frozen=True, eq=False, slots=True)
class Condition:
    """What an action requires; `why` says what it lacks, with `{action|key}` for keys.

    `everywhere`: it is checked even if no pane has contents yet. `panes`: the panes in which it may hold; empty: all.
    `about_entries`: while entries are selected, the footer names only actions that apply to all of them. `named`:
    whether the footer names an action; it overrides the action itself unless it returns None, and is given whether
    the action applies to all selected entries.
    """

    holds: Callable[[Situation], object]
    why: str = ""
    everywhere: bool = False
    panes: tuple[str, ...] = ()
    about_entries: bool = True
    named: Callable[[Situation, bool], bool | None] | None = None


# Building blocks of several conditions


@cache
def _offers(pane: type[Pane], name: str) -> bool:
    """Return whether a pane's type overrides a method of `Pane`, or removes entries by an operation."""
    return getattr(pane, name) is not getattr(Pane, name) or (name == "removing" and bool(pane.removes))


def _sorts(now: Situation) -> bool:
    """Return whether another order would be visible; a calendar is always in the order of days."""
    return len(now.pane.sorts) > 1 and getattr(now.pane, "calendar", None) is None  # type: ignore[union-attr]


# Conditions about the open pane


def _leave(now: Situation) -> bool:
    pane = now.pane
    assert pane is not None
    return (
        now.state.back is not None
        or pane.is_open
        or pane.detail_view.has_focus
        or pane.filter_bar.is_open
        or not pane.line_list.has_focus
    )


def _editing(now: Situation) -> bool:
    assert now.pane is not None
    return now.item is not None and _offers(type(now.pane), "editing") and now.pane.may_change(now.item)


def _removing(now: Situation) -> bool:
    if now.item is None or now.pane is None or not now.has_workspace:
        return False
    removes = _offers(type(now.pane), "removing") and now.pane.may_change(now.item)
    return removes or _stands_for_other(now)


def _stands_for_other(now: Situation) -> bool:
    """Return whether the brief's row under the cursor is a draft, or a removal by another program."""
    return bool(now.draft) or now.lost is not None


def _source(now: Situation) -> bool:
    assert now.pane is not None
    if now.pane.unread_line() is not None:
        return True
    if now.pane_id == "waiting":
        return getattr(now.item, "part", "") == "proposals"
    return now.item is not None and _offers(type(now.pane), "from_source")


def _archived(now: Situation) -> bool:
    if now.removal is not None:
        return True
    return now.pane_id == "archive" and not getattr(now.item, "group", True)


# Where the footer overrides an action's own setting


def _drafts_here(now: Situation, _: bool) -> bool | None:
    # In other panes it would displace their keys in the footer for days.
    places = {"brief", *(draft.pane for draft in now.state.left_drafts[:1])}
    return None if now.pane_id in places else False


def _removal_here(now: Situation, bulk: bool) -> bool | None:
    return True if _stands_for_other(now) else _source_here(now, bulk)


def _source_here(now: Situation, bulk: bool) -> bool | None:
    if now.pane is not None and now.pane.unread_line() is not None:
        return True
    return bulk or not now.selected if now.pane_id == "waiting" else None


def _approval_here(now: Situation, _: bool) -> bool | None:
    """Name it only if something waits for approval."""
    if now.pane_id == "brief":
        return None if any(item.part == "waiting" for item in now.items) else False
    return None if any(map(getattr(now.pane, "is_blocked", bool), now.items)) else False


# The conditions


def _pane(*panes: str, holds: Callable[[Situation], object] = bool, why: str = "") -> Condition:
    """Return a condition that holds in some panes only."""
    return Condition(holds, why, panes=panes)


def _task(*sections: str, why: str) -> Condition:
    """Return a condition that holds for tasks of some sections."""
    return _pane("tasks", "brief", holds=lambda now: not now.sections.isdisjoint(sections), why=why)


def _turns(way: str) -> Condition:
    # The key works while a change is still being written; it is named once the change is in the log.
    return Condition(
        lambda now: now.has_workspace and now.state.may_turn(way),
        f"Nothing to {way}.",
        everywhere=True,
        named=lambda now, _: now.state.can_turn(way),
    )


ALWAYS = Condition(bool, everywhere=True, about_entries=False)  # Every situation is true.
WORKSPACE = Condition(lambda now: now.has_workspace, everywhere=True)
APPROVAL = Condition(WORKSPACE.holds, everywhere=True, named=_approval_here)
UNDO, REDO = _turns("undo"), _turns("redo")
DRAFT = Condition(
    lambda now: now.has_workspace and bool(now.state.left_drafts),
    "There is no unsaved form.",
    everywhere=True,
    named=_drafts_here,
)
JOBS = Condition(lambda now: now.state.jobs, "Nothing is running.", about_entries=False)
PANE = Condition(bool)
LEAVE = Condition(_leave)
ITEM = Condition(lambda now: now.item is not None, "No entry under the cursor.")
DOUBT = Condition(
    lambda now: now.pane is not None and now.pane.line_list.cursor in now.pane.doubted, "Nothing to settle here."
)
ADDING = Condition(
    lambda now: now.has_workspace and _offers(type(now.pane), "adding"),  # type: ignore[arg-type]
    "Nothing can be added in this pane.",
)
EDITING = Condition(_editing, "Nothing to edit here.")
REMOVING = Condition(_removing, "Nothing to remove here.", named=_removal_here)
SOURCE = Condition(_source, "Nothing to edit in $EDITOR here.", named=_source_here)
FIELDS = Condition(
    lambda now: now.pane is not None and now.pane.filter_fields,
    "These entries have no fields; filter by words with {list.filter|/}.",
)
FILTERED = Condition(
    lambda now: now.pane is not None and now.pane.filter, "No filter is set; {list.filter|/} sets one."
)
SORTS = Condition(_sorts, "This list cannot be sorted.")
BLOCKS = _pane("tasks")
CALENDAR = _pane("tasks", "journal")
HISTORY = _pane("tasks", "journal", "plans", "monitors", "brief", holds=ITEM.holds, why=ITEM.why)
ARCHIVED = _pane("archive", "brief", "changes", holds=_archived, why="Not an archived or removed entry.")
CHANGE = _pane("changes", holds=ITEM.holds, why=ITEM.why)
RUN = _pane(
    *("monitors", "tasks", "brief"),
    holds=lambda now: now.monitors or now.action,
    why="Nothing to run: choose a monitor, or an open task with an action.",
)
MONITOR = _pane("monitors", "brief", holds=lambda now: now.monitors, why="Not a monitor.")
BOARD = _pane(
    "tasks",
    holds=lambda now: getattr(now.pane, "board", None) is not None and now.item is not None,
    why="Only works on the board ({view.board|b}).",
)
TASK = _pane("tasks", "brief", holds=lambda now: now.tasks, why="Not a task.")
TASK_START = _task("pending", why="Not a pending task.")
TASK_OPEN = _task("pending", "in-progress", why="Not an open task.")
TASK_PROGRESS = _task("in-progress", why="Not in progress yet: {task.start|s} starts it.")
TASK_REOPEN = _task("in-progress", "completed", why="Already pending; {entry.restore|B} restores archived tasks.")
NEXT_STEP = _pane(
    "state",
    "curated",
    holds=lambda now: now.pane_id == "state" or getattr(now.item, "part", "") == "waits",
    why="No suggestion from sessions under the cursor.",
)
PRUNED = _pane("typed", "state")
NOT_MEMORY = Condition(
    lambda now: now.has_workspace and now.pane_id not in PRUNED.panes,
    "Prunes this agent memory instead.",
    everywhere=True,
)
REVIEW = _pane("waiting", holds=ITEM.holds, why=ITEM.why)
UNDECIDED = _pane(
    "waiting",
    holds=lambda now: now.item is not None and now.item.part != "decided",
    why="Already decided; {review.reject|r} reverts that.",
)
PROMPT = _pane("prompt")
PROMPT_VIEW = _pane("prompt", holds=lambda now: now.pane.is_special and not _leave(now))  # type: ignore[union-attr]
PROMPT_ENTRY = _pane(
    "prompt", holds=lambda now: now.item is not None and now.item.thing.ref, why="Not an entry with a ref."
)
