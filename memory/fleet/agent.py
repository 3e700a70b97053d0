"""The agent of a host: it publishes the workspaces of the host, does its jobs, runs due work, and reports that it is
alive.

It never changes files because of the catalogue, but by a job of the closed list. No part of a job is ever a command: it
is one row of the catalogue, and only the login that asked reads its answer. While the database is down, everything on
the host continues as before; the agent retries and catches up.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from memory.errors import BusyError, ConflictError, MemdeckError, NotFoundError, RefusedError, UsageError
from memory.files import MEMORY_FOLDER
from memory.fleet.catalogue import VERSION, Database, connect, told
from memory.fleet.local import LocalWorkspaces, WorkspaceFailure
from memory.fleet.publish import Publisher, cleared_json, without_quotes
from memory.history.undo import revert_in
from memory.monitoring.schedule import LONGEST
from memory.systems.at_rest import FileStamp, file_stamp
from memory.workspace import Workspace

EACH_SECONDS = 1.0
"""Seconds between two checks of the workspaces' files, and for due work."""
JOB_SECONDS = 0.3
"""Seconds between two looks for jobs."""
CLEAR_SECONDS = 3600.0
_LONGEST_PAUSE = 30.0
_LOCK_SPACE = 0x666C74  # "flt"
_AGAIN = ("fleet.not_initialised", "fleet.unknown_host")
"""What a dropped catalogue gives that is being created again: it is missing, or lacks this host."""


