"""Databases that are made of the memory files: private, and thrown away as soon as anything about them is odd.

Nothing in one is worth keeping: a database that is damaged, of another version or cannot be opened is removed and made
anew, or its reader does without it.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from stat import S_ISREG

from memory.errors import MemdeckError
from memory.storage import fsio
from memory.storage.own_folders import StateFolder

_BUSY_SECONDS = 0.25
_ENDINGS = ("-wal", "-shm", "-journal")
_PRAGMAS = (
    "trusted_schema = OFF",
    "temp_store = MEMORY",
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "wal_autocheckpoint = 32",
    "journal_size_limit = 200000",
)


class Derived:
    """One database file in the private state folder; a connection belongs to the caller that opened it.

    `tables` are statements with `;` between them. `version` is compared as text: another one means begin anew.
    """

    def __init__(self, folder: StateFolder, name: str, version: str, tables: str) -> None:
        """Nothing is opened yet."""
        self._folder = folder
        self._name = name
        self._version = version
        self._tables = tables

    def identity(self) -> tuple[int, int] | None:
        """Which file it is now; None: there is none, or a link or something else in its place. Another one means that a
        connection is to be opened again.
        """
        try:
            found = os.lstat(self._folder.path / self._name)
        except OSError:
            return None
        return (found.st_dev, found.st_ino) if S_ISREG(found.st_mode) else None

    def size(self) -> int:
        """Its bytes on disk, with those that SQLite keeps beside it; 0: there is none."""
        total = 0
        for ending in ("", "-wal"):
            with suppress(OSError):
                total += os.lstat(self._folder.path / (self._name + ending)).st_size
        return total

    def open(self, *, make: bool = True) -> sqlite3.Connection | None:
        """Return a connection to a database of this version; None where it cannot be had.

        Without `make` nothing is written: None too where there is none of this version.
        """
        try:
            for _ in range(2):
                if not make and self.identity() is None:
                    return None
                try:
                    connection = self._connect(make)
                except sqlite3.DatabaseError as error:
                    if isinstance(error, sqlite3.OperationalError) or not make:
                        return None
                else:
                    if connection is not None or not make:
                        return connection
                self.discard()
        except (OSError, MemdeckError, sqlite3.Error):
            pass
        return None

    def _connect(self, make: bool) -> sqlite3.Connection | None:
        """Return a connection; None where the file holds another version."""
        self._folder.check()
        if make:
            with self._folder.opened() as folder:
                fsio.make_database(self._name, folder, self._name)
        connection = sqlite3.connect(
            str(self._folder.path / self._name), timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            (count,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if not count:
                # Compressed rows of two or three thousand bytes: smaller pages would be left half empty. A database
                # that has tables has both, and asking would wait for a writer.
                connection.execute("PRAGMA page_size = 16384")
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            for statement in _PRAGMAS:
                connection.execute(f"PRAGMA {statement}")
            if not count and make:
                self._fill(connection)
            try:
                row = connection.execute("SELECT version FROM about").fetchone()
            except sqlite3.OperationalError:
                row = None
            if row is None or row[0] != self._version:
                connection.close()
                return None
        except BaseException:
            connection.close()
            raise
        return connection

    def _fill(self, connection: sqlite3.Connection) -> None:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            (count,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if not count:  # else another process was quicker
                connection.execute("CREATE TABLE about (version TEXT)")
                connection.execute("INSERT INTO about VALUES (?)", (self._version,))
                for statement in self._tables.split(";"):
                    if statement.strip():
                        connection.execute(statement)

    def tidy(self, connection: sqlite3.Connection) -> None:
        """Give back the room that is not used any more."""
        # `execute` takes only one step of it, which gives back one page.
        connection.executescript("PRAGMA incremental_vacuum")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def discard(self) -> None:
        """Remove the file; a reader that has it open goes on with the removed one, and notices by `identity`."""
        with suppress(OSError, MemdeckError), self._folder.opened() as folder:
            for ending in ("", *_ENDINGS):
                fsio.remove(self._name + ending, folder)
