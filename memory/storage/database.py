"""Databases of memdeck's own in a private folder: opened late, and begun anew when they are damaged.

A `Database` holds records, such as the change log: a damaged one is moved aside. A `Derived` one is made of the memory
files: it is thrown away as soon as anything about it is odd. A record that cannot be kept is never a reason to fail a
change: what went wrong is collected in `warnings`.
"""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import NamedTuple, TypeVar

from memory.errors import MemdeckError

from . import fsio
from .own_folders import StateFolder

T = TypeVar("T")
_PRAGMAS = (
    "synchronous = NORMAL",
    "foreign_keys = ON",
    "trusted_schema = OFF",
    "temp_store = MEMORY",
    "cache_size = -4000",
    "journal_size_limit = 4000000",
)
"""A commit is one write without a sync: after a power cut the newest rows may be missing, the files are there."""
_ASIDE = ".damaged.sqlite"
_BESIDE = ("-wal", "-journal", "-shm")
"""The endings of the files that SQLite has beside a database."""
_MOMENT = 50
"""Milliseconds for which light work waits for other processes."""
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PASSING = frozenset(
    (
        *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY),
        *(sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN),
    )
)
"""The errors that a new database would have as well."""


class DatabaseKind(NamedTuple):
    """What a database file is for: its name, how messages call it, its tables (with `;` between) and their version.

    With `durable` a commit is on the disk when it returns.
    """

    name: str
    called: str
    tables: str
    version: int
    durable: bool = False

    @property
    def aside(self) -> str:
        """The name of a damaged database that was moved aside."""
        return self.name.removesuffix(".sqlite") + _ASIDE


class _Unfit(sqlite3.DatabaseError):
    """The database was made by another version."""


class _Newer(_Unfit):
    """The database was made by a newer version."""


