"""Clearing what jobs left behind once nobody asks for it any more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memory.fleet.catalogue.connect import lock_of

from .engine import queue_of

if TYPE_CHECKING:
    import psycopg

KEEP_DAYS = 30
"""How long an agent keeps finished jobs and what they came to, unless it is told otherwise."""

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


class Cleared(NamedTuple):
    """How many jobs, results and due times were cleared."""

    jobs: int
    results: int
    due: int


def clear(database: psycopg.Connection[tuple[Any, ...]], host: int, name: str, days: int) -> Cleared:
    """Clear what the jobs of a host left behind more than some days ago. psycopg.Error.

    A job that waits or runs stays, however old it is, and a due time stays as long as one of its workspace does, so
    that nothing is done twice. What a revert came to stays with its approval.
    """
    values = {"host": host, "queue": queue_of(name), "days": days, "lock": lock_of(0).removesuffix("0")}
    with database.transaction():
        jobs, results, due = (database.execute(words.encode(), values).rowcount for words in (_JOBS, _RESULTS, _DUE))
    return Cleared(jobs, results, due)
