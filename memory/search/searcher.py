"""Search over everything: from the index where it is up to date, else by reading, and the index made meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Protocol, TypeVar

from .index.opened import OpenedIndex
from .scan import scan

if TYPE_CHECKING:
    from memory.errors import MemdeckError
    from memory.storage.places import StateFolder

    from .hits import SearchAnswer
    from .index.inventory import Shelf
    from .index.ranked_lookup import Lookup
    from .index.writer import IndexWriter
    from .query.query import Query
    from .records import Record

T = TypeVar("T")
_TRIES = 3
"""How often the index is brought up to date until nobody wrote meanwhile: what is moved is in two files, or in none."""
_MANY = 500  # Entries after which the room that indexing took is given back.


class Searched(Protocol):
    """What search needs of a memory system; see `memory.systems.System`."""

    def records(self, kinds: None = None, refused: dict[str, MemdeckError] | None = None) -> Iterator[Record]:
        """Yield what can be found in it."""

    def shelves(self, refused: dict[str, MemdeckError]) -> Iterator[Shelf]:
        """Yield what can be found in it, file by file."""


class Searcher:
    """Searches some memory systems, with an index in the private state folder where there is one.

    Safe to share between threads: one may update while others ask. Nothing that goes wrong with the index is an
    error: what is damaged is thrown away, and the files are read instead.
    """

    def __init__(
        self,
        folder: StateFolder | None,
        systems: Callable[[], Iterable[Searched]],
        at_rest: Callable[[], object] = lambda: (),
    ) -> None:
        """`systems` gives the systems as they are now. Without a folder everything is read each time.

        `at_rest` says how the files stand, None while a change is half made: where that is the same before and after a
        reading, nothing was moved meanwhile.
        """
        self._systems = systems
        self._at_rest = at_rest
        self._index = None if folder is None else OpenedIndex(folder, "search.sqlite")
        self.refused: dict[str, MemdeckError] = {}
        """Why files could not be read, by name, as of the last update or scan."""

    # Asking

    def ask(self, query: Query, limit: int) -> SearchAnswer | None:
        """Return the answer of the index as it is, None where there is none; see `fresh` for whether it is true."""
        return self._read(lambda lookup: lookup.ask(query, limit))

    def scan(self, query: Query, limit: int) -> SearchAnswer:
        """Return the answer of the files, read now; slow where there is much."""
        refused: dict[str, MemdeckError] = {}
        records = [record for system in self._systems() for record in system.records(None, refused)]
        self.refused = refused
        return scan(records, query, limit)

    def fresh(self) -> bool:
        """Tell whether the index holds everything as the files are now; a few looks at the file system."""
        return self.coverage() == 1.0

    def coverage(self) -> float:
        """Return which share of the files the index holds as they are now, from 0 to 1."""
        stamps = self._read(lambda lookup: lookup.stamps())
        if stamps is None:
            return 0.0
        total = good = 0
        names = set()
        for shelf in self._shelves({}):
            total += 1
            names.add(shelf.file)
            good += bool(shelf.stamp) and stamps.get(shelf.file) == shelf.stamp
        extra = len(set(stamps) - names)
        return good / (total + extra) if total + extra else 1.0

    def search(self, query: Query, limit: int, *, patience: Callable[[], bool] = lambda: True) -> SearchAnswer:
        """Return an answer that is true now: from the index, brought up to date first where `patience` lasts, else
        by reading everything.
        """
        if self.fresh() or (patience() and self.update(patience)):
            answer = self.ask(query, limit)
            if answer is not None:
                return answer
        return self.scan(query, limit)

    # Keeping up

    def update(self, go_on: Callable[[], bool] = lambda: True, *, learn: bool = False) -> bool:
        """Bring the index up to date; False where `go_on` ended it before, or there can be no index.

        `learn` is for programs that stay: the next edit of each file is indexed quicker.
        """
        index = self._index
        if index is None:
            self.refused = {}
            return False
        refused: dict[str, MemdeckError] = {}

        def work(writer: IndexWriter) -> bool:
            before = writer.indexed
            done = writer.update(self._shelves(refused), refused, go_on, learn=learn)
            if writer.indexed - before > _MANY:
                index.tidy(writer)
            return done

        done: bool | None = None
        for _ in range(_TRIES):
            refused.clear()
            before = self._at_rest()
            done = index.write(work)
            if not done or (before is not None and self._at_rest() == before):
                break
        self.refused = refused
        return bool(done)

    @property
    def size(self) -> int:
        """The bytes of the index on disk."""
        return 0 if self._index is None else self._index.base.size()

    def close(self) -> None:
        """Close what is open; the next question opens it again."""
        if self._index is not None:
            self._index.close()

    # The database

    def _shelves(self, refused: dict[str, MemdeckError]) -> Iterator[Shelf]:
        for system in self._systems():
            yield from system.shelves(refused)

    def _read(self, work: Callable[[Lookup], T]) -> T | None:
        return None if self._index is None else self._index.read(work)
