"""TypeAhead: keys that come while what an earlier key opens is not there yet wait for it, in their order.

Textual gives a key to the widget that has the focus when the key comes in, not when it is handled. Without this the
letters typed right behind `/` or `a` would be commands of the list.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.events import Key
from textual.widget import Widget

from widgets.chrome.deferred_keys import behind
from widgets.chrome.footer import active_binding, is_typing
from widgets.input.filter_bar import FilterBar

from .registry import ACTIONS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.dom import DOMNode
    from textual.message_pump import MessagePump

    from app.tui.forms.consent import ConsentPart
    from app.tui.live.edits import Edits
    from app.tui.shell import Shell

_MOVING = frozenset({"down", "up", "tab", "shift+tab", "enter"})
"""Keys that may give the focus to another field of a form; what is typed behind them belongs there."""

_LEAVING = frozenset({"enter", "escape", "down"})
_LOOK_AGAIN, _LONGEST = 0.005, 3.0
"""Seconds between two looks, and after which keys go their way whatever is there, and nothing opens over them."""


class TypeAhead:
    """Keeps keys back from the moment a key means an action until what it opened can take keys."""

    def __init__(
        self, app: Shell, edits: Edits, consent: ConsentPart, pass_on: Callable[[Key], Awaitable[None]]
    ) -> None:
        """`pass_on` lets a key go its way; nothing is kept yet."""
        self._app = app
        self._edits, self._consent, self._pass_on = edits, consent, pass_on
        self._keys: list[Key] = []
        self._waits = False
        self._acted = False
        self._looks = 0
        self._turn = 0
        self._editor: Widget | None = None
        keymap = app.keymap
        self._action_keys = frozenset(key for action in ACTIONS for key in keymap.keys(action.id, action.keys))

    @property
    def idle(self) -> bool:
        """Whether no key waits."""
        return not self._keys

    def keep(self, key: Key) -> bool:
        """Keep a key for later; False: it goes its way now, and those behind it wait if it means an action."""
        if self._waits or self._keys:
            self._keys.append(key)
            return True
        self._begin(key)
        self._edits.went_past()
        return False

    def _begin(self, key: Key) -> None:
        self._editor = self._left_editor(key)
        around = self._moves_focus(key)
        if self._editor is not None or around is not None or (key.key in self._action_keys and self._may_act(key)):
            self._waits, self._acted = True, False
            self._looks = 0
            self._turn += 1
            if self._editor is not None:
                self.acted()
            elif around is not None:
                # Only once this key is on its way itself: behind it on its whole way up to where its binding is.
                self._app.call_later(behind, around, self.acted)
            else:
                screen = self._app.screen
                way: list[MessagePump] = [screen, self._app]
                if screen.focused is not None:
                    way = [screen.focused, *screen.focused.ancestors]
                # Twice: behind the key, and behind what a widget sends up the same way because of it.
                give_up = partial(self._app.call_later, self._give_up, self._turn)
                self._app.call_later(behind, way * 2, give_up)

    def _moves_focus(self, key: Key) -> list[DOMNode] | None:
        """What a key passes on its way if it may give the focus away in a dialog, or close it; None: it does not."""
        screen = self._app.screen
        focused = screen.focused
        if screen is self._app.main_screen:
            return None
        if key.is_printable and getattr(screen, "letters_leave", False):
            return [screen] if focused is None else [focused, *focused.ancestors]
        if focused is None:
            return None
        around: list[DOMNode] = [focused, *focused.ancestors]
        if key.key in _MOVING and any(getattr(node, "moves_focus", False) for node in around):
            return around
        found = None if key.is_printable and is_typing(focused) else active_binding(screen, key.key)
        return around if found is not None and found.enabled and found.node is screen else None

    def acted(self) -> None:
        """The action was done: look whether what it opened is there as soon as the screen is up to date."""
        if self._waits:
            self._acted = True
            self._app.call_after_refresh(self._look)

    def _may_act(self, key: Key) -> bool:
        """Whether a key does an action, or may do one once it comes to it: what it means may change on its way."""
        screen = self._app.screen
        if key.is_printable and is_typing(screen.focused):
            return False
        found = active_binding(screen, key.key)
        if found is not None:
            return found.enabled and found.binding.action.startswith("app.do(")
        return any(
            binding.action.startswith("app.do(")
            for _, bindings in screen._modal_binding_chain
            for binding in bindings.key_to_bindings.get(key.key, ())
        )

    async def _look(self) -> None:
        # Without a screen the application is about to end, while a timer still runs.
        if not self._waits or not self._app.screen_stack:
            return
        self._looks += 1
        if self._opening() and self._looks * _LOOK_AGAIN < _LONGEST:
            self._app.set_timer(_LOOK_AGAIN, self._look)
            return
        if self._keys and self._edits.holds:
            self._drop_what_was_for_it()
        elif self._keys and self._edits.asks:
            self._edits.went_past()
        await self._release()

    def _left_editor(self, key: Key) -> Widget | None:
        """The filter's editor, where this key gives the focus back to the list."""
        focused = self._app.screen.focused
        leaves = key.key in _LEAVING and focused is not None and isinstance(focused.parent, FilterBar)
        return focused if leaves else None

    def _opening(self) -> bool:
        """Whether a dialog or a pane is on its way, or the focus on its way out of the filter."""
        app = self._app
        if self._editor is not None:
            return app.screen.focused is self._editor
        screen = app.screen
        if self._edits.holds or (self._edits.asks and screen is app.main_screen):
            return True
        if screen is not app.main_screen:
            return not screen.is_mounted or (screen.focused is None and bool(screen.focus_chain))
        pane = app.pane
        if pane is None or screen.focused is app.main_screen.sidebar:
            return False
        return pane.contents is None or screen.focused is None or pane not in screen.focused.ancestors

    async def _give_up(self, turn: int) -> None:
        """An action that was not done, for a widget took its key or it means nothing, must not hold the keyboard."""
        if self._waits and self._turn == turn and not self._acted:
            await self._release()

    async def _release(self) -> None:
        """Let the keys go on, one after the other, until one of them opens something."""
        self._waits = False
        if self._consent.is_deaf:
            self._keys[:] = [key for key in self._keys if not self._consent.drops(key)]
        while self._keys and not self._waits:
            key = self._keys[0]
            self._begin(key)
            try:
                await self._pass_on(key)
            finally:
                # Only now: as long as one is left, keys that come in queue up behind it.
                del self._keys[0]

    def _drop_what_was_for_it(self) -> None:
        """What is to open takes too long: it does not open, and what was typed for it, up to Esc, means nothing."""
        self._edits.went_past()
        names = [key.key for key in self._keys]
        del self._keys[: names.index("escape") + 1 if "escape" in names else len(names)]
