"""The page of all keys, made from the bindings: `python -m app.tui.keysdoc > docs/keys.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from textual.binding import Binding

from widgets.footer import key_name

from .actions import ACTIONS

INTRODUCTION = """\
# Keys

Made from the bindings by `python -m app.tui.keysdoc > docs/keys.md`; a test compares. The ids are stable.
`?` in the application shows the keys that mean something where you are, `F1` those of the part that has the focus,
and `:` finds every action by its name.
"""


def keys_page() -> str:
    """Return the whole page as Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield INTRODUCTION
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for action in ACTIONS:
        keys = " ".join(f"`{key_name(key)}`" for key in action.keys) or "palette"
        groups.setdefault(action.group, []).append((keys, action.description, action.id))
    for name, rows in groups.items():
        yield from _table(name, rows)
    for name, bindings in _widgets():
        yield from _table(name, _rows_of(bindings))


def _table(name: str, rows: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    yield f"## {name}\n"
    yield "| key | does | id |"
    yield "| :- | :- | :- |"
    for keys, words, action_id in rows:
        yield f"| {keys.replace('|', '&#124;')} | {words} | `{action_id}` |"
    yield ""


def _rows_of(bindings: Iterable[Binding]) -> Iterator[tuple[str, str, str]]:
    for binding in bindings:
        keys = " ".join(f"`{key_name(key.strip())}`" for key in binding.key.split(","))
        yield (keys, binding.tooltip or binding.description, binding.id or "")


def _widgets() -> Iterator[tuple[str, list[Binding]]]:
    """The parts that have keys of their own."""
    from widgets.board import Board
    from widgets.choices import Choices
    from widgets.choose import Choose
    from widgets.consent import ConsentScreen
    from widgets.detail import Detail
    from widgets.dialogs import Confirm, Preview, Prompt
    from widgets.entry_history import EntryHistory
    from widgets.filter_bar import FilterBar
    from widgets.forms import Form
    from widgets.inputs import Choice
    from widgets.line_list import LineList
    from widgets.line_view import LineView
    from widgets.panes.task_calendar import Calendar
    from widgets.three_way import ThreeWay, ThreeWayView
    from widgets.year import YearScreen

    from .help import Help
    from .palette import Palette
    from .search import SearchScreen
    from .start import StartScreen

    for name, owner in (
        ("In every list", LineList),
        ("On the board", Board),
        ("In the calendar", Calendar),
        ("In the detail", LineView),
        ("Links in the detail", Detail),
        ("In the filter", FilterBar),
        ("In a form", Form),
        ("In a choice of a form", Choice),
        ("In a question", Confirm),
        ("In a question for a line", Prompt),
        ("In the year of the journal", YearScreen),
        ("In a menu", Choose),
        ("In a plan before it is applied", Preview),
        ("In a question about running something", ConsentScreen),
        ("Where both changed the same", ThreeWay),
        ("Between the fields of that", ThreeWayView),
        ("Where an entry is gone", Choices),
        ("In the history of an entry", EntryHistory),
        ("In the palette", Palette),
        ("In the search", SearchScreen),
        ("In the help", Help),
        ("On the start screen", StartScreen),
    ):
        own = [binding for binding in owner.__dict__.get("BINDINGS", ()) if isinstance(binding, Binding)]
        yield name, own


if __name__ == "__main__":
    sys.stdout.write(keys_page())
