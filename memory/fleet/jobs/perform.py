"""Doing one job on the host that holds its workspace."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.errors import BlockedError, BusyError, MemdeckError, NotFoundError
from memory.fleet.catalogue.outgoing import cleared, cleared_json, without_quotes
from memory.fleet.local import LocalWorkspaces, WorkspaceFailure, query_of

from .verbs import MOST_HITS, Check, Maintain, Revert, Search, WorkspaceJob

if TYPE_CHECKING:
    import psycopg

    from memory.workspace import Workspace

    Database = psycopg.Connection[tuple[Any, ...]]


class WorkspaceHeld(BusyError):
    """The workspace is held by another program; a due time is not given up for that."""


def perform(database: Database, local: LocalWorkspaces, host: int, job: int, work: WorkspaceJob) -> bool:
    """Do a job and note what it came to, once: what is noted already, or a due time that is done, is not done again.

    A job that was broken off is done again as a whole; whatever it changed before is in the history of the workspace
    and is not changed twice. Return whether anything was done. psycopg.Error, BusyError: nothing is noted, it is to be
    done later.
    """
    if database.execute("SELECT 1 FROM result WHERE job = %s", (job,)).fetchone() is not None:
        return False
    due = work.verb.due if isinstance(work.verb, Maintain) and not work.verb.dry_run else None
    row = database.execute(
        "SELECT path, mode, now() FROM workspace WHERE id = %s AND host = %s", (work.workspace, host)
    ).fetchone()
    name = type(work.verb).__name__.lower()
    if row is None:
        note(database, host, job, name, {"error": {"code": "fleet.unknown", "message": "the workspace is not listed"}})
        return True
    path, mode, now = Path(os.fsdecode(row[0])), str(row[1]), row[2]
    if due is not None and _is_done(database, work.workspace, due):
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
    """Note what a job came to, without secrets; a second note about one job is left out."""
    from psycopg.types.json import Jsonb

    database.execute(
        "INSERT INTO result (job, host, verb, outcome) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
        (job, host, verb, Jsonb(cleared_json(outcome))),
    )


def _is_done(database: Database, workspace: int, due: datetime) -> bool:
    words = "SELECT 1 FROM due WHERE workspace = %s AND due = %s"
    return database.execute(words, (workspace, due)).fetchone() is not None


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
        # A run that was broken off after its change: the change is at exactly this time, and is not made again.
        made = _changes_at(workspace, due, actor)
        if made:
            return {"again": True, "due": due.isoformat(), "changes": made}
    done = local.maintain(workspace, due or now, actor=actor, dry_run=dry_run)
    return done if due is None else {**done, "due": due.isoformat()}


def _changes_at(workspace: Workspace, due: datetime, actor: str) -> list[dict[str, Any]]:
    from memory.history.changes import list_changes, row

    found = list_changes(workspace, actor=actor, since=due, until=due)
    return [row(one) for one in found if one.time == due and one.undone_by is None]


def _search(local: LocalWorkspaces, workspace: Workspace, asked: Any, limit: int, mode: str) -> dict[str, Any]:
    found = []
    for hit in local.find(workspace, asked, limit):
        # The whole entry is looked at: a value may stand beside its name on another line than that which is shown.
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
    from memory.history.taken_back import revert_change

    record = workspace.store.history.get(change)
    if record.undone_by is not None:
        raise NotFoundError("change.undone", f"change {record.id} is taken back already", "")
    done = revert_change(workspace, record.id, actor=actor, now=now)
    return {"change": record.id, "reverted_by": done.id, "files": [file.path for file in done.files]}