def _connect(folder: StateFolder | None, kind: DatabaseKind, timeout: float) -> sqlite3.Connection:
    """Return a connection to a database with its tables, made where there is none; in memory without a folder."""
    target = ":memory:"
    if folder is not None:
        with folder.opened() as opened:
            fsio.make_database(kind.name, opened, str(folder.path / kind.name))
        target = str(folder.path / kind.name)
    connection = sqlite3.connect(target, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        _log_ahead(connection, timeout)
        for pragma in (*_PRAGMAS, *(["synchronous = FULL"] if kind.durable else [])):
            connection.execute(f"PRAGMA {pragma}")
        _make_tables(connection, kind)
    except BaseException:
        connection.close()
        raise
    return connection


def _log_ahead(connection: sqlite3.Connection, timeout: float) -> None:
    """Let commits go to a log beside the database, waiting up to some seconds for another process that does the same.

    SQLite waits for its own locks everywhere but here: of two that begin a database at once, it refuses one.
    """
    deadline = time.monotonic() + timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.Error as error:
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                raise
        time.sleep(0.01)


def _make_tables(connection: sqlite3.Connection, kind: DatabaseKind) -> None:
    if connection.execute("PRAGMA user_version").fetchone()[0] == kind.version:
        return

    def make(connection: sqlite3.Connection) -> None:
        # Another process may have made the tables while we waited.
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > kind.version:
            raise _Newer(f"{kind.called} was written by a newer memdeck (version {version}); it stays as it is")
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if version != kind.version and (version or tables):
            raise _Unfit(f"was written by an old memdeck (version {version})")
        if version == 0:
            for statement in filter(str.strip, kind.tables.split(";")):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {kind.version}")

    in_transaction(connection, make)


def in_transaction(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    """Return `work(connection)`, done in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


def _identity(folder: StateFolder | None, name: str) -> tuple[int, int] | None:
    """Return which file a database is now, None where there is none; another program may remove or replace it."""
    try:
        found = None if folder is None else os.lstat(folder.path / name)
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)


def _code(error: Exception) -> int:
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


class Database:
    """Opens a database of records and runs work in transactions, one at a time: threads may share it.

    SQLite ends the process where a connection is closed under a thread that works with it.
    """

    def __init__(self, folder: StateFolder | None, kind: DatabaseKind, timeout: float = 2.0) -> None:
        """Without a folder it lives in memory, as long as the process; `timeout` is in seconds.

        A change waits for it under the workspace's lock, for which others wait longer than that.
        """
        self.folder = folder
        self.kind = kind
        self.warnings: list[str] = []
        self._timeout = timeout
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self.mutex = RLock()

    def run(self, work: Callable[[sqlite3.Connection], T], default: T, *, make: bool = True, light: bool = False) -> T:
        """Return `work(connection)`, done in one transaction; `default`, with a warning, where it cannot be done.

        A damaged database is moved aside, and work begins with an empty one. Without `make` a database that does not
        exist is not made, and `default` returned. RefusedError `state.*` for a folder that must not be relied on.
        `light` is for what may be tried again: it waits for other processes a moment only, and gives no warning where
        these are at work.
        """
        with self.mutex:
            for again in (True, False):
                try:
                    if not make and self.folder is not None and not self.exists():
                        self.folder.check()
                        return default
                    connection = self.open()
                    connection.execute(f"PRAGMA busy_timeout = {_MOMENT if light else round(self._timeout * 1000)}")
                    return in_transaction(connection, work)
                except _Newer as error:
                    why = str(error)
                except sqlite3.Error as error:
                    if light and _code(error) == sqlite3.SQLITE_BUSY:
                        return default
                    self.close()
                    unfit = isinstance(error, _Unfit)
                    if again and (unfit or _code(error) in _DAMAGE or str(error).startswith("no such ")):
                        self._move_aside(str(error) if unfit else f"was damaged ({error})")
                        continue
                    why = f"{self.kind.called} cannot be used: {error}"
                except (OSError, MemdeckError) as error:
                    self.close()
                    if isinstance(error, MemdeckError) and not error.code.startswith("file."):
                        raise
                    # Something else has its name, a folder or a link, or the disk is only to be read.
                    why = f"{self.kind.called} cannot be used: {error}"
                self.warn(why)
                break
        return default

    def exists(self) -> bool:
        """Return whether a file or anything else has the database's name."""
        return _identity(self.folder, self.kind.name) is not None

    def damaged(self) -> tuple[Path, ...]:
        """Return the damaged database that was moved aside last, if there is one."""
        found = () if self.folder is None else (self.folder.path / self.kind.aside,)
        return tuple(path for path in found if os.path.lexists(path))

    def close(self) -> None:
        """Close the database; the next work opens it again."""
        with self.mutex:
            connection, self._connection = self._connection, None
            if connection is not None:
                with suppress(sqlite3.Error):
                    connection.close()

    def open(self) -> sqlite3.Connection:
        """Return the connection, a new one where another program removed the file meanwhile."""
        if self._connection is None or self._identity != _identity(self.folder, self.kind.name):
            self.close()
            self._identity = _identity(self.folder, self.kind.name)
            self._connection = _connect(self.folder, self.kind, self._timeout)
            self._identity = _identity(self.folder, self.kind.name)
        return self._connection

    def _move_aside(self, reason: str) -> None:
        """Give a damaged database another name, in place of an older one; what it held is history only.

        One that another process began anew meanwhile stays.
        """
        name, aside = self.kind.name, self.kind.aside
        if self.folder is None or self._identity != _identity(self.folder, name):
            return
        try:
            with self.folder.opened() as folder:
                for ending in _BESIDE:  # What a crash left beside an older one would be read as part of this one.
                    fsio.remove(aside + ending, folder)
                fsio.rename(name, folder, aside, folder)
                for ending in _BESIDE[:2]:  # Commits that are not in their place yet, or the bytes before one.
                    with suppress(FileNotFoundError):
                        fsio.rename(name + ending, folder, aside + ending, folder)
                fsio.remove(f"{name}-shm", folder)
        except (OSError, MemdeckError) as error:
            self.warn(f"{self.kind.called} {reason} and cannot be moved aside: {error}")
        else:
            where = self.folder.path / aside
            self.warn(f"{self.kind.called} {reason}; a new history begins, the old one is {where}")

    def warn(self, text: str) -> None:
        """Add a sentence to the warnings, once."""
        if text not in self.warnings:
            self.warnings.append(text)


class Derived:
    """A database made of the memory files, in memory without a folder, or where no file can be had.

    It has one connection for reading and one for writing, so that threads may read while another writes. Work makes its
    own transactions. Nothing in it is worth keeping: one that is damaged, or of another version, is made anew.
    """

    def __init__(self, folder: StateFolder | None, name: str, version: str, tables: str) -> None:
        """Nothing is opened yet; `tables` are statements with `;` between them."""
        kind = DatabaseKind(name, name, tables, zlib.crc32(f"{version};{tables}".encode()) >> 1)
        self._reading, self._writing = (Database(folder, kind, timeout=0.25) for _ in range(2))

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Return `work(connection)` on the database as it is, None where there is none of this version; errors as
        `write`.
        """
        if self._writing.folder is None:
            return self.write(work)
        with self._reading.mutex:
            try:
                return work(self._reading.open()) if self._reading.exists() else None
            except (OSError, MemdeckError):
                return None
            except sqlite3.Error as error:
                self._discard(error)
                return None

    def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return `work(connection)`, done once more on a new database where this one is damaged.

        sqlite3.Error where that fails as well, or another process writes to it.
        """
        with self._writing.mutex:
            try:
                return work(self._made())
            except sqlite3.Error as error:
                self._discard(error)
            return work(self._made())

    def _made(self) -> sqlite3.Connection:
        """Return the connection for writing, in memory where the file cannot be used."""
        try:
            return self._writing.open()
        except (OSError, MemdeckError, sqlite3.OperationalError):
            self._writing.folder = None
            return self._writing.open()

    def close(self) -> None:
        """Close the connections; the next use opens them again."""
        self._reading.close()
        self._writing.close()

    def _discard(self, error: Exception) -> None:
        """Remove the file, unless a new one would have the same error, which is raised.

        A reader that has it open goes on with the removed one, and notices it at the next work.
        """
        if _code(error) in _PASSING:
            raise error
        folder, name = self._writing.folder, self._writing.kind.name
        if folder is not None:
            with suppress(OSError, MemdeckError), folder.opened() as opened:
                for ending in ("", *_BESIDE):
                    fsio.remove(name + ending, opened)
