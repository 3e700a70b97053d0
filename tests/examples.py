"""How many examples a property is tried with: few while somebody works, all of them in continuous integration."""

from __future__ import annotations

import os

WHOLE = "MEMDECK_EXAMPLES" in os.environ
"""Continuous integration sets it to `whole`, `make properties` to a number of its own."""

_SHARE = 5


def examples(count: int) -> int:
    """Return how many examples to try of `count`: all, or a part where nobody asked for the whole."""
    return count if WHOLE else max(count // _SHARE, 8)


def wanted(count: int) -> int:
    """Return how many examples to try where a number may be asked for, else as `examples`."""
    given = os.environ.get("MEMDECK_EXAMPLES", "")
    return int(given) if given.isdigit() else examples(count)
