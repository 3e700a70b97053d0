"""Which of several memories of one type and slug counts: the one in the deepest scope, which hides the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def winners(found: Iterable[tuple[tuple[str, str], T]], depth: Callable[[T], int]) -> dict[tuple[str, str], T]:
    """Return the one that counts for each type and slug: the deepest, and of equally deep ones the first."""
    counting: dict[tuple[str, str], T] = {}
    for key, one in found:
        best = counting.get(key)
        if best is None or depth(one) > depth(best):
            counting[key] = one
    return counting
