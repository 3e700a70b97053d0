"""The open connections of one index: opened when asked for, and begun anew where the database is damaged or gone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from hashlib import blake2b
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import sqlite3

    from memory.storage.places import StateFolder
    from memory.storage.private.derived import Derived

    from .ranked_lookup import Lookup
    from .writer import IndexWriter

T = TypeVar("T")


class OpenedIndex:
    """Reads and writes one index, each over a connection of its own; safe to share between threads.

    Nothing that goes wrong with it is an error: what is damaged is thrown away, and the caller reads the files.
    """

    def __init__(self, folder: StateFolder, name: str, more: str = "", *, pages: int = 0, seconds: float = 0.0) -> None:
        """Nothing is opened yet. `more` are tables that the index has besides its own.

        `pages` are those after which what was written is moved into the database, `seconds` how long a writer waits for
        another one; 0 leaves both as they are.
        """
        self._folder = folder
        self._name = name
        self._more = more
        self._pages = pages
        self._seconds = seconds
        self._reading = threading.Lock()
        self._writing = threading.Lock()
        self._lookup: Lookup | None = None
        self._writer: IndexWriter | None = None
        self._read_from: tuple[int, int] | None = None
        self._written_to: tuple[int, int] | None = None
        self._base: Derived | None = None

    def read(self, work: Callable[[Lookup], T]) -> T | None:
        """Return what is asked of the index as it is; None where there is none."""
        import sqlite3

        from .ranked_lookup import Lookup
        from .tables import DamagedIndex

        base = self.base
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
            except (sqlite3.Error, DamagedIndex) as error:
                self._close_reader()
                if _is_damage(error):
                    base.discard()
                return None

    def write(self, work: Callable[[IndexWriter], T]) -> T | None:
        """Return what a piece of writing comes to, begun a second time where the index is damaged; None: it cannot be
        written.
        """
        import sqlite3

        from .tables import DamagedIndex
        from .writer import IndexWriter

        base = self.base
        with self._writing:
            for _ in range(2):
                try:
                    if self._writer is None or base.identity() != self._written_to:
                        self._close_writer()
                        connection = base.open()
                        if connection is None:
                            return None
                        if self._pages:
                            connection.execute(f"PRAGMA wal_autocheckpoint = {self._pages}")
                        if self._seconds:
                            connection.execute(f"PRAGMA busy_timeout = {int(1000 * self._seconds)}")
                        self._writer, self._written_to = IndexWriter(connection), base.identity()
                    return work(self._writer)
                except (sqlite3.Error, DamagedIndex) as error:
                    self._close_writer()
                    if not _is_damage(error):
                        return None
                    base.discard()
        return None

    def tidy(self, writer: IndexWriter) -> None:
        """Give back the room that writing took; only inside of `write`."""
        self.base.tidy(writer.connection)

    @property
    def base(self) -> Derived:
        """The database file."""
        if self._base is None:
            from memory.storage.private.derived import Derived

            from .tables import TABLES, VERSION

            if self._more:
                # Other tables are another version, too.
                version = f"{VERSION}/{blake2b(self._more.encode(), digest_size=4).hexdigest()}"
                self._base = Derived(self._folder, self._name, version, f"{TABLES};{self._more}")
            else:
                self._base = Derived(self._folder, self._name, VERSION, TABLES)
        return self._base

    def close(self) -> None:
        """Close what is open; the next question opens it again."""
        with self._reading:
            self._close_reader()
        with self._writing:
            self._close_writer()

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
