"""All bindings by the part of the application that has them, and which of them are active together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from .keymap import Keymap, key_of
from .registry import COMMANDS

_ACTIONS = "actions"

PARTS: dict[str, str] = {
    "In every list": "widgets.list.line_list:LineList",
    "In the brief": "widgets.panes.brief.pane:BriefPane",
    "In outlines": "widgets.list.outline:OutlinePane",
    "On the board": "widgets.list.board:Board",
    "In the calendar": "widgets.panes.tasks.calendar:Calendar",
    "In the detail": "widgets.detail:LineView",
    "Links in the detail": "widgets.detail:Detail",
    "In the filter": "widgets.input.filter_bar:FilterBar",
    "In a form": "widgets.input.form:Form",
    "In a choice of a form": "widgets.input.editors:Choice",
    "In a question": "widgets.dialogs.dialogs:Confirm",
    "In a one-line question": "widgets.dialogs.dialogs:Prompt",
    "In a plan before it is applied": "widgets.dialogs.dialogs:Preview",
    "In the year of the journal": "widgets.calendar.year:YearScreen",
    "In a menu": "widgets.dialogs.pick:Pick",
    "In a question about running something": "widgets.dialogs.consent:ConsentScreen",
    "In a conflict": "widgets.dialogs.three_way:ThreeWay",
    "Between the fields of a conflict": "widgets.dialogs.three_way:ThreeWayView",
    "In the history of an entry": "widgets.dialogs.entry_history:EntryHistory",
    "In the list of commands": "app.tui.keys.help:CommandScreen",
    "In the search": "app.tui.search.screen:SearchScreen",
    "In jump mode": "app.tui.keys.jump:JumpScreen",
}
"""The parts with their own keys, by the heading shown to users."""


ALONE = frozenset(
    {"In the year of the journal", "In a menu", "In a form", "In a question", "In a one-line question"}
    | {"In a plan before it is applied", "In a question about running something", "In a conflict"}
    | {"In the history of an entry", "In the list of commands", "In the search", "In jump mode"}
)
"""The parts that are dialogs: none of the main screen's keys work in them."""

TYPING = frozenset(
    {"In the filter", "In a form", "In a one-line question", "In the list of commands", "In the search"}
    | {"In jump mode"}
)


@dataclass(frozen=True, slots=True)
class KnownBinding:
    """A binding: its id, its default keys, what it does, and the part or group it belongs to."""

    id: str
    keys: tuple[str, ...]
    description: str
    group: str
    part: str


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
        yield KnownBinding(action.id, action.keys, action.description, action.group, _ACTIONS)


def _of_part(part: str) -> Iterator[KnownBinding]:
    from textual.binding import Binding

    module, _, name = PARTS[part].partition(":")
    owner = getattr(import_module(module), name)
    for binding in owner.__dict__.get("BINDINGS", ()):
        if isinstance(binding, Binding):
            keys = tuple(key.strip() for key in binding.key.split(","))
            yield KnownBinding(binding.id or "", keys, binding.tooltip or binding.description, part, part)


def shared_keys(keymap: Keymap) -> Iterator[tuple[str, KnownBinding, KnownBinding]]:
    """Yield keys that the user gave to two things that are reached by keys at the same time, with both."""
    by_part: dict[str, list[KnownBinding]] = {}
    for known in known_bindings():
        by_part.setdefault(known.part, []).append(known)
    # In a list or a text that has the focus, its own keys come before those of the pane's entries.
    places = [(part,) if part in ALONE else (part, _ACTIONS) for part in PARTS]
    seen: set[tuple[str, str, str]] = set()
    for parts in places:
        owners: dict[str, list[KnownBinding]] = {}
        for part in parts:
            # Of two bindings of one part, Textual keeps the one that the user chose.
            for known in sorted(by_part[part], key=lambda known: known.id not in keymap.rebound):
                for key in keymap.keys(known.id, known.keys):
                    owners.setdefault(_plain(key), []).append(known)
        for key, (first, *others) in owners.items():
            for other in others:
                by_itself = key in map(_plain, first.keys) and key in map(_plain, other.keys)
                chosen = first.id in keymap.rebound or other.id in keymap.rebound
                if chosen and not by_itself and (key, first.id, other.id) not in seen:
                    seen.add((key, first.id, other.id))
                    yield key, first, other


def _plain(key: str) -> str:
    return key_of(key) or key
