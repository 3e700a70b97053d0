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
from typing import TYPE_CHECKING, Any

from memory.errors import NotFoundError
from memory.fleet.jobs.engine import defer
from memory.fleet.jobs.verbs import Check, Maintain, Revert, Search, Verb, WorkspaceJob
from memory.fleet.local import best_hits, query_of
from memory.fleet.model import Fleet, FleetHit, FleetWorkspace, Progress, WorkResult, WorkspaceOverview
from memory.search.hits import FoundEntry

from .connect import connect, told
from .search import search

if TYPE_CHECKING:
    import psycopg

STALE_SECONDS = 60
"""Seconds without a sign of life after which a host is shown as stale."""
ALIKE = 0.5
"""The common share of their sketches from which two workspaces are called alike."""
_FEW = 8
"""With fewer entries, too little is known to call workspaces alike."""
_AGAIN_SECONDS = 0.05

_WORKSPACES = """
SELECT w.id, h.name, w.path, w.overview, w.sketch, extract(epoch FROM now() - h.seen)
FROM workspace w JOIN host h ON h.id = w.host ORDER BY h.name, w.path
"""


class CentralFleet(Fleet):
    """The workspaces that the agents of all hosts published and keep up to date; see `Fleet`.

    Errors: `fleet.database_down`, `fleet.not_initialised`, `fleet.forbidden`. A workspace whose host is offline is
    reported with `fleet.host_away`; its job waits for the host. Safe to share between threads.
    """

    def __init__(self, url: str, *, pause: Callable[[float], None] = time.sleep) -> None:
        """Nothing is connected yet; `pause` waits between two polls of the jobs."""
        self._url = url
        self._pause = pause
        self._open: psycopg.Connection[tuple[Any, ...]] | None = None
        self._ended = False
        self._mutex = threading.RLock()

    def listed(self) -> tuple[FleetWorkspace, ...]:
        """Return the workspaces by host and path."""
        return tuple(FleetWorkspace(path, host) for _, host, path, *_ in self._rows())

    def overview(self, now: datetime, progress: Progress | None = None) -> tuple[WorkspaceOverview, ...]:  # noqa: ARG002
        """Return the status of all workspaces as their hosts last published it, and the age of the hosts' last sign."""
        rows = self._rows()
        alike = _alike({number: sketch for number, _, _, _, sketch, _ in rows})
        names = {number: f"{host}:{path}" for number, host, path, *_ in rows}
        return tuple(
            replace(
                WorkspaceOverview.read(path, host, found),
                age=None if age is None else max(0, int(age)),
                stale=age is None or age > STALE_SECONDS,
                alike=tuple(sorted(names[one] for one in alike.get(number, ()))),
            )
            for number, host, path, found, _, age in rows
        )

    def search(
        self,
        query: str,
        now: datetime,
        limit: int = 20,
        kinds: Sequence[str] = (),
        progress: Progress | None = None,
        *,
        deep: bool = False,
    ) -> tuple[tuple[FleetHit, ...], tuple[WorkResult, ...]]:
        """Return the best hits of the catalogue, or with `deep` those of the files, searched by every host."""
        asked = query_of(query, now, kinds)
        if not deep:
            with self._connected() as database:
                return search(database, asked, limit), ()
        hits: list[FleetHit] = []
        failed: list[WorkResult] = []
        for one in self._jobs(Search(query, limit, tuple(kinds)), progress):
            if one.error is not None:
                failed.append(one)
            else:
                hits += [_hit(one, hit) for hit in (one.result or {}).get("hits", ())]
        return best_hits(hits, limit), tuple(failed)

    def check(self, progress: Progress | None = None) -> Iterator[WorkResult]:
        """Yield the current problems of each workspace, as found by its host."""
        return self._jobs(Check(), progress)

    def maintain(
        self,
        now: datetime,  # noqa: ARG002
        *,
        actor: str,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Iterator[WorkResult]:
        """Have each host maintain its workspaces, at the time of the database, and yield the reports."""
        return self._jobs(Maintain(None, dry_run, actor), progress)

    def close(self) -> None:
        """Close the connection, also one that a thread is about to open; a later call opens one for itself only."""
        self._ended = True
        opened, self._open = self._open, None
        if opened is not None:
            opened.close()

    # -- revert -----------------------------------------------------------------------------------------------

    def ask_revert(self, host: str, path: Path, change: str) -> int:
        """Request the revert of a workspace's change, and return the number of the request, which waits for an
        approval.

        NotFoundError `fleet.unknown`.
        """
        with self._connected() as database:
            row = database.execute(
                "SELECT w.id FROM workspace w JOIN host h ON h.id = w.host WHERE h.name = %s AND w.path = %s",
                (host, os.fsencode(path)),
            ).fetchone()
            if row is None:
                raise NotFoundError("fleet.unknown", f"no workspace {path} on {host}", "see memdeck fleet list")
            made = database.execute(
                "INSERT INTO approval (workspace, change) VALUES (%s, %s) RETURNING id", (row[0], change)
            ).fetchone()
        assert made is not None
        return int(made[0])

    def approvals(self) -> tuple[dict[str, Any], ...]:
        """Return the requests, newest first: `id`, `host`, `path`, `change`, `by`, `approved_by`, `result`."""
        with self._connected() as database:
            rows = database.execute(
                "SELECT a.id, h.name, w.path, a.change, a.requested_by, a.approved_by, r.outcome FROM approval a"
                " JOIN workspace w ON w.id = a.workspace JOIN host h ON h.id = w.host"
                " LEFT JOIN result r ON r.job = a.job ORDER BY a.id DESC"
            ).fetchall()
        keys = ("id", "host", "path", "change", "by", "approved_by", "result")
        return tuple(dict(zip(keys, (row[0], row[1], os.fsdecode(row[2]), *row[3:]), strict=True)) for row in rows)

    def approve(self, number: int) -> int:
        """Approve a revert, and return the number of the job that does it.

        NotFoundError `fleet.no_approval`: there is no such request, or it is already approved.
        """
        with self._connected() as database, database.transaction():
            row = database.execute(
                "UPDATE approval a SET approved_by = current_user, approved = now() FROM workspace w, host h"
                " WHERE a.id = %s AND a.approved IS NULL AND w.id = a.workspace AND h.id = w.host"
                " RETURNING h.name, w.id, a.change",
                (number,),
            ).fetchone()
            if row is None:
                raise NotFoundError("fleet.no_approval", f"nothing waits under {number}", "see memdeck fleet approvals")
            (job,) = defer(database, [(row[0], WorkspaceJob(row[1], Revert(row[2], number)))])
            database.execute("UPDATE approval SET job = %s WHERE id = %s", (job, number))
        return job

    # -- the database -----------------------------------------------------------------------------------------

    @contextmanager
    def _connected(self) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
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

    def _rows(self) -> list[tuple[int, str, Path, Mapping[str, Any], list[int], float | None]]:
        with self._connected() as database:
            rows = database.execute(_WORKSPACES).fetchall()
        return [
            (number, host, Path(os.fsdecode(path)), overview, sketch, None if age is None else float(age))
            for number, host, path, overview, sketch, age in rows
        ]

    def _jobs(self, verb: Verb, progress: Progress | None) -> Iterator[WorkResult]:
        """Create one job for each workspace, and yield their results in the order of the workspaces."""
        rows = self._rows()
        with self._connected() as database, database.transaction():
            jobs = defer(database, [(host, WorkspaceJob(number, verb)) for number, host, *_ in rows])
        done: dict[int, Mapping[str, Any]] = {}
        for at, (job, (_, host, path, *_)) in enumerate(zip(jobs, rows, strict=True), 1):
            while job not in done:
                done |= self._results(jobs)
                if job not in done and (error := self._given_up(job, host)) is not None:
                    done[job] = {"error": error}
                if job not in done:
                    self._pause(_AGAIN_SECONDS)
            outcome = dict(done[job])
            wrong = outcome.pop("error", None)
            yield WorkResult(path, host, None if wrong else outcome, wrong)
            if progress is not None:
                progress(at, len(jobs))

    def _results(self, jobs: Sequence[int]) -> dict[int, Mapping[str, Any]]:
        with self._connected() as database:
            rows = database.execute("SELECT job, outcome FROM result WHERE job = ANY (%s)", (list(jobs),))
            return dict(rows.fetchall())

    def _given_up(self, job: int, host: str) -> Mapping[str, str] | None:
        """Return why a job is no longer waited for; None while it may still be done."""
        with self._connected() as database:
            row = database.execute(
                "SELECT j.status::text, extract(epoch FROM now() - h.seen) FROM procrastinate_jobs j, host h"
                " WHERE j.id = %s AND h.name = %s",
                (job, host),
            ).fetchone()
        if row is None or row[0] in ("failed", "cancelled", "aborted"):
            if row is not None and job in self._results([job]):
                return None
            return {"code": "fleet.job_failed", "message": f"job {job} ended without an answer"}
        if row[1] is None or row[1] > STALE_SECONDS:
            away = "never was there" if row[1] is None else f"was last heard of {int(row[1]):,} seconds ago"
            return {"code": "fleet.host_away", "message": f"{host} {away}; job {job} waits for it"}
        return None


def _hit(one: WorkResult, found: Mapping[str, Any]) -> FleetHit:

    entry = FoundEntry(
        found["kind"], found["file"], found["title"], "", found["date"], found["ref"], max(0, found["line"] - 1)
    )
    return FleetHit(one.path, one.host, entry, found["snippet"], found["score"], found["fits_all"])


def _alike(sketches: Mapping[int, Sequence[int]]) -> dict[int, set[int]]:
    """Return which workspaces have much of the same content, by the smallest digests of their entries."""
    holders: dict[int, list[int]] = {}
    for number, sketch in sketches.items():
        if len(sketch) >= _FEW:
            for digest in sketch:
                holders.setdefault(digest, []).append(number)
    shared: dict[tuple[int, int], int] = {}
    for numbers in holders.values():
        if len(numbers) > 50:  # common to so many workspaces, it says nothing about two of them
            continue
        for at, one in enumerate(numbers):
            for other in numbers[at + 1 :]:
                shared[one, other] = shared.get((one, other), 0) + 1
    found: dict[int, set[int]] = {}
    for (one, other), count in shared.items():
        if count >= ALIKE * min(len(sketches[one]), len(sketches[other])):
            found.setdefault(one, set()).add(other)
            found.setdefault(other, set()).add(one)
    return found
