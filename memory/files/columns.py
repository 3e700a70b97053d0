"""Columns: what functions say of each entry of a file; about one that an earlier look had they are not asked again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from memory.document.compare import ends

if TYPE_CHECKING:
    from memory.document import Entry

T = TypeVar("T")


class EntryColumns:
    """Answers about the entries of one file, in file order, one row of them for each function that was asked.

    A function looks at nothing but its entry, so an answer stays true as long as the entry is the same object.
    """

    __slots__ = ("_known", "entries")

    def __init__(self, entries: Sequence[Entry]) -> None:
        """Nothing is asked yet."""
        self.entries = tuple(entries)
        self._known: dict[Callable[[Entry], Any], Sequence[Any]] = {}

    def of(self, function: Callable[[Entry], T]) -> Sequence[T]:
        """Return what a function says of each entry."""
        known = self._known.get(function)
        if known is None:
            known = self._known[function] = list(map(function, self.entries))
        return known

    def known(self, function: Callable[[Entry], T]) -> Sequence[T] | None:
        """Return the same where it was asked before, else None."""
        return self._known.get(function)

    def inherit(self, before: EntryColumns) -> None:
        """Take the answers about the entries that an earlier look had; every function it asked is asked of the others.

        A look differs from the one before in few entries, most often in one: those before it and those behind it are
        taken over as they stand.
        """
        head, tail = ends(before.entries, self.entries)
        stop, old_stop = len(self.entries) - tail, len(before.entries) - tail
        places = {id(entry): place for place, entry in enumerate(before.entries[head:old_stop], head)}
        middle = self.entries[head:stop]
        for function, known in list(before._known.items()):
            answers = list(known[:head])
            for entry in middle:
                place = places.get(id(entry))
                answers.append(function(entry) if place is None else known[place])
            answers += known[old_stop:]
            self._known[function] = cast("Sequence[Any]", answers)
