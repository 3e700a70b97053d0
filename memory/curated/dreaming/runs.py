"""The records of dreams: one row for each run, from its beginning to its end.

A row of a run at work is the lock of dreaming on its side, for an hour at most and as long as its process lives.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from memory.base.programs import is_alive
from memory.curated.control.decision import decided
from memory.curated.model import Json
from memory.curated.records import add_event, milliseconds, time_of
from memory.curated.sides import Side
from memory.errors import NotFoundError

STALE_MS = 3_600_000
"""How long a run may take, in milliseconds."""
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
        plain = ("forced", "prompt_version", "target_filename", "artifact_path", "decision_id", "source", "llm_error",
                 "reason", "retries", "candidates", "left_out")  # fmt: skip
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
    return side.records.look(lambda db: _select(db, where, values, limit), [])


def _select(db: sqlite3.Connection, where: str, values: Sequence[object] = (), limit: int = 200) -> list[DreamRun]:
    columns = ", ".join(_COLUMNS)
    text = f"SELECT {columns} FROM memory_consolidations WHERE {where} ORDER BY started_at DESC, id DESC LIMIT ?"
    rows: list[Any] = db.execute(text, [*values, limit]).fetchall()
    return [DreamRun._make((*row[:-1], json.loads(row[-1]))) for row in rows]


def find_run(sides: Iterable[Side], name: str) -> tuple[Side, DreamRun]:
    """Return the run with an id, or the newest of a day such as `2026-01-15`; NotFoundError `memory.not_found`."""
    found = [(side, one) for side in sides for one in runs(side)]
    found = [pair for pair in found if name in (pair[1].id, time_of(pair[1].started_at)[:10])]
    if not found:
        raise NotFoundError("memory.not_found", f"there is no dream {name[:80]!r}", "`memdeck curated dream list`")
    return max(found, key=lambda pair: (pair[1].started_at, pair[1].id))


def begin(side: Side, run: DreamRun, now: datetime, last: DreamRun | None) -> DreamRun | None:
    """Record that a run begins and return None, or return the run that is at work or ended since `last`."""

    def write(db: sqlite3.Connection) -> DreamRun | None:
        known = _select(db, "status IN ('running', 'completed')")
        newest = next((one for one in known if one.status == "completed"), None)
        at_work = next((one for one in known if is_at_work(one, now)), None)
        if at_work is not None or newest != last:
            return at_work or newest
        _put(db, side, run, "started", now, {"summary": f"memories to gather: {run.input_count}"})
        return None

    return side.records.run(write)


def finish(side: Side, run: DreamRun, now: datetime, error: str | None = None) -> None:
    """End a run according to the decision on its proposal, in one step with its event and the marks of its memories.

    `error` says why it failed before there was a decision.
    """
    decision = None if error else decided(side, f"caller:{run.key}")
    if decision is None:
        error = error or "it was interrupted before its proposal was decided"
    elif decision.abandoned or (decision.changes and decision.applied_at is None):
        error = decision.abandoned or "its proposal was not carried out"
    facts: Json = {}
    promoted: Sequence[str] = ()
    if decision is not None and error is None:
        facts = {"decision_id": decision.id, "reason": decision.reason}
        promoted = run.facts.get("promotes", []) if decision.op in ("add", "update") else ()
    at = milliseconds(now)

    def write(db: sqlite3.Connection) -> None:
        text = "UPDATE memory_recall_signals SET promoted_at = ?, promotion_run_id = ? WHERE chunk_id = ?"
        marked = sum(db.execute(text, (at, run.id, chunk)).rowcount for chunk in promoted)
        ended = run._replace(
            status="failed" if error else "completed", error=error, promoted_count=marked, finished_at=at,
            facts={**run.facts, **facts},
        )  # fmt: skip
        noted = {**facts, "promoted_count": marked, "reason": error or facts.get("reason")}
        _put(db, side, ended, "failed" if error else "promoted", now, noted)

    side.records.run(write)


def _put(db: sqlite3.Connection, side: Side, run: DreamRun, op: str, now: datetime, facts: Json) -> None:
    row = (*run[:-1], json.dumps(run.facts, ensure_ascii=False))
    marks = ",".join("?" * len(_COLUMNS))
    db.execute(f"INSERT OR REPLACE INTO memory_consolidations ({', '.join(_COLUMNS)}) VALUES ({marks})", row)
    noted = {"target_id": run.id, "run_id": run.id, **facts}
    add_event(db, side.records.workspace_id, f"memory.dream.run.{op}", now, side.root(side.name), noted)


def settle(side: Side, now: datetime) -> None:
    """End the runs whose process is gone, and those whose proposal is carried out.

    The memories of a proposal that was carried out are marked as promoted. All others stay unmarked, so that the next
    run gathers them again.
    """
    for run in runs(side, "status = 'running'"):
        decision = decided(side, f"caller:{run.key}")
        if not is_at_work(run, now) or (decision is not None and decision.applied_at is not None):
            finish(side, run, now)


def is_at_work(run: DreamRun, now: datetime) -> bool:
    """Return whether the process of a run lives, and the run began less than an hour ago."""
    pid = run.facts.get("pid")
    fresh = run.status == "running" and abs(milliseconds(now) - run.started_at) < STALE_MS
    return fresh and isinstance(pid, int) and is_alive(pid)
