"""Search over everything: an index in the private state folder, brought up to date by file stamps before it answers."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Protocol, TypeVar

from memory.errors import MemdeckError
from memory.storage.own_folders import StateFolder
from memory.storage.private.derived import Derived

from .hits import SearchAnswer
from .index import TABLES, VERSION, SearchIndex
from .query import Query
from .records import FileRecords, Record, grouped_by_file

T = TypeVar("T")
_TRIES = 3
"""How often the index is updated until no one wrote meanwhile: an entry moved during it is in two files, or in none."""


class Searched(Protocol):
    """What search needs of a memory system; see `memory.systems.System`."""

    def records_by_file(self, refused: dict[str, MemdeckError]) -> Iterator[FileRecords]:
        """Yield its search records, file by file."""


class IndexDatabase:
    """The database of an index, with one connection for reading and one for writing; safe to share between threads.

    A damaged database is thrown away. Without a folder, or where no database can be written, it is in memory.
    """

    def __init__(self, folder: StateFolder | None, name: str, more: str = "") -> None:
        """Open nothing yet. `more` are tables that the index has in addition to its own."""
        self._derived = None if folder is None else Derived(folder, name, f"{VERSION}/{len(more)}", f"{TABLES};{more}")
        self._more = more
        self._locks = {"read": threading.RLock(), "write": threading.RLock()}
        self._opened: dict[str, tuple[tuple[int, int] | None, SearchIndex]] = {}

    def read(self, work: Callable[[SearchIndex], T]) -> T | None:
        """Return the result of `work` on the index as it is; None if there is none."""
        return self._with("read", work)

    def write(self, work: Callable[[SearchIndex], T]) -> T | None:
        """Return the result of `work`, run again on a new index if the old one is damaged; None while it is busy."""
        return self._with("write", work)

    def _with(self, use: str, work: Callable[[SearchIndex], T]) -> T | None:
        if self._derived is None:
            use = "write"
        with self._locks[use]:
            for _ in range(2):
                try:
                    index = self._index(use)
                    return None if index is None else work(index)
                except sqlite3.Error as error:
                    self._close(use)
                    if not _is_damage(error):
                        return None
                    if self._derived is not None:
                        self._derived.discard()
        return None

    def _index(self, use: str) -> SearchIndex | None:
        identity = None if self._derived is None else self._derived.identity()
        if use in self._opened and self._opened[use][0] == identity:
            return self._opened[use][1]
        self._close(use)
        connection = None if self._derived is None else self._derived.open(make=use == "write")
        if connection is None:
            if use == "read":
                return None
            self._derived = None
            connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            connection.executescript(f"{TABLES};{self._more}")
        identity = None if self._derived is None else self._derived.identity()
        self._opened[use] = identity, SearchIndex(connection)
        return self._opened[use][1]

    def tidy(self, index: SearchIndex) -> None:
        """Release the space that writing used; only inside `write`."""
        if self._derived is not None:
            self._derived.tidy(index.connection)

    @property
    def size(self) -> int:
        """Its bytes on disk."""
        return 0 if self._derived is None else self._derived.size()

    def close(self) -> None:
        """Close the connections; the next use opens them again."""
        for use, lock in self._locks.items():
            with lock:
                self._close(use)

    def _close(self, use: str) -> None:
        _, index = self._opened.pop(use, (None, None))
        if index is not None:
            with suppress(sqlite3.Error):
                index.connection.close()


_PASSING = frozenset((5, 6, 8, 10, 13, 14))
"""The codes of SQLite for: busy, locked, read-only, input and output, full, cannot open."""


def _is_damage(error: sqlite3.Error) -> bool:
    """Return whether a new database may help."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF not in _PASSING


class Searcher:
    """Searches memory systems. Safe to share between threads: one may update while others search."""

    def __init__(
        self,
        folder: StateFolder | None,
        systems: Callable[[], Iterable[Searched]],
        at_rest: Callable[[], object] = lambda: (),
    ) -> None:
        """`systems` returns the current systems. Without a folder the index is in memory.

        `at_rest` returns the state of the files, None while a change is incomplete. If it is the same before and after
        a reading, nothing was moved meanwhile.
        """
        self._systems = systems
        self._at_rest = at_rest
        self._database = IndexDatabase(folder, "search.sqlite")
        self.refused: dict[str, MemdeckError] = {}
        """Why files could not be read, by name, as of the last update."""

    def search(self, query: Query, limit: int, *, patience: Callable[[], bool] = lambda: True) -> SearchAnswer:
        """Return the answer of an index that was updated first, as long as `patience` allows; the answer says whether
        it is `complete`.
        """
        for _ in range(2):  # the answer may be what shows that the index is damaged
            done = self.update(patience)
            answer = self.ask(query, limit)
            if answer is not None:
                return answer._replace(complete=done)
        return SearchAnswer(query, complete=False)

    def ask(self, query: Query, limit: int) -> SearchAnswer | None:
        """Return the answer of the index as it is, None if there is none; `fresh` returns whether it is up to date."""
        return self._database.read(lambda index: index.ask(query, limit))

    def fresh(self) -> bool:
        """Return whether the index matches the files as they are now; takes only a few `stat` calls."""
        return self.coverage() == 1.0

    def coverage(self) -> float:
        """Return the share of the files that the index holds in their current state, from 0 to 1."""
        stamps = self._database.read(lambda index: index.stamps())
        if stamps is None:
            return 0.0
        now = {source.file: source.stamp for source in self._by_file({})}
        good = sum(bool(stamp) and stamps.get(name) == stamp for name, stamp in now.items())
        every = len(now.keys() | stamps.keys())
        return good / every if every else 1.0

    def update(self, go_on: Callable[[], bool] = lambda: True) -> bool:
        """Index what changed in the files; False if `go_on` stopped it early, or another program writes the index."""
        refused: dict[str, MemdeckError] = {}

        def work(index: SearchIndex) -> bool:
            before = index.connection.total_changes
            done = index.update(self._by_file(refused), refused, go_on)
            if index.connection.total_changes != before:
                self._database.tidy(index)
            return done

        done: bool | None = None
        for _ in range(_TRIES):
            refused.clear()
            before = self._at_rest()
            done = self._database.write(work)
            if not done or (before is not None and self._at_rest() == before):
                break
        self.refused = refused
        return bool(done)

    @property
    def size(self) -> int:
        """The bytes of the index on disk."""
        return self._database.size

    def close(self) -> None:
        """Close what is open; the next call opens it again."""
        self._database.close()

    def _by_file(self, refused: dict[str, MemdeckError]) -> Iterator[FileRecords]:
        for system in self._systems():
            yield from system.records_by_file(refused)


def search_records(records: Iterable[Record], query: Query, limit: int) -> SearchAnswer:
    """Return the best of some records, from an index in memory; see `SearchIndex.ask`."""
    database = IndexDatabase(None, "")

    def work(index: SearchIndex) -> SearchAnswer:
        index.update(grouped_by_file(records), {})
        return index.ask(query, limit)

    answer = database.write(work)
    database.close()
    return SearchAnswer(query) if answer is None else answer
