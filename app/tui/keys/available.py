"""Which actions mean something now, what the footer calls them, and why a key means nothing here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.tui.commands import conditions
from app.tui.commands.conditions import Situation
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


def live_actions(now: Situation) -> frozenset[str]:
    """Return the ids of the actions that mean something; each condition is asked once."""
    held = {condition for condition in CONDITIONS if now.allows(condition)}
    return frozenset([action.id for action in ACTIONS if action.needs in held])


def hint_names(now: Situation) -> dict[str, str]:
    """Return what the footer calls each action, by id; empty where it does not name it now."""
    live = live_actions(now)
    found = {
        action.id: action.words_in(now.pane_id) if action.id in live and is_named(now, action) else ""
        for action in ACTIONS
    }
    if now.item is not None and now.pane is not None and not now.context.shows_one_pane:
        found[OPEN] = now.pane.enter_words
    return found


def is_named(now: Situation, action: Action) -> bool:
    """Return whether the footer names an action that can be done now."""
    needs = action.needs
    if needs.named is not None and (named := needs.named(now, action.bulk)) is not None:
        return named
    if not (action.bulk if now.selected and needs.about_entries else action.shown):
        return False
    return not action.panes or now.pane_id in action.panes


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
