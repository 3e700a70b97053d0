"""One index over all workspaces of a machine, in the private state folder: derived data, updated by file stamps.

It is the index of `memory.search` with a room for each workspace, so that hits of all workspaces are ranked together.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
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


class _Room(NamedTuple):
    """A workspace in the index; without a `stamp` it is not completely indexed."""

    id: int
    watched: tuple[str, ...]
    stamp: int | None


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
        return {
            **self._asdict(),
            "overview": self.overview.json(),
            "time": self.time.isoformat(),
            "until": self.until.isoformat(),
        }

    @classmethod
    def read(cls, found: Mapping[str, Any], host: str) -> Look:
        """Return a stored snapshot."""
        made = WorkspaceOverview.read(Path(found["overview"]["path"]), host, found["overview"])
        time = datetime.fromisoformat(found["time"])
        until = datetime.fromisoformat(found["until"])
        return cls(made, time, tuple(found["watched"]), found["stamp"], until)


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
        self._loaded: tuple[object, int] | None = None
        self._rooms: dict[str, _Room] = {}
        self._unsettled: dict[str, int] = {}

    def close(self) -> None:
        """Close the index; the next call opens it again."""
        self._index.close()
        self._loaded = None

    # -- asking -----------------------------------------------------------------------------------------------

    def ask(self, query: Query, limit: int, without: Collection[str] = ()) -> tuple[FleetHit, ...] | None:
        """Return the best hits as indexed, `without` those of some workspaces; None: there is no index."""
        return self._index.read(lambda index: self._ask(index, query, limit, frozenset(without)))

    def _ask(self, index: SearchIndex, query: Query, limit: int, without: frozenset[str]) -> tuple[FleetHit, ...]:
        names = {room.id: path for path, room in self._load(index).items()}
        for path in without:
            room = self._rooms.get(path)
            if room is not None:
                del names[room.id]
        most = limit
        while True:
            every = index.ask(query, most).every
            hits = tuple(
                FleetHit(
                    Path(place), self._local.host, hit.entry._replace(room=0), hit.snippet, hit.score, hit.fits_all
                )
                for hit in every
                if (place := names.get(hit.entry.room)) is not None
            )
            if not limit or len(hits) >= limit or len(every) < most:
                return hits[:limit] if limit else hits
            most *= 4  # some hits were excluded

    def behind(self, paths: Sequence[str]) -> list[str]:
        """Return the workspaces whose index is outdated; reads the stamps of their files."""
        rooms = self._index.read(self._load) or {}
        return [path for path in paths if (room := rooms.get(path)) is None or room.stamp != digest_of(room.watched)]

    def looks(self) -> dict[str, Look]:
        """Return the snapshots that were saved."""

        def read(index: SearchIndex) -> dict[str, Look]:
            rows = index.connection.execute("SELECT look FROM room WHERE look <> ''")
            looks = (Look.read(json.loads(words), self._local.host) for (words,) in rows)
            return {str(one.overview.path): one for one in looks}

        return self._index.read(read) or {}

    # -- keeping up -------------------------------------------------------------------------------------------

    def update(
        self, paths: Sequence[str], progress: Progress | None = None, go_on: Callable[[], bool] = lambda: True
    ) -> dict[str, WorkspaceFailure | None]:
        """Index what changed in some workspaces, and remove all others from the index.

        Return those that are not up to date now: with the failure, or with None if the index cannot be written.
        """
        rooms = self._index.read(self._load) or {}
        wanted = frozenset(paths)
        self.forget([path for path in rooms if path not in wanted])
        left: dict[str, WorkspaceFailure | None] = {}
        changed = self.behind(paths)
        for number, path in enumerate(changed, 1):
            done = self._index.write(partial(self._one, path=path, go_on=go_on)) if go_on() else None
            if not isinstance(done, bool):
                left[path] = done
            if isinstance(done, WorkspaceFailure) and done["code"] == "fleet.gone":
                self.forget([path])
            if progress is not None:
                progress(number, len(changed))
        if changed:
            # The database may have been damaged, and replaced, meanwhile.
            now = self._index.read(self._load) or {}
            left.update(
                (path, None) for path in paths if path not in left and not (path in now and now[path].stamp is not None)
            )
        return left

    def keep(self, look: Look) -> None:
        """Save a snapshot, for all processes."""
        words, path = json.dumps(look.json()), os.fsencode(look.overview.path)

        def work(index: SearchIndex) -> None:
            put = "INSERT INTO room (path, look) VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET look = excluded.look"
            index.connection.execute(put, (path, words))

        self._index.write(work)

    def _one(self, index: SearchIndex, path: str, go_on: Callable[[], bool]) -> bool | WorkspaceFailure | None:
        return self._local.one(Path(path), lambda workspace: self._update(index, workspace, go_on), (sqlite3.Error,))

    def _update(self, index: SearchIndex, workspace: Workspace, go_on: Callable[[], bool]) -> bool | None:
        """Index a workspace, and return True; None: it is not in the index, because `go_on`
        stopped it or because other programs kept writing to it. The index always holds the files as of one moment:
        during such writing an earlier one, or nothing yet.
        """
        path = os.fsencode(workspace.root)
        connection = index.connection
        connection.execute("INSERT OR IGNORE INTO room (path) VALUES (?)", (path,))
        room, last = connection.execute("SELECT id, stamp FROM room WHERE path = ?", (path,)).fetchone()
        stamps = dict(connection.execute("SELECT name, stamp FROM file WHERE room = ?", (room,)))
        # The user's own memory is found in every workspace, and listed with the first that has it.
        others = "SELECT name FROM file WHERE name LIKE '~%' AND room <> ?"
        elsewhere = {name for (name,) in connection.execute(others, (room,))}
        unsettled = self._unsettled.pop(str(workspace.root), 0)
        refused: dict[str, Any] = {}

        def read() -> list[FileRecords]:
            refused.clear()
            sources = chain.from_iterable(system.records_by_file(refused) for system in systems)
            return [
                _opened(source) if go_on() and source.stamp != stamps.get(source.file) else source
                for source in sources
                if source.file not in elsewhere
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
            return None if last is None else True
        with suppress(_Stopped), Transaction(connection):
            if not index.update(sources, refused, go_on, room=room):
                raise _Stopped
            words = "UPDATE room SET watched = ?, stamp = ? WHERE id = ?"
            connection.execute(words, (b"\0".join(map(os.fsencode, watched)), stamp, room))
            return True
        return None

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

    def _load(self, index: SearchIndex) -> dict[str, _Room]:
        """Return the indexed workspaces; read again only if another process wrote since."""
        connection = index.connection
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if self._loaded is None or self._loaded[0] is not connection or self._loaded[1] != version:
            rows = connection.execute("SELECT path, id, watched, stamp FROM room")
            self._rooms = {
                os.fsdecode(path): _Room(number, tuple(os.fsdecode(watched).split("\0")), stamp)
                for path, number, watched, stamp in rows
            }
            self._loaded = connection, version
        return self._rooms


class _Stopped(Exception):
    """Indexing was stopped; what was written of the workspace is rolled back."""


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

    Compared with the refresh it costs a hundredth; another Python may compute another number, and then files are read
    once more.
    """
    return hash(tuple([one or () for one in stamp_of(watched)]))
