"""Retries work that another program's write crossed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from memory.errors import ConflictError

if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

_TRIES = 12
_LONGEST_PAUSE = 0.1  # The longest pause between two tries, in seconds.


def retry(attempt: Callable[[], T]) -> T:
    """Return the result of `attempt`; it is repeated, after a longer pause each time, while other programs write."""
    for tries in range(1, _TRIES + 1):
        try:
            return attempt()
        except ConflictError as error:
            if tries == _TRIES or not error.details.get("crossed"):
                raise
            time.sleep(min(0.001 * 2**tries, _LONGEST_PAUSE))
    raise AssertionError("the last try returns or raises")
