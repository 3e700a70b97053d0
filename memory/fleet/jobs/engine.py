"""The job engine: procrastinate, with its tables in the schema of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memory.fleet.catalogue.connect import arguments_of, lock_of

from .verbs import TASK, WorkspaceJob
from .verbs import arguments_of as job_arguments

if TYPE_CHECKING:
    import procrastinate
    import psycopg

MOST_DELAY = 86_400
"""Seconds after which a due time that passed while no agent ran is not made up for any more."""


def queue_of(host: str) -> str:
    """Return the queue of a host."""
    return f"host:{host}"


def engine(url: str, *, most: int = 4) -> procrastinate.App:
    """Return the engine for an agent; it holds up to `most` connections, one of which listens."""
    import procrastinate

    connector = procrastinate.PsycopgConnector(
        conninfo="", kwargs=arguments_of(url), min_size=1, max_size=most, timeout=30.0
    )
    return procrastinate.App(connector=connector, periodic_defaults={"max_delay": MOST_DELAY})


def defer(connection: psycopg.Connection[tuple[Any, ...]], jobs: Sequence[tuple[str, WorkspaceJob]]) -> list[int]:
    """Hand jobs (host, work) to the engine, in the transaction of the connection, and return their numbers.

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
