"""The records of dreams: one row for each run, from its beginning to its end, also where a crash interrupted it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from memory.curated.control.decision import decided
from memory.curated.index.records import add_event, milliseconds, time_of
from memory.curated.model import Json, Root
from memory.curated.sides import Side
from memory.errors import NotFoundError

from .lock import holder

FAILURES = "_system/dreaming/failures"
_COLUMNS = (
    "id", "workspace_id", "scope", "started_at", "finished_at", "status", "input_count", "promoted_count", "error",
    "metadata",
)  # fmt: skip
_NAMES = (*_COLUMNS[:-1], "facts")
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM memory_consolidations"


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
    text = f"{_SELECT} WHERE {where} ORDER BY started_at DESC, id DESC LIMIT ?"
    rows = side.records.look(lambda db: db.execute(text, [*values, limit]).fetchall(), list[Any]())
    return [DreamRun(**{**dict(zip(_NAMES, row, strict=True)), "facts": json.loads(row[-1])}) for row in rows]


def find_run(sides: Iterable[Side], name: str) -> tuple[Side, DreamRun]:
    """Return the run with an id, or the newest of a day such as `2026-01-15`; NotFoundError `memory.not_found`."""
    found: list[tuple[Side, DreamRun]] = []
    for side in sides:
        found += [(side, one) for one in runs(side) if one.id == name or time_of(one.started_at)[:10] == name]
    if not found:
        raise NotFoundError("memory.not_found", f"there is no dream {name[:80]!r}", "`memdeck curated dream list`")
    return max(found, key=lambda pair: (pair[1].started_at, pair[1].id))


def begin(side: Side, run: DreamRun, root: Root, now: datetime) -> None:
    """Record that a run has begun."""
    row = (
        run.id, run.workspace_id, run.scope, run.started_at, None, run.status, run.input_count, 0, None,
        json.dumps(run.facts, ensure_ascii=False),
    )  # fmt: skip

    def write(db: sqlite3.Connection) -> None:
        db.execute(f"INSERT INTO memory_consolidations ({', '.join(_COLUMNS)}) VALUES (?,?,?,?,?,?,?,?,?,?)", row)
        words = f"{run.input_count} {'memory' if run.input_count == 1 else 'memories'} to gather"
        facts = {"target_id": run.id, "run_id": run.id, "input_count": run.input_count, "summary": words}
        add_event(db, side.records.workspace_id, "memory.dream.run.started", now, root, facts)

    side.records.run(write)


def complete(
    side: Side, run: DreamRun, ids: Sequence[str], facts: Mapping[str, Any], root: Root, now: datetime
) -> None:
    """Record in one step that a run is done and that it promoted some memories."""
    at = milliseconds(now)

    def write(db: sqlite3.Connection) -> None:
        marked = 0
        for chunk in ids:
            marked += db.execute(
                "UPDATE memory_recall_signals SET promoted_at = ?, promotion_run_id = ? WHERE chunk_id = ?",
                (at, run.id, chunk),
            ).rowcount
        _end(db, run._replace(status="completed", finished_at=at, promoted_count=marked), facts)
        noted = {"target_id": run.id, "run_id": run.id, "promoted_count": marked, **facts}
        add_event(db, side.records.workspace_id, "memory.dream.run.promoted", now, root, noted)

    side.records.run(write)


def fail(side: Side, run: DreamRun, error: str, facts: Mapping[str, Any], root: Root, now: datetime) -> None:
    """Record that a run has failed, and why."""

    def write(db: sqlite3.Connection) -> None:
        _end(db, run._replace(status="failed", finished_at=milliseconds(now), error=error), facts)
        noted = {"target_id": run.id, "run_id": run.id, "reason": error}
        add_event(db, side.records.workspace_id, "memory.dream.run.failed", now, root, noted)

    side.records.run(write)


def _end(db: sqlite3.Connection, run: DreamRun, facts: Mapping[str, Any]) -> None:
    notes = json.dumps({**run.facts, **facts}, ensure_ascii=False)
    text = "UPDATE memory_consolidations SET status = ?, finished_at = ?, promoted_count = ?, error = ?, metadata = ?"
    values = (run.status, run.finished_at, run.promoted_count, run.error, notes, run.id)
    db.execute(f"{text} WHERE id = ?", values)


# -- after a crash --------------------------------------------------------------------------------------------------


def settle(side: Side, now: datetime) -> int:
    """End the runs whose process is gone, and return how many.

    A proposal that was decided before the crash counts: its memories are marked as promoted. All others stay unmarked,
    so that the next run gathers them again.
    """
    left = runs(side, "status = 'running'")
    if not left:
        return 0
    live = holder(side, now)
    root = side.root(side.name)
    ended = 0
    for run in left:
        if live is None or live.get("run_id") != run.id:
            finish(side, run, root, now)
            ended += 1
    return ended


def finish(side: Side, run: DreamRun, root: Root, now: datetime) -> None:
    """End a run according to the decision on its proposal."""
    decision = decided(side, f"caller:{run.key}")
    if decision is None:
        fail(side, run, "it was interrupted before its proposal was decided", {}, root, now)
        return
    if decision.abandoned or (decision.changes and decision.applied_at is None):
        fail(side, run, decision.abandoned or "its proposal was not carried out", {}, root, now)
        return
    facts: Json = {"decision_id": decision.id, "reason": decision.reason}
    ids = run.facts.get("promotes", []) if decision.op in ("add", "update") else []
    complete(side, run, ids, facts, root, now)
