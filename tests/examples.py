"""How many examples a property is tried with: few while somebody works, all of them in continuous integration."""

from __future__ import annotations

import os
from collections.abc import Sequence

WHOLE = "MEMDECK_EXAMPLES" in os.environ
"""Continuous integration sets it to `whole`, `make properties` to a number of its own."""

_SHARE = 5


def examples(count: int, least: int | None = None) -> int:
    """Return how many examples to try of `count`: all, or where nobody asked for the whole a part, or `least`."""
    if WHOLE:
        return count
    return max(count // _SHARE, 8) if least is None else least


def in_turn(*values: Sequence[object]) -> tuple[str, ...]:
    """Return the ids of a sample of cases that are made of several values: each value of each kind occurs in one.

    The kinds stand as in the ids, that of the lowest `parametrize` first; for `thorough(but=…)`.
    """
    longest = max(len(some) for some in values)
    return tuple("-".join(str(some[number % len(some)]) for some in values) for number in range(longest))


def wanted(count: int) -> int:
    """Return how many examples to try where a number may be asked for, else as `examples`."""
    given = os.environ.get("MEMDECK_EXAMPLES", "")
    return int(given) if given.isdigit() else examples(count)
