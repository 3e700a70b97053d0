"""How the open pane is arranged: views, groups, sort and filter."""

from __future__ import annotations

from app.tui.spine import Spine
from memory.files.tasks.order import GROUP_WORDS
from widgets.dialogs.pick import Pick, PickOption
from widgets.input.filter_bar import HINT
from widgets.pane.arrangement import REVERSED
from widgets.pane.base import Pane
from widgets.pane.rows import RowKey
from widgets.panes.tasks.pane import TasksPane

from .journal import year

NOTES = {"urgency": "late, due today, then by priority", "unsorted": "the order of the file"}
"""What the names of orders do not say."""

FEW = 3
"""Up to so many orders are cycled through without a menu."""


def toggle(app: Spine, name: str) -> None:
    """Show the tasks as a board or a calendar, or as a list again."""
    pane = app.shown_pane
    assert isinstance(pane, TasksPane)
    wanted = "list" if pane.view_name == name else name

    pane.show_view(wanted)
    return app.refresh_keys()


def board(app: Spine) -> None:
    """Show the tasks as a board, or as a list."""
    return toggle(app, "board")


def calendar(app: Spine) -> None:
    """Show a calendar of tasks or days."""
    return year(app) if app.shown_pane.pane_id == "journal" else toggle(app, "calendar")


def arrange(app: Spine) -> None:
    """Group and sort the list."""
    pane = app.shown_pane
    groups = getattr(pane, "groups", ()) if getattr(pane, "board", None) is None else ()
    options = [
        PickOption(f"group:{name}", GROUP_WORDS.get(name, name), group="GROUP BY", marked=name == pane.group)  # type: ignore[attr-defined]
        for name in groups
    ]
    return _ask(app, "Group and sort", [*options, *_orders(pane, "SORT BY")])


def _orders(pane: Pane, group: str) -> list[PickOption]:
    """Return the orders of a pane for a menu, the current one marked."""
    name = pane.sort.removesuffix(REVERSED)
    note = "reversed" if name != pane.sort else "Enter reverses it"
    return [
        PickOption(f"sort:{one}", one, note if one == name else NOTES.get(one, ""), group=group, marked=one == name)
        for one in pane.sorts
    ]


def orders(app: Spine) -> None:
    """Open a menu of the orders of the open pane; the current one, chosen again, is reversed."""
    return _ask(app, "Sort", _orders(app.shown_pane, ""))


def _ask(app: Spine, title: str, options: list[PickOption]) -> None:
    pane = app.shown_pane

    def answered(answer: str) -> None:
        kind, _, name = answer.partition(":")
        if kind == "sort":
            return sort_by(app, pane, name + REVERSED if pane.sort == name else name)
        pane.set_group(name)  # type: ignore[attr-defined]
        return None

    return app.ask(Pick(title, options), answered)


def sort_by(app: Spine, pane: Pane, name: str) -> None:
    """Sort a pane; slow parts are done while no key waits."""
    pane.set_sort(name)
    return app.say(f"Sorted by {name}.")


def filter_words(app: Spine) -> None:
    """Filter the list as you type."""
    pane = app.shown_pane
    key = app.key_of("list.fields") if pane.filter_fields else ""
    hint = f"words, or {pane.filter_fields[0]}:… ({key} shows all fields)" if key else HINT
    return _open(pane, pane.filter, hint)


def filter_fields(app: Spine) -> None:
    """Filter by a field, such as tag:infra."""
    pane = app.shown_pane
    names = " ".join(f"{name}:" for name in pane.filter_fields)
    return _open(pane, f"{pane.filter} " if pane.filter else "", names)


def _open(pane: Pane, text: str, hint: str) -> None:
    pane.filter_bar.open(text or None, hint=hint)


def sort(app: Spine) -> None:
    """Choose the sort order, or reverse it."""
    pane = app.shown_pane
    if len(pane.sorts) > FEW:
        return orders(app)
    place = pane.sorts.index(pane.sort.removesuffix(REVERSED))
    return sort_by(app, pane, pane.sorts[(place + 1) % len(pane.sorts)])


def next_match(app: Spine) -> None:
    """Go to the next row that fits the filter."""
    return _go_on(app, 1)


def previous_match(app: Spine) -> None:
    """Go to the previous row that fits the filter."""
    return _go_on(app, -1)


def _go_on(app: Spine, step: int) -> None:
    pane = app.shown_pane
    rows, place = pane.line_list.rows, pane.line_list.position
    # By item: the rows of a calendar are the days of tasks.
    found = {id(row.item) for row in pane.arrangement.fitting or ()}
    for away in range(1, len(rows) + 1):
        at = (place + step * away) % len(rows)
        row = rows[at]
        if isinstance(row, RowKey) and id(row.item) in found:
            pane.line_list.move_to(at, direction=step)
            return
