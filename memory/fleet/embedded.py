"""The fleet of one machine: the workspaces of a person, each opened in place, and one index over all of them.

The index is that of `memory.search` with a room for each workspace, so that hits of all workspaces are ranked together.
It is in the private state folder: derived data, updated by file stamps.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from memory.errors import BusyError, MemdeckError, UsageError
from memory.fleet.local import LocalWorkspaces, WorkspaceFailure, best_hits, query_of, stamp_of, watched_of
from memory.fleet.model import FleetHit, FleetHost, Progress, WorkResult, WorkspaceOverview
from memory.registry import holds_memory, workspace_of
from memory.search.index import SearchIndex
from memory.search.records import FileRecords
from memory.search.searcher import IndexDatabase
from memory.storage.database import in_transaction
from memory.storage.private.workspaces import WorkspaceList
from memory.system import System
from memory.systems.at_rest import read_at_rest
from memory.workspace import Workspace

_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "target", "dist", "build", "site-packages", "lost+found"})


class EmbeddedFleet:
    """The workspaces that a person listed or opened. Errors of the list: `fleet.list`."""

    def __init__(self, local: LocalWorkspaces, also: Path | None = None) -> None:
        """Nothing is read yet. `also`: the path of a workspace that is searched even while it is not listed."""
        self.local = local
        self._also = () if also is None else (str(also),)
        self.host = local.host
        self._list = WorkspaceList(local.state_home)
        self._folder = self._list.folder
        self._index = IndexDatabase(self._folder, "search.sqlite", _ROOMS)

    # -- the list ---------------------------------------------------------------------------------------------

    def paths(self) -> tuple[Path, ...]:
        """Return the paths of the workspaces, sorted."""
        return tuple(map(Path, self._list.names()))

    def listed(self) -> tuple[tuple[str, Path], ...]:
        """Return host and path of the workspaces, sorted."""
        return tuple((self.host, path) for path in self.paths())

    def add(self, path: Path, now: datetime, mode: str | None = None) -> Path | None:
        """List the workspace that contains a folder; UsageError `workspace.not_found`. `mode` as for `publish`."""
        found = workspace_of(os.path.realpath(path))
        if found is None:
            raise UsageError("workspace.not_found", f"no memory in {path} or above it", "`memdeck init` creates it")
        if mode is not None:
            # Set before it is listed: an agent reads the list every second.
            self._list.publish(Path(found), mode)
        return Path(found) if self._list.add(Path(found), now) else None

    def publish(self, path: Path, mode: str) -> None:
        """Set how much of a workspace an agent publishes to a catalogue: `full`, `names` or `none`."""
        self._list.publish(Path(workspace_of(os.path.realpath(path)) or os.path.realpath(path)), mode)

    def published(self) -> dict[Path, str]:
        """Return the workspaces that an agent publishes, and how: `full` or `names`."""
        return {path: mode for path, mode in self._list.publishing().items() if mode != "none"}

    def remove(self, path: Path) -> Path | None:
        """Remove a workspace from the list, by its folder or one in it, even if that no longer exists."""
        real = os.path.realpath(path)
        for one in dict.fromkeys((real, workspace_of(real) or real)):
            if self._list.remove(Path(one)):
                self._forget([one])
                return Path(one)
        return None

    def remove_gone(self) -> tuple[Path, ...]:
        """Remove the workspaces whose memory no longer exists from the list, and return them."""
        gone = tuple(path for path in self.paths() if not holds_memory(str(path)))
        return tuple(path for path in gone if self.remove(path) is not None)

    def scan(self, folder: Path, now: datetime, progress: Progress | None = None) -> tuple[Path, ...]:
        """List the workspaces below a folder; links are not followed, folders of other users and of tools are skipped.
        UsageError `workspace.no_folder`.
        """
        if not os.path.isdir(folder):
            raise UsageError("workspace.no_folder", f"{str(folder)!r} is not a folder", "name a folder")
        found = []
        for seen, (here, folders, _) in enumerate(os.walk(os.path.realpath(folder)), 1):
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
            if progress is not None and not seen % 200:
                progress(seen, 0)
            if holds_memory(here):
                found.append(Path(here))
        return tuple(sorted(self._list.add_all(found, now))) if found else ()

    # -- all of them ------------------------------------------------------------------------------------------

    def known(self, now: datetime) -> tuple[WorkspaceOverview, ...]:  # noqa: ARG002
        """Return at once the status of all workspaces as of the last refresh; none is opened."""
        looks = self._looks()
        return tuple(
            looks[name].overview if name in looks else WorkspaceOverview(Path(name), self.host, looked=False)
            for name in self._list.names()
        )

    def refresh(
        self, now: datetime, go_on: Callable[[], bool] = lambda: True, progress: Progress | None = None
    ) -> Iterator[WorkspaceOverview]:
        """Refresh workspaces whose files changed since the last refresh, or whose tasks became overdue since."""
        looks = self._looks()
        late = [name for name in self._list.names() if name not in looks or not looks[name].holds(now)]

        def work(workspace: Workspace) -> Look:
            return self._looked(workspace, now)

        for path, found in self.local.each([Path(name) for name in late], work, progress):
            if isinstance(found, WorkspaceFailure):
                found = Look(WorkspaceOverview(path, self.host, error=found), now, (), 0, now)
            self._save(found)
            yield found.overview
            if not go_on():
                return

    def overview(self, now: datetime, progress: Progress | None = None) -> tuple[WorkspaceOverview, ...]:
        """Return the status of all workspaces, refreshed."""
        for _ in self.refresh(now, progress=progress):
            pass
        return self.known(now)

    def hosts(self) -> tuple[FleetHost, ...]:
        """Return no hosts: only a catalogue has them."""
        return ()

    def _looked(self, workspace: Workspace, now: datetime) -> Look:
        watched = (*watched_of(workspace), *self.local.beside(workspace))
        # Taken before the files are read: changes meanwhile are noticed at the next refresh.
        stamp = stamp_of(watched)
        overview, until = self.local.overview(workspace, now)
        return Look(overview, now, watched, stamp, until)

    def _looks(self) -> dict[str, Look]:
        """Return the statuses that were saved, by path."""

        def read(index: SearchIndex) -> dict[str, Look]:
            rows = index.connection.execute("SELECT look FROM room WHERE look <> ''")
            looks = (Look.read(json.loads(words), self.host) for (words,) in rows)
            return {str(one.overview.path): one for one in looks}

        return self._index.look(read) or {}

    def _save(self, look: Look) -> None:
        """Save a status, for all processes."""
        words, path = json.dumps(look.json()), os.fsencode(look.overview.path)
        put = "INSERT INTO room (path, look) VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET look = excluded.look"
        self._index.change(lambda index: index.connection.execute(put, (path, words)))

    def check(self, now: datetime, progress: Progress | None = None) -> Iterator[WorkResult]:
        """Yield the problems of each workspace."""
        return self._kept(lambda one: self.local.check(one, now), progress)

    def maintain(
        self, now: datetime, *, actor: str, dry_run: bool = False, progress: Progress | None = None
    ) -> Iterator[WorkResult]:
        """Run the maintenance of each workspace by its own rules."""
        return self._kept(lambda one: self.local.maintain(one, now, actor=actor, dry_run=dry_run), progress)

    def close(self) -> None:
        """Close the index; the next call opens it again."""
        self._index.close()

    def _kept(self, work: Callable[[Workspace], dict[str, Any]], progress: Progress | None) -> Iterator[WorkResult]:
        for path, done in self.local.each(self.paths(), work, progress):
            failed = isinstance(done, WorkspaceFailure)
            yield WorkResult(path, self.host, {} if failed else done, done if failed else None)

    # -- the index --------------------------------------------------------------------------------------------

    def glance(self, query: str, now: datetime, limit: int = 20, kinds: Sequence[str] = ()) -> tuple[FleetHit, ...]:
        """Return the best hits of the index as it is, from any workspace, those that match all words first.

        UsageError as `memory.search`; BusyError `fleet.index` if the index cannot be used now.
        """
        asked = query_of(query, now, kinds)
        if asked.empty:
            return ()

        def read(index: SearchIndex) -> list[FleetHit]:
            rows = index.connection.execute("SELECT id, path FROM room")
            paths = {number: Path(os.fsdecode(path)) for number, path in rows}
            return [
                FleetHit(path, self.host, hit._replace(entry=hit.entry._replace(room=0)))
                for hit in index.ask(asked, limit).every
                if (path := paths.get(hit.entry.room)) is not None
            ]

        found = self._index.look(read)
        found = self._index.change(read) if found is None else found
        if found is None:
            raise BusyError("fleet.index", f"the index in {self._folder.path} cannot be used now", "try again later")
        return best_hits(found, limit)

    def search(
        self, query: str, now: datetime, limit: int = 20, kinds: Sequence[str] = (), progress: Progress | None = None
    ) -> tuple[tuple[FleetHit, ...], tuple[WorkResult, ...]]:
        """Return the best hits of the current files, and the workspaces that failed; errors as `glance`."""
        failed = self.keep_up(progress=progress)
        left = {one.path for one in failed}
        return tuple(hit for hit in self.glance(query, now, limit, kinds) if hit.workspace not in left), failed

    def _current(self) -> dict[str, bool]:
        """Return each indexed workspace, and whether the stamps of its files are as they were indexed."""

        def read(index: SearchIndex) -> dict[str, bool]:
            rows = index.connection.execute("SELECT path, watched, stamp FROM room").fetchall()
            return {
                os.fsdecode(path): stamp is not None and stamp == stamp_of(tuple(os.fsdecode(watched).split("\0")))
                for path, watched, stamp in rows
            }

        return self._index.look(read) or {}

    def keep_up(
        self, go_on: Callable[[], bool] = lambda: True, progress: Progress | None = None
    ) -> tuple[WorkResult, ...]:
        """Index what changed, remove all others from the index, and return the workspaces that failed.

        One that another process indexes stays as it was indexed before.
        """
        names, current = dict.fromkeys((*self._list.names(), *self._also)), self._current()
        self._forget([name for name in current if name not in names])
        failed = []
        changed = [name for name in names if not current.get(name)]
        for number, name in enumerate(changed, 1):
            done = self._index.change(partial(self._one, path=Path(name), go_on=go_on)) if go_on() else None
            if isinstance(done, WorkspaceFailure):
                failed.append(WorkResult(Path(name), self.host, error=done))
                self._forget([name])
            if progress is not None:
                progress(number, len(changed))
        return tuple(failed)

    def _forget(self, paths: Sequence[str]) -> None:
        """Remove workspaces from the index."""

        def work(index: SearchIndex) -> None:
            for path in map(os.fsencode, paths):
                row = index.connection.execute("SELECT id FROM room WHERE path = ?", (path,)).fetchone()
                if row is not None:
                    index.update((), {}, room=row[0])
                    index.connection.execute("DELETE FROM room WHERE id = ?", row)

        if paths:
            self._index.change(work)

    def _one(self, index: SearchIndex, path: Path, go_on: Callable[[], bool]) -> bool | WorkspaceFailure:
        return self.local.one(path, lambda workspace: self._update(index, workspace, go_on), (sqlite3.Error,))

    def _update(self, index: SearchIndex, workspace: Workspace, go_on: Callable[[], bool]) -> bool:
        """Index a workspace as it was at one moment; False: `go_on` stopped it."""
        path = os.fsencode(workspace.root)
        connection = index.connection
        connection.execute("INSERT OR IGNORE INTO room (path) VALUES (?)", (path,))
        (room,) = connection.execute("SELECT id FROM room WHERE path = ?", (path,)).fetchone()
        stamps = index.stamps(room)
        # The user's own memory is found in every workspace, and listed with the first that has it.
        others = "SELECT name FROM file WHERE name LIKE '~%' AND room <> ?"
        elsewhere = {name for (name,) in connection.execute(others, (room,))}
        refused: dict[str, Any] = {}

        def read(systems: Sequence[System]) -> list[FileRecords]:
            refused.clear()
            sources = chain.from_iterable(system.records_by_file(refused) for system in systems)
            found = (
                source if source.stamp == stamps.get(source.file) else _opened(source)
                for source in sources
                if source.file not in elsewhere and go_on()
            )
            return [source for source in found if source is not None]

        watched = watched_of(workspace)
        # Taken before the files are read: changes meanwhile are noticed the next time.
        stamp = stamp_of(watched)
        sources = read_at_rest(workspace, read)
        if not go_on():
            return False

        def indexed(connection: sqlite3.Connection) -> None:
            index.update(sources, refused, room=room)
            words = "UPDATE room SET watched = ?, stamp = ? WHERE id = ?"
            connection.execute(words, (b"\0".join(map(os.fsencode, watched)), stamp, room))

        in_transaction(connection, indexed)
        return True


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
        return self.time <= now < self.until and self.overview.error is None and stamp_of(self.watched) == self.stamp

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


def _opened(source: FileRecords) -> FileRecords | None:
    """Return the records of a file that is already read; None for one that cannot be read."""
    try:
        records = source.records()
    except MemdeckError:
        return None
    return source._replace(records=lambda: records)
