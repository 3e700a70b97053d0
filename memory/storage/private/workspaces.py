"""The list of a person's workspaces: a small SQLite database in the private state folder."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from memory.errors import MemdeckError
from memory.storage.database import Database, DatabaseKind
from memory.storage.own_folders import person_folder

_TABLES = """
CREATE TABLE workspaces (path BLOB PRIMARY KEY, added TEXT NOT NULL, listed INTEGER NOT NULL);
CREATE TABLE publishing (path BLOB PRIMARY KEY, mode TEXT NOT NULL)
"""
_LIST = DatabaseKind("workspaces.sqlite", "the list of workspaces", _TABLES, 1, durable=True)
_PUT = """
INSERT INTO workspaces VALUES (?, ?, 1) ON CONFLICT (path) DO UPDATE SET listed = 1, added = excluded.added
"""
R = TypeVar("R")


class WorkspaceList:
    """The list; safe between processes and threads. MemdeckError `fleet.list` where the database cannot be used."""

    def __init__(self, state_home: Path) -> None:
        """Nothing is opened or made yet."""
        self.folder = person_folder(state_home, "fleet")
        self._file = Database(self.folder, _LIST, timeout=5.0)

    def names(self) -> tuple[str, ...]:
        """Return the real paths of the workspaces, sorted."""
        rows = self._select("SELECT path, added FROM workspaces WHERE listed ORDER BY path")
        return tuple(os.fsdecode(path) for path, _ in rows)

    def _select(self, query: str) -> list[tuple[bytes, str]]:
        """Return the rows of a query, none where there is no list yet."""
        none: list[tuple[bytes, str]] = []
        return self._do(lambda made: made.execute(query).fetchall()) if self._file.exists() else none

    def add(self, path: Path, now: datetime, *, asked: bool = True) -> bool:
        """List a workspace; False where it is listed already.

        One that the person took off the list comes back only when it is `asked` for.
        """
        return bool(self.add_all([path], now, asked=asked))

    def add_all(self, paths: Iterable[Path], now: datetime, *, asked: bool = True) -> list[Path]:
        """List workspaces in one step as `add` does, and return those that were not listed."""

        def put(made: sqlite3.Connection) -> list[Path]:
            new = []
            for path in paths:
                name = os.fsencode(path)
                row = made.execute("SELECT listed FROM workspaces WHERE path = ?", (name,)).fetchone()
                if row is None or not (row[0] or not asked):
                    made.execute(_PUT, (name, now.isoformat(timespec="seconds")))
                    new.append(path)
            return new

        return self._do(put)

    def remove(self, path: Path) -> bool:
        """Take a workspace off the list, also for the time when it is opened again; False where it was not on it."""
        name = os.fsencode(path)
        words = "UPDATE workspaces SET listed = 0 WHERE path = ? AND listed"
        return self._do(lambda made: made.execute(words, (name,)).rowcount > 0)

    def publishing(self) -> dict[Path, str]:
        """Return how each workspace is published in a catalogue: `full`, `names` or `none`."""
        rows = self._select(
            "SELECT path, coalesce(mode, 'full') FROM workspaces LEFT JOIN publishing USING (path)"
            " WHERE listed ORDER BY path"
        )
        return {Path(os.fsdecode(path)): mode for path, mode in rows}

    def publish(self, path: Path, mode: str) -> None:
        """Say how a workspace is published from now on."""
        values = (os.fsencode(path), mode)
        self._do(lambda made: made.execute("INSERT OR REPLACE INTO publishing VALUES (?, ?)", values))

    def _do(self, work: Callable[[sqlite3.Connection], R]) -> R:
        with self._file.mutex:  # The warnings are those of this use.
            self._file.warnings.clear()
            found = self._file.run(lambda made: (work(made),), None)
            self._file.close()  # It is used a few times in the life of a process.
            if found is None or self._file.warnings:  # One that was damaged is moved aside, which is told once.
                where = self.folder.path / _LIST.name
                raise MemdeckError("fleet.list", self._file.warnings[-1], f"see {where}", file=str(where))
            return found[0]
