"""The database file of the change log: private, opened late, moved aside when it is damaged.

A log that cannot be kept is never a reason to fail a change: what went wrong is collected in `warnings`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from memory.errors import MemdeckError

from . import fsio
from .log_schema import CONNECTION, TABLES, UPGRADES, VERSION
from .places import StateFolder

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")
NAME = "changes.sqlite"
DAMAGED = "changes.damaged.sqlite"
_DAMAGE = frozenset({11, 26})  # SQLITE_CORRUPT, SQLITE_NOTADB


class _Foreign(Exception):
    """The database was made by another version."""


class LogFile:
    """Opens the database and runs work in transactions; the caller keeps threads apart."""

    def __init__(self, folder: StateFolder | None, timeout: float = 5.0) -> None:
        """Without a folder it lives in memory, as long as the process; `timeout` is in seconds."""
        self.folder = folder
        self.warnings: list[str] = []
        self._timeout = timeout
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None

    def run(self, work: Callable[[sqlite3.Connection], T], default: T, *, make: bool = True) -> T:
        """Return `work(connection)`, done in one transaction; `default`, with a warning, where it cannot be done.

        A damaged database is moved aside, and work begins with an empty one. Without `make` a database that is not
        there is not made, and `default` returned. RefusedError `state.*` for a folder that must not be relied on.
        """
        import sqlite3

        for attempt in range(2):
            try:
                connection = self._open(make)
                if connection is None:
                    return default
                connection.execute("BEGIN IMMEDIATE")
                try:
                    result = work(connection)
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
                return result
            except _Foreign as error:
                self._warn(str(error))
                return default
            except sqlite3.Error as error:
                code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
                self.close()
                damaged = code in _DAMAGE or str(error).startswith("no such ")
                if damaged and attempt == 0 and self.folder is not None:
                    self._move_aside(str(error))
                    continue
                self._warn(f"the change log cannot be used: {error}")
                return default
            except OSError as error:
                self.close()
                self._warn(f"the change log cannot be used: {error.strerror or error}")
                return default
        return default

    def close(self) -> None:
        """Close the database; the next work opens it again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            import sqlite3

            try:
                connection.close()
            except sqlite3.Error:
                pass

    def _open(self, make: bool) -> sqlite3.Connection | None:
        """Return the connection, a new one where somebody removed the file meanwhile."""
        if self._connection is not None and (self.folder is None or self._identity == self._look()):
            return self._connection
        self.close()
        import sqlite3

        target = ":memory:"
        if self.folder is not None:
            if not make and self._look() is None:
                self.folder.check()
                return None
            folder = self.folder.open()
            try:
                os.close(fsio.open_lock(NAME, folder, NAME))  # makes it 0600; a link in its place is refused
            finally:
                os.close(folder)
            target = str(self.folder.path / NAME)
        connection = sqlite3.connect(target, timeout=self._timeout, isolation_level=None, check_same_thread=False)
        try:
            for statement in CONNECTION.strip().splitlines():
                connection.execute(statement)
            self._check_tables(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        self._identity = self._look()
        return connection

    def _check_tables(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == VERSION:
            return
        if version != 0 and version not in UPGRADES:
            raise _Foreign(f"the change log was written by another version of memdeck ({version}); it stays as it is")
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have made the tables while we waited.
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            steps = [TABLES] if version == 0 else [UPGRADES[step] for step in range(version, VERSION)]
            for statement in ";".join(steps).split(";"):
                if statement.strip():
                    connection.execute(statement)
            if steps:
                connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _look(self) -> tuple[int, int] | None:
        if self.folder is None:
            return None
        try:
            found = os.lstat(self.folder.path / NAME)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _move_aside(self, reason: str) -> None:
        """Give a damaged database another name; what it held is history only."""
        assert self.folder is not None
        try:
            folder = self.folder.open()
            try:
                for ending in ("-wal", "-shm"):
                    fsio.remove(NAME + ending, folder)
                fsio.rename(NAME, folder, DAMAGED, folder)
            finally:
                os.close(folder)
        except (OSError, MemdeckError) as error:
            self._warn(f"the change log is damaged ({reason}) and cannot be moved aside: {error}")
        else:
            where = self.folder.path / DAMAGED
            self._warn(f"the change log was damaged ({reason}); history begins anew, the old one is {where}")

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)
