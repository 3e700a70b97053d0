"""The open connections of one index: opened on demand, and replaced if the database is damaged or deleted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from memory.storage.own_folders import StateFolder
    from memory.storage.private.derived import Derived

    from .ranked_lookup import Lookup
    from .writer import IndexWriter

T = TypeVar("T")
C = TypeVar("C", "Lookup", "IndexWriter")


class _Connected(Generic[C]):
    """One connection of an index with what uses it, while `lock` is held; `identity` is that of the database file."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.held: C | None = None
        self.identity: tuple[int, int] | None = None

    def close(self) -> None:
        """Close the connection, if there is one."""
        import sqlite3

        held, self.held = self.held, None
        if held is not None:
            with suppress(sqlite3.Error):
                held.connection.close()


class OpenedIndex:
    """Reads and writes one index, each over its own connection; safe to share between threads.

    Problems with the index are never errors: a damaged index is discarded, and the caller reads the files.
    """

    def __init__(self, folder: StateFolder, name: str, more: str = "", *, pages: int = 0, seconds: float = 0.0) -> None:
        """Nothing is opened yet. `more` are tables that the index has in addition to its own.

        `pages` is the number of pages after which the write-ahead log is moved into the database, `seconds` how long a
        writer waits for another one; 0 keeps the defaults.
        """
        self._folder = folder
        self._name = name
        self._more = more
        self._pages = pages
        self._seconds = seconds
        self._reader: _Connected[Lookup] = _Connected()
        self._writer: _Connected[IndexWriter] = _Connected()
        self._base: Derived | None = None

    def read(self, work: Callable[[Lookup], T]) -> T | None:
        """Return the result of `work` on the index as it is; None if there is none."""
        import sqlite3

        from .ranked_lookup import Lookup
        from .tables import DamagedIndex

        base = self.base
        reader = self._reader
        with reader.lock:
            try:
                identity = base.identity()
                if reader.held is None or identity != reader.identity:
                    reader.close()
                    connection = base.open(make=False)
                    if connection is None:
                        return None
                    reader.held, reader.identity = Lookup(connection), identity
                return work(reader.held)
            except (sqlite3.Error, DamagedIndex) as error:
                reader.close()
                if _is_damage(error):
                    base.discard()
                return None

    def write(self, work: Callable[[IndexWriter], T]) -> T | None:
        """Return the result of `work`, run a second time on a new index if the old one is damaged; None if the index
        cannot be written.
        """
        import sqlite3

        from .tables import DamagedIndex
        from .writer import IndexWriter

        base = self.base
        writer = self._writer
        with writer.lock:
            for _ in range(2):
                try:
                    if writer.held is None or base.identity() != writer.identity:
                        writer.close()
                        connection = base.open()
                        if connection is None:
                            return None
                        writer.held, writer.identity = IndexWriter(connection), base.identity()
                        if self._pages:
                            connection.execute(f"PRAGMA wal_autocheckpoint = {self._pages}")
                        if self._seconds:
                            connection.execute(f"PRAGMA busy_timeout = {int(1000 * self._seconds)}")
                    return work(writer.held)
                except (sqlite3.Error, DamagedIndex) as error:
                    writer.close()
                    if not _is_damage(error):
                        return None
                    base.discard()
        return None

    def tidy(self, writer: IndexWriter) -> None:
        """Release the space that writing used; only inside `write`."""
        self.base.tidy(writer.connection)

    @property
    def base(self) -> Derived:
        """The database file."""
        if self._base is None:
            from memory.storage.private.derived import Derived

            from .tables import TABLES, VERSION

            if self._more:
                # Different tables also make a different version.
                version = f"{VERSION}/{blake2b(self._more.encode(), digest_size=4).hexdigest()}"
                self._base = Derived(self._folder, self._name, version, f"{TABLES};{self._more}")
            else:
                self._base = Derived(self._folder, self._name, VERSION, TABLES)
        return self._base

    def close(self) -> None:
        """Close what is open; the next call opens it again."""
        with self._reader.lock:
            self._reader.close()
        with self._writer.lock:
            self._writer.close()


def _is_damage(error: Exception) -> bool:
    """Return whether a new index may help: not if the disk is full, or another process is writing."""
    import sqlite3

    if not isinstance(error, sqlite3.Error):
        return True
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    return code in (11, 26) or "no such table" in str(error) or "malformed" in str(error)
