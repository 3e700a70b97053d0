"""When an action means something: what must be open, under the cursor, or selected for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from widgets.pane import Pane

if TYPE_CHECKING:
    from memory.files.tasks import Task

    from .memdeck_app import MemdeckApp

TASK_GROUPS = ("overdue", "today", "progress", "stale", "week")
"""The groups of the brief whose rows are tasks."""


def allows(app: MemdeckApp, needs: str) -> bool:
    """Whether what an action needs is there; see `NEEDS`."""
    if not needs:
        return True
    if app.workspace is None:
        return False
    pane = app.navigation.pane
    if needs == "workspace":
        return True
    if pane is None or pane.contents is None:
        return False
    return NEEDS[needs](pane)


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
        return list({item.target: item.thing for item in items if item.group in TASK_GROUPS}.values())
    return []


def _leave(pane: Pane) -> bool:
    return pane.is_open or pane.detail_view.has_focus or pane.filter_bar.is_open or not pane.line_list.has_focus


def _is_board(pane: Pane) -> bool:
    return getattr(pane, "board", None) is not None and _item(pane)


NEEDS: dict[str, Callable[[Pane], bool]] = {
    "pane": lambda pane: True,  # noqa: ARG005
    "item": _item,
    "leave": _leave,
    "adding": _offers("adding"),
    "editing": lambda pane: _item(pane) and _offers("editing")(pane),
    "removing": lambda pane: _item(pane) and _offers("removing")(pane),
    "source": lambda pane: _item(pane) and _offers("from_source")(pane),
    "fields": lambda pane: bool(pane.filter_fields),
    "sorts": lambda pane: len(pane.sorts) > 1,
    "arranges": lambda pane: len(pane.sorts) > 1,
    "tasks": lambda pane: pane.pane_id == "tasks",
    "calendar": lambda pane: pane.pane_id in ("tasks", "journal"),
    "fact": lambda pane: pane.pane_id == "knowledge" and any(hasattr(item, "text") for item in pane.selected()),
    "board": _is_board,
    "task": _task(),
    "task.start": _task("pending"),
    "task.open": _task("pending", "in-progress"),
    "task.progress": _task("in-progress"),
    "task.reopen": _task("in-progress", "completed"),
}
"""Each condition by its name, asked of the pane that is open."""
