"""When an action means something: what must be open, under the cursor, or selected for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from widgets.pane import Pane

if TYPE_CHECKING:
    from .memdeck_app import MemdeckApp


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
        if pane.pane_id != "tasks":
            return False
        items: tuple[Any, ...] = pane.selected()
        return bool(items) and any(not sections or item.section in sections for item in items)

    return fits


def _leave(pane: Pane) -> bool:
    return pane.is_open or pane.detail_view.has_focus or pane.filter_bar.is_open or not pane.line_list.has_focus


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
    "task": _task(),
    "task.start": _task("pending"),
    "task.open": _task("pending", "in-progress"),
    "task.progress": _task("in-progress"),
    "task.reopen": _task("in-progress", "completed"),
}
"""Each condition by its name, asked of the pane that is open."""
