"""How the open pane is arranged, and saved views."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memory.files.tasks.order import GROUP_WORDS
from widgets.dialogs.dialogs import Prompt
from widgets.dialogs.pick import Pick, PickOption
from widgets.pane.base import Pane
from widgets.pane.visible_rows import REVERSED
from widgets.panes.tasks.views import TaskViews

from .journal import year

if TYPE_CHECKING:
    from app.tui.app import MemdeckApp

LONGEST_NAME = 40
"""Characters of a view's name."""

MOST_VIEWS = 50
"""The most views saved for one pane."""


def toggle(app: MemdeckApp, name: str) -> None:
    """Show the tasks as a board or a calendar, or as a list again."""
    pane = app.shown_pane
    assert isinstance(pane, TaskViews)
    wanted = "list" if pane.view_name == name else name

    pane.show_view(wanted)
    return app.refresh_keys()


def board(app: MemdeckApp) -> None:
    """Show the tasks as a board, or the list again."""
    return toggle(app, "board")


def calendar(app: MemdeckApp) -> None:
    """Show the tasks as a calendar, the journal as a year."""
    return year(app) if app.shown_pane.pane_id == "journal" else toggle(app, "calendar")


def arrange(app: MemdeckApp) -> None:
    """Choose how the list is grouped and sorted."""
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
        PickOption(f"sort:{one}", one, note if one == name else "", group=group, marked=one == name)
        for one in pane.sorts
    ]


def orders(app: MemdeckApp) -> None:
    """Open a menu of the orders of the open pane; the current one, chosen again, is reversed."""
    return _ask(app, "Sort", _orders(app.shown_pane, ""))


def _ask(app: MemdeckApp, title: str, options: list[PickOption]) -> None:
    pane = app.shown_pane

    def answered(answer: tuple[str, str]) -> None:
        kind, _, name = answer[1].partition(":")
        if kind == "sort":
            return sort_by(app, pane, name + REVERSED if pane.sort == name else name)
        pane.set_group(name)  # type: ignore[attr-defined]
        return None

    return app.overlays.ask(Pick(title, options), answered)


def sort_by(app: MemdeckApp, pane: Pane, name: str) -> None:
    """Sort a pane; slow parts are done while no key waits."""
    pane.set_sort(name)
    return app.say(f"Sorted by {name}.")


# Saved views


def saved(app: MemdeckApp) -> None:
    """Open or keep a view under a name."""
    pane = app.shown_pane
    known = app.pane_state.saved_views(pane.pane_id)
    options = [
        PickOption(f"view:{name}", name, _words(view), group="SAVED VIEWS", removable=True, marked=name == pane.named)
        for name, view in known.items()
    ]
    options.append(PickOption("save:", "Save this view …", group="THIS VIEW" if known else ""))
    options.append(PickOption("reset:", "Back to the default view", group="THIS VIEW" if known else ""))

    def answered(answer: tuple[str, str]) -> None:
        verb, chosen = answer
        kind, _, name = chosen.partition(":")
        if verb == "remove":
            app.pane_state.keep_view(pane, name, None)
            return saved(app)
        if kind == "save":
            return _save(app)
        return _restore(app, known[name] if kind == "view" else {})

    return app.overlays.ask(Pick("Views", options), answered)


def _save(app: MemdeckApp) -> None:
    pane = app.shown_pane
    view = pane.look()
    known = app.pane_state.saved_views(pane.pane_id)

    def validate(text: str) -> str | None:
        if not text.strip():
            return "a view needs a name"
        if len(text.strip()) > LONGEST_NAME:
            return f"at most {LONGEST_NAME} characters"
        return "too many views; remove one first" if len(known) >= MOST_VIEWS else None

    def answered(name: str) -> None:
        app.pane_state.keep_view(pane, name.strip(), view)
        app.say(f"Saved as “{name.strip()}”; V opens it.")

    hint: Callable[[str], str] = lambda text: (  # noqa: E731
        "replaces the view of that name" if text.strip() in known else _words(view)
    )
    return app.overlays.ask(Prompt("Name of this view", placeholder="mine", validate=validate, hint=hint), answered)


def _restore(app: MemdeckApp, view: dict[str, str]) -> None:
    pane = app.shown_pane
    pane.set_filter("")
    pane.filter_bar.close()
    pane.restore({"sort": pane.sorts[0], **view})
    return app.refresh_keys()


def _words(view: dict[str, str]) -> str:
    """Return a view in a few words."""
    parts = [view.get("view", "")] if view.get("view", "list") != "list" else []
    if (group := view.get("group", "section")) != "section":
        parts.append(f"grouped by {group}")
    if (sort := view.get("sort", "unsorted")) != "unsorted":
        parts.append(f"sorted by {sort}")
    if text := view.get("filter", ""):
        parts.append(f"/{text}")
    return ", ".join(parts) or "the default view"
