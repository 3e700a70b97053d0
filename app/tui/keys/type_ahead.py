"""Keys as they arrive: TypeAhead passes them on in order, each when the one before has been handled.

Textual gives a key to the widget that has the focus when the key arrives, not when it is handled. Without this, letters
typed right after `/` or `a` would be commands of the list, and `ctrl+s` would save half of a word.

Esc is split from a key that arrives together with it, which happens on a busy machine. A terminal sends Esc and `d` as
the same bytes as Alt+d, and only the time between them differs. A program that was busy for longer than that reads both
at once. They are then two keys, unless Alt with this key is bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from textual._xterm_parser import XTermParser
from textual.events import Key, Paste
from textual.widget import Widget

from app.tui.spine import Part
from widgets.chrome.keys import behind
from widgets.input.filter_bar import FilterBar

if TYPE_CHECKING:
    from textual.message_pump import MessagePump
    from textual.screen import Screen


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


_LEAVING = frozenset({"enter", "escape", "down"})
_LOOK_AGAIN, _LONGEST = 0.005, 3.0
"""Seconds between two checks, and seconds after which waiting keys are released in any case and nothing opens over
them.
"""
_AT_LAST = 1.0
"""Seconds after which held keys are looked after even if no picture was drawn since."""


class TypeAhead(Part):
    """Passes keys on one by one: each when the one before was handled, and what it opened can receive keys."""

    def set_up(self) -> None:
        """No key is held yet."""
        self._keys: list[Key | Paste] = []
        self._waits = False
        self._acted = False
        self._looks = 0
        self._turn = 0
        self._editor: Widget | None = None
        self._screen: Screen[Any] | None = None
        """The screen that got the last key."""

    @property
    def idle(self) -> bool:
        """Whether no key waits."""
        return not self._keys

    def keep(self, key: Key | Paste) -> bool:
        """Hold a key and return True. Return False if it goes on now; later keys wait until it was handled.

        A paste waits with the keys that were typed before it, but no key waits for a paste.
        """
        if self._waits or self._keys:
            self._keys.append(key)
            if len(self._keys) == 1:
                # A screen that closes may take the callback for the next picture with it: keys are never held for ever.
                self.app.set_timer(_AT_LAST, partial(self._look_at_last, self._turn))
            return True
        if isinstance(key, Key):
            self._begin(key)
            self.app.went_past()
        return False

    def _begin(self, key: Key) -> None:
        screen = self._screen = self.app.screen
        focused = screen.focused
        leaves = key.key in _LEAVING and focused is not None and isinstance(focused.parent, FilterBar)
        self._editor = focused if leaves else None
        self._waits, self._acted, self._looks = True, False, 0
        self._turn += 1
        way: list[MessagePump] = [screen, self.app] if focused is None else [focused, *focused.ancestors]
        # Twice: after the key, and after the messages that widgets send up the same path because of it.
        self.app.call_later(behind, way * 2, partial(self.app.call_later, self._handled, self._turn))

    def acted(self) -> None:
        """Note that the key did an action: what it opens is ready when the screen is up to date."""
        self._acted = True

    async def _handled(self, turn: int) -> None:
        """Pass on what waits, once what the key of that turn opened is ready."""
        if not self._waits or turn != self._turn:
            return
        if self._acted or self._editor is not None or self.app.screen is not self._screen:
            # The answer of a dialog that was left is handled before that.
            self.app.call_after_refresh(self._look)
        else:
            await self._look()

    async def _look(self) -> None:
        # Without a screen the application is ending, while a timer still runs.
        if not self._waits or not self.app.screen_stack:
            return
        self._looks += 1
        if self._opening() and self._looks * _LOOK_AGAIN < _LONGEST:
            self.app.set_timer(_LOOK_AGAIN, self._look)
            return
        if self._keys and self.app.expects and self.app.went_past():
            # What takes too long does not open any more; the keys typed for it are dropped, up to and including Esc.
            names = [getattr(key, "key", "") for key in self._keys]
            del self._keys[: names.index("escape") + 1 if "escape" in names else len(names)]
        await self._release()

    async def _look_at_last(self, turn: int) -> None:
        """Look, unless that has been done since the key of that turn."""
        if self._waits and self._turn == turn and not self._looks:
            await self._look()

    def _opening(self) -> bool:
        """Return whether a dialog or a pane is opening, or the focus is about to leave the filter."""
        app = self.app
        screen = app.screen
        if self._editor is not None:
            return screen.focused is self._editor
        if app.expects and app.is_free:
            return True
        if screen is not app.main_screen:
            return not screen.is_mounted or (screen.focused is None and bool(screen.focus_chain))
        pane = app.pane
        if not self._acted or pane is None or screen.focused is app.main_screen.sidebar:
            return False
        return pane.contents is None or screen.focused is None or pane not in screen.focused.ancestors

    async def _release(self) -> None:
        """Pass the keys on, one after the other, each when the one before was handled."""
        self._waits = False
        if self.app.is_deaf:
            self._keys[:] = [key for key in self._keys if not self.app.drops(key)]
        while self._keys and not self._waits:
            key = self._keys[0]
            if isinstance(key, Key):
                self._begin(key)
            try:
                await self.app.pass_on(key)
            finally:
                # Only now: as long as a key is left, keys that arrive queue up behind it.
                del self._keys[0]
