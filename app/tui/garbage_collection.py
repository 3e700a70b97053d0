"""Collecting: when Python looks for garbage in all there is, so that it does not while somebody presses keys.

Nearly all that a change makes superfluous goes by itself, for documents and rows hold no rings. What does not is
little, and to look for it among the entries of a large workspace stops everything for most of a second. Python would do
that with every other change; here it happens when nobody waits, and seldom where it takes long.
"""

from __future__ import annotations

import gc
import time
from functools import lru_cache

from textual._styles_cache import StylesCache
from textual.color import Color
from textual.style import Style

_YOUNG, _MIDDLE, _NEVER = 2_000, 5, 1_000_000_000
"""Young objects are looked at often, which takes about a millisecond; all of them only by `collect`."""

SHARE = 500
"""The longest part of the time that is spent on looking at all objects is one in so many."""

UNREST = 1_000
"""So many times as long as it takes it waits for a moment in which nobody presses keys, at most."""


@lru_cache(1024)
def _inner_outer(base: Color, background: Color) -> tuple[Style, Style]:
    """Return the styles of a widget's inside and of what is around it."""
    return Style(background=base + background), Style(background=base)


def _inner_outer_of(_: StylesCache, base: Color, background: Color) -> tuple[Style, Style]:
    return _inner_outer(base, background)


def let_pictures_go() -> None:
    """Let what a widget drew go with it; Textual's own cache holds the pictures of the last 1,000 widgets."""
    StylesCache.get_inner_outer = _inner_outer_of  # type: ignore[method-assign, assignment]


class Collecting:
    """The garbage of one application; Python's own settings are back once it ended."""

    def __init__(self) -> None:
        """Nothing is looked for until `begin`."""
        self._before: tuple[int, int, int] | None = None
        self._takes = 0.05
        self._last = time.monotonic()

    def begin(self) -> None:
        """Look for young garbage from here on."""
        let_pictures_go()
        if self._before is None:
            self._before = gc.get_threshold()
            gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)
            # What is there now counts as old at once: else the next two looks at young objects were looks at all of it.
            gc.freeze()
            gc.unfreeze()
            gc.enable()

    def end(self) -> None:
        """Leave everything to Python again."""
        if self._before is not None:
            gc.set_threshold(*self._before)
            self._before = None

    def collect(self, *, waits: bool = False) -> None:
        """Look at all objects, unless that was done lately; `waits`: somebody presses keys, so only if it has to be."""
        now = time.monotonic()
        due = self._last + (UNREST if waits else SHARE) * self._takes
        if self._before is None or now < due:
            return
        gc.collect()
        self._last = time.monotonic()
        self._takes = self._last - now
