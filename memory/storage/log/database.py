"""A database file of memdeck's own, such as the change log: private, opened late, moved aside when it is damaged.

A record that cannot be kept is never a reason to fail a change: what went wrong is collected in `warnings`.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from threading import RLock
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from memory.errors import MemdeckError
from memory.storage import fsio
from memory.storage.own_folders import StateFolder

T = TypeVar("T")

CONNECTION = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA foreign_keys = ON;
PRAGMA trusted_schema = OFF;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -4000;
PRAGMA journal_size_limit = 4000000;
"""
"""A commit is one write without a sync: after a power cut the newest rows may be missing, the files are there."""


class DatabaseKind(NamedTuple):
    """What a database file is for: its names, how messages call it, its tables with their version.

    `upgrades` makes the tables of an older version those of the next one; a database that is older than all of them is
    moved aside.
    """

    name: str
    damaged: str
    called: str
    tables: str
    version: int
    connection: str = CONNECTION
    upgrades: Mapping[int, str] = MappingProxyType({})


KEPT = 5
"""How many damaged databases of one kind are kept."""
_MOMENT = 50
"""Milliseconds for which light work waits for other processes."""
_DAMAGE = frozenset({11, 26})  # SQLITE_CORRUPT, SQLITE_NOTADB


class _Newer(Exception):
    """The database was made by a newer version."""


class _Older(Exception):
    """The database was made by a version that is too old."""


