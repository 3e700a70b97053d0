"""Which actions are available now, what the footer calls them, and why a key does nothing here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from app.tui.commands import conditions
from app.tui.commands.conditions import Condition, Situation
from widgets.chrome.keys import with_keys

from .keymap import Keymap
from .registry import COMMANDS, Command

if TYPE_CHECKING:
    from textual.app import App


CONDITIONS = frozenset(action.needs for action in COMMANDS)
"""The conditions of all actions."""


OPEN = "list.open"
"""The key of lists that opens the row under the cursor."""

NAMED = tuple(dict.fromkeys((action.needs, action.bulk) for action in COMMANDS if action.needs.named is not None))
"""The conditions that decide whether the footer names their actions, each with whether the actions apply to all
selected entries.
"""


class KeyState(NamedTuple):
    """Everything that decides which actions are available and what the footer calls them.

    `named`: the answers of those of `NAMED` that hold, in their order.
    """

    pane_id: str
    held: frozenset[Condition]
    has_selection: bool
    named: tuple[bool | None, ...]
    enter: str | None = None
    """The footer's word for opening the row under the cursor; None: that of lists."""


def key_state(now: Situation) -> KeyState:
    """Return the state of the keys; each condition is checked once."""
    held = frozenset(now.holding(CONDITIONS))
    named = tuple([needs.named(now, bulk) for needs, bulk in NAMED if needs.named is not None and needs in held])
    enter = None
    if now.pane is not None and now.item is not None and not now.context.shows_one_pane:
        enter = now.pane.enter_words
    return KeyState(now.pane_id, held, bool(now.selected), named, enter)


@lru_cache(maxsize=64)
def live_actions(state: KeyState) -> frozenset[str]:
    """Return the ids of the available actions."""
    return frozenset([action.id for action in COMMANDS if action.needs in state.held])


@lru_cache(maxsize=64)
def hint_names(state: KeyState) -> Mapping[str, str]:
    """Return what the footer calls each action, by id; empty if it does not name it now."""
    named = dict(zip([asked for asked in NAMED if asked[0] in state.held], state.named, strict=True))
    found = {}
    for action in COMMANDS:
        needs = action.needs
        answer = named.get((needs, action.bulk)) if needs in state.held else False
        if answer is None:
            shown = action.bulk if state.has_selection and needs.about_entries else action.shown
            answer = shown and (not action.panes or state.pane_id in action.panes)
        found[action.id] = action.words_in(state.pane_id) if answer else ""
    if state.enter is not None:
        found[OPEN] = state.enter
    return found


def is_special(state: KeyState, action: Command) -> bool:
    """Return whether an available action is specific to the open pane rather than common to all."""
    return bool(hint_names(state)[action.id]) if state.pane_id in action.panes else action.needs.special


CALENDAR = "In the calendar the days are the order; {view.calendar|c} goes back to the list, which has others."

PLANS = "Plans are written by agents; {entry.follow|o} opens what is linked."
_OF_PLANS = (
    *(conditions.TASK, conditions.TASK_START, conditions.TASK_OPEN, conditions.TASK_PROGRESS, conditions.TASK_REOPEN),
    *(conditions.ADDING, conditions.EDITING, conditions.REMOVING, conditions.RUN),
)


def why_dead(app: App[Any], keymap: Keymap, now: Situation, key: str) -> str:
    """Return why a key does nothing in the open pane; empty if it does something, or never does anything."""
    found = [action for action in COMMANDS if key in keymap.keys(action.id, action.keys)]
    if not found or now.pane is None or any(now.allows(action.needs) for action in found):
        return ""
    return with_keys(_words(found[0], now.pane_id), app)


def _words(action: Command, pane_id: str) -> str:
    if action.needs in (conditions.SORTS, conditions.ARRANGES) and pane_id == "tasks":
        return CALENDAR
    return PLANS if pane_id == "plans" and action.needs in _OF_PLANS else action.needs.why
