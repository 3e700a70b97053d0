"""Which actions are available now, what the footer calls them, and why a key does nothing here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.tui.commands.conditions import Situation
from widgets.chrome.keys import with_keys
from widgets.panes import all_panes

from .keymap import Keymap
from .registry import COMMANDS, Command

if TYPE_CHECKING:
    from textual.app import App


OPEN = "list.open"
"""The key of lists that opens the row under the cursor."""


def live_actions(now: Situation) -> list[Command]:
    """Return the available actions; each condition is checked once."""
    return [action for action in COMMANDS if now.allows(action.needs)]


def hint_names(now: Situation) -> dict[str, str]:
    """Return what the footer calls each action, by id; empty if it does not name it now."""
    found = {}
    for action in COMMANDS:
        needs, answer = action.needs, False
        if now.allows(needs):
            named = None if needs.named is None else needs.named(now, action.bulk)
            shown = action.bulk if now.selected and needs.about_entries else action.shown
            answer = shown and (not action.panes or now.pane_id in action.panes) if named is None else named
        found[action.id] = action.words_in(now.pane_id) if answer else ""
    if now.pane is not None and now.item is not None and not now.state.shows_one_pane:
        found[OPEN] = now.pane.enter_words
    return found


def why_dead(app: App[Any], keymap: Keymap, now: Situation, key: str) -> str:
    """Return why a key does nothing here; empty if it is bound to nothing, or does something."""
    found = [action for action in COMMANDS if key in keymap.keys(action.id, action.keys)]
    if not found or now.pane is None or any(now.allows(action.needs) for action in found):
        return ""
    return reason(app, found[0], now.pane_id)


def reason(app: App[Any], action: Command, pane_id: str) -> str:
    """Return what an action lacks that does nothing now: the pane in which it works, or what its condition says."""
    panes = action.needs.panes
    if not panes or pane_id in panes:
        return with_keys(action.needs.why, app)
    name = next(one for one in all_panes() if one.id == panes[0])
    return with_keys(f"Works in {name.title} ({{pane.{name.id}|palette}}).", app)
