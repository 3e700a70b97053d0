"""Cancelling work in other threads, at once and for all of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress


class Cancel:
    """A cancellation; code that waits adds an action that wakes it."""

    def __init__(self) -> None:
        """Start as not cancelled."""
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._actions: dict[int, Callable[[], object]] = {}
        self._next = 0

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self._event.is_set()

    def cancel(self) -> None:
        """Cancel: every action that was added runs once, in this thread."""
        with self._lock:
            self._event.set()
            actions = list(self._actions.values())
            self._actions.clear()
        for action in actions:
            with suppress(OSError):  # The connection may have ended already.
                action()

    def add(self, action: Callable[[], object]) -> Callable[[], None]:
        """Run an action on cancellation, at once if that already happened; return a function that removes it."""
        with self._lock:
            if not self._event.is_set():
                self._next += 1
                number = self._next
                self._actions[number] = action
                return lambda: self._remove(number)
        with suppress(OSError):
            action()
        return lambda: None

    def _remove(self, number: int) -> None:
        with self._lock:
            self._actions.pop(number, None)
