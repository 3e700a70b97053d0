"""The jobs of a fleet on many hosts: a closed list of what can be asked of a host, asking for it, and doing it there.

No part of a job is ever a command. A job is one row of the catalogue; only the login that asked reads its answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memory.errors import MemdeckError, NotFoundError, RefusedError
from memory.fleet.catalogue import Database
from memory.fleet.local import LocalWorkspaces, WorkspaceFailure
from memory.fleet.publish import cleared_json, without_quotes
from memory.history.undo import revert_in
from memory.workspace import Workspace

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
