"""Collecting: when Python looks for garbage in all there is, so that it does not while somebody presses keys.

Nearly all that a change makes superfluous goes by itself, for documents and rows hold no rings. What does not is
little, and to look for it among the entries of a large workspace stops everything for most of a second. Python would do
that with every other change; here it happens when nobody waits, and seldom where it takes long.
"""

from __future__ import annotations

import gc
import time

_YOUNG, _MIDDLE, _NEVER = 10_000, 5, 1_000_000_000
"""Young objects are looked at often, which takes about a millisecond; all of them only by `collect`."""

SHARE = 500
"""The longest part of the time that is spent on looking at all objects is one in so many."""


class Collecting:
    """The garbage of one application; Python's own settings are back once it ended."""

    def __init__(self) -> None:
        """Nothing is looked for until `begin`."""
        self._before: tuple[int, int, int] | None = None
        self._next = 0.0

    def begin(self) -> None:
        """Look for young garbage from here on."""
        if self._before is None:
            self._before = gc.get_threshold()
            gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)
            gc.enable()

    def end(self) -> None:
        """Leave everything to Python again."""
        if self._before is not None:
            gc.set_threshold(*self._before)
            self._before = None

    def collect(self) -> None:
        """Look at all objects, unless that was done lately; for a moment in which nobody waits."""
        now = time.monotonic()
        if self._before is None or now < self._next:
            return
        gc.collect()
        done = time.monotonic()
        self._next = done + SHARE * (done - now)