class LogFile:
    """Opens the database and runs work in transactions, one at a time: threads may share it.

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
        self._mutex = RLock()

    def run(self, work: Callable[[sqlite3.Connection], T], default: T, *, make: bool = True, light: bool = False) -> T:
        """Return `work(connection)`, done in one transaction; `default`, with a warning, where it cannot be done.

        A damaged database is moved aside, and work begins with an empty one. Without `make` a database that does not
        exist is not made, and `default` returned. RefusedError `state.*` for a folder that must not be relied on.
        `light` is for what may be tried again: it does not wait for the disk, for other processes a moment only, and
        gives no warning where these are at work.
        """
        with self._mutex:
            return self._run(work, default, make, light)

    def _run(self, work: Callable[[sqlite3.Connection], T], default: T, make: bool, light: bool) -> T:
        for attempt in range(2):
            try:
                connection = self._open(make)
                if connection is None:
                    return default
                with _lightly(connection, self._timeout) if light else nullcontext():
                    return _in_transaction(connection, work)
            except _Newer as error:
                self._warn(str(error))
                return default
            except (sqlite3.Error, _Older) as error:
                code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
                if light and code == sqlite3.SQLITE_BUSY:
                    return default
                self.close()
                damaged = isinstance(error, _Older) or code in _DAMAGE or str(error).startswith("no such ")
                if damaged and attempt == 0 and self.folder is not None:
                    self._move_aside(str(error) if isinstance(error, _Older) else f"was damaged ({error})")
                    continue
                self._warn(f"{self.kind.called} cannot be used: {error}")
            except OSError as error:
                self.close()
                self._warn(f"{self.kind.called} cannot be used: {error.strerror or error}")
            except MemdeckError as error:
                self.close()
                if not error.code.startswith("file."):
                    raise
                # Something else has its name, a folder or a link, or the disk is only to be read.
                self._warn(f"{self.kind.called} cannot be used: {error.message}; {error.hint}")
            return default
        return default

    def exists(self) -> bool:
        """Return whether a file or anything else has the database's name."""
        return self._look() is not None

    def damaged(self) -> tuple[Path, ...]:
        """Return the damaged databases that are kept aside, the oldest first."""
        return () if self.folder is None else damaged_files(self.folder.path, self.kind.damaged)

    def close(self) -> None:
        """Close the database; the next work opens it again."""
        with self._mutex:
            self._close()

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _open(self, make: bool) -> sqlite3.Connection | None:
        """Return the connection, a new one where another program removed the file meanwhile."""
        if self._connection is not None and (self.folder is None or self._identity == self._look()):
            return self._connection
        self.close()
        target = ":memory:"
        if self.folder is not None:
            if not make and self._look() is None:
                self.folder.check()
                return None
            with self.folder.opened() as folder:
                fsio.make_database(self.kind.name, folder, str(self.folder.path / self.kind.name))
            target = str(self.folder.path / self.kind.name)
        self._identity = self._look()
        connection = sqlite3.connect(target, timeout=self._timeout, isolation_level=None, check_same_thread=False)
        try:
            for statement in self.kind.connection.strip().splitlines():
                connection.execute(statement)
            self._check_tables(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _check_tables(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == self.kind.version:
            return
        if version > self.kind.version:
            raise _Newer(f"{self.kind.called} was written by a newer memdeck (version {version}); it stays as it is")
        if version != 0 and version not in self.kind.upgrades:
            raise _Older(f"was written by an old memdeck (version {version})")
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have made the tables while we waited.
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            kind = self.kind
            steps = [kind.tables] if version == 0 else [kind.upgrades[step] for step in range(version, kind.version)]
            for statement in ";".join(steps).split(";"):
                if statement.strip():
                    connection.execute(statement)
            if steps:
                connection.execute(f"PRAGMA user_version = {kind.version}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _look(self) -> tuple[int, int] | None:
        if self.folder is None:
            return None
        try:
            found = os.lstat(self.folder.path / self.kind.name)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _move_aside(self, reason: str) -> None:
        """Give a damaged database another name; what it held is history only.

        One that another process began anew meanwhile stays.
        """
        assert self.folder is not None
        if self._identity != self._look():
            return
        try:
            with self.folder.opened() as folder:
                aside = move_aside(folder, self.kind.name, self.kind.damaged)
        except (OSError, MemdeckError) as error:
            self._warn(f"{self.kind.called} {reason} and cannot be moved aside: {error}")
        else:
            where = self.folder.path / aside
            self._warn(f"{self.kind.called} {reason}; history begins anew, the old one is {where}")

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)


def _in_transaction(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


@contextmanager
def _lightly(connection: sqlite3.Connection, timeout: float) -> Iterator[None]:
    """Let transactions wait neither for the disk nor long for other processes; before and after they do."""
    (level,) = connection.execute("PRAGMA synchronous").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {_MOMENT}")
    connection.execute("PRAGMA synchronous = NORMAL")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA synchronous = {level}")
        connection.execute(f"PRAGMA busy_timeout = {round(timeout * 1000)}")


def damaged_files(folder: Path, name: str) -> tuple[Path, ...]:
    """Return the damaged databases in a folder, the oldest first; `name` is the name of the first one."""
    return tuple(folder / one for _, one in _numbered(os.listdir(folder) if os.path.isdir(folder) else [], name))


def move_aside(folder: int, database: str, name: str) -> str:
    """Rename a damaged database and the files of SQLite beside it to a free name, and return the name.

    The names are `name`, then that with a number that grows; the oldest goes where more than `KEPT` would stay.
    """
    taken = _numbered(os.listdir(folder), name)
    number = taken[-1][0] + 1 if taken else 1
    aside = name if number == 1 else name.replace(".sqlite", f"-{number}.sqlite")
    for ending in ("-wal", "-journal", "-shm"):
        # What a crash left beside an older one would be read as part of this one.
        fsio.remove(aside + ending, folder)
    fsio.rename(database, folder, aside, folder)
    for ending in ("-wal", "-journal"):
        # Commits that are not in their place yet, or the bytes before one that was not completed.
        with suppress(FileNotFoundError):
            fsio.rename(database + ending, folder, aside + ending, folder)
    fsio.remove(f"{database}-shm", folder)
    for _, old in taken[: max(len(taken) + 1 - KEPT, 0)]:
        for ending in ("", "-wal", "-journal"):
            fsio.remove(old + ending, folder)
    return aside


def _numbered(names: list[str], name: str) -> list[tuple[int, str]]:
    """Return those of some names that are `name` or a numbered form of it, with their numbers, in order."""
    form = re.compile(re.escape(name.removesuffix(".sqlite")) + r"(?:-([0-9]{1,9}))?\.sqlite")
    return sorted((int(found[1] or 1), one) for one in names if (found := form.fullmatch(one)))
