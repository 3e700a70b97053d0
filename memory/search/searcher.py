"""Search over everything: from the index if it can be brought up to date, else by reading the files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Protocol, TypeVar

from .index.opened import OpenedIndex
from .scan import scan

if TYPE_CHECKING:
    from memory.errors import MemdeckError
    from memory.storage.own_folders import StateFolder

    from .hits import SearchAnswer
    from .index.inventory import FileRecords
    from .index.ranked_lookup import Lookup
    from .index.writer import IndexWriter
    from .query.query import Query
    from .records import Record

T = TypeVar("T")
_TRIES = 3
"""How often the index is updated until no one wrote meanwhile: an entry moved during it is in two files, or in none."""
_MANY = 500  # Entries after which the space that indexing used is released.


class Searched(Protocol):
    """What search needs of a memory system; see `memory.systems.System`."""

    def records(self, kinds: None = None, refused: dict[str, MemdeckError] | None = None) -> Iterator[Record]:
        """Yield its search records."""

    def records_by_file(self, refused: dict[str, MemdeckError]) -> Iterator[FileRecords]:
        """Yield its search records, file by file."""


class Searcher:
    """Searches memory systems, with an index in the private state folder if there is one.

    Safe to share between threads: one may update while others search. Problems with the index are never errors: a
    damaged index is discarded, and the files are read instead.
    """

    def __init__(
        self,
        folder: StateFolder | None,
        systems: Callable[[], Iterable[Searched]],
        at_rest: Callable[[], object] = lambda: (),
    ) -> None:
        """`systems` returns the current systems. Without a folder everything is read each time.

        `at_rest` returns the state of the files, None while a change is incomplete. If it is the same before and after
        a reading, nothing was moved meanwhile.
        """
        self._systems = systems
        self._at_rest = at_rest
        self._index = None if folder is None else OpenedIndex(folder, "search.sqlite")
        self.refused: dict[str, MemdeckError] = {}
        """Why files could not be read, by name, as of the last update or scan."""

    # Asking

    def ask(self, query: Query, limit: int) -> SearchAnswer | None:
        """Return the answer of the index as it is, None if there is none; `fresh` returns whether it is up to date."""
        return self._read(lambda lookup: lookup.ask(query, limit))

    def scan(self, query: Query, limit: int) -> SearchAnswer:
        """Return the answer by reading the files now; slow for large memories."""
        refused: dict[str, MemdeckError] = {}
        records = [record for system in self._systems() for record in system.records(None, refused)]
        self.refused = refused
        return scan(records, query, limit)

    def fresh(self) -> bool:
        """Return whether the index matches the files as they are now; takes only a few `stat` calls."""
        return self.coverage() == 1.0

    def coverage(self) -> float:
        """Return the share of the files that the index holds in their current state, from 0 to 1."""
        stamps = self._read(lambda lookup: lookup.stamps())
        if stamps is None:
            return 0.0
        total = good = 0
        names = set()
        for source in self._by_file({}):
            total += 1
            names.add(source.file)
            good += bool(source.stamp) and stamps.get(source.file) == source.stamp
        extra = len(set(stamps) - names)
        return good / (total + extra) if total + extra else 1.0

    def search(self, query: Query, limit: int, *, patience: Callable[[], bool] = lambda: True) -> SearchAnswer:
        """Return an up-to-date answer: from the index, updated first as long as `patience` allows, else by reading
        everything.
        """
        if self.fresh() or (patience() and self.update(patience)):
            answer = self.ask(query, limit)
            if answer is not None:
                return answer
        return self.scan(query, limit)

    # Keeping up

    def update(self, go_on: Callable[[], bool] = lambda: True, *, learn: bool = False) -> bool:
        """Update the index; False if `go_on` stopped it early, or there can be no index.

        `learn` is for long-running programs: the next edit of each file is indexed faster.
        """
        index = self._index
        if index is None:
            self.refused = {}
            return False
        refused: dict[str, MemdeckError] = {}

        def work(writer: IndexWriter) -> bool:
            before = writer.indexed
            done = writer.update(self._by_file(refused), refused, go_on, learn=learn)
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
        """Close what is open; the next call opens it again."""
        if self._index is not None:
            self._index.close()

    # The database

    def _by_file(self, refused: dict[str, MemdeckError]) -> Iterator[FileRecords]:
        for system in self._systems():
            yield from system.records_by_file(refused)

    def _read(self, work: Callable[[Lookup], T]) -> T | None:
        return None if self._index is None else self._index.read(work)
