"""One index over all workspaces of a machine, in the private state folder: derived data, updated by file stamps.

It is the index of `memory.search` with a room for each workspace, so that hits of all workspaces are ranked together.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from memory.errors import MemdeckError
from memory.search.index import SearchIndex, Transaction
from memory.search.query import Query
from memory.search.records import FileRecords, Record
from memory.search.searcher import IndexDatabase
from memory.storage.own_folders import StateFolder
from memory.storage.private.workspaces import WorkspaceList
from memory.systems.at_rest import TRIES, UNSETTLED, read_at_rest
from memory.workspace import Workspace

from .local import LocalWorkspaces, WorkspaceFailure, stamp_of, watched_of
from .model import FleetHit, Progress, WorkspaceOverview

_ROOMS = """
CREATE TABLE room (
    id INTEGER PRIMARY KEY,
    path BLOB NOT NULL UNIQUE,
    watched BLOB NOT NULL DEFAULT x'',
    stamp INTEGER,
    look TEXT NOT NULL DEFAULT ''
)
"""
"""A workspace in the index: the files that it depends on with their stamp (NULL: it is not indexed), and its status."""


class Look(NamedTuple):
    """A workspace's status at a time, the files it depends on, and until when it holds if they do not change."""

    overview: WorkspaceOverview
    time: datetime
    watched: tuple[str, ...]
    stamp: int
    until: datetime

    def holds(self, now: datetime) -> bool:
        """Return whether the status is still valid, according to the stamps of its files."""
        return self.time <= now < self.until and self.overview.error is None and digest_of(self.watched) == self.stamp

    def json(self) -> dict[str, Any]:
        """Return it in the form for `read`."""
        times = {"time": self.time.isoformat(), "until": self.until.isoformat()}
        return {**self._asdict(), "overview": self.overview.json(), **times}

    @classmethod
    def read(cls, found: Mapping[str, Any], host: str) -> Look:
        """Return a stored status."""
        overview = WorkspaceOverview.read(Path(found["overview"]["path"]), host, found["overview"])
        time, until = (datetime.fromisoformat(found[name]) for name in ("time", "until"))
        return cls(overview, time, tuple(found["watched"]), found["stamp"], until)


