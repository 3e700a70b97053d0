"""Search over everything: from the index where it is up to date, else by reading, and the index made meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Protocol, TypeVar

from .scan import scan

if TYPE_CHECKING:
    import sqlite3

    from memory.errors import MemdeckError
    from memory.storage.private.derived import Derived
    from memory.storage.private.places import StateFolder

    from .hits import Answer
    from .index.inventory import Shelf
    from .index.lookup import Lookup
    from .index.writer import Writer
    from .query.query import Query
    from .records import Record

T = TypeVar("T")
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

    def __init__(self, folder: StateFolder | None, systems: Callable[[], Iterable[Searched]]) -> None:
        """`systems` gives the systems as they are now. Without a folder everything is read each time."""
        self._folder = folder
        self._systems = systems
        self._reading = threading.Lock()
        self._writing = threading.Lock()
        self._lookup: Lookup | None = None
        self._writer: Writer | None = None
        self._read_from: tuple[int, int] | None = None
        self._written_to: tuple[int, int] | None = None
        self._base: Derived | None = None
        self.refused: dict[str, MemdeckError] = {}
        """Why files could not be read, by name, as of the last update or scan."""

    # Asking

    def ask(self, query: Query, limit: int) -> Answer | None:
        """Return the answer of the index as it is, None where there is none; see `fresh` for whether it is true."""
        return self._read(lambda lookup: lookup.ask(query, limit))

    def scan(self, query: Query, limit: int) -> Answer:
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

    def search(self, query: Query, limit: int, *, patience: Callable[[], bool] = lambda: True) -> Answer:
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
        refused: dict[str, MemdeckError] = {}

        def work(writer: Writer) -> bool:
            before = writer.indexed
            done = writer.update(self._shelves(refused), refused, go_on, learn=learn)
            if writer.indexed - before > _MANY:
                assert self._base is not None
                self._base.tidy(writer.connection)
            return done

        done = self._write(work)
        self.refused = refused
        return bool(done)

    @property
    def size(self) -> int:
        """The bytes of the index on disk."""
        base = self._database()
        return 0 if base is None else base.size()

    def close(self) -> None:
        """Close what is open; the next question opens it again."""
        with self._reading:
            self._close_reader()
        with self._writing:
            self._close_writer()

    # The database

    def _shelves(self, refused: dict[str, MemdeckError]) -> Iterator[Shelf]:
        for system in self._systems():
            yield from system.shelves(refused)

    def _database(self) -> Derived | None:
        if self._base is None and self._folder is not None:
            from memory.storage.private.derived import Derived

            from .index.tables import NAME, TABLES, VERSION

            self._base = Derived(self._folder, NAME, VERSION, TABLES)
        return self._base

    def _read(self, work: Callable[[Lookup], T]) -> T | None:
        base = self._database()
        if base is None:
            return None
        import sqlite3

        from .index.lookup import Lookup
        from .index.tables import Damaged

        with self._reading:
            try:
                identity = base.identity()
                if self._lookup is None or identity != self._read_from:
                    self._close_reader()
                    connection = base.open(make=False)
                    if connection is None:
                        return None
                    self._lookup, self._read_from = Lookup(connection), identity
                return work(self._lookup)
            except (sqlite3.Error, Damaged) as error:
                self._close_reader()
                if _is_damage(error):
                    base.discard()
                return None

    def _write(self, work: Callable[[Writer], T]) -> T | None:
        base = self._database()
        if base is None:
            return None
        import sqlite3

        from .index.tables import Damaged
        from .index.writer import Writer

        with self._writing:
            for _ in range(2):
                try:
                    if self._writer is None or base.identity() != self._written_to:
                        self._close_writer()
                        connection = base.open()
                        if connection is None:
                            return None
                        self._writer, self._written_to = Writer(connection), base.identity()
                    return work(self._writer)
                except (sqlite3.Error, Damaged) as error:
                    self._close_writer()
                    if not _is_damage(error):
                        return None
                    base.discard()
        return None

    def _close_reader(self) -> None:
        lookup, self._lookup = self._lookup, None
        if lookup is not None:
            _close(lookup.connection)

    def _close_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            _close(writer.connection)


def _close(connection: sqlite3.Connection) -> None:
    import sqlite3

    try:
        connection.close()
    except sqlite3.Error:
        pass


def _is_damage(error: Exception) -> bool:
    """Whether beginning anew may help: not where the disk is full, or somebody else is writing."""
    import sqlite3

    if not isinstance(error, sqlite3.Error):
        return True
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    return code in (11, 26) or "no such table" in str(error) or "malformed" in str(error)
