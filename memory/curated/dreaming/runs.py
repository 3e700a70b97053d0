"""The records of dreams: one row for each run, from its beginning to its end.

A run is the object that programs get of it, and a few notes of its own beside. A row of a run at work is the lock of
dreaming on its side, for an hour at most and as long as its process lives.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from memory.base.programs import is_alive
from memory.curated.control.decision import decided
from memory.curated.model import Json
from memory.curated.records import add_event, milliseconds, time_of
from memory.curated.sides import Side, root_of
from memory.errors import NotFoundError
from memory.storage.changes import new_id

STALE_MS = 3_600_000
"""How long a run may take, in milliseconds."""
_NOTES = ("at", "pid", "promotes")
"""What a run notes for itself: when it began, in milliseconds, its process, and the memories that it promotes."""


def new_run(side: Side, now: datetime, **facts: Any) -> Json:
    """Return a run that begins; its `status` is running, completed or failed, its `state` running, failed, promoted, or
    skipped for a run that promoted nothing.
    """
    name, at = f"dream-{new_id(now)}", milliseconds(now)
    return {
        "id": name, "run_id": name, "state": "running", "status": "running", "scope": side.name,
        "workspace_id": side.workspace_id or None, "agent_name": None, "agent_tier": None, "started_at": time_of(at),
        "finished_at": None, "input_count": 0, "promoted_count": 0, "error": None, "forced": False,
        "prompt_version": None, "target_filename": None, "artifact_path": None, "decision_id": None, "source": "rule",
        "llm_error": None, "reason": None, "retries": None, "candidates": [], "left_out": [], "promotes": [], "at": at,
        "pid": os.getpid(), **facts,
    }  # fmt: skip


def shown(run: Json) -> Json:
    """Return a run for programs."""
    return {key: value for key, value in run.items() if key not in _NOTES}


def key_of(run: Json) -> str:
    """Return the idempotency key of the proposal of a run."""
    return f"dream:{run['id']}"


def runs(side: Side, where: str = "1", values: Sequence[object] = (), limit: int = 200) -> list[Json]:
    """Return the runs that match a condition, the newest first."""
    return side.records.look(lambda db: _select(db, where, values, limit), [])


def _select(db: sqlite3.Connection, where: str, values: Sequence[object] = (), limit: int = 200) -> list[Json]:
    text = f"SELECT run FROM memory_consolidations WHERE {where} ORDER BY started_at DESC, id DESC LIMIT ?"
    return [json.loads(row[0]) for row in db.execute(text, [*values, limit])]


def find_run(sides: Iterable[Side], name: str) -> tuple[Side, Json]:
    """Return the run with an id, or the newest of a day such as `2026-01-15`; NotFoundError `memory.not_found`."""
    found = [(side, one) for side in sides for one in runs(side) if name in (one["id"], one["started_at"][:10])]
    if not found:
        raise NotFoundError("memory.not_found", f"there is no dream {name[:80]!r}", "`memdeck curated dream list`")
    return max(found, key=lambda pair: (pair[1]["at"], pair[1]["id"]))


def begin(side: Side, run: Json, now: datetime, last: Json | None) -> Json | None:
    """Record that a run begins and return None, or return the run that is at work or ended since `last`."""

    def write(db: sqlite3.Connection) -> Json | None:
        known = _select(db, "status IN ('running', 'completed')")
        newest = next((one for one in known if one["status"] == "completed"), None)
        at_work = next((one for one in known if is_at_work(one, now)), None)
        if at_work is not None or newest != last:
            return at_work or newest
        _put(db, side, run, "started", now, {"summary": f"memories to gather: {run['input_count']}"})
        return None

    return side.records.run(write)


def finish(side: Side, run: Json, now: datetime, error: str | None = None) -> None:
    """End a run according to the decision on its proposal, in one step with its event and the marks of its memories.

    `error` says why it failed before there was a decision.
    """
    decision = None if error else decided(side, f"caller:{key_of(run)}")
    if decision is None:
        error = error or "it was interrupted before its proposal was decided"
    elif decision.abandoned or (decision.changes and decision.applied_at is None):
        error = decision.abandoned or "its proposal was not carried out"
    facts: Json = {}
    promoted: Sequence[str] = ()
    if decision is not None and error is None:
        facts = {"decision_id": decision.id, "reason": decision.reason}
        promoted = run["promotes"] if decision.op in ("add", "update") else ()
    at = milliseconds(now)

    def write(db: sqlite3.Connection) -> None:
        text = "UPDATE memory_recall_signals SET promoted_at = ?, promotion_run_id = ? WHERE chunk_id = ?"
        marked = sum(db.execute(text, (at, run["id"], chunk)).rowcount for chunk in promoted)
        ended: Json = {
            **facts, "state": "failed" if error else "promoted" if marked else "skipped",
            "status": "failed" if error else "completed", "error": error, "promoted_count": marked,
            "finished_at": time_of(at),
        }  # fmt: skip
        noted = {**facts, "promoted_count": marked, "reason": error or facts.get("reason")}
        _put(db, side, {**run, **ended}, "failed" if error else "promoted", now, noted)

    side.records.run(write)


def _put(db: sqlite3.Connection, side: Side, run: Json, op: str, now: datetime, facts: Json) -> None:
    row = (run["id"], run["at"], run["status"], json.dumps(run, ensure_ascii=False))
    db.execute("INSERT OR REPLACE INTO memory_consolidations VALUES (?, ?, ?, ?)", row)
    noted = {"target_id": run["id"], "run_id": run["id"], **facts}
    add_event(db, side.records.workspace_id, f"memory.dream.run.{op}", now, root_of(side.name), noted)


def settle(side: Side, now: datetime) -> None:
    """End the runs whose process is gone, and those whose proposal is carried out.

    The memories of a proposal that was carried out are marked as promoted. All others stay unmarked, so that the next
    run gathers them again.
    """
    for run in runs(side, "status = 'running'"):
        decision = decided(side, f"caller:{key_of(run)}")
        if not is_at_work(run, now) or (decision is not None and decision.applied_at is not None):
            finish(side, run, now)


def is_at_work(run: Json, now: datetime) -> bool:
    """Return whether the process of a run lives, and the run began less than an hour ago."""
    pid = run["pid"]
    fresh = run["status"] == "running" and abs(milliseconds(now) - run["at"]) < STALE_MS
    return fresh and isinstance(pid, int) and is_alive(pid)
