"""Every key by the part of the application that has it; `python -m app.tui.keys.every_key` writes the page of keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from app.tui.commands.table import COMMANDS
from widgets.chrome.keys import key_name

PARTS: dict[str, str] = {
    "In every list": "widgets.list.line_list:LineList",
    "In Brief": "widgets.panes.brief:BriefPane",
    "In outlines": "widgets.pane.records:RecordPane",
    "On the board": "widgets.panes.tasks.board:Board",
    "In the calendar": "widgets.panes.tasks.calendar:Calendar",
    "In the detail": "widgets.detail:LineView",
    "Links in the detail": "widgets.detail:Detail",
    "In the filter": "widgets.input.filter_bar:FilterBar",
    "In a form": "widgets.input.form:Form",
    "In a choice field": "widgets.input.editors:Choice",
    "In a preview": "widgets.dialogs.dialogs:Preview",
    "In the year of the journal": "widgets.calendar.year:YearScreen",
    "In a menu": "widgets.dialogs.pick:Pick",
    "When asked for approval": "widgets.dialogs.consent:ConsentScreen",
    "In a conflict": "widgets.dialogs.three_way:ThreeWay",
    "Between the fields of a conflict": "widgets.dialogs.three_way:ThreeWayView",
    "In the list of commands": "app.tui.keys.help:CommandScreen",
    "In the search": "app.tui.search.screen:SearchScreen",
    "In jump mode": "widgets.chrome.jump:JumpScreen",
}
"""The parts with their own keys, by the heading shown to users."""


@dataclass(frozen=True, slots=True)
class KnownBinding:
    """A binding: its id, its default keys, what it does, and the group it belongs to."""

    id: str
    keys: tuple[str, ...]
    description: str
    group: str


@cache
def known_bindings() -> tuple[KnownBinding, ...]:
    """Return every binding that can be rebound; the actions first, in the order of the registry."""
    return (*_of_actions(), *(known for part in PARTS for known in _of_part(part)))


@cache
def known_ids() -> frozenset[str]:
    """Return the ids of all bindings."""
    return frozenset(known.id for known in known_bindings())


def _of_actions() -> Iterator[KnownBinding]:
    for action in COMMANDS:
        yield KnownBinding(action.id, action.keys, action.description, action.group)


def _of_part(part: str) -> Iterator[KnownBinding]:
    from textual.binding import Binding

    module, _, name = PARTS[part].partition(":")
    owner = getattr(import_module(module), name)
    for binding in owner.__dict__.get("BINDINGS", ()):
        if isinstance(binding, Binding):
            keys = tuple(key.strip() for key in binding.key.split(","))
            yield KnownBinding(binding.id or "", keys, binding.tooltip or binding.description, part)


PAGE = Path("docs/keys.md")
BEGIN = "<!-- Made from the bindings: -->\n"
"""The line of the page below which everything is made; the text above it is written by hand."""


def keys_page(page: str) -> str:
    """Return the page as Markdown, with its tables made anew."""
    return page.partition(BEGIN)[0] + BEGIN + "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield ""
    groups: dict[str, list[KnownBinding]] = {}
    for known in known_bindings():
        groups.setdefault(known.group, []).append(known)
    for name, rows in groups.items():
        yield f"## {name}\n"
        yield "| key | does | id |"
        yield "| :- | :- | :- |"
        for known in rows:
            keys = " ".join(f"`{key_name(key)}`" for key in known.keys) or "palette"
            yield f"| {keys.replace('|', '&#124;')} | {known.description} | `{known.id}` |"
        yield ""


if __name__ == "__main__":
    PAGE.write_text(keys_page(PAGE.read_text("utf-8")), "utf-8")
