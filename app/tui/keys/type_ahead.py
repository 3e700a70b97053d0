"""Keys as they arrive: TypeAhead holds those that are pressed before the result of an earlier key has opened, in order.

Textual gives a key to the widget that has the focus when the key arrives, not when it is handled. Without this, letters
typed right after `/` or `a` would be commands of the list.

Esc is split from a key that arrives together with it, which happens on a busy machine. A terminal sends Esc and `d` as
the same bytes as Alt+d, and only the time between them differs. A program that was busy for longer than that reads both
at once. They are then two keys, unless Alt with this key is bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from textual._xterm_parser import XTermParser
from textual.events import Key
from textual.widget import Widget

from app.tui.shell import Part
from widgets.chrome.keys import active_binding, behind, is_typing
from widgets.input.filter_bar import FilterBar

from .registry import COMMANDS

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.message_pump import MessagePump

    from app.tui.app import MemdeckApp

ESC, ALT = "\x1b", "alt+"


class EscapeParser(XTermParser):
    """Textual's parser, which drops Esc before a key without a known Alt form, and reads one between keys as `^`."""

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        """Return the keys of a sequence; `alt` says that Esc came right before it."""
        if len(sequence) == 2 and sequence[0] == ESC and sequence[1] not in "[O":
            # No longer sequence begins like this. Alt with a digit would otherwise become a sign such as `¡`.
            if not sequence[1].isdecimal() and (found := [*super()._sequence_to_key_events(sequence)]):
                yield from found
                return
            sequence, alt = sequence[1], True
        for key in super()._sequence_to_key_events(sequence, alt=alt):
            if alt and not key.key.startswith(ALT):
                yield Key("escape", ESC)
            yield key


def use_parser() -> None:
    """Make drivers that start from now on use this parser."""
    from textual.drivers import linux_driver

    linux_driver.XTermParser = EscapeParser  # type: ignore[attr-defined]


def apart(key: Key) -> tuple[Key, Key] | None:
    """Return Esc and the other key if the key may be both or Alt; None: it is certainly one key.

    Terminals that report Alt in separate sequences send no character with it.
    """
    character = key.character
    if not key.key.startswith(ALT) or not character or not character.isprintable():
        return None
    two = Key("escape", ESC), Key(character, character)
    for one in two:
        # So that a question that opened since does not use them as its answer.
        one.time = key.time
    return two


_MOVING = frozenset({"down", "up", "tab", "shift+tab", "enter"})
"""Keys that may move the focus to another field of a form; later keys belong there."""

_LEAVING = frozenset({"enter", "escape", "down"})
_LOOK_AGAIN, _LONGEST = 0.005, 3.0
"""Seconds between two checks, and seconds after which waiting keys are released in any case and nothing opens over
them.
"""
_AT_LAST = 1.0
"""Seconds after which held keys are looked after even if no picture was drawn since."""


class TypeAhead(Part):
    """Holds keys back from the moment a key triggers an action until what it opened can receive keys."""

    def __init__(self, app: MemdeckApp) -> None:
        """No key is held yet."""
        super().__init__(app)
        self._keys: list[Key] = []
        self._waits = False
        self._acted = False
        self._looks = 0
        self._turn = 0
        self._editor: Widget | None = None
        keymap = app.keymap
        self._action_keys = frozenset(key for action in COMMANDS for key in keymap.keys(action.id, action.keys))

    @property
    def idle(self) -> bool:
        """Whether no key waits."""
        return not self._keys

    def keep(self, key: Key) -> bool:
        """Hold a key for later and return True. Return False if it goes on now; later keys wait if it triggers an
        action.
        """
        if self._waits or self._keys:
            self._keys.append(key)
            if len(self._keys) == 1:
                # A screen that closes may take the callback for the next picture with it: keys are never held for ever.
                self.app.set_timer(_AT_LAST, partial(self._look_at_last, self._turn))
            return True
        self._begin(key)
        self.app.edits.went_past()
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
                # Only once this key is handled itself: after it has passed all nodes up to the one with its binding.
                self.app.call_later(behind, around, self.acted)
            else:
                screen = self.app.screen
                way: list[MessagePump] = [screen, self.app]
                if screen.focused is not None:
                    way = [screen.focused, *screen.focused.ancestors]
                # Twice: after the key, and after the messages that widgets send up the same path because of it.
                give_up = partial(self.app.call_later, self._give_up, self._turn)
                self.app.call_later(behind, way * 2, give_up)

    def _moves_focus(self, key: Key) -> list[DOMNode] | None:
        """Return the nodes that a key passes if it may move the focus in a dialog, or close it; None: it does not."""
        screen = self.app.screen
        focused = screen.focused
        if screen is self.app.main_screen:
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
        """Note that the action was done: once the screen is up to date, check whether what it opened is ready."""
        if self._waits:
            self._acted = True
            self.app.call_after_refresh(self._look)

    def _may_act(self, key: Key) -> bool:
        """Return whether a key triggers an action, or may once it is handled: its meaning may change until then."""
        screen = self.app.screen
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
        # Without a screen the application is ending, while a timer still runs.
        if not self._waits or not self.app.screen_stack:
            return
        self._looks += 1
        if self._opening() and self._looks * _LOOK_AGAIN < _LONGEST:
            self.app.set_timer(_LOOK_AGAIN, self._look)
            return
        if self._keys and self.app.edits.holds:
            self._drop_what_was_for_it()
        elif self._keys and self.app.edits.asks:
            self.app.edits.went_past()
        await self._release()

    async def _look_at_last(self, turn: int) -> None:
        """Look, unless that has been done since the key of that turn."""
        if self._waits and self._turn == turn and not self._looks:
            await self._look()

    def _left_editor(self, key: Key) -> Widget | None:
        """Return the filter's editor if this key moves the focus back to the list."""
        focused = self.app.screen.focused
        leaves = key.key in _LEAVING and focused is not None and isinstance(focused.parent, FilterBar)
        return focused if leaves else None

    def _opening(self) -> bool:
        """Return whether a dialog or a pane is opening, or the focus is about to leave the filter."""
        app = self.app
        if self._editor is not None:
            return app.screen.focused is self._editor
        screen = app.screen
        if self.app.edits.holds or (self.app.edits.asks and screen is app.main_screen):
            return True
        if screen is not app.main_screen:
            return not screen.is_mounted or (screen.focused is None and bool(screen.focus_chain))
        pane = app.pane
        if pane is None or screen.focused is app.main_screen.sidebar:
            return False
        return pane.contents is None or screen.focused is None or pane not in screen.focused.ancestors

    async def _give_up(self, turn: int) -> None:
        """Release the keys if the action was not done, because a widget used its key or it is not available."""
        if self._waits and self._turn == turn and not self._acted:
            await self._release()

    async def _release(self) -> None:
        """Pass the keys on, one after the other, until one of them opens something."""
        self._waits = False
        if self.app.consent.is_deaf:
            self._keys[:] = [key for key in self._keys if not self.app.consent.drops(key)]
        while self._keys and not self._waits:
            key = self._keys[0]
            self._begin(key)
            try:
                await self.app.pass_on(key)
            finally:
                # Only now: as long as a key is left, keys that arrive queue up behind it.
                del self._keys[0]

    def _drop_what_was_for_it(self) -> None:
        """Do not open what takes too long, and drop the keys typed for it, up to and including Esc."""
        self.app.edits.went_past()
        names = [key.key for key in self._keys]
        del self._keys[: names.index("escape") + 1 if "escape" in names else len(names)]
