"""The fleet on many hosts: it queries the catalogue, and sends jobs to the hosts."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memory.errors import NotFoundError, RefusedError
from memory.fleet.catalogue import Database, connect, search, told
from memory.fleet.local import query_of
from memory.fleet.model import FleetHit, FleetHost, Progress, WorkResult, WorkspaceOverview

SILENT_SECONDS = 20
"""Seconds without a sign of life after which a host is silent."""
_AGAIN_SECONDS = 0.05
_WORKSPACES = """
SELECT h.id, w.id, h.name, w.path, w.overview, extract(epoch FROM now() - h.seen)
FROM workspace w JOIN host h ON h.id = w.host ORDER BY h.name, w.path
"""
_HOSTS = """
SELECT h.name, extract(epoch FROM now() - h.seen), h.status, coalesce(c.waiting, 0), coalesce(c.failed, 0)
FROM host h LEFT JOIN job_count c ON c.host = h.id ORDER BY h.name
"""
_ANSWERS = """
SELECT j.id, j.finished IS NOT NULL, j.outcome, extract(epoch FROM now() - h.seen)
FROM job j JOIN host h ON h.id = j.host WHERE j.id = ANY (%s)
"""
_DELETED = {"error": {"code": "fleet.job_failed", "message": "the job was deleted"}}
_REVERTS = """
SELECT j.id, h.name, w.path, j.arguments->>'change', j.asked_by, j.approved_by, j.outcome
FROM job j JOIN workspace w ON w.id = j.workspace JOIN host h ON h.id = j.host
WHERE j.verb = 'revert' ORDER BY j.id DESC
"""


class _Row(NamedTuple):
    """A workspace of the catalogue, and how many seconds ago its host was heard of."""

    host_id: int
    id: int
    host: str
    path: Path
    overview: Mapping[str, Any]
    age: int | None

    @property
    def silent(self) -> bool:
        return _is_silent(self.age)


class CentralFleet:
    """The workspaces that the agents of all hosts published and keep up to date.

    Errors: `fleet.database_down`, `fleet.not_initialised`, `fleet.forbidden`. What a silent host would have to do is
    reported with `fleet.host_away`. Safe to share between threads.
    """

    def __init__(self, url: str, *, pause: Callable[[float], None] = time.sleep) -> None:
        """Nothing is connected yet; `pause` waits between two polls of the jobs."""
        self._url = url
        self._pause = pause
        self._open: Database | None = None
        self._ended = False
        self._mutex = threading.RLock()

    def listed(self) -> tuple[tuple[str, Path], ...]:
        """Return host and path of the workspaces, sorted."""
        return tuple((row.host, row.path) for row in self._rows())

    def overview(self, now: datetime, progress: Progress | None = None) -> tuple[WorkspaceOverview, ...]:  # noqa: ARG002
        """Return the status of all workspaces as their hosts last published it, and the age of the hosts' last sign."""
        return tuple(
            replace(WorkspaceOverview.read(row.path, row.host, row.overview), age=row.age, silent=row.silent)
            for row in self._rows()
        )

    known = overview
    """What is known at once is all that there is."""

    def hosts(self) -> tuple[FleetHost, ...]:
        """Return the hosts by name, with what their agents say of themselves and their jobs."""
        with self._connected() as database:
            rows = database.execute(_HOSTS).fetchall()
        return tuple(
            FleetHost(
                name, _whole(age), _is_silent(_whole(age)), *map(status.get, ("lag", "unread", "failures")), *jobs
            )
            for name, age, status, *jobs in rows
        )

    def glance(self, query: str, now: datetime, limit: int = 20, kinds: Sequence[str] = ()) -> tuple[FleetHit, ...]:
        """Return the best hits of the catalogue."""
        with self._connected() as database:
            return search(database, query_of(query, now, kinds), limit)

    def search(
        self,
        query: str,
        now: datetime,
        limit: int = 20,
        kinds: Sequence[str] = (),
        progress: Progress | None = None,  # noqa: ARG002
    ) -> tuple[tuple[FleetHit, ...], tuple[WorkResult, ...]]:
        """Return the best hits of the catalogue; no workspace fails."""
        return self.glance(query, now, limit, kinds), ()

    def check(self, now: datetime, progress: Progress | None = None) -> Iterator[WorkResult]:  # noqa: ARG002
        """Yield the current problems of each workspace, as found by its host."""
        return self._jobs("check", progress)

    def maintain(
        self,
        now: datetime,  # noqa: ARG002
        *,
        actor: str,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Iterator[WorkResult]:
        """Have each host maintain its workspaces, at the time of the database, and yield the reports."""
        return self._jobs("maintain", progress, dry_run=dry_run, actor=actor)

    def close(self) -> None:
        """Close the connection, also one that a thread is about to open; a later call opens one for itself only."""
        self._ended = True
        opened, self._open = self._open, None
        if opened is not None:
            opened.close()

    # -- revert -----------------------------------------------------------------------------------------------

    def ask_revert(self, host: str, path: Path, change: str) -> int:
        """Request the revert of a workspace's change, and return the number of the job, which waits for an approval.

        NotFoundError `fleet.unknown`.
        """
        row = next((one for one in self._rows() if (one.host, one.path) == (host, path)), None)
        if row is None:
            raise NotFoundError("fleet.unknown", f"no workspace {path} on {host}", "see memdeck fleet list")
        with self._connected() as database:
            (number,) = ask(database, "revert", [(row.host_id, row.id)], {"change": change})
        return number

    def approvals(self) -> tuple[dict[str, Any], ...]:
        """Return the requests, newest first: `id`, `host`, `path`, `change`, `by`, `approved_by`, `result`."""
        with self._connected() as database:
            rows = database.execute(_REVERTS).fetchall()
        keys = ("id", "host", "path", "change", "by", "approved_by", "result")
        return tuple(dict(zip(keys, (row[0], row[1], os.fsdecode(row[2]), *row[3:]), strict=True)) for row in rows)

    def approve(self, number: int) -> None:
        """Approve the revert that another login asked for; its host does it.

        NotFoundError `fleet.no_approval`: there is no such request, or it is already approved. RefusedError
        `fleet.four_eyes`: this login asked for it.
        """
        with self._connected() as database:
            words = "SELECT asked_by = session_user FROM job WHERE id = %s AND verb = 'revert' AND approved IS NULL"
            row = database.execute(words, (number,)).fetchone()
            if row is None:
                raise NotFoundError(
                    "fleet.no_approval", f"nothing is pending under {number}", "see memdeck fleet approvals"
                )
            if row[0]:
                raise RefusedError(
                    "fleet.four_eyes",
                    "a revert must be approved by another login than the one that requested it",
                    "approve it with another login",
                )
            words = "UPDATE job SET approved_by = session_user, approved = now() WHERE id = %s AND approved IS NULL"
            database.execute(words, (number,))

    # -- the database -----------------------------------------------------------------------------------------

    @contextmanager
    def _connected(self) -> Iterator[Database]:
        """Lend the one connection to one thread at a time: a transaction belongs to the thread that began it."""
        with self._mutex, told():
            database = self._open
            if database is None or database.closed:
                database = self._open = connect(self._url)
            try:
                yield database
            finally:
                if self._ended:
                    self.close()

    def _rows(self) -> list[_Row]:
        with self._connected() as database:
            rows = database.execute(_WORKSPACES).fetchall()
        return [
            _Row(host_id, number, host, Path(os.fsdecode(path)), overview, _whole(age))
            for host_id, number, host, path, overview, age in rows
        ]

    def _jobs(self, verb: str, progress: Progress | None, **arguments: Any) -> Iterator[WorkResult]:
        """Create one job for each workspace of the known hosts, and yield their results in order; nothing is
        asked of a silent host.
        """
        rows = self._rows()
        asked = [row for row in rows if not row.silent]
        with self._connected() as database:
            numbers = ask(database, verb, [(row.host_id, row.id) for row in asked], arguments)
        jobs = {row.id: (number, row) for number, row in zip(numbers, asked, strict=True)}
        done: dict[int, Mapping[str, Any]] = {}
        while waiting := [number for number in numbers if number not in done]:
            with self._connected() as database:
                found = {number: rest for number, *rest in database.execute(_ANSWERS, (waiting,)).fetchall()}
            for number, row in jobs.values():
                ended, outcome, age = found.get(number, (True, _DELETED, 0))
                if number not in done and (ended or _is_silent(_whole(age))):
                    done[number] = outcome if ended else {"error": _away(row.host, _whole(age))}
            if progress is not None:
                progress(len(done), len(numbers))
            if len(done) < len(numbers):
                self._pause(_AGAIN_SECONDS)
        for row in rows:
            number, _ = jobs.get(row.id, (0, row))
            outcome = dict(done.get(number) or {"error": _away(row.host, row.age)})
            wrong = outcome.pop("error", None)
            yield WorkResult(row.path, row.host, {} if wrong else outcome, wrong)


def _whole(age: Any) -> int | None:
    return None if age is None else max(0, int(age))


def _is_silent(age: int | None) -> bool:
    return age is None or age > SILENT_SECONDS


def _away(host: str, age: int | None) -> dict[str, str]:
    heard = "was never seen" if age is None else f"has been silent for {age:,} seconds"
    return {"code": "fleet.host_away", "message": f"{host} {heard}"}


def ask(
    database: Database, verb: str, workspaces: Sequence[tuple[int, int]], arguments: Mapping[str, Any]
) -> list[int]:
    """Add a job for each workspace (its host's number and its own), and return their numbers. psycopg.Error."""
    from psycopg.types.json import Jsonb

    hosts, numbers = [host for host, _ in workspaces], [number for _, number in workspaces]
    words = (
        "INSERT INTO job (host, workspace, verb, arguments)"
        " SELECT host, workspace, %s, %s FROM unnest(%s::int[], %s::bigint[]) AS asked (host, workspace) RETURNING id"
    )
    return [number for (number,) in database.execute(words, (verb, Jsonb(arguments), hosts, numbers)).fetchall()]
