"""Giving up work that other threads do, at once and for all of it."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Cancel:
    """Something that a person may still call off; whoever waits adds what wakes it."""

    def __init__(self) -> None:
        """Start as not called off."""
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._actions: dict[int, Callable[[], object]] = {}
        self._next = 0

    @property
    def cancelled(self) -> bool:
        """Whether it was called off."""
        return self._event.is_set()

    def cancel(self) -> None:
        """Call it off: every action that was added runs once, in this thread."""
        with self._lock:
            self._event.set()
            actions = list(self._actions.values())
            self._actions.clear()
        for action in actions:
            _quietly(action)

    def add(self, action: Callable[[], object]) -> Callable[[], None]:
        """Run an action when it is called off, at once if it was; return what takes the action back."""
        with self._lock:
            if not self._event.is_set():
                self._next += 1
                number = self._next
                self._actions[number] = action
                return lambda: self._remove(number)
        _quietly(action)
        return lambda: None

    def _remove(self, number: int) -> None:
        with self._lock:
            self._actions.pop(number, None)


def _quietly(action: Callable[[], object]) -> None:
    try:
        action()
    except OSError:
        pass  # A connection that has ended meanwhile needs no ending.
