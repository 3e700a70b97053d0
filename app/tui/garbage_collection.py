"""Collecting: when Python looks for garbage, so that it never does while somebody presses keys.

The entries of a large workspace are hundreds of thousands of objects. A look at all of them takes as long as many
frames, and Python would take it whenever enough new ones were made: while files are read, that is all the time.
"""

from __future__ import annotations

import gc

_YOUNG, _MIDDLE, _NEVER = 2_000, 5, 1_000_000_000
"""Young objects are looked at often, which takes about a millisecond; old ones only by `collect`."""


def begin() -> None:
    """Start to look for garbage; what is there now stays, so it is never looked at again."""
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)
    gc.enable()


def keep() -> None:
    """Leave what is there now alone for good, as `begin` did; for what stays as long as the application.

    Looking through the entries of a large pane that was just read would stop everything for most of a second, to find
    that all of them are in use.
    """
    if gc.isenabled():
        gc.freeze()


def collect() -> None:
    """Look at all objects that were made since `begin` and `keep`; for a moment in which nobody waits."""
    if gc.isenabled():
        gc.collect()
