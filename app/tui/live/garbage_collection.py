"""When Python looks for garbage: as usual, but for what the first look read, and rather while no keys come.

Documents and rows hold no rings, so most of what a change makes superfluous goes by itself. Screens, dialogs and forms
that were left do hold rings, and only a look at all objects finds them. In a large workspace that look would stop
everything for half a second; without the objects of the first look, which stay anyway, it takes a fraction of that.
"""

from __future__ import annotations

import gc
from functools import lru_cache

from textual._styles_cache import StylesCache
from textual.color import Color
from textual.style import Style

from app.servers.heap import give_back

THRESHOLDS = (2_000, 5, 3)
"""As `gc.set_threshold` takes them: a look at all new objects after some 50,000 of them, about 8 MiB of widgets.

Memory that was taken once is not given back, so what waits for a look counts for as long as the application runs.
"""

ENOUGH = 2
"""After so many looks at half-new objects, 25,000 of them, a moment without keys is used for a look at all."""

READ_OFTEN = 20
"""So is it after so many looks at the files: what they leave behind is free, and goes back to the system only then."""


@lru_cache(1024)
def _inner_outer(base: Color, background: Color) -> tuple[Style, Style]:
    """Return the styles of a widget's inside and of what is around it."""
    return Style(background=base + background), Style(background=base)


def let_pictures_go() -> None:
    """Let what a widget drew go with it; Textual's own cache holds the pictures of the last 1,000 widgets."""
    StylesCache.get_inner_outer = staticmethod(_inner_outer)  # type: ignore[method-assign, assignment]


class GarbageCollection:
    """The garbage of one application; Python's own settings are back once it ended."""

    def __init__(self) -> None:
        """Look for garbage from here on, but not among the objects that there are now."""
        let_pictures_go()
        self._before = gc.get_threshold()
        self._looks = 0
        gc.set_threshold(*THRESHOLDS)
        gc.freeze()
        gc.enable()

    def looked(self) -> None:
        """The files were read."""
        self._looks += 1

    def rest(self) -> None:
        """Use a moment in which no keys come, if there may be much garbage; what is free goes back to the system."""
        if gc.get_count()[2] >= ENOUGH or self._looks >= READ_OFTEN:
            self._looks = 0
            give_back()

    def end(self) -> None:
        """Leave everything to Python again."""
        gc.unfreeze()
        gc.set_threshold(*self._before)
