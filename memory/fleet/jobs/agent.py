"""The agent of a host: it publishes the workspaces of the host, does its jobs, and reports that it is alive.

It never changes files because of the catalogue. While the database is down, everything on the host continues as before;
the agent retries and catches up.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from memory.errors import BusyError, ConflictError, MemdeckError, UsageError
from memory.fleet.catalogue.connect import connect, told
from memory.fleet.catalogue.publish import TO_THE_END, WHILE_SERVING, Pace, Publisher
from memory.fleet.local import LocalWorkspaces

from .engine import KEEP_DAYS, clear, defer, engine, queue_of
from .perform import note, perform
from .verbs import CLEAR, TASK, TICK, Maintain, WorkspaceJob, read_work

if TYPE_CHECKING:
    import procrastinate
    import psycopg
    from procrastinate.job_context import JobContext

EACH_SECONDS = 1.0
"""Seconds between two checks of the workspaces' files."""
CONCURRENCY = 2
"""Jobs that one agent does at once."""
_LONGEST_PAUSE = 30.0
_AGAIN_SECONDS = 1
_CLEARING = "23 * * * *"
"""When an agent clears: each hour; if it was not running at that minute, soon after it starts."""
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
_LOCK_SPACE = 0x666C74  # "flt"

Told = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The settings of an agent: the database, a cron line for maintenance (empty: none), and how much at once.

    `wanted` returns the workspaces and how each is published (`full` or `names`); it is called in each round.
    `keep_days`: how many days finished jobs of the host are kept.
    """

    url: str
    wanted: Callable[[], Mapping[Path, str]]
    maintain: str = ""
    concurrency: int = CONCURRENCY
    keep_days: int = KEEP_DAYS
    each_seconds: float = EACH_SECONDS


class HostAgent:
    """One agent; `run` returns after `stop` was called from another thread or from a signal handler."""

    def __init__(
        self, local: LocalWorkspaces, settings: AgentSettings, clock: Callable[[], datetime], tell: Told
    ) -> None:
        """Nothing is connected yet. `clock` is that of the host, only compared with the database's."""
        self._local = local
        self._settings = settings
        self._clock = clock
        self._tell = tell
        self._stopping = threading.Event()
        self._ready = threading.Event()
        self._host = 0
        self._locks: dict[int, threading.Lock] = {}
        self._guard = threading.Lock()
        self.published = 0
        """Entries that were sent."""
        self.rounds = 0
        """Rounds of publishing after which no workspace was left for the next one."""

    def stop(self) -> None:
        """End `run`: no new job is started, running ones are finished."""
        self._stopping.set()

    def run(self, *, once: bool = False) -> None:
        """Publish and do jobs until `stop`; with `once`, publish everything, do the waiting jobs, and return.

        UsageError, ConflictError `fleet.host_taken`: it cannot start. A database that is down is waited for, except
        with `once`.
        """
        if once:
            with connect(self._settings.url) as database:
                publisher = self._claim(database)
                with told():
                    self._round(database, publisher, pace=TO_THE_END)
                asyncio.run(self._work(wait=False))
                with told():
                    self._round(database, publisher, pace=TO_THE_END)
            return
        failed: list[BaseException] = []

        def publish() -> None:
            try:
                self._publish()
            except BaseException as error:
                failed.append(error)
                self._stopping.set()

        thread = threading.Thread(target=publish, name="publisher")
        thread.start()
        try:
            self._take_jobs()
        finally:
            self._stopping.set()
            thread.join()
        if failed:
            raise failed[0]

    # -- publishing -------------------------------------------------------------------------------------------

    def _publish(self) -> None:
        pause = 1.0
        while not self._stopping.is_set():
            try:
                with connect(self._settings.url) as database:
                    publisher = self._claim(database)
                    self._ready.set()
                    while not self._stopping.is_set():
                        start = monotonic()
                        with told():
                            left = self._round(database, publisher)
                        pause = 1.0
                        if not left:
                            # A long round must not delay the discovery of changes made during it.
                            each = self._settings.each_seconds
                            self._stopping.wait(max(each / 2, each - (monotonic() - start)))
            except UsageError as error:
                # A dropped catalogue is being created again: it is missing, or lacks this host.
                if error.code not in ("fleet.not_initialised", "fleet.unknown_host") or not self._ready.is_set():
                    raise
                self._tell(f"{error}; trying again")
            except (BusyError, ConflictError) as error:
                if isinstance(error, ConflictError) and not self._ready.is_set():
                    raise
                self._tell(f"{error}; trying again")
            self._stopping.wait(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _round(
        self,
        database: psycopg.Connection[tuple[Any, ...]],
        publisher: Publisher,
        pace: Pace = WHILE_SERVING,
    ) -> int:
        """Publish, and return how many workspaces were not read since the start."""
        now = self._beat(database)
        go_on = lambda: not self._stopping.is_set()  # noqa: E731
        done = publisher.round(self._settings.wanted(), now, go_on, pace=pace)
        self.published += done.added
        self.rounds += not done.left
        if done.added or done.removed:
            self._tell(
                f"published; new entries: {done.added:,}, gone: {done.removed:,}, workspaces: {done.workspaces:,}"
            )
        return done.left

    def _beat(self, database: psycopg.Connection[tuple[Any, ...]]) -> datetime:
        """Report that the host is alive, and return the time of the database."""
        row = database.execute(
            "UPDATE host SET seen = now(), skew = extract(epoch FROM %s - clock_timestamp())"
            " WHERE id = %s RETURNING seen",
            (self._clock(), self._host),
        ).fetchone()
        if row is None:
            raise UsageError(
                "fleet.unknown_host",
                f"the catalogue does not know the host {self._local.host}",
                "see memdeck fleet init",
            )
        seen: datetime = row[0]
        return seen

    def _claim(self, database: psycopg.Connection[tuple[Any, ...]]) -> Publisher:
        """Find the number of the host, claim it, and return its publisher: two agents of the same host would undo each
        other's work.
        """
        name = self._local.host
        with told():
            row = database.execute("SELECT id FROM host WHERE name = %s", (name,)).fetchone()
            if row is None:
                row = self._enrol(database, name)
            self._host = int(row[0])
            held = self._hold(database)
        if not held:
            raise ConflictError(
                "fleet.host_taken",
                f"another agent works for the host {name}",
                "give each machine a name of its own with MEMDECK_HOST",
            )
        return Publisher(database, self._local, self._host)

    def _hold(self, database: psycopg.Connection[tuple[Any, ...]]) -> bool:
        """Lock the host for this connection; a connection that was just closed may keep the lock for a moment."""
        import psycopg

        try:
            with database.transaction():
                database.execute("SET LOCAL lock_timeout = '5s'")
                database.execute("SELECT pg_advisory_lock(%s, %s)", (_LOCK_SPACE, self._host))
        except psycopg.errors.LockNotAvailable:
            return False
        return True

    def _enrol(self, database: psycopg.Connection[tuple[Any, ...]], name: str) -> tuple[Any, ...]:
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

    # -- jobs -------------------------------------------------------------------------------------------------

    def _take_jobs(self) -> None:
        pause = 1.0
        while not self._stopping.is_set():
            if not self._ready.wait(0.2):
                continue
            try:
                asyncio.run(self._work(wait=True))
                pause = 1.0
            except Exception as error:  # usually a lost connection; in any case, jobs are not abandoned
                self._tell(f"jobs: {type(error).__name__}: {str(error)[:200]}; trying again")
                self._stopping.wait(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)

    async def _work(self, *, wait: bool) -> None:
        app = engine(self._settings.url, most=self._settings.concurrency + 3)
        self.add_tasks(app)
        queue = queue_of(self._local.host)
        async with app.open_async():
            # This agent is the only one of its host, so jobs in state "doing" were interrupted with the previous agent.
            for job in await app.job_manager.list_jobs_async(queue=queue, status="doing"):
                assert job.id is not None
                await app.job_manager.retry_job_by_id_async(job.id, retry_at=_LONG_AGO)
            worker = asyncio.create_task(
                app.run_worker_async(
                    queues=[queue],
                    name=self._local.host,
                    concurrency=self._settings.concurrency,
                    wait=wait,
                    install_signal_handlers=False,
                    shutdown_graceful_timeout=60,
                    update_heartbeat_interval=5,
                    stalled_worker_timeout=30,
                )
            )
            while not worker.done():
                await asyncio.wait({worker}, timeout=0.2)
                if self._stopping.is_set() and not worker.done():
                    worker.cancel()
                    with suppress(asyncio.CancelledError):
                        await worker
            if not worker.cancelled():
                worker.result()

    def add_tasks(self, app: procrastinate.App) -> None:
        """Register the tasks with the engine: one that does jobs, one that adds due ones, and one that clears."""
        import procrastinate

        queue = queue_of(self._local.host)
        # The database or a workspace is not available now; no job is abandoned for that.
        later = procrastinate.RetryStrategy(wait=_AGAIN_SECONDS, retry_exceptions=[BusyError])

        @app.task(name=TASK, queue=queue, pass_context=True, retry=later)
        def do(context: JobContext, /, **given: Any) -> None:
            self._do(context.job.id or 0, given)

        @app.periodic(cron=_CLEARING, periodic_id=queue)
        @app.task(name=CLEAR, queue=queue, retry=later)
        def clearing(timestamp: int) -> None:  # noqa: ARG001
            self._clear()

        if self._settings.maintain:

            @app.periodic(cron=self._settings.maintain, periodic_id=queue)
            @app.task(name=TICK, queue=queue, retry=later)
            def tick(timestamp: int) -> None:
                self._tick(datetime.fromtimestamp(timestamp, UTC))

    def _do(self, job: int, given: Mapping[str, Any]) -> None:
        try:
            work = read_work(given)
        except MemdeckError as error:
            self._tell(f"job {job}: {error}")
            with connect(self._settings.url) as database, told():
                note(database, self._host, job, "", {"error": {"code": error.code, "message": error.message}})
            raise
        # The engine serialises jobs of a workspace; this also covers a job that was thought lost but is still running.
        with self._guard:
            lock = self._locks.setdefault(work.workspace, threading.Lock())
        with lock, connect(self._settings.url) as database, told():
            perform(database, self._local, self._host, job, work)

    def _clear(self) -> None:
        """Clear old records of the jobs of this host."""
        with connect(self._settings.url) as database, told():
            done = clear(database, self._host, self._local.host, self._settings.keep_days)
        if any(done):
            self._tell(f"cleared {done.jobs:,} finished jobs, {done.results:,} results and {done.due:,} due times")

    def _tick(self, due: datetime) -> None:
        """Add a maintenance job for each workspace of the host, all or none."""
        with connect(self._settings.url) as database, told():
            schedule(database, self._local.host, due)


def schedule(database: psycopg.Connection[tuple[Any, ...]], host: str, due: datetime) -> list[int]:
    """Add a maintenance job for each workspace of a host and one due time, and return their numbers. psycopg.Error."""
    with database.transaction():
        rows = database.execute(
            "SELECT w.id FROM workspace w JOIN host h ON h.id = w.host WHERE h.name = %s ORDER BY w.id", (host,)
        ).fetchall()
        return defer(database, [(host, WorkspaceJob(number, Maintain(due))) for (number,) in rows])
