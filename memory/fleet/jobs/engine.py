"""The job engine: procrastinate, with its tables in the schema of the catalogue; and clearing old records of jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.fleet.catalogue.connect import arguments_of, lock_of

from .verbs import TASK, WorkspaceJob
from .verbs import arguments_of as job_arguments

if TYPE_CHECKING:
    import procrastinate
    import psycopg

MOST_DELAY = 86_400
"""Seconds after which a due time that was missed while no agent ran is no longer made up for."""
KEEP_DAYS = 30
"""Default days for which an agent keeps finished jobs and their results."""

_JOBS = """
DELETE FROM procrastinate_jobs j
WHERE queue_name = %(queue)s AND status NOT IN ('todo', 'doing') AND NOT EXISTS (
    SELECT 1 FROM procrastinate_events e WHERE e.job_id = j.id AND e.at > now() - make_interval(days => %(days)s)
)
"""
_RESULTS = """
DELETE FROM result r
WHERE host = %(host)s AND finished < now() - make_interval(days => %(days)s)
    AND NOT EXISTS (SELECT 1 FROM procrastinate_jobs j WHERE j.id = r.job)
    AND NOT EXISTS (SELECT 1 FROM approval a WHERE a.job = r.job)
"""
_DUE = """
DELETE FROM due d
WHERE host = %(host)s AND due < now() - make_interval(days => %(days)s) AND NOT EXISTS (
    SELECT 1 FROM procrastinate_jobs j WHERE j.queue_name = %(queue)s AND j.lock = %(lock)s || d.workspace
        AND j.status IN ('todo', 'doing')
)
"""


def queue_of(host: str) -> str:
    """Return the queue of a host."""
    return f"host:{host}"


def engine(url: str, *, most: int = 4) -> procrastinate.App:
    """Return the engine for an agent; it uses up to `most` connections, one of which listens."""
    import procrastinate

    connector = procrastinate.PsycopgConnector(
        conninfo="", kwargs=arguments_of(url), min_size=1, max_size=most, timeout=30.0
    )
    return procrastinate.App(connector=connector, periodic_defaults={"max_delay": MOST_DELAY})


def defer(connection: psycopg.Connection[tuple[Any, ...]], jobs: Sequence[tuple[str, WorkspaceJob]]) -> list[int]:
    """Add jobs (host, work) to the engine, in the transaction of the connection, and return their numbers.

    psycopg.Error.
    """
    import procrastinate
    from procrastinate.exceptions import ConnectorException
    from procrastinate.jobs import Job
    from procrastinate.manager import JobManager

    if not jobs:
        return []
    made = [
        Job(
            id=None,
            queue=queue_of(host),
            lock=lock_of(work.workspace),
            queueing_lock=None,
            task_name=TASK,
            task_kwargs=job_arguments(work),
        )
        for host, work in jobs
    ]
    try:
        found = JobManager(procrastinate.SyncPsycopgConnector()).batch_defer_jobs(made, connection=connection)
    except ConnectorException as error:
        if error.__cause__ is not None:
            raise error.__cause__ from None
        raise
    return [number for one in found if (number := one.id) is not None]


class Cleared(NamedTuple):
    """How many jobs, results and due times were cleared."""

    jobs: int
    results: int
    due: int


def clear(database: psycopg.Connection[tuple[Any, ...]], host: int, name: str, days: int) -> Cleared:
    """Clear the records of a host's jobs that are more than `days` days old. psycopg.Error.

    A job that waits or runs stays, however old it is. A due time stays as long as its workspace has such a job, so that
    nothing is done twice. The result of a revert stays with its approval.
    """
    values = {"host": host, "queue": queue_of(name), "days": days, "lock": lock_of(0).removesuffix("0")}
    with database.transaction():
        jobs, results, due = (database.execute(words.encode(), values).rowcount for words in (_JOBS, _RESULTS, _DUE))
    return Cleared(jobs, results, due)
