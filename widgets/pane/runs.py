"""Items of a pane that need not be made before somebody asks for one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from memory.document import Entry


class Run(NamedTuple):
    """Items that follow each other, which need not be made before somebody asks for one, and the entry of each."""

    items: Sequence[Any]
    entries: tuple[Entry, ...]


class Joined(Sequence[Any]):
    """The items of some sequences, one behind the other; none is made."""

    __slots__ = ("_parts", "_starts")

    def __init__(self, parts: Sequence[Sequence[Any]]) -> None:
        """Keep the sequences."""
        self._parts = parts
        self._starts = list(accumulate(map(len, parts), initial=0))

    def __len__(self) -> int:
        """Return the number of items."""
        return self._starts[-1]

    def __getitem__(self, place: Any) -> Any:
        """Return one item, or a list of those of a stretch."""
        if isinstance(place, slice):
            start, stop, step = place.indices(self._starts[-1])
            if step != 1:
                return [self[one] for one in range(start, stop, step)]
            found: list[Any] = []
            for first, items in zip(self._starts, self._parts, strict=False):
                if first < stop and start < first + len(items):
                    found.extend(items[max(0, start - first) : stop - first])
            return found
        number = self._starts[-1]
        if not -number <= place < number:
            raise IndexError(place)
        place %= number
        part = bisect_right(self._starts, place) - 1
        return self._parts[part][place - self._starts[part]]

    def __iter__(self) -> Iterator[Any]:
        """Iterate over all items."""
        return chain.from_iterable(self._parts)
