"""How the open pane is arranged, and saved views."""

from __future__ import annotations

from collections.abc import Callable

from memory.files.tasks.order import GROUP_WORDS
from widgets.dialogs.dialogs import Prompt
from widgets.dialogs.pick import Pick, PickOption
from widgets.pane.base import Pane
from widgets.pane.visible_rows import REVERSED
from widgets.panes.tasks.views import TaskViews

from .context import Context, Step, open_pane, steps
from .journal import year

LONGEST_NAME = 40
"""Characters of a view's name."""

MOST_VIEWS = 50
"""The most views saved for one pane."""


def toggle(context: Context, name: str) -> Step:
    """Show the tasks as a board or a calendar, or as a list again."""
    pane = open_pane(context)
    assert isinstance(pane, TaskViews)
    wanted = "list" if pane.view_name == name else name

    pane.show_view(wanted)
    return context.redraw_keys()


def board(context: Context) -> Step:
    """Show the tasks as a board, or the list again."""
    return toggle(context, "board")


def calendar(context: Context) -> Step:
    """Show the tasks as a calendar, the journal as a year."""
    return year(context) if open_pane(context).pane_id == "journal" else toggle(context, "calendar")


def arrange(context: Context) -> Step:
    """Choose how the list is grouped and sorted."""
    pane = open_pane(context)
    groups = getattr(pane, "groups", ()) if getattr(pane, "board", None) is None else ()
    options = [
        PickOption(f"group:{name}", GROUP_WORDS.get(name, name), group="GROUP BY", marked=name == pane.group)  # type: ignore[attr-defined]
        for name in groups
    ]
    return _ask(context, "Group and sort", [*options, *_orders(pane, "SORT BY")])


def _orders(pane: Pane, group: str) -> list[PickOption]:
    """Return the orders of a pane for a menu, the current one marked."""
    name = pane.sort.removesuffix(REVERSED)
    note = "reversed" if name != pane.sort else "Enter reverses it"
    return [
        PickOption(f"sort:{one}", one, note if one == name else "", group=group, marked=one == name)
        for one in pane.sorts
    ]


def orders(context: Context) -> Step:
    """Open a menu of the orders of the open pane; the current one, chosen again, is reversed."""
    return _ask(context, "Sort", _orders(open_pane(context), ""))


def _ask(context: Context, title: str, options: list[PickOption]) -> Step:
    pane = open_pane(context)

    def answered(answer: tuple[str, str]) -> Step:
        kind, _, name = answer[1].partition(":")
        if kind == "sort":
            return sort_by(context, pane, name + REVERSED if pane.sort == name else name)
        pane.set_group(name)  # type: ignore[attr-defined]
        return None

    return context.ask(Pick(title, options), answered)


def sort_by(context: Context, pane: Pane, name: str) -> Step:
    """Sort a pane; slow parts are done while no key waits."""
    pane.set_sort(name)
    return context.say(f"Sorted by {name}.")


# Saved views


def saved(context: Context) -> Step:
    """Open or keep a view under a name."""
    pane = open_pane(context)
    known = context.saved_views(pane.pane_id)
    options = [
        PickOption(f"view:{name}", name, _words(view), group="SAVED VIEWS", removable=True, marked=name == pane.named)
        for name, view in known.items()
    ]
    options.append(PickOption("save:", "Save this view …", group="THIS VIEW" if known else ""))
    options.append(PickOption("reset:", "Back to the default view", group="THIS VIEW" if known else ""))

    def answered(answer: tuple[str, str]) -> Step:
        verb, chosen = answer
        kind, _, name = chosen.partition(":")
        if verb == "remove":
            context.keep_view(pane, name, None)
            return saved(context)
        if kind == "save":
            return _save(context)
        return _restore(context, known[name] if kind == "view" else {})

    return context.ask(Pick("Views", options), answered)


def _save(context: Context) -> Step:
    pane = open_pane(context)
    view = pane.look()
    known = context.saved_views(pane.pane_id)

    def validate(text: str) -> str | None:
        if not text.strip():
            return "a view needs a name"
        if len(text.strip()) > LONGEST_NAME:
            return f"at most {LONGEST_NAME} characters"
        return "too many views; remove one first" if len(known) >= MOST_VIEWS else None

    def answered(name: str) -> Step:
        return steps(
            (context.keep_view(pane, name.strip(), view), context.say(f"Saved as “{name.strip()}”; V opens it."))
        )

    hint: Callable[[str], str] = lambda text: (  # noqa: E731
        "replaces the view of that name" if text.strip() in known else _words(view)
    )
    return context.ask(Prompt("Name of this view", placeholder="mine", validate=validate, hint=hint), answered)


def _restore(context: Context, view: dict[str, str]) -> Step:
    pane = open_pane(context)
    pane.set_filter("")
    pane.filter_bar.close()
    pane.restore({"sort": pane.sorts[0], **view})
    return context.redraw_keys()


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
