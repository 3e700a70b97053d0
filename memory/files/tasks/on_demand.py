"""Tasks that are made when somebody asks for them: of a long list a screen shows few."""

from __future__ import annotations

from _thread import allocate_lock  # `threading` is not needed for one lock
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from memory.document import Entry

    from .model import Task

_MANY = 4  # Who goes through more than this part of all tasks has all of them made, which takes less for each.


class _Made:
    """The tasks of one file that were made so far; each is made once, whichever thread asks for it first."""

    __slots__ = ("_all", "_cut", "_lock", "_make", "_some", "size")

    def __init__(
        self, size: int, cut: Callable[[], Sequence[Entry]], make: Callable[[int, int], Iterable[Task]]
    ) -> None:
        self.size = size
        self._cut = cut
        self._make = make
        self._some: dict[int, Task] = {}
        self._all: tuple[Task, ...] | None = None
        self._lock = allocate_lock()

    @property
    def entries(self) -> Sequence[Entry]:
        return self._cut()

    def one(self, number: int) -> Task:
        every = self._all
        if every is not None:
            return every[number]
        return self._some.get(number) or self._first(number)

    def _first(self, number: int) -> Task:
        with self._lock:
            if self._all is None:
                (made,) = self._make(number, number + 1)
                return self._some.setdefault(number, made)
        # Another thread had all of them made meanwhile.
        return self._all[number]

    def all(self) -> tuple[Task, ...]:
        if self._all is None:
            with self._lock:
                if self._all is None:
                    every = list(self._make(0, self.size))
                    for number, task in self._some.items():
                        every[number] = task
                    self._all = tuple(every)
        return self._all


class Tasks(Sequence["Task"]):
    """Some tasks of one file in a given order; asked for again, each is the same object."""

    __slots__ = ("_made", "_numbers")

    def __init__(self, made: _Made, numbers: Sequence[int]) -> None:
        """Name the tasks by their places in the file; `of_file` is the way to the first ones."""
        self._made = made
        self._numbers = numbers

    @classmethod
    def of_file(
        cls, size: int, cut: Callable[[], Sequence[Entry]], make: Callable[[int, int], Iterable[Task]]
    ) -> Tasks:
        """Return all tasks of a file: `cut` returns the entry of each, `make` makes those from one place to another."""
        return cls(_Made(size, cut, make), range(size))

    def pick(self, numbers: Iterable[int]) -> Tasks:
        """Return some of these tasks, by their places among them, in that order."""
        mine = self._numbers
        whole = isinstance(mine, range) and mine == range(self._made.size)
        return Tasks(self._made, tuple(numbers) if whole else tuple([mine[number] for number in numbers]))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entry of each task."""
        numbers, entries = self._numbers, self._made.entries
        if isinstance(numbers, range) and numbers.step == 1:
            return tuple(entries[numbers.start : numbers.stop])
        return tuple([entries[number] for number in numbers])

    def __len__(self) -> int:
        """Return the number of tasks."""
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> Task: ...
    @overload
    def __getitem__(self, place: slice) -> Tasks: ...
    def __getitem__(self, place: int | slice) -> Task | Tasks:
        """Return one task, or those of a stretch."""
        if isinstance(place, slice):
            return Tasks(self._made, self._numbers[place])
        return self._made.one(self._numbers[place])

    def __iter__(self) -> Iterator[Task]:
        """Iterate in order."""
        made, numbers = self._made, self._numbers
        if len(numbers) * _MANY < made.size:
            return map(made.one, numbers)
        every = made.all()
        return (
            iter(every)
            if len(numbers) == len(every) and isinstance(numbers, range)
            else map(every.__getitem__, numbers)
        )
