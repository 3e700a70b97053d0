"""Which actions are available now, what the footer calls them, and why a key does nothing here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from app.tui.commands.conditions import Condition, Situation
from widgets.chrome.keys import with_keys
from widgets.panes import all_panes

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
    if now.pane is not None and now.item is not None and not now.app.shows_one_pane:
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
