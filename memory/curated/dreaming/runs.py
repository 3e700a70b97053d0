"""The records of dreams, one row for each run from its beginning to its end, and the lock of dreaming.

The lock allows one run at a time on each side; it is released when its process is gone.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from memory.base.programs import is_alive
from memory.curated.control.decision import decided
from memory.curated.index.records import add_event, milliseconds, time_of
from memory.curated.model import Json
from memory.curated.sides import Side
from memory.errors import NotFoundError

STALE_MS = 3_600_000
"""How long the lock is valid, in milliseconds."""
_COLUMNS = (
    "id", "workspace_id", "scope", "started_at", "finished_at", "status", "input_count", "promoted_count", "error",
    "metadata",
)  # fmt: skip


class DreamRun(NamedTuple):
    """One run; times are milliseconds. `status` is running, completed or failed; `facts` are its own notes."""

    id: str
    workspace_id: str
    scope: str
    started_at: int
    finished_at: int | None
    status: str
    input_count: int
    promoted_count: int
    error: str | None
    facts: Mapping[str, Any]

    @property
    def state(self) -> str:
        """The outcome: running, failed, promoted, or skipped for a run that promoted nothing."""
        if self.status != "completed":
            return self.status
        return "promoted" if self.promoted_count else "skipped"

    @property
    def key(self) -> str:
        """The idempotency key of its proposal."""
        return f"dream:{self.id}"

    def json(self) -> Json:
        """Return it for programs."""
        plain = ("forced", "prompt_version", "target_filename", "artifact_path", "failure_path", "decision_id",
                 "source", "llm_error", "reason", "retries", "candidates", "left_out")  # fmt: skip
        defaults: Json = {"forced": False, "source": "rule", "candidates": [], "left_out": []}
        return {
            "id": self.id, "run_id": self.id, "state": self.state, "status": self.status, "scope": self.scope,
            "workspace_id": self.workspace_id or None, "agent_name": None, "agent_tier": None,
            "started_at": time_of(self.started_at),
            "finished_at": None if self.finished_at is None else time_of(self.finished_at),
            "input_count": self.input_count, "promoted_count": self.promoted_count, "error": self.error,
            **{key: self.facts.get(key, defaults.get(key)) for key in plain},
        }  # fmt: skip


def runs(side: Side, where: str = "1", values: Sequence[object] = (), limit: int = 200) -> list[DreamRun]:
    """Return the runs that match a condition, the newest first."""
    columns = ", ".join(_COLUMNS)
    text = f"SELECT {columns} FROM memory_consolidations WHERE {where} ORDER BY started_at DESC, id DESC LIMIT ?"
    rows = side.records.look(lambda db: db.execute(text, [*values, limit]).fetchall(), list[Any]())
    return [DreamRun._make((*row[:-1], json.loads(row[-1]))) for row in rows]


def find_run(sides: Iterable[Side], name: str) -> tuple[Side, DreamRun]:
    """Return the run with an id, or the newest of a day such as `2026-01-15`; NotFoundError `memory.not_found`."""
    found = [(side, one) for side in sides for one in runs(side)]
    found = [pair for pair in found if name in (pair[1].id, time_of(pair[1].started_at)[:10])]
    if not found:
        raise NotFoundError("memory.not_found", f"there is no dream {name[:80]!r}", "`memdeck curated dream list`")
    return max(found, key=lambda pair: (pair[1].started_at, pair[1].id))


def record(side: Side, run: DreamRun, op: str, now: datetime, facts: Json, promoted: Sequence[str] = ()) -> None:
    """Record the state of a run with its event, in one step; `promoted` are the memories that it promoted."""

    def write(db: sqlite3.Connection) -> None:
        at, marked = milliseconds(now), 0
        text = "UPDATE memory_recall_signals SET promoted_at = ?, promotion_run_id = ? WHERE chunk_id = ?"
        for chunk in promoted:
            marked += db.execute(text, (at, run.id, chunk)).rowcount
        notes = json.dumps({**run.facts, **facts}, ensure_ascii=False)
        row = (*run._replace(promoted_count=marked)[:-1], notes)
        marks = ",".join("?" * len(_COLUMNS))
        db.execute(f"INSERT OR REPLACE INTO memory_consolidations ({', '.join(_COLUMNS)}) VALUES ({marks})", row)
        noted = {"target_id": run.id, "run_id": run.id, "reason": run.error, **facts}
        if op == "promoted":
            noted["promoted_count"] = marked
        add_event(db, side.records.workspace_id, f"memory.dream.run.{op}", now, side.root(side.name), noted)

    side.records.run(write)


def fail(side: Side, run: DreamRun, error: str, now: datetime, **facts: str | None) -> None:
    """Record that a run has failed, and why."""
    ended = run._replace(status="failed", finished_at=milliseconds(now), error=error)
    record(side, ended, "failed", now, facts)


def finish(side: Side, run: DreamRun, now: datetime) -> None:
    """End a run according to the decision on its proposal."""
    decision = decided(side, f"caller:{run.key}")
    if decision is None:
        fail(side, run, "it was interrupted before its proposal was decided", now)
    elif decision.abandoned or (decision.changes and decision.applied_at is None):
        fail(side, run, decision.abandoned or "its proposal was not carried out", now)
    else:
        ids = run.facts.get("promotes", []) if decision.op in ("add", "update") else []
        ended = run._replace(status="completed", finished_at=milliseconds(now))
        record(side, ended, "promoted", now, {"decision_id": decision.id, "reason": decision.reason}, ids)


def settle(side: Side, now: datetime) -> None:
    """End the runs whose process is gone.

    A proposal that was decided before the crash counts: its memories are marked as promoted. All others stay unmarked,
    so that the next run gathers them again.
    """
    for run in runs(side, "status = 'running'"):
        live = holder(side, now)
        if live is None or live.get("run_id") != run.id:
            finish(side, run, now)


# -- the lock -------------------------------------------------------------------------------------------------------


def holder(side: Side, now: datetime) -> Json | None:
    """Return the lock's holder: `pid`, `run_id` and `since` (milliseconds); None without one, or for a stale one."""
    found = side.note("dream")
    return found if _counts(found, now) else None


def _counts(note: Json, now: datetime) -> bool:
    pid, since = note.get("pid"), note.get("since")
    if not isinstance(pid, int) or not isinstance(since, int) or pid <= 0:
        return False
    return abs(milliseconds(now) - since) < STALE_MS and is_alive(pid)


def take(side: Side, run_id: str, now: datetime) -> Json | None:
    """Take the lock and return None, or return who holds it."""
    own = {"pid": os.getpid(), "run_id": run_id, "since": milliseconds(now)}
    others: list[Json] = []

    def change(values: Json) -> Json:
        if not _counts(values, now):
            return own
        others.append(values)
        return values

    side.change_note("dream", change, command="dream", now=now)
    return others[0] if others else None


def give(side: Side, run_id: str, now: datetime) -> None:
    """Release the lock, if it still belongs to a run."""
    side.change_note("dream", lambda values: {} if values.get("run_id") == run_id else values, command="dream", now=now)
