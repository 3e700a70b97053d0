"""The three versions of one thing in a merge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")
U = TypeVar("U")


class Three(NamedTuple, Generic[T]):
    """What both sides started from, our version and theirs."""

    base: T
    ours: T
    theirs: T

    def map(self, change: Callable[[T], U]) -> Three[U]:
        """Return what `change` makes of each."""
        return Three(change(self.base), change(self.ours), change(self.theirs))
