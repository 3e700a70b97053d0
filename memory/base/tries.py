"""Work that other programs may cross in the very moment of its writing: it is tried again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from memory.errors import ConflictError

T = TypeVar("T")
_TRIES = 12


def again(attempt: Callable[[], T]) -> T:
    """Return what an attempt returns; it is made again while other programs write in that very moment."""
    for left in range(_TRIES - 1, -1, -1):
        try:
            return attempt()
        except ConflictError as error:
            if not (left and error.details.get("crossed")):
                raise
    raise AssertionError("the last try returns or raises")