@dataclass(eq=False)
class HostAgent:
    """One agent; `run` returns after `stop` was called from another thread or from a signal handler.

    `url` is that of the database. `wanted` returns the workspaces and how each is published (`full` or `names`),
    `listed` all of the host; both are called in each round. `clock` is that of the host: of its schedules, and compared
    with the database's. `maintain` is a cron line for the maintenance of workspaces that name none (empty: no
    maintenance), `watch` whether due monitors run.
    """

    local: LocalWorkspaces
    url: str
    wanted: Callable[[], Mapping[Path, str]]
    clock: Callable[[], datetime]
    tell: Callable[[str], None]
    listed: Callable[[], tuple[Path, ...]] = tuple
    maintain: str = ""
    watch: bool = True
    each_seconds: float = EACH_SECONDS

    def __post_init__(self) -> None:
        """Nothing is connected yet."""
        self._stopping = threading.Event()
        self._began = False
        self._host = 0
        self._failures = 0
        self._whole = monotonic()
        self._unread = 0
        self._ahead: dict[Path, tuple[datetime | None, tuple[FileStamp, ...]]] = {}
        self.published = 0
        """Entries that were sent."""
        self.rounds = 0
        """Rounds of publishing after which no workspace was left for the next one."""

    def stop(self) -> None:
        """End `run`: no new job is started, running ones are finished."""
        self._stopping.set()

    def run(self, *, once: bool = False) -> None:
        """Publish, do jobs and run due work until `stop`; with `once`, do all of it once and return.

        UsageError, ConflictError `fleet.host_taken`: it cannot start. A database that is down is waited for, except
        with `once`.
        """
        if once:
            self._keep()
            with connect(self.url) as database, told():
                publisher = self._claim(database)
                self._round(database, publisher, whole=True)
                while self._do_job(database):
                    pass
                self._round(database, publisher, whole=True)
            return
        schedules = threading.Thread(target=self._keep_schedules, name="schedules")
        schedules.start()
        pause = 1.0
        try:
            while not self._stopping.is_set():
                start = monotonic()
                try:
                    self._serve()
                except MemdeckError as error:
                    if not self._is_passing(error):
                        raise
                    self._failures += 1
                    self.tell(f"{error}; trying again")
                pause = 1.0 if monotonic() - start > _LONGEST_PAUSE else min(pause * 2, _LONGEST_PAUSE)
                self._stopping.wait(pause / 2)
        finally:
            self.stop()
            schedules.join()

    def _is_passing(self, error: MemdeckError) -> bool:
        """Return whether an error goes away by itself: the database is away, or its catalogue is being made anew."""
        return isinstance(error, BusyError) or (
            self._began and (isinstance(error, ConflictError) or error.code in _AGAIN)
        )

    def _serve(self) -> None:
        """Publish changes and do jobs over one connection, until `stop`."""
        with connect(self.url) as database, told():
            publisher = self._claim(database)
            if not self._began:
                self.tell(f"agent of {self.local.host}")
            self._began = True
            published = cleared = -math.inf
            while not self._stopping.is_set():
                if monotonic() - cleared >= CLEAR_SECONDS:
                    cleared = monotonic()
                    if gone := clear(database, self._host):
                        self.tell(f"cleared {gone:,} finished jobs")
                left = 0
                if monotonic() - published >= self.each_seconds:
                    left = self._round(database, publisher)
                    published = -math.inf if left else monotonic()
                if not self._do_job(database) and not left:
                    self._stopping.wait(min(JOB_SECONDS, self.each_seconds))

    # -- publishing -------------------------------------------------------------------------------------------

    def _round(self, database: Database, publisher: Publisher, *, whole: bool = False) -> int:
        """Publish, and return how many workspaces were not read since the start."""
        now = self._beat(database)
        done = publisher.round(self.wanted(), now, lambda: not self._stopping.is_set(), whole=whole)
        self.published += done.added
        self._unread = done.left
        if not done.left:
            self.rounds += 1
            self._whole = monotonic()
        if done.added or done.removed:
            self.tell(
                f"published; new entries: {done.added:,}, gone: {done.removed:,}, workspaces: {done.workspaces:,}"
            )
        return done.left

    def _beat(self, database: Database) -> datetime:
        """Report that the host is alive, and how its agent is; return the time of the database."""
        from psycopg.types.json import Jsonb

        status = {"lag": round(monotonic() - self._whole, 1), "unread": self._unread, "failures": self._failures}
        row = database.execute(
            "UPDATE host SET seen = now(), status = %s WHERE id = %s RETURNING seen", (Jsonb(status), self._host)
        ).fetchone()
        if row is None:
            raise UsageError(
                "fleet.unknown_host",
                f"the catalogue does not know the host {self.local.host}",
                "see memdeck fleet init",
            )
        seen: datetime = row[0]
        return seen

    def _claim(self, database: Database) -> Publisher:
        """Find the number of the host, claim it, and return its publisher: two agents of the same host would undo each
        other's work.
        """
        import psycopg

        name = self.local.host
        version = database.execute("SELECT version FROM catalogue").fetchone()
        if version != (VERSION,):
            raise UsageError("fleet.newer", "the catalogue has another version", "bring memdeck up to date on both")
        row = database.execute("SELECT id FROM host WHERE name = %s", (name,)).fetchone()
        self._host = int((row or self._enrol(database, name))[0])
        try:
            # A connection that was just closed may keep the lock for a moment.
            with database.transaction():
                database.execute("SET LOCAL lock_timeout = '5s'")
                database.execute("SELECT pg_advisory_lock(%s, %s)", (_LOCK_SPACE, self._host))
        except psycopg.errors.LockNotAvailable:
            raise ConflictError(
                "fleet.host_taken",
                f"another agent works for the host {name}",
                "give each machine a name of its own with MEMDECK_HOST",
            ) from None
        return Publisher(database, self.local, self._host)

    def _enrol(self, database: Database, name: str) -> tuple[Any, ...]:
        """Add the host if the login owns the catalogue; any other login belongs to one host and adds none."""
        import psycopg

        try:
            row = database.execute("INSERT INTO host (name) VALUES (%s) RETURNING id", (name,)).fetchone()
        except psycopg.errors.InsufficientPrivilege:
            raise UsageError(
                "fleet.foreign_host",
                f"this login does not belong to the host {name}",
                f"`memdeck fleet init --host {name}=LOGIN` gives it one",
            ) from None
        assert row is not None
        return row

    def _do_job(self, database: Database) -> bool:
        """Do the oldest job that waits; return whether there was one."""
        job = None if self._stopping.is_set() else next_job(database, self._host)
        if job is not None:
            perform(database, self.local, job, self.wanted().get(job.path))
            self._beat(database)
        return job is not None

    # -- due work ---------------------------------------------------------------------------------------------

    def _keep_schedules(self) -> None:
        while not self._stopping.is_set():
            try:
                self._keep()
            except MemdeckError as error:
                self._failures += 1
                self.tell(str(error))
            self._stopping.wait(self.each_seconds)

    def _keep(self) -> None:
        """Run the due work of each workspace now; one without schedules is opened again when its files change."""
        for path in self.listed() if self.watch or self.maintain else ():
            stamps = tuple(file_stamp(os.path.join(path, MEMORY_FOLDER, name)) for name in ("config.md", "monitors.md"))
            again, before = self._ahead.get(path, (None, ()))
            now = self.clock()
            if self._stopping.is_set() or (stamps == before and (again is None or now < again)):
                continue
            keep = partial(self.local.keep, now=now, upkeep=self.maintain, watch=self.watch)
            found = self.local.one(path, keep)
            if isinstance(found, WorkspaceFailure):
                self._failures += 1
                self.tell(f"{path}: {found['code']}: {found['message']}")
                self._ahead[path] = now + LONGEST, stamps
                continue
            self._ahead[path] = found[0], stamps
            for line in found[1]:
                self.tell(line)


