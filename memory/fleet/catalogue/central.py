"""The fleet on many hosts: it asks the catalogue, and gives jobs to the hosts."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.errors import NotFoundError
from memory.fleet.jobs.verbs import Check, Maintain, Revert, Search, Verb, WorkspaceJob
from memory.fleet.local import best_hits, query_of
from memory.fleet.model import FleetHit, FleetWorkspace, Progress, WorkResult, WorkspaceOverview

from .connect import connect, told

if TYPE_CHECKING:
    import psycopg

STALE_SECONDS = 60
"""After how long without a word a host is shown as stale."""
ALIKE = 0.5
"""Which share of their sketches two workspaces have in common to be called alike."""
_FEW = 8
"""Entries below which too little is known to call workspaces alike."""
_AGAIN_SECONDS = 0.05

_WORKSPACES = """
SELECT w.id, h.name, w.path, w.overview, w.sketch, extract(epoch FROM now() - h.seen)
FROM workspace w JOIN host h ON h.id = w.host ORDER BY h.name, w.path
"""


class CentralFleet:
    """The workspaces that the agents of all hosts published; see `Fleet`.

    Errors: `fleet.database_down`, `fleet.not_initialised`, `fleet.forbidden`. A workspace whose host is away is told
    as such, with `fleet.host_away`; its job waits for the host. Safe to share between threads.
    """

    def __init__(self, url: str, *, pause: Callable[[float], None] = time.sleep) -> None:
        """Nothing is connected yet; `pause` waits between two looks at jobs."""
        self._url = url
        self._pause = pause
        self._open: psycopg.Connection[tuple[Any, ...]] | None = None
        self._ended = False
        self._mutex = threading.RLock()

    def __enter__(self) -> CentralFleet:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.close()

    def listed(self) -> tuple[FleetWorkspace, ...]:
        """Return the workspaces by host and path."""
        return tuple(FleetWorkspace(path, host) for _, host, path, *_ in self._rows())

    def overview(self, now: datetime, progress: Progress | None = None) -> tuple[WorkspaceOverview, ...]:  # noqa: ARG002
        """Return how all workspaces stood when their hosts last looked, and for how long their hosts are silent."""
        rows = self._rows()
        alike = _alike({number: sketch for number, _, _, _, sketch, _ in rows})
        names = {number: f"{host}:{path}" for number, host, path, *_ in rows}
        return tuple(
            _overview(host, path, found, age, tuple(sorted(names[one] for one in alike.get(number, ()))))
            for number, host, path, found, _, age in rows
        )

    def known(self, now: datetime) -> tuple[WorkspaceOverview, ...]:
        """Return what `overview` does: the catalogue is what is known."""
        return self.overview(now)

    def refresh(self, now: datetime, go_on: Callable[[], bool] = lambda: True) -> Iterator[WorkspaceOverview]:  # noqa: ARG002
        """Yield nothing: the agents look."""
        return iter(())

    def glance(self, query: str, now: datetime, limit: int = 20, kinds: Sequence[str] = ()) -> tuple[FleetHit, ...]:
        """Return what `search` finds in the catalogue."""
        return self.search(query, now, limit, kinds)[0]

    def keep_up(self, go_on: Callable[[], bool] = lambda: True) -> None:
        """Nothing: the agents publish."""

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
        """Return the best finds of the catalogue, or with `deep` those of the files, asked of every host."""
        from .search import search

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
        """Yield what is wrong in each workspace, as its host finds it now."""
        return self._jobs(Check(), progress)

    def maintain(
        self,
        now: datetime,  # noqa: ARG002
        *,
        actor: str,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Iterator[WorkResult]:
        """Let each host keep its workspaces small, at the time of the database, and yield the reports."""
        return self._jobs(Maintain(None, dry_run, actor), progress)

    def close(self) -> None:
        """Close the connection, also that which a thread is about to open; a later call has one for itself alone."""
        self._ended = True
        opened, self._open = self._open, None
        if opened is not None:
            opened.close()

    # -- revert -----------------------------------------------------------------------------------------------

    def ask_revert(self, host: str, path: Path, change: str) -> int:
        """Ask for a change of a workspace to be taken back, and return the number of what waits for an approval.

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
        """Return what was asked for, newest first: `id`, `host`, `path`, `change`, `by`, `approved_by`, `result`."""
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

        NotFoundError `fleet.no_approval`: there is none, or it is approved already.
        """
        from memory.fleet.jobs.engine import defer

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
        """Lend the one connection to one thread at a time: a transaction belongs to whoever began it."""
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
        """Give one job to each workspace, and yield what they come to in the order of the workspaces."""
        from memory.fleet.jobs.engine import defer

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
        """Return why a job is not waited for any more; None while it may still be done."""
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


def _overview(
    host: str, path: Path, found: Mapping[str, Any], age: float | None, alike: tuple[str, ...]
) -> WorkspaceOverview:
    last = found.get("last_maintenance")
    return WorkspaceOverview(
        path,
        host,
        tuple(found.get("systems", ())),
        found.get("overdue", 0),
        found.get("alerts", 0),
        found.get("waiting", 0),
        found.get("problems", 0),
        None if last is None else datetime.fromisoformat(last),
        found.get("size", 0),
        found.get("error"),
        None if age is None else max(0, int(age)),
        age is None or age > STALE_SECONDS,
        alike,
    )


def _hit(one: WorkResult, found: Mapping[str, Any]) -> FleetHit:
    from memory.search import FoundEntry

    entry = FoundEntry(
        found["kind"], found["file"], found["title"], "", found["date"], found["ref"], max(0, found["line"] - 1)
    )
    return FleetHit(one.path, one.host, entry, found["snippet"], found["score"], found["fits_all"])


def _alike(sketches: Mapping[int, Sequence[int]]) -> dict[int, set[int]]:
    """Return which workspaces hold much of the same, by the smallest digests of what they hold."""
    holders: dict[int, list[int]] = {}
    for number, sketch in sketches.items():
        if len(sketch) >= _FEW:
            for digest in sketch:
                holders.setdefault(digest, []).append(number)
    shared: dict[tuple[int, int], int] = {}
    for numbers in holders.values():
        if len(numbers) > 50:  # what so many hold says nothing about two of them
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
