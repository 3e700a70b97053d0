"""Doing one job on the host of its workspace."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.errors import BlockedError, BusyError, MemdeckError, NotFoundError
from memory.fleet.catalogue.outgoing import cleared, cleared_json, without_quotes
from memory.fleet.local import LocalWorkspaces, WorkspaceFailure, query_of
from memory.history import changes
from memory.workspace import Workspace

from .verbs import MOST_HITS, Check, Maintain, Revert, Search, WorkspaceJob, name_of

if TYPE_CHECKING:
    import psycopg

    Database = psycopg.Connection[tuple[Any, ...]]


class WorkspaceHeld(BusyError):
    """The workspace is in use by another program; a due time is not abandoned for that."""


def perform(database: Database, local: LocalWorkspaces, host: int, job: int, work: WorkspaceJob) -> bool:
    """Do a job and record its result, once: a job with a result, or for a due time that is done, is not done again.

    An interrupted job is done again as a whole; the changes it made before are in the history of the workspace and are
    not made twice. Return whether anything was done. psycopg.Error, BusyError: nothing is recorded, and the job has to
    be done later.
    """
    if database.execute("SELECT 1 FROM result WHERE job = %s", (job,)).fetchone() is not None:
        return False
    due = work.verb.due if isinstance(work.verb, Maintain) and not work.verb.dry_run else None
    row = database.execute(
        "SELECT path, mode, now() FROM workspace WHERE id = %s AND host = %s", (work.workspace, host)
    ).fetchone()
    name = name_of(work.verb)
    if row is None:
        note(database, host, job, name, {"error": {"code": "fleet.unknown", "message": "the workspace is not listed"}})
        return True
    path, mode, now = Path(os.fsdecode(row[0])), str(row[1]), row[2]
    done = "SELECT 1 FROM due WHERE workspace = %s AND due = %s"
    if due is not None and database.execute(done, (work.workspace, due)).fetchone() is not None:
        note(database, host, job, name, {"again": True, "due": due.isoformat()})
        return False
    try:
        outcome = _outcome(database, local, path, mode, work, now)
    except WorkspaceHeld:
        raise
    except MemdeckError as error:
        outcome = {"error": {"code": error.code, "message": error.message}}
    if mode == "names":
        outcome = without_quotes(outcome)
    with database.transaction():
        if due is not None and "error" not in outcome:
            database.execute(
                "INSERT INTO due (workspace, due, host, job) VALUES (%s, %s, %s, %s)", (work.workspace, due, host, job)
            )
        note(database, host, job, name, outcome)
    return True


def note(database: Database, host: int, job: int, verb: str, outcome: dict[str, Any]) -> None:
    """Record the result of a job, without secrets; a second record for one job is ignored."""
    from psycopg.types.json import Jsonb

    database.execute(
        "INSERT INTO result (job, host, verb, outcome) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
        (job, host, verb, Jsonb(cleared_json(outcome))),
    )


def _outcome(
    database: Database, local: LocalWorkspaces, path: Path, mode: str, work: WorkspaceJob, now: datetime
) -> dict[str, Any]:
    match work.verb:
        case Maintain(due, dry_run, actor):
            done: Any = local.one(path, lambda one: _maintain(local, one, due, now, actor, dry_run))
        case Check():
            done = local.one(path, local.check)
        case Search(query, limit, kinds):
            asked = query_of(query, now, kinds)
            done = local.one(path, lambda one: _search(local, one, asked, limit or MOST_HITS, mode))
        case Revert(change, approval):
            actor = _approved(database, work.workspace, change, approval)
            done = local.one(path, lambda one: _revert(one, change, actor, now))
    if isinstance(done, WorkspaceFailure):
        if done.busy and isinstance(work.verb, Maintain) and work.verb.due is not None:
            raise WorkspaceHeld(done["code"], done["message"], "the job is done later")
        return {"error": dict(done)}
    return done  # type: ignore[no-any-return]


def _maintain(
    local: LocalWorkspaces, workspace: Workspace, due: datetime | None, now: datetime, actor: str, dry_run: bool
) -> dict[str, Any]:
    if due is not None and not dry_run:
        # An interrupted run may already have made its change: it has exactly this time, and is not made again.
        found = workspace.store.history.list(actor=actor, since=due, until=due)
        made = [changes.row(one) for one in found if one.time == due and one.undone_by is None]
        if made:
            return {"again": True, "due": due.isoformat(), "changes": made}
    done = local.maintain(workspace, due or now, actor=actor, dry_run=dry_run)
    return done if due is None else {**done, "due": due.isoformat()}


def _search(local: LocalWorkspaces, workspace: Workspace, asked: Any, limit: int, mode: str) -> dict[str, Any]:
    found = []
    for hit in local.find(workspace, asked, limit):
        # The whole entry is scanned: a value may be next to its name on another line than the one shown.
        title, snippet, _ = cleared(hit.entry.title, hit.snippet if mode == "full" else "", hit.entry.text)
        row = {key: value for key, value in hit.json().items() if key not in ("workspace", "host")}
        found.append({**row, "date": hit.entry.date, "title": title, "snippet": snippet})
    return {"hits": found}


def _approved(database: Database, workspace: int, change: str, approval: int) -> str:
    row = database.execute(
        "SELECT workspace, change, approved_by FROM approval WHERE id = %s AND approved IS NOT NULL", (approval,)
    ).fetchone()
    if row is None or row[:2] != (workspace, change):
        raise BlockedError(
            "fleet.not_approved", f"nobody approved the revert of {change}", "`memdeck fleet approve` does"
        )
    return f"fleet:{row[2]}"[:80]


def _revert(workspace: Workspace, change: str, actor: str, now: datetime) -> dict[str, Any]:
    record = workspace.store.history.get(change)
    if record.undone_by is not None:
        raise NotFoundError("change.undone", f"change {record.id} is taken back already", "")
    done = workspace.revert(record.id, actor=actor, now=now)
    return {"change": record.id, "reverted_by": done.id, "files": [file.path for file in done.files]}