# -- jobs: a closed list of what can be asked of a host ----------------------------------------------------------------

_NEXT = """
SELECT j.id, j.verb, j.arguments, j.approved_by, w.path, now() FROM job j JOIN workspace w ON w.id = j.workspace
WHERE j.host = %s AND j.finished IS NULL AND (j.verb <> 'revert' OR j.approved IS NOT NULL) ORDER BY j.id LIMIT 1
"""
_END = "UPDATE job SET finished = now(), outcome = %s WHERE id = %s AND finished IS NULL"
_CLEAR = "DELETE FROM job WHERE host = %s AND finished < now() - interval '30 days'"


@dataclass(frozen=True, slots=True)
class Job:
    """A job for one workspace of this host, as it was asked for; `now` is the time of the database."""

    id: int
    verb: str
    arguments: Mapping[str, Any]
    approved_by: str | None
    path: Path
    now: datetime


def next_job(database: Database, host: int) -> Job | None:
    """Return the oldest job that a host has to do, also one that its last agent did not finish. psycopg.Error."""
    row = database.execute(_NEXT, (host,)).fetchone()
    if row is None:
        return None
    number, verb, arguments, approved_by, path, now = row
    return Job(number, verb, arguments, approved_by, Path(os.fsdecode(path)), now)


def perform(database: Database, local: LocalWorkspaces, job: Job, mode: str | None) -> None:
    """Do a job and record its answer, without secrets. psycopg.Error.

    `mode` is how this host publishes the workspace now, whatever the catalogue says; None: it does not, and the job is
    refused. An interrupted job is done again as a whole; a second record for one job is ignored.
    """
    from psycopg.types.json import Jsonb

    try:
        work = _work(local, job, mode)
        found = local.one(job.path, work)
        outcome = {"error": dict(found)} if isinstance(found, WorkspaceFailure) else found
    except MemdeckError as error:
        outcome = {"error": {"code": error.code, "message": error.message}}
    if mode == "names":
        outcome = without_quotes(outcome)
    database.execute(_END, (Jsonb(cleared_json(outcome)), job.id))


def clear(database: Database, host: int) -> int:
    """Delete the jobs of a host that ended more than 30 days ago, and return how many. psycopg.Error."""
    return database.execute(_CLEAR, (host,)).rowcount


def _work(local: LocalWorkspaces, job: Job, mode: str | None) -> Callable[[Workspace], dict[str, Any]]:
    """Return what a job asks for; RefusedError `fleet.job_refused` for anything that is not on the list."""
    if mode is None:
        raise RefusedError("fleet.job_refused", "the job is refused: the host does not publish this workspace", "")
    given = job.arguments if isinstance(job.arguments, dict) else {"": ""}
    match job.verb, given:
        case "check", {**more} if not more:
            return lambda workspace: local.check(workspace, job.now)
        case "maintain", {"dry_run": bool() as dry_run, "actor": str() as actor, **more} if not more and _is_name(
            actor
        ):
            return lambda workspace: local.maintain(workspace, job.now, actor=actor, dry_run=dry_run)
        case "revert", {"change": str() as change, **more} if not more and _is_name(change) and job.approved_by:
            return lambda workspace: _revert(workspace, change, f"fleet:{job.approved_by}"[:80], job.now)
    raise RefusedError(
        "fleet.job_refused",
        f"the job is refused: {str(job.verb)[:40]!r} with these arguments is not on the list",
        "see docs/fleet.md for what a job may ask",
    )


def _revert(workspace: Workspace, change: str, actor: str, now: datetime) -> dict[str, Any]:
    record = workspace.store.history.get(change)
    if record.undone_by is not None:
        raise NotFoundError("change.undone", f"change {record.id} was reverted already", "")
    done = revert_in(workspace.together, record.id, actor=actor, now=now)
    return {"change": record.id, "reverted_by": done.id, "files": [file.path for file in done.files]}


def _is_name(value: str) -> bool:
    return 0 < len(value) <= 80 and value.isprintable() and value == value.strip()