class FleetIndex:
    """Finds entries of many workspaces at once; safe to share between threads.

    Problems with the database are never errors: workspaces that it lacks are reported, and their files are read. Paths
    are text here, because objects for a thousand of them would cost as much as the answer.
    """

    def __init__(self, local: LocalWorkspaces) -> None:
        """Nothing is opened yet."""
        home = local.state_home
        folder = StateFolder(home, WorkspaceList(home).path, local.home, name="fleet")
        self._index = IndexDatabase(folder, "search.sqlite", _ROOMS)
        self._local = local
        self._unsettled: dict[str, int] = {}

    def close(self) -> None:
        """Close the index; the next call opens it again."""
        self._index.close()

    # -- asking -----------------------------------------------------------------------------------------------

    def ask(self, query: Query, limit: int) -> tuple[FleetHit, ...] | None:
        """Return the best hits as indexed; None: there is no index."""

        def read(index: SearchIndex) -> tuple[FleetHit, ...]:
            rows = index.connection.execute("SELECT id, path FROM room")
            paths = {number: Path(os.fsdecode(path)) for number, path in rows}
            return tuple(
                FleetHit(path, self._local.host, hit.entry._replace(room=0), hit.snippet, hit.score, hit.fits_all)
                for hit in index.ask(query, limit).every
                if (path := paths.get(hit.entry.room)) is not None
            )

        return self._index.read(read)

    def looks(self) -> dict[str, Look]:
        """Return the statuses that were saved, by path."""

        def read(index: SearchIndex) -> dict[str, Look]:
            rows = index.connection.execute("SELECT look FROM room WHERE look <> ''")
            looks = (Look.read(json.loads(words), self._local.host) for (words,) in rows)
            return {str(one.overview.path): one for one in looks}

        return self._index.read(read) or {}

    def _current(self) -> dict[str, bool]:
        """Return each indexed workspace, and whether the stamps of its files are as they were indexed."""

        def read(index: SearchIndex) -> dict[str, bool]:
            rows = index.connection.execute("SELECT path, watched, stamp FROM room").fetchall()
            return {
                os.fsdecode(path): stamp is not None and stamp == digest_of(tuple(os.fsdecode(watched).split("\0")))
                for path, watched, stamp in rows
            }

        return self._index.read(read) or {}

    # -- keeping up -------------------------------------------------------------------------------------------

    def update(
        self, paths: Sequence[str], progress: Progress | None = None, go_on: Callable[[], bool] = lambda: True
    ) -> dict[str, WorkspaceFailure | None]:
        """Index what changed in some workspaces, and remove all others from the index.

        Return those that are not in the index: with the failure, or with None if it cannot be written.
        """
        current = self._current()
        self.forget([path for path in current if path not in set(paths)])
        left: dict[str, WorkspaceFailure | None] = {}
        changed = [path for path in paths if not current.get(path)]
        for number, path in enumerate(changed, 1):
            work = partial(self._one, path=path, go_on=go_on)
            done = self._index.write(work) if go_on() else None
            if done is not True:
                left[path] = done or None
                self.forget([path] if done else [])
            if progress is not None:
                progress(number, len(changed))
        if changed:
            # The database may have been damaged, and replaced, meanwhile.
            now = self._current()
            left |= {path: None for path in paths if path not in left and path not in now}
        return left

    def keep(self, look: Look) -> None:
        """Save a status, for all processes."""
        words, path = json.dumps(look.json()), os.fsencode(look.overview.path)
        put = "INSERT INTO room (path, look) VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET look = excluded.look"
        self._index.write(lambda index: index.connection.execute(put, (path, words)))

    def forget(self, paths: Sequence[str]) -> None:
        """Remove workspaces from the index."""

        def work(index: SearchIndex) -> None:
            for path in map(os.fsencode, paths):
                row = index.connection.execute("SELECT id FROM room WHERE path = ?", (path,)).fetchone()
                if row is not None:
                    index.update((), {}, room=row[0])
                    index.connection.execute("DELETE FROM room WHERE id = ?", row)

        if paths:
            self._index.write(work)

    def _one(self, index: SearchIndex, path: str, go_on: Callable[[], bool]) -> bool | WorkspaceFailure:
        return self._local.one(Path(path), lambda workspace: self._update(index, workspace, go_on), (sqlite3.Error,))

    def _update(self, index: SearchIndex, workspace: Workspace, go_on: Callable[[], bool]) -> bool:
        """Index a workspace as it was at one moment; False: `go_on` stopped it, or other programs kept writing to it
        and it was never indexed.
        """
        path = os.fsencode(workspace.root)
        connection = index.connection
        connection.execute("INSERT OR IGNORE INTO room (path) VALUES (?)", (path,))
        room, last = connection.execute("SELECT id, stamp FROM room WHERE path = ?", (path,)).fetchone()
        stamps = index.stamps(room)
        # The user's own memory is found in every workspace, and listed with the first that has it.
        others = "SELECT name FROM file WHERE name LIKE '~%' AND room <> ?"
        elsewhere = {name for (name,) in connection.execute(others, (room,))}
        unsettled = self._unsettled.pop(str(workspace.root), 0)
        refused: dict[str, Any] = {}

        def read() -> list[FileRecords]:
            refused.clear()
            sources = chain.from_iterable(system.records_by_file(refused) for system in systems)
            return [
                source if source.stamp == stamps.get(source.file) else _opened(source)
                for source in sources
                if source.file not in elsewhere and go_on()
            ]

        for _ in range(TRIES):
            systems = workspace.systems()
            watched = watched_of(workspace)
            # Taken before the files are read: changes meanwhile are noticed the next time.
            stamp = digest_of(watched)
            sources = read_at_rest(workspace, systems, read, patient=unsettled < UNSETTLED - 1)
            if sources is not None:
                break
        else:
            self._unsettled[str(workspace.root)] = unsettled + 1
            return last is not None
        if not go_on():
            return False
        with Transaction(connection):
            index.update(sources, refused, room=room)
            words = "UPDATE room SET watched = ?, stamp = ? WHERE id = ?"
            connection.execute(words, (b"\0".join(map(os.fsencode, watched)), stamp, room))
        return True


def _opened(source: FileRecords) -> FileRecords:
    """Return the records of a file that is already read; if it was refused, `records` raises that error."""
    try:
        records = source.records()
    except MemdeckError as error:
        return source._replace(records=partial(_refuse, error))
    return source._replace(records=lambda: records)


def _refuse(error: MemdeckError) -> Sequence[Record]:
    raise error


def digest_of(watched: tuple[str, ...]) -> int:
    """Return one number that identifies a state of these paths, the same in every process of this Python.

    Another Python may compute another number, and then files are read once more.
    """
    return hash(tuple([one or () for one in stamp_of(watched)]))
