"""Which actions mean something now, what the footer calls them, and why a key means nothing here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from app.tui.commands import conditions
from app.tui.commands.conditions import Condition, Situation
from widgets.chrome.footer import with_keys

from .registry import ACTIONS

if TYPE_CHECKING:
    from textual.app import App

    from .keymap import Keymap
    from .registry import Action

CONDITIONS = frozenset(action.needs for action in ACTIONS)
"""What any action needs."""


OPEN = "list.open"
"""The key of lists that opens the row under the cursor."""

NAMED = tuple(dict.fromkeys((action.needs, action.bulk) for action in ACTIONS if action.needs.named is not None))
"""What is asked whether the footer names its actions, with whether they are done to all selected entries."""


class KeyState(NamedTuple):
    """All that decides which actions mean something and what the footer calls them.

    `named`: the answers of those of `NAMED` that hold, in their order.
    """

    pane_id: str
    held: frozenset[Condition]
    has_selection: bool
    named: tuple[bool | None, ...]
    enter: str | None = None
    """What opening the row under the cursor is called; None: as lists call it."""


def key_state(now: Situation) -> KeyState:
    """Return the state of the keys; each condition is asked once."""
    held = frozenset(now.holding(CONDITIONS))
    named = tuple([needs.named(now, bulk) for needs, bulk in NAMED if needs.named is not None and needs in held])
    enter = None
    if now.pane is not None and now.item is not None and not now.context.shows_one_pane:
        enter = now.pane.enter_words
    return KeyState(now.pane_id, held, bool(now.selected), named, enter)


@lru_cache(maxsize=64)
def live_actions(state: KeyState) -> frozenset[str]:
    """Return the ids of the actions that mean something."""
    return frozenset([action.id for action in ACTIONS if action.needs in state.held])


@lru_cache(maxsize=64)
def hint_names(state: KeyState) -> Mapping[str, str]:
    """Return what the footer calls each action, by id; empty where it does not name it now."""
    named = dict(zip([asked for asked in NAMED if asked[0] in state.held], state.named, strict=True))
    found = {
        action.id: action.words_in(state.pane_id)
        if action.needs in state.held and _is_named(action, state.pane_id, state.has_selection, named)
        else ""
        for action in ACTIONS
    }
    if state.enter is not None:
        found[OPEN] = state.enter
    return found


def _is_named(
    action: Action, pane_id: str, has_selection: bool, named: Mapping[tuple[Condition, bool], bool | None]
) -> bool:
    needs = action.needs
    answer = named.get((needs, action.bulk))
    if answer is not None:
        return answer
    if not (action.bulk if has_selection and needs.about_entries else action.shown):
        return False
    return not action.panes or pane_id in action.panes


def is_named(now: Situation, action: Action) -> bool:
    """Return whether the footer names an action that can be done now."""
    needs = action.needs
    named = {} if needs.named is None else {(needs, action.bulk): needs.named(now, action.bulk)}
    return _is_named(action, now.pane_id, bool(now.selected), named)


def is_special(now: Situation, action: Action) -> bool:
    """Return whether an action that can be done now is one of the pane that is open rather than of all."""
    return is_named(now, action) if now.pane_id in action.panes else action.needs.special


CALENDAR = "In the calendar the days are the order; {view.calendar|c} goes back to the list, which has others."

PLANS = "Plans are written by agents; {entry.follow|o} opens what is linked."
_OF_PLANS = (
    *(conditions.TASK, conditions.TASK_START, conditions.TASK_OPEN, conditions.TASK_PROGRESS, conditions.TASK_REOPEN),
    *(conditions.ADDING, conditions.EDITING, conditions.REMOVING, conditions.RUN),
)


def why_dead(app: App[Any], keymap: Keymap, now: Situation, key: str) -> str:
    """Return why a key does nothing in the open pane; empty where it does something, or never means anything."""
    found = [action for action in ACTIONS if key in keymap.keys(action.id, action.keys)]
    if not found or now.pane is None or any(now.allows(action.needs) for action in found):
        return ""
    return with_keys(_words(found[0], now.pane_id), app)


def _words(action: Action, pane_id: str) -> str:
    if action.needs in (conditions.SORTS, conditions.ARRANGES) and pane_id == "tasks":
        return CALENDAR
    return PLANS if pane_id == "plans" and action.needs in _OF_PLANS else action.needs.why
